//! What the labels said, as data and in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::posterior::{Change, TableWeights};
use super::settings::{ChangeBelief, FewLabelsSettings, Guarantee};
use super::shares::UpdatedShares;
use super::tables::{LabelTables, TEMPERATURES, ratio};
use super::thresholds::{LabelThresholds, PosteriorThreshold};
use crate::error::Result;
use crate::label_law::{ClassGroups, POINTS_PER_GROUP, ShiftStatistics};
use crate::level::{FailureProbability, Miscoverage, percentage};
use crate::numeric::beta::binomial_tails;
use crate::shift::{RandomDrawTest, ShiftTest};
use crate::side_inputs::TargetLabels;
use crate::threshold::Threshold;
use crate::warning::Warning;

/// The label-free plan is contradicted below this posterior weight.
const CONTRADICTED: f64 = 0.05;
/// Labels disagree with the posterior's law where a count of misses as extreme is this unlikely.
const DISAGREE: f64 = 0.01;

/// How likely a temperature is, over the three families.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TemperatureBelief {
    /// `r_a`, times the label-free temperature.
    pub ratio: f64,
    /// `T_a`.
    pub temperature: f64,
    /// Its posterior weight.
    pub weight: f64,
}

/// A guarantee, and the threshold that it asks for at least.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GuaranteeHeld {
    /// What is guaranteed at every level, for labels drawn at random from the rows that sets are made for.
    pub guarantee: Guarantee,
    /// Labels that a finite threshold takes at the level asked for.
    pub labels_needed: u64,
    /// Whether it moved the threshold up from the posterior's own.
    pub raised: bool,
}

/// Everything the labels said, at the level asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FewLabelsEvidence {
    /// Number of calibration points.
    pub n: usize,
    /// Number of target points.
    pub m: u64,
    /// Number of labels, `k`.
    pub labels: usize,
    /// Number of classes `C`.
    pub classes: usize,
    /// Miscoverage rate that thresholds, misses and words are about.
    pub alpha: f64,
    /// The shift test; none where it was known whether the data changed.
    pub test: Option<ShiftTest>,
    /// Whether the data count as changed.
    pub shifted: bool,
    /// Temperature at which the calibration labels are most likely.
    pub temperature: f64,
    /// Group of each class.
    pub group_of: Vec<usize>,
    /// Distances between the two data sets, mix and inflation.
    #[serde(flatten)]
    pub statistics: ShiftStatistics,
    /// Posterior weight of the label-free plan.
    pub trust: f64,
    /// Posterior weights of the model's own probabilities, of plans onto the calibration's shares, and of plans onto updated shares; each
    /// by temperature.
    pub weights: [[f64; TEMPERATURES]; 3],
    /// How likely each temperature is.
    pub temperatures: Vec<TemperatureBelief>,
    /// Share of each group in the calibration data, smoothed.
    pub prior: Vec<f64>,
    /// Share of each group in the target data, updated by the labels.
    pub shares: Vec<f64>,
    /// How likely it is that the calibration's shares are worth 15, 60, 240 or a million labels.
    pub share_weights: [f64; 4],
    /// Quantile of the posterior's law before the labels pull it; none is infinite.
    pub before_pull: Option<f64>,
    /// Labels that lie above it.
    pub misses: f64,
    /// Share of the labeled scores in the final law.
    pub pull: f64,
    /// How likely it is that the posterior's law is worth 50, 200 or 800 labels.
    pub pull_weights: [f64; 3],
    /// The posterior's threshold; none is infinite.
    pub posterior_threshold: Option<f64>,
    /// Threshold of split conformal prediction on the labels alone; none is infinite.
    pub split_threshold: Option<f64>,
    /// The threshold used; none is infinite.
    pub threshold: Option<f64>,
    /// Expected distance of the coverage from the level, as a standard deviation. Assumed.
    pub expected_error: f64,
    /// What is guaranteed; none if nothing was asked for.
    pub guarantee: Option<GuaranteeHeld>,
    /// Target points that took part in the plans; all of them unless there are very many.
    pub planned_rows: usize,
    /// Level of the shift test; none where it was known whether the data changed.
    // This and the next three are missing in files written before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift_level: Option<f64>,
    /// Key and label of each labeled row, by increasing key, so that more labels can be added later; empty where rows were not
    /// as likely to be labeled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labeled_rows: Vec<(u64, usize)>,
    /// A mark of the probabilities of each labeled row, in the same order: tells another table from the one it was made with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labeled_marks: Vec<u32>,
    /// Whether the labeled rows look like a random draw; none where there is nothing to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<RandomDrawTest>,
    /// What a user should know.
    pub warnings: Vec<Warning>,
}

