//! The numbers of a batch that trends are made of.

use evenkeel::reading::Verdict;
use evenkeel::stream::{StreamStep, WindowTested};
use evenkeel_jobs::Checked;
use serde::{Deserialize, Serialize};

use crate::alarm::Light;

/// What the check of a batch found, in short; the whole document is stored beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchSummary {
    /// The coverage asked for.
    pub level: f64,
    /// Threshold of the calibration in use; none is infinite.
    pub threshold: Option<f64>,
    /// Coverage estimated without labels.
    pub estimate: f64,
    /// Lowest coverage of its range.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// What the readings make of it.
    pub verdict: Verdict,
    /// Coverage lost, in percentage points.
    pub loss: f64,
    /// p-value of this batch alone against the calibration data. It is not evidence that adds up over batches.
    pub p_value: f64,
    /// Distance of the confidences from those of the calibration data.
    pub confidence_distance: f64,
    /// Distance of the predicted classes from those of the calibration data.
    pub class_distance: f64,
    /// Mean number of labels in a set.
    pub mean_size: f64,
}

impl BatchSummary {
    /// Of a check.
    pub fn of(checked: &Checked) -> Self {
        let report = &checked.report;
        Self {
            level: checked.level(),
            threshold: report.threshold,
            estimate: report.coverage_estimate.value,
            low: report.coverage_estimate.low,
            high: report.coverage_estimate.high,
            verdict: checked.verdict,
            loss: report.loss.value,
            p_value: report.shift.p_value,
            confidence_distance: report.shift.confidence_distance,
            class_distance: report.shift.class_distance,
            mean_size: checked.mean_size,
        }
    }

    /// Green, amber or red, by the coverage that is lost.
    pub fn light(&self) -> Light {
        Light::of(self.verdict, self.loss)
    }
}

/// Where the alarm without labels stands after a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Number of the batch since the watch began, from 1.
    pub batch: u64,
    /// The larger wealth of the two, as `ln`; the alarm goes off at `ln_limit`.
    pub ln_wealth: f64,
    /// `ln` of the wealth at which the alarm goes off.
    pub ln_limit: f64,
    /// Windows that were tested after this batch.
    pub tested: Vec<WindowTested>,
}

impl StreamSummary {
    /// The strongest evidence after this batch, as a share of what sets off the alarm: 1 is the alarm.
    ///
    /// ```text
    /// max of ln(wealth) / ln(limit) and, over the windows, ln(p) / ln(level)
    /// ```
    pub fn evidence(&self) -> f64 {
        let share = |tested: &WindowTested| {
            // A p-value of 0 is one too small for a number.
            tested.test.p_value.max(f64::MIN_POSITIVE).ln() / tested.level.ln()
        };
        let windows = self.tested.iter().map(share);
        windows.fold((self.ln_wealth / self.ln_limit).max(0.0), f64::max)
    }

    /// Of a step of the alarm.
    pub fn of(step: &StreamStep) -> Self {
        Self {
            batch: step.batch,
            ln_wealth: step.ln_confidence_wealth.max(step.ln_class_wealth),
            ln_limit: step.ln_limit,
            tested: step.tested.clone(),
        }
    }
}

/// Coverage counted on labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Labels counted.
    pub k: u64,
    /// Labels in their sets.
    pub covered: u64,
    /// The share.
    pub value: f64,
    /// Lowest coverage, at the confidence (Clopper and Pearson).
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// Confidence of the interval.
    pub confidence: f64,
}
