//! `F_h(t)` of every reading: exact at the abscissae, and at infinity.
//!
//! Abscissae are the calibration scores, the thresholds in question, and a few points beyond the largest score. At any other
//! threshold a law has the value it has at the abscissa before: too low by the mass of one gap at most, never too high. The
//! law that thresholds are made of is known beyond the largest calibration score too, by its tail.

use super::ReadingName;
use crate::error::{Result, require_increasing};
use crate::sketch::{Abscissae, TailAtom};

/// Factor of the sampling error: the 95 % point of a normal.
const SAMPLING_FACTOR: f64 = 1.645;
/// Scores may pass the end of their range by rounding; a threshold further away admits every label.
const RANGE_SLACK: f64 = 1e-9;

/// Lowest and highest coverage over some readings.
pub(crate) type Hull = (f64, f64);

/// The law of target scores under one reading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreLaw {
    pub reading: ReadingName,
    /// `F_h` at the abscissae.
    pub cdf: Vec<f64>,
    /// Its atoms beyond the largest calibration score; empty for a law that no thresholds are made of.
    pub tail: Vec<TailAtom>,
    /// Target rows it is of: all, or a uniform sample.
    pub rows: u64,
}

/// The laws of target scores under every reading, as far as `m` rows know them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreLaws {
    points: Vec<f64>,
    laws: Vec<ScoreLaw>,
    /// No score is larger.
    highest: f64,
    rows: u64,
    /// Whether label shift is possible and no more.
    label_shift_is_doubtful: bool,
}

/// `label-shift` and `class-shares` further apart than this, beyond their sampling errors, say different things.
const APART: f64 = 0.05;

impl ScoreLaws {
    pub(crate) fn new(points: &Abscissae, laws: Vec<ScoreLaw>, rows: u64) -> Result<Self> {
        for law in &laws {
            require_increasing("the CDF of a reading", &law.cdf)?;
        }
        let range = points.range();
        let highest = range.high() + RANGE_SLACK * range.width();
        let (points, label_shift_is_doubtful) = (points.points().to_vec(), false);
        Ok(Self { points, laws, highest, rows, label_shift_is_doubtful })
    }

    /// The same where label shift may explain the outputs, and does not for certain.
    pub(crate) fn doubting_label_shift(self) -> Self {
        Self { label_shift_is_doubtful: true, ..self }
    }

    /// Whether it is open if classes changed in frequency or rows became harder, and that decides how much is lost at a threshold.
    pub(crate) fn cause_is_open(&self, threshold: f64) -> bool {
        let of = |reading: ReadingName| {
            let coverage = self.cdf(reading, threshold);
            (coverage, self.sampling_error(reading, coverage))
        };
        let (shifted, kept) = (of(ReadingName::LabelShift), of(ReadingName::ClassShares));
        self.label_shift_is_doubtful && (shifted.0 - kept.0).abs() > APART + shifted.1 + kept.1
    }

    /// Number of target rows `m`.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether there is a law of this reading, and not only one that stands for it.
    pub fn has(&self, reading: ReadingName) -> bool {
        self.law(reading).is_some()
    }

    fn law(&self, reading: ReadingName) -> Option<&ScoreLaw> {
        self.laws.iter().find(|law| law.reading == reading)
    }

    /// Its atoms beyond the largest calibration score; none for a law that no thresholds are made of.
    pub(crate) fn tail(&self, reading: ReadingName) -> &[TailAtom] {
        self.law(reading).map_or(&[], |law| &law.tail)
    }

    /// The reading of an accuracy that knows most: given, asked of other models, or suggested by the model itself.
    pub(crate) fn of_accuracy(&self) -> ReadingName {
        let known = ReadingName::OF_AN_ACCURACY.into_iter().find(|reading| self.has(*reading));
        known.unwrap_or(ReadingName::Matched)
    }

    /// `F_h(t)`, increasing in `t`; 0 below the first abscissa and 1 at infinity. Where a reading was not made the one it
    /// improves on stands for it: `matched` for those of an accuracy, `calibrated` for `label-shift`.
    pub fn cdf(&self, reading: ReadingName, threshold: f64) -> f64 {
        if threshold > self.highest {
            return 1.0;
        }
        if let Some(law) = self.law(reading) {
            let reached = self.points.partition_point(|point| *point <= threshold);
            let value = reached.checked_sub(1).and_then(|index| law.cdf.get(index)).copied();
            let reached = law.tail.partition_point(|atom| atom.score <= threshold);
            let beyond = reached.checked_sub(1).and_then(|index| law.tail.get(index));
            return value.unwrap_or(0.0).max(beyond.map_or(0.0, |atom| atom.cdf));
        }
        if let Some([one, other]) = reading.halves(self.of_accuracy()) {
            return 0.5 * (self.cdf(one, threshold) + self.cdf(other, threshold));
        }
        match reading {
            ReadingName::Accuracy | ReadingName::SecondOpinion => {
                self.cdf(self.of_accuracy(), threshold)
            }
            ReadingName::LabelShift => self.cdf(ReadingName::Calibrated, threshold),
            // Those that are always made; laws without them are made in tests alone.
            _ => f64::NAN,
        }
    }