/// What evidence is made of.
pub(super) struct Measured<'a> {
    pub n: usize,
    pub m: u64,
    pub alpha: Miscoverage,
    pub test: Option<ShiftTest>,
    pub shifted: bool,
    pub temperature: f64,
    pub groups: &'a ClassGroups,
    pub statistics: ShiftStatistics,
    pub tables: &'a LabelTables,
    pub weights: &'a TableWeights,
    pub shares: &'a UpdatedShares,
    pub planned_rows: usize,
    pub shift_level: Option<FailureProbability>,
    pub labels: &'a TargetLabels,
    pub marks: &'a [u32],
    pub draw: Option<RandomDrawTest>,
    /// Labels that the model calls impossible.
    pub impossible: usize,
    pub thresholds: &'a LabelThresholds,
}

impl FewLabelsEvidence {
    pub(super) fn new(of: &Measured<'_>) -> Self {
        let found = of.thresholds.at(of.alpha);
        let labels = of.thresholds.labels();
        let finite = |threshold: Threshold| match threshold {
            Threshold::Finite(score) => Some(score),
            Threshold::AllLabels => None,
        };
        let temperatures = (0..TEMPERATURES).map(|index| TemperatureBelief {
            ratio: ratio(index),
            temperature: of.tables.temperature(index),
            weight: of.weights.of_temperature(index),
        });
        let guarantee = match of.thresholds.guarantee() {
            Guarantee::None => None,
            guarantee => Some(GuaranteeHeld {
                guarantee,
                labels_needed: guarantee.labels_needed(of.alpha),
                raised: found.threshold != found.posterior,
            }),
        };
        Self {
            n: of.n,
            m: of.m,
            labels,
            classes: of.groups.group_of.len(),
            alpha: of.alpha.get(),
            test: of.test,
            shifted: of.shifted,
            temperature: of.temperature,
            group_of: of.groups.group_of.clone(),
            statistics: of.statistics,
            trust: of.weights.label_free,
            weights: of.weights.families,
            temperatures: temperatures.collect(),
            prior: of.groups.prior.clone(),
            shares: of.shares.shares.clone(),
            share_weights: of.shares.strengths,
            before_pull: finite(found.before_pull),
            misses: found.misses,
            pull: found.pull,
            pull_weights: found.worths,
            posterior_threshold: finite(found.posterior),
            split_threshold: finite(found.split),
            threshold: finite(found.threshold),
            expected_error: found.expected_error,
            guarantee,
            planned_rows: of.planned_rows,
            shift_level: of.shift_level.map(FailureProbability::get),
            labeled_rows: labeled_rows(of.labels),
            labeled_marks: match of.labels.shares() {
                [] => of.marks.to_vec(),
                _ => Vec::new(),
            },
            draw: of.draw,
            warnings: warnings(of, &found),
        }
    }

    /// The settings it was fitted with, and the labels of a later fit may be added to these: what was guaranteed is kept with the
    /// thresholds.
    ///
    /// # Errors
    /// If it was read from a file in which a level is none.
    pub fn settings(&self, guarantee: Guarantee) -> Result<FewLabelsSettings> {
        let change = match (&self.test, self.shifted) {
            (None, true) => Some(ChangeBelief::Changed),
            (None, false) => Some(ChangeBelief::Unchanged),
            (Some(_), _) => None,
        };
        let level = self.shift_level.map(FailureProbability::new).transpose()?;
        let tested = FewLabelsSettings::new(level.unwrap_or(FailureProbability::FIVE_PERCENT));
        Ok(FewLabelsSettings { change: change.unwrap_or(tested.change), guarantee, ..tested })
    }

    /// Trust in the label-free plan before any label.
    pub fn prior_trust(&self) -> f64 {
        if self.shifted { Change::Found } else { Change::NotFound }.prior_trust()
    }

    /// Whether the labels contradict the plan that was made without them.
    pub fn contradicts_plan(&self) -> bool {
        self.labels > 0 && self.trust < CONTRADICTED
    }

