//! What is at risk: the coverage of a threshold under each reading, with a range and a verdict.
//!
//! ```text
//! F_r(t) = sum_i w_i 1{s_i <= t}                                   coverage under the weights of reading r
//! e_r(t) = 1.645 sqrt(max(F (1 - F), 1/n_w) (1/n_w + 1/m))         its sampling error
//! value    F of the weights in use; range: hull of F -+ e over the readings and the weights in use
//! ```
//! Without a shift the calibration data speak for the target data, and their coverage is the only reading that is judged.

use serde::Serialize;

use super::fit::{Decision, RegressionFit, ScoredPoints};
use crate::level::Level;
use crate::measure::Weights;
use crate::reading::{CoverageLoss, Standing, Verdict};
use crate::threshold::Threshold;

/// Factor of the sampling error: the 95 % point of a normal.
const SAMPLING_FACTOR: f64 = 1.645;

/// Coverage of a threshold under one reading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageReading {
    /// Its name: that of a reading, `uncorrected` (nothing changed) or `auto` (the weights in use).
    pub name: &'static str,
    /// Share of the target data that is covered if the reading is true, in `[0, 1]`.
    pub coverage: f64,
    /// Half width of a 90 % interval for sampling.
    pub sampling_error: f64,
    /// Effective number of calibration points behind it.
    pub effective_sample_size: f64,
    /// No reading can be verified without labels.
    pub standing: Standing,
}

/// What is at risk at a threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// Coverage of the target data under the weights in use.
    pub value: f64,
    /// Low end of the hull of the readings, each with its sampling error.
    pub low: f64,
    /// Its high end.
    pub high: f64,
    /// Every reading.
    pub readings: Vec<CoverageReading>,
    /// What to make of them.
    pub verdict: Verdict,
    /// What is lost, in points.
    pub loss: CoverageLoss,
}

/// Asks every reading about a threshold that should cover `level`.
pub fn assess(
    points: &ScoredPoints<'_>,
    fit: &RegressionFit,
    threshold: Threshold,
    level: Level,
) -> Assessment {
    let level = level.get();
    let m = points.target_rows() as f64;
    let reading = |name: &'static str, weights: &Weights| {
        let covered = points.scores().iter().zip(weights.as_slice());
        let covered = covered.filter(|(score, _)| threshold.admits(**score));
        // A sum of many weights passes one by rounding. A threshold at infinity covers everything.
        let coverage = match threshold {
            Threshold::AllLabels => 1.0,
            Threshold::Finite(_) => covered.map(|(_, weight)| weight).sum::<f64>().min(1.0),
        };
        let effective = weights.effective_sample_size();
        let variance = (coverage * (1.0 - coverage)).max(1.0 / effective);
        CoverageReading {
            name,
            coverage,
            sampling_error: SAMPLING_FACTOR * (variance * (1.0 / effective + 1.0 / m)).sqrt(),
            effective_sample_size: effective,
            standing: Standing::Assumed,
        }
    };
    let equal = vec![1.0; points.rows()];
    let uncorrected = Weights::normalised(equal).map(|weights| reading("uncorrected", &weights));
    let auto = reading("auto", &fit.weights);
    let mut readings: Vec<CoverageReading> = uncorrected.into_iter().collect();
    readings.extend(fit.readings.iter().map(|read| reading(read.reading.as_str(), &read.weights)));
    readings.push(auto.clone());
    let judged: Vec<&CoverageReading> = if fit.decision == Decision::NoShift {
        vec![&auto]
    } else {
        readings.iter().filter(|reading| reading.name != "uncorrected").collect()
    };
    let ends = |reading: &&CoverageReading| {
        let CoverageReading { coverage, sampling_error: error, .. } = **reading;
        (coverage - error, coverage + error)
    };
    let (low, high) = judged
        .iter()
        .map(ends)
        .fold((1.0_f64, 0.0_f64), |hull, end| (hull.0.min(end.0), hull.1.max(end.1)));
    let (low, high) = (low.max(0.0), high.min(1.0));
    let pairs: Vec<(f64, f64)> =
        judged.iter().map(|reading| (reading.coverage, reading.sampling_error)).collect();
    let verdict = Verdict::of(&pairs, level);
    let lost = |coverage: f64| 100.0 * (level - coverage).max(0.0);
    let value = auto.coverage;
    let loss = CoverageLoss { value: lost(value), low: lost(high), high: lost(low) };
    Assessment { value, low, high, readings, verdict, loss }
}
