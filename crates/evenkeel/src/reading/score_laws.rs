//! `F_h(t)` of every reading: exact at the abscissae, and at infinity.
//!
//! Abscissae are the calibration scores, the thresholds in question, and a few points beyond the largest score. At any other
//! threshold a law has the value it has at the abscissa before: too low by the mass of one gap at most, never too high. The
//! law that thresholds are made of is known beyond the largest calibration score too, by its tail.

use super::ReadingName;
use crate::error::{Result, require_increasing};
use crate::sketch::{Abscissae, LAWS, TailAtom};

/// Factor of the sampling error: the 95 % point of a normal.
const SAMPLING_FACTOR: f64 = 1.645;
/// Scores may pass the end of their range by rounding; a threshold further away admits every label.
const RANGE_SLACK: f64 = 1e-9;

/// The laws of target scores under every reading, as far as `m` rows know them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreLaws {
    points: Vec<f64>,
    cdfs: [Vec<f64>; LAWS],
    /// The law that has a tail, and its atoms beyond the largest calibration score.
    tail: (ReadingName, Vec<TailAtom>),
    /// No score is larger.
    highest: f64,
    rows: u64,
}

impl ScoreLaws {
    pub(crate) fn new(
        points: &Abscissae,
        cdfs: [Vec<f64>; LAWS],
        tail: (ReadingName, Vec<TailAtom>),
        rows: u64,
    ) -> Result<Self> {
        for cdf in &cdfs {
            require_increasing("the CDF of a reading", cdf)?;
        }
        let range = points.range();
        let highest = range.high() + RANGE_SLACK * range.width();
        Ok(Self { points: points.points().to_vec(), cdfs, tail, highest, rows })
    }

    /// Number of target rows `m`.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// `F_h(t)`, increasing in `t`; 0 below the first abscissa and 1 at infinity.
    pub fn cdf(&self, reading: ReadingName, threshold: f64) -> f64 {
        if threshold > self.highest {
            return 1.0;
        }
        let reached = self.points.partition_point(|point| *point <= threshold);
        let below = reached.checked_sub(1);
        let value = below.and_then(|index| self.cdfs[reading.index()].get(index)).copied();
        let beyond = match &self.tail {
            (law, atoms) if *law == reading => {
                let reached = atoms.partition_point(|atom| atom.score <= threshold);
                reached.checked_sub(1).and_then(|index| atoms.get(index)).map(|atom| atom.cdf)
            }
            _ => None,
        };
        value.unwrap_or(0.0).max(beyond.unwrap_or(0.0))
    }

    /// `F_h` at each of several thresholds.
    pub fn cdf_at(&self, reading: ReadingName, thresholds: &[f64]) -> Vec<f64> {
        thresholds.iter().map(|threshold| self.cdf(reading, *threshold)).collect()
    }

    /// `e = 1.645 sqrt(max(F (1 - F), 1/m) / m)`.
    pub fn sampling_error(&self, coverage: f64) -> f64 {
        sampling_error(coverage, self.rows)
    }

    /// Lowest and highest coverage at a threshold over some readings, each widened by its sampling error, in `[0, 1]`.
    pub fn hull(&self, readings: &[ReadingName], threshold: f64) -> (f64, f64) {
        self.hull_with(readings, threshold, |coverage| self.sampling_error(coverage))
    }

    /// The same without sampling errors: for the rows at hand.
    pub fn unwidened_hull(&self, readings: &[ReadingName], threshold: f64) -> (f64, f64) {
        self.hull_with(readings, threshold, |_| 0.0)
    }

    fn hull_with(
        &self,
        readings: &[ReadingName],
        threshold: f64,
        error: impl Fn(f64) -> f64,
    ) -> (f64, f64) {
        let ends = readings.iter().map(|reading| {
            let coverage = self.cdf(*reading, threshold);
            (coverage - error(coverage), coverage + error(coverage))
        });
        let hull =
            ends.fold((1.0_f64, 0.0_f64), |hull, end| (hull.0.min(end.0), hull.1.max(end.1)));
        (hull.0.max(0.0), hull.1.min(1.0))
    }
}

/// `1.645 sqrt(max(F (1 - F), 1/m) / m)`: the floor is for laws with no atom near the threshold, whose error is not zero.
pub(super) fn sampling_error(coverage: f64, rows: u64) -> f64 {
    let m = rows as f64;
    SAMPLING_FACTOR * ((coverage * (1.0 - coverage)).max(1.0 / m) / m).sqrt()
}