    /// Mean temperature at which the model's probabilities are read: the label-free plan's with its trust, and the others'.
    pub fn mean_temperature(&self) -> f64 {
        let plan = self.trust * self.temperature * self.statistics.inflation;
        let others = self.temperatures.iter().map(|belief| belief.weight * belief.temperature);
        plan + others.sum::<f64>()
    }
}

/// Key and label of each; none where shares tell them apart.
fn labeled_rows(labels: &TargetLabels) -> Vec<(u64, usize)> {
    match labels.shares() {
        [] => labels.keys().iter().copied().zip(labels.as_slice().iter().copied()).collect(),
        _ => Vec::new(),
    }
}

fn warnings(of: &Measured<'_>, found: &PosteriorThreshold) -> Vec<Warning> {
    let labels = of.thresholds.labels();
    let alpha = of.alpha.get();
    let mut warnings = Vec::new();
    let trust = of.weights.label_free;
    if labels > 0 && trust < CONTRADICTED {
        warnings.push(Warning::PlanContradicted { trust, labels });
    }
    let misses = found.misses.round().clamp(0.0, labels as f64) as u64;
    let count = labels as u64;
    let at_most = binomial_tails(misses, count, alpha).lower;
    let at_least = match misses.checked_sub(1) {
        None => 1.0,
        Some(fewer) => binomial_tails(fewer, count, alpha).upper,
    };
    let probability = at_most.min(at_least);
    if labels > 0 && probability < DISAGREE {
        warnings.push(Warning::LabelsDisagree { misses, labels, alpha, probability });
    }
    if of.impossible > 0 {
        warnings.push(Warning::ImpossibleLabels { found: of.impossible, labels });
    }
    warnings.extend(of.draw.as_ref().and_then(RandomDrawTest::warning));
    let needed = of.thresholds.guarantee().labels_needed(of.alpha);
    if (labels as u64) < needed {
        warnings.push(Warning::TooFewLabels { labels, needed, alpha });
    }
    let classes = of.groups.group_of.len();
    if of.m < POINTS_PER_GROUP.saturating_mul(classes as u64) {
        let groups = of.groups.len();
        warnings.push(Warning::FewUnlabeled { points: of.m, classes, groups });
    }
    warnings
}

impl fmt::Display for FewLabelsEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded up, a level would promise more than holds.
        let level = percentage(1.0 - self.alpha);
        let mean = self.temperatures.iter().map(|belief| belief.weight * belief.temperature);
        let weight: f64 = self.temperatures.iter().map(|belief| belief.weight).sum();
        write!(
            f,
            "{} labels of the target data were weighed against {} target points: the plan without labels keeps {:.0} % of the \
             trust",
            self.labels,
            self.m,
            100.0 * self.trust,
        )?;
        if weight > 0.0 {
            let temperature = mean.sum::<f64>() / weight;
            write!(
                f,
                ", and otherwise the model's probabilities are read at temperature {temperature:.2} ({:.2} fits the calibration \
                 data)",
                self.temperature
            )?;
        }
        let guaranteed =
            self.guarantee.is_some_and(|held| !matches!(held.guarantee, Guarantee::None));
        let raised = if guaranteed { " before the guarantee raised the threshold" } else { "" };
        write!(
            f,
            ". Of the labels {:.0} lay beyond the threshold that followed, {:.1} expected; their scores have {:.0} % of the say \
             in the final one. Coverage is expected about {:.1} percentage points from {level} %{raised}, which assumes that one of \
             the label laws is near the truth.",
            self.misses,
            self.alpha * self.labels as f64,
            100.0 * self.pull,
            100.0 * self.expected_error,
        )?;
        match self.guarantee.map(|held| held.guarantee) {
            None | Some(Guarantee::None) => Ok(()),
            Some(Guarantee::Average) => write!(
                f,
                " Guaranteed, if the labeled rows were drawn at random from the rows that sets are made for: coverage of at least \
                 {level} % on average over such draws."
            ),
            Some(Guarantee::Probability { probability }) => write!(
                f,
                " Guaranteed, if the labeled rows were drawn at random from the rows that sets are made for: coverage of at least \
                 {level} % in {} % of such draws.",
                percentage(probability.get())
            ),
        }
    }
}