    /// Those that a verdict looks at.
    pub(crate) fn judged(&self) -> Vec<ReadingName> {
        let mut judged =
            vec![ReadingName::Calibrated, ReadingName::ClassShares, self.of_accuracy()];
        judged.extend(Some(ReadingName::LabelShift).filter(|reading| self.has(*reading)));
        judged
    }

    /// Those that are shown: what is judged, and what it improves on.
    pub(crate) fn shown(&self) -> Vec<ReadingName> {
        use ReadingName::{Accuracy, Calibrated, ClassShares, LabelShift, Matched, SecondOpinion};
        let mut shown = vec![Calibrated, ClassShares, Matched];
        shown.extend([LabelShift, SecondOpinion, Accuracy].into_iter().filter(|it| self.has(*it)));
        shown
    }

    /// Those whose hull is the range of coverage.
    pub(crate) fn enclosing(&self) -> Vec<ReadingName> {
        let mut hull = ReadingName::HULL.to_vec();
        hull.extend(Some(ReadingName::LabelShift).filter(|reading| self.has(*reading)));
        hull
    }

    /// `F_h` at each of several thresholds.
    pub fn cdf_at(&self, reading: ReadingName, thresholds: &[f64]) -> Vec<f64> {
        let of_one = |threshold: &f64| self.cdf(reading, *threshold);
        match self.law(reading) {
            Some(law) if thresholds.is_sorted() => self.cdf_along(law, thresholds),
            _ => thresholds.iter().map(of_one).collect(),
        }
    }

    /// The same along increasing thresholds, in one walk.
    fn cdf_along(&self, law: &ScoreLaw, thresholds: &[f64]) -> Vec<f64> {
        let (mut points, mut tail) = (self.points.iter().peekable(), law.tail.iter().peekable());
        let (mut values, mut value, mut beyond) = (law.cdf.iter(), 0.0_f64, 0.0);
        let along = thresholds.iter().map(|threshold| {
            while points.next_if(|point| **point <= *threshold).is_some() {
                value = values.next().copied().unwrap_or(0.0);
            }
            while let Some(atom) = tail.next_if(|atom| atom.score <= *threshold) {
                beyond = atom.cdf;
            }
            if *threshold > self.highest { 1.0 } else { value.max(beyond) }
        });
        along.collect()
    }

    /// Lowest and highest coverage over some readings at each of several thresholds: widened by the sampling errors, and not.
    pub(crate) fn hulls_at(
        &self,
        readings: &[ReadingName],
        thresholds: &[f64],
    ) -> (Vec<Hull>, Vec<Hull>) {
        let start = vec![(1.0_f64, 0.0_f64); thresholds.len()];
        let (mut widened, mut at_hand) = (start.clone(), start);
        for reading in readings {
            let rows = self.rows_of(*reading);
            let coverages = self.cdf_at(*reading, thresholds);
            for ((wide, hull), coverage) in widened.iter_mut().zip(&mut at_hand).zip(coverages) {
                let error = sampling_error(coverage, rows);
                *wide = (wide.0.min(coverage - error), wide.1.max(coverage + error));
                *hull = (hull.0.min(coverage), hull.1.max(coverage));
            }
        }
        for hull in widened.iter_mut().chain(&mut at_hand) {
            *hull = (hull.0.max(0.0), hull.1.min(1.0));
        }
        (widened, at_hand)
    }

    /// Target rows that a reading's law is of: `m`, or as many as were kept where it is of a sample.
    pub fn rows_of(&self, reading: ReadingName) -> u64 {
        if let Some(law) = self.law(reading) {
            return law.rows;
        }
        match reading.halves(self.of_accuracy()) {
            Some([one, other]) => self.rows_of(one).min(self.rows_of(other)),
            // One of those always made stands for it.
            None => self.laws.iter().map(|law| law.rows).min().unwrap_or(self.rows),
        }
    }

    /// The fewest rows that the law of one of these readings is of.
    pub(crate) fn fewest_rows(&self, readings: &[ReadingName]) -> u64 {
        readings.iter().map(|reading| self.rows_of(*reading)).min().unwrap_or(self.rows)
    }

    /// `e = 1.645 sqrt(max(F (1 - F), 1/k) / k)` of a coverage under a reading whose law is of `k` rows.
    pub fn sampling_error(&self, reading: ReadingName, coverage: f64) -> f64 {
        sampling_error(coverage, self.rows_of(reading))
    }

    /// Lowest and highest coverage at a threshold over some readings, each widened by its sampling error, in `[0, 1]`.
    pub fn hull(&self, readings: &[ReadingName], threshold: f64) -> (f64, f64) {
        self.hull_with(readings, threshold, |reading, coverage| {
            self.sampling_error(reading, coverage)
        })
    }

    /// The same without sampling errors: for the rows at hand.
    pub fn unwidened_hull(&self, readings: &[ReadingName], threshold: f64) -> (f64, f64) {
        self.hull_with(readings, threshold, |_, _| 0.0)
    }

    fn hull_with(
        &self,
        readings: &[ReadingName],
        threshold: f64,
        error: impl Fn(ReadingName, f64) -> f64,
    ) -> (f64, f64) {
        let ends = readings.iter().map(|reading| {
            let coverage = self.cdf(*reading, threshold);
            let error = error(*reading, coverage);
            (coverage - error, coverage + error)
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
