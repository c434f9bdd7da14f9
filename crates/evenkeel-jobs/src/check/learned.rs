//! How labels moved what is believed about coverage, and what is believed now.

use evenkeel::calibration::{Calibration, Evidence, Rule};
use evenkeel::level::Miscoverage;
use evenkeel::reading::CoverageEstimate;
use evenkeel::shift::RandomDrawTest;
use evenkeel::threshold::Threshold;
use serde::Serialize;

use super::CoverageMeasured;

/// Standard deviations on each side of a range: nine in ten, as in the range without labels.
const RANGE: f64 = 1.645;

/// What labels changed: coverage before and with them, and what the model's outputs are taken to mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WithLabels {
    /// Coverage at the threshold in question as estimated without labels, with its range.
    pub prior: CoverageRange,
    /// The same after weighing label laws by the labels: assumed, as one of these laws must be near the truth.
    pub posterior: CoverageRange,
    /// What the labels count, whatever the model.
    pub measured: CoverageRange,
    /// Trust in the plan made without labels, before them.
    pub prior_trust: f64,
    /// The same with them.
    pub trust: f64,
    /// Whether they contradict it.
    pub contradicted: bool,
    /// Temperature at which the model fits the calibration labels, and the mean one at which it is read on the target data.
    pub temperature: BeforeAndWith,
    /// Shares of the classes, or of groups of classes where there are very many.
    pub class_shares: Vec<ClassShare>,
    /// Whether the labeled rows look like a random draw; none where all rows are labeled.
    pub random_draw: Option<RandomDrawTest>,
}

/// A coverage with its range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoverageRange {
    /// The number.
    pub value: f64,
    /// Low end.
    pub low: f64,
    /// High end.
    pub high: f64,
}

/// A number on the calibration data, and on the target data with their labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BeforeAndWith {
    /// On the calibration data.
    pub calibration: f64,
    /// On the target data.
    pub target: f64,
}

/// How frequent classes are taken to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassShare {
    /// The class, or the classes of a group.
    pub labels: Vec<usize>,
    /// Their share, by the calibration data and by the labels.
    #[serde(flatten)]
    pub share: BeforeAndWith,
}

impl WithLabels {
    /// From a fit of `few-labels`; none for a fit of something else.
    pub(super) fn of(
        calibration: &Calibration,
        threshold: Threshold,
        prior: &CoverageEstimate,
        measured: &CoverageMeasured,
    ) -> Option<Self> {
        let (Some(Evidence::FewLabels(found)), Rule::FewLabels { thresholds }) =
            (&calibration.learned().evidence, calibration.rule())
        else {
            return None;
        };
        let alpha: Miscoverage = calibration.provenance().alpha;
        let believed = thresholds.coverage_at(alpha, threshold.get());
        let half = RANGE * believed.deviation;
        let mut class_shares: Vec<ClassShare> = found
            .prior
            .iter()
            .zip(&found.shares)
            .map(|(before, with)| ClassShare {
                labels: Vec::new(),
                share: BeforeAndWith { calibration: *before, target: *with },
            })
            .collect();
        for (label, group) in found.group_of.iter().enumerate() {
            if let Some(class) = class_shares.get_mut(*group) {
                class.labels.push(label);
            }
        }
        Some(Self {
            prior: CoverageRange { value: prior.value, low: prior.low, high: prior.high },
            posterior: CoverageRange {
                value: believed.value,
                low: (believed.value - half).max(0.0),
                high: (believed.value + half).min(1.0),
            },
            measured: CoverageRange {
                value: measured.value,
                low: measured.low,
                high: measured.high,
            },
            prior_trust: found.prior_trust(),
            trust: found.trust,
            contradicted: found.contradicts_plan(),
            temperature: BeforeAndWith {
                calibration: found.temperature,
                target: found.mean_temperature(),
            },
            class_shares,
            random_draw: found.draw,
        })
    }

    /// The classes whose share moved most.
    pub fn moved_most(&self) -> Option<&ClassShare> {
        let moved = |class: &ClassShare| (class.share.target - class.share.calibration).abs();
        // Reversed, because `max_by` takes the last of equals: ties go to the smaller label.
        self.class_shares.iter().rev().max_by(|a, b| moved(a).total_cmp(&moved(b)))
    }
}
