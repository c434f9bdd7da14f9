//! What a plan rests on, as data.
//!
//! Stored with the calibration and shown by every shell. Nothing here is needed for thresholds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use crate::label_law::{
    AccuracyStatistics, FACTORS, LabelShares, Match, MatchedPlan, PlanStop, SecondOpinions,
    ShiftStatistics, TransportPlan,
};
use crate::reading::{ReadingName, Readings};

/// How a fixed point came out: one that was cut short gives a plan, but not the one it is named
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedPoint {
    /// Fixed-point iterations taken; 0 where the plan was not needed.
    pub iterations: usize,
    /// Why the iteration ended: converged, cut short, or not needed.
    pub stopped: PlanStop,
}

impl From<&TransportPlan> for FixedPoint {
    fn from(plan: &TransportPlan) -> Self {
        Self { iterations: plan.iterations, stopped: plan.stopped }
    }
}

/// The accuracy that the matched reading has, and the factors on the temperature that give it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MatchedEvidence {
    /// What the outputs say of the accuracy.
    pub statistics: AccuracyStatistics,
    /// The accuracy used: that estimate, or one that was given.
    pub used: f64,
    /// `Delta`, how far from it the band reaches.
    pub band: f64,
    /// `e` of the matched reading.
    pub factor: f64,
    /// `e` of the low and the high end of the band.
    pub band_factors: [f64; 2],
    /// Whether a law with the accuracy used was found.
    pub matched: Match,
    /// Target points that all this rests on; a uniform sample where they are many.
    pub rows: usize,
}

impl MatchedEvidence {
    pub(super) fn new(
        statistics: AccuracyStatistics,
        used: f64,
        rows: usize,
        [matched, low, high]: [&MatchedPlan; 3],
    ) -> Self {
        Self {
            statistics,
            used,
            band: statistics.band_around(used),
            factor: matched.factor,
            band_factors: [low.factor, high.factor],
            matched: matched.matched,
            rows,
        }
    }

    /// The numbers are such as rows give.
    pub(super) fn is_sound(&self) -> bool {
        let Self { statistics, used, band, factor, band_factors: [low, high], .. } = self;
        statistics.is_sound()
            && [used, band].iter().all(|share| (0.0..=1.0).contains(*share))
            && [factor, low, high].iter().all(|e| (FACTORS.0..=FACTORS.1).contains(*e))
    }
}

/// Everything the method measured on its way to the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanEvidence {
    /// Number `n` of calibration points.
    pub n: usize,
    /// Number `m` of target points, all of them.
    pub m: u64,
    /// Number `C` of classes; the groups may be fewer.
    pub classes: usize,
    /// Temperature at which the calibration labels are most likely under the model; 1 leaves the model as it is.
    pub temperature: f64,
    /// Group of each class, from 0; shape `(C,)`. Each its own where there are points enough.
    pub group_of: Vec<usize>,
    /// `pi`: share of each group among calibration labels, smoothed by one count; shape `(G,)`.
    pub prior: Vec<f64>,
    /// Distances between the two data sets, mix and inflation.
    #[serde(flatten)]
    pub statistics: ShiftStatistics,
    /// The semi-relaxed plan in the planned law.
    pub plan: FixedPoint,
    /// The balanced plan that the accuracy rests on; in files of version 0.1, the one at the cautious end of the certificate.
    pub balanced: FixedPoint,
    /// Unlabeled points that took part in the fixed points; all of them unless there are very many.
    pub planned_rows: usize,
    /// `n_w = 1 / sum_i w_i^2` of the weights, in `[1, n]`.
    pub effective_sample_size: f64,
    /// `F(s_n)`, the planned law at the largest calibration score; below `1 - alpha` the threshold
    /// cannot be a calibration score.
    pub support_reached: f64,
    /// Total gap between the weights and the planned law, the smallest possible.
    pub estimated_gap: f64,
    /// Bound on the total gap to the true target law, while that lies between two laws.
    pub certificate: Certificate,
    /// The accuracy of the matched reading; none in files of version 0.1, as below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<MatchedEvidence>,
    /// What the readings say of the threshold of split conformal prediction, at the level asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrected: Option<Readings>,
    /// What they say of the plan's own threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Readings>,
    /// Class frequencies of the target data, where label shift explains its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_shares: Option<LabelShares>,
    /// What other models say of the accuracy, where they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_opinions: Option<SecondOpinions>,
}

impl PlanEvidence {
    /// The reading whose law the thresholds are made of.
    pub fn reading(&self) -> ReadingName {
        // Files of version 0.1 hold no readings and know one.
        let corrected = self.corrected.as_ref();
        corrected.map_or(ReadingName::ClassShares, |found| found.coverage_estimate.reading)
    }

    /// What was done, by the reading it rests on.
    fn deed(&self) -> String {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let accuracy = self.accuracy.map_or_else(String::new, |found| percent(found.used));
        let temperature = format!(
            "the model's probabilities at temperature {:.2}, which fits the calibration data",
            self.temperature
        );
        match self.reading() {
            ReadingName::Calibrated => format!(
                "The threshold is the one that covers the level if {temperature}, are as right as there"
            ),
            ReadingName::Matched => format!(
                "The threshold is the one that covers the level if the model is right on {accuracy} of the target points, as its \
                 outputs suggest"
            ),
            ReadingName::SecondOpinion => format!(
                "The threshold is the one that covers the level if the model is right on {accuracy} of the target points, as its \
                 outputs and those of {} suggest",
                match self.second_opinions.as_ref().map_or(0, |found| found.others.len()) {
                    1 => "a second model".to_owned(),
                    others => format!("{others} other models"),
                }
            ),
            ReadingName::Accuracy => format!(
                "The threshold is the one that covers the level if the model is right on {accuracy} of the target points, as was \
                 stated"
            ),
            ReadingName::LabelShift => "The threshold is the one that covers the level if classes have other frequencies than in \
                 the calibration data and look the same: calibration points weighted so have the outputs of the target points"
                .to_owned(),
            ReadingName::Blend => format!(
                "The threshold lies between those for the class frequencies of the calibration data and for an accuracy of \
                 {accuracy}: it is that of their mean law"
            ),
            ReadingName::Mean => "The threshold lies between those for probabilities as right as on the calibration data and for \
                 the class frequencies there: it is that of their mean law"
                .to_owned(),
            _ => format!(
                "The label plan moved the threshold: it softens the model's probabilities to temperature {:.2} (1 = unchanged; \
                 {:.2} fits the calibration data) and moves label frequencies {:.0} % of the way to those of the calibration data",
                self.temperature * self.statistics.inflation,
                self.temperature,
                100.0 * self.statistics.mix,
            ),
        }
    }
}

impl fmt::Display for PlanEvidence {
    /// Three sentences for people, the last of them the certificate's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}. The weights rest on effectively {:.0} of {} calibration points. {}",
            self.deed(),
            self.effective_sample_size,
            self.n,
            self.certificate,
        )
    }
}
