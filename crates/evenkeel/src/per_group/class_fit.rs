//! From a fitted method to a law of scores for each class.
//!
//! ```text
//! uncorrected, auto without a shift   scores of the calibration points of class y
//! label-shift                         the same: w_i = w(y) for all of them and for a test point of class y, so that
//!                                     sum_{i: s_i <= t} w(y) / (n_y w(y) + w(y)) = #{i : s_i <= t} / (n_y + 1)
//! fixed                               the same with the user's weights, and 1 for the test point
//! label-plan, auto after a shift      F_y of the label law on the target rows
//! few-labels                          the same, pulled by the labels of class y
//! ```

use super::class_coverages::ClassCoverages;
use super::class_rows::ClassRows;
use super::class_sums::{ClassReading, ClassScore};
use super::group_law::GroupLaw;
use super::parts::{SmallGroups, parts};
use super::per_class::{ClassPart, PerClassCalibration};
use crate::calibration::{Calibration, Rule};
use crate::calibrator::Fitted;
use crate::error::{Error, Result, require_same_length};
use crate::label_law::LabelLawMap;
use crate::method::MethodName;
use crate::method::few_labels::Guarantee;
use crate::method::label_plan::LabelPlan;
use crate::numeric::sort_pairs;
use crate::score::{Labels, Score};
use crate::side_inputs::TargetLabels;
use crate::sketch::RowMarks;
use crate::threshold::Threshold;

/// What thresholds for each class are found from, beside the fitted method.
#[derive(Debug, Clone, Copy)]
pub struct ClassFitOf<'a> {
    /// Labels of the calibration points, in the caller's order.
    pub labels: &'a Labels,
    /// Their weights, for `fixed`.
    pub weights: Option<&'a [f64]>,
    /// Labels of target rows, for `few-labels`.
    pub target_labels: Option<&'a TargetLabels>,
    /// What becomes of classes with too few points.
    pub small: SmallGroups,
}

/// Thresholds for each class, or the pass over the target rows that it takes to find them.
#[derive(Debug)]
pub enum ClassFit {
    /// The calibration points were enough.
    Done(Box<PerClassCalibration>),
    /// The target rows are needed, once or twice.
    Rows(Box<ClassRows>),
}

/// What the pass over the target rows needs to know.
#[derive(Debug)]
pub(super) struct ClassJob {
    pub pooled: Calibration,
    pub reading: ClassReading,
    /// Calibration points of each class.
    pub points: Vec<u64>,
    pub small: SmallGroups,
    /// What labels are to guarantee; none where the method has none.
    pub guarantee: Option<Guarantee>,
    pub target_labels: Option<TargetLabels>,
    /// The rows that the law was fitted to, where that is known: their number and marks.
    pub fitted_to: Option<(u64, RowMarks)>,
}

impl ClassJob {
    /// An error unless every label was met once.
    pub(super) fn require_labels(&self, labeled: &[(u64, usize, f64)]) -> Result<()> {
        let Some(labels) = &self.target_labels else { return Ok(()) };
        if let Some(pair) = labeled.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::DuplicateKey { key: pair[0].0 });
        }
        let mut missing = labels
            .keys()
            .iter()
            .filter(|key| labeled.binary_search_by_key(*key, |(key, ..)| *key).is_err());
        match missing.next() {
            None => Ok(()),
            Some(key) => Err(Error::LabelWithoutRow { key: *key, missing: 1 + missing.count() }),
        }
    }
}

/// Thresholds for each class, by the method that made `fitted`.
///
/// # Errors
/// If the method has none, the labels are not those of its points, or classes have too few points and that is refused.
pub fn per_class(fitted: Fitted, of: &ClassFitOf<'_>) -> Result<ClassFit> {
    let Fitted { calibration: pooled, order, fitted_law, fitted_to } = fitted;
    let classes = pooled.provenance().classes;
    let labels = of.labels.as_slice();
    // First: a method without thresholds for classes may have used some of its points up.
    let weights = match fitted_law {
        Some(_) => None,
        None => weights_of(&pooled, of)?,
    };
    require_same_length("labels", labels.len(), "calibration points", order.len())?;
    let mut points = vec![0_u64; classes];
    labels.iter().for_each(|label| points[*label] += 1);
    if let Some(law) = fitted_law {
        let target_labels = of.target_labels.filter(|labels| !labels.is_empty());
        if target_labels.is_some_and(|labels| !labels.shares().is_empty()) {
            return Err(Error::Unsupported {
                what: "a threshold for each class from labels drawn with unequal probabilities",
                instead: "draw rows to label with equal probabilities, or calibrate without classes",
            });
        }
        let guarantee = match pooled.rule() {
            Rule::FewLabels { thresholds } => Some(thresholds.guarantee()),
            _ => None,
        };
        let reading = reading(law, (pooled.provenance().score, pooled.label_law()), classes);
        return Ok(ClassFit::Rows(Box::new(ClassRows::new(ClassJob {
            pooled,
            reading,
            points,
            small: of.small,
            guarantee,
            target_labels: target_labels.cloned(),
            fitted_to,
        }))));
    }
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); classes];
    let mut masses: Vec<Vec<f64>> = vec![Vec::new(); classes];
    // By increasing score, so that every list increases.
    for (score, index) in pooled.scores().iter().zip(&order) {
        scores[labels[*index]].push(*score);
        masses[labels[*index]].push(weights.map_or(1.0, |weights| weights[*index]));
    }
    let sizes: Vec<f64> = masses.iter().map(|masses| total(masses)).collect();
    let counted = if weights.is_some() { "of weight in the class" } else { "calibration points" };
    let name = |class: usize| format!("class {class}");
    let divided = parts(&sizes, pooled.provenance().alpha, of.small, (&name, counted))?;
    let made = divided.into_iter().map(|part| {
        let members = part.members.iter();
        let mut pairs: Vec<(f64, f64)> = members
            .flat_map(|class| scores[*class].iter().copied().zip(masses[*class].iter().copied()))
            .collect();
        // Stable: weights of equal scores keep the order of their classes.
        sort_pairs(&mut pairs);
        let (scores, masses): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let size = total(&masses);
        let law = match weights {
            Some(_) => GroupLaw::Weighted { scores, weights: masses },
            None => GroupLaw::Points { scores },
        };
        ClassPart {
            points: part.members.iter().map(|class| points[*class]).collect(),
            classes: part.members,
            standing: part.standing,
            size,
            law: Some(law),
        }
    });
    let parts = made.collect();
    Ok(ClassFit::Done(Box::new(PerClassCalibration::new(pooled, parts)?)))
}

/// The weight of some points. From zero: the sum of nothing is written as -0 otherwise.
fn total(masses: &[f64]) -> f64 {
    masses.iter().fold(0.0, |sum, mass| sum + mass)
}

/// The pass that says how a threshold covers each class under the plan of a check.
pub fn class_coverage_rows(plan: &LabelPlan, score: Score, threshold: Threshold) -> ClassCoverages {
    let classes = plan.evidence().classes;
    let reading = reading(plan.fitted_law().clone(), (score, plan.label_law()), classes);
    ClassCoverages::new(reading, threshold.get())
}

/// Rows whose labels follow `law`, scored as sets are cut: by the function, or under the plan score by the law that scores labels
/// there. That is another one where the readings disagreed, or where a guarantee was asked for.
fn reading(
    law: LabelLawMap,
    (score, scored_by): (Score, Option<&LabelLawMap>),
    classes: usize,
) -> ClassReading {
    let score = match (score, scored_by) {
        (Score::Plan, Some(other)) if *other != law => ClassScore::Law(other.clone()),
        (Score::Plan, Some(_)) => ClassScore::Own,
        // Where no law scores labels the plan score is lac.
        (Score::Plan, None) => ClassScore::Function(Score::Lac),
        // The word is part of the draws: target rows are scored as they were when the method was fitted.
        (score, _) => ClassScore::Function(score.with_draws_for("today")),
    };
    ClassReading { law, score, classes }
}

/// An error unless the method has thresholds for each class, before it is fitted.
///
/// # Errors
/// [`Error::NotPerClass`], which says why it has none.
pub fn require_per_class(method: MethodName) -> Result<()> {
    match method {
        MethodName::LabelPlan | MethodName::FewLabels => Ok(()),
        other => has_class_points(other),
    }
}

/// The user's weights for `fixed`, none for methods whose points of a class count alike; an error for all others.
fn weights_of<'a>(pooled: &Calibration, of: &ClassFitOf<'a>) -> Result<Option<&'a [f64]>> {
    let method = pooled.provenance().method;
    has_class_points(method)?;
    if method != MethodName::Fixed {
        return Ok(None);
    }
    let weights = of.weights.unwrap_or_default();
    require_same_length("weights", weights.len(), "labels", of.labels.len())?;
    Ok(Some(weights))
}

/// An error unless thresholds of classes can be found from the calibration points of each.
fn has_class_points(method: MethodName) -> Result<()> {
    let why = match method {
        MethodName::Uncorrected
        | MethodName::LabelShift
        | MethodName::Auto
        | MethodName::Oracle
        | MethodName::Fixed => return Ok(()),
        MethodName::Ot => "its weights are learned for the scores of all classes together",
        MethodName::Ecp | MethodName::Qtc => {
            "it moves the threshold by what all target points have in common"
        }
        MethodName::LikelihoodRatio | MethodName::Conditional => {
            "every point has a threshold of its own already"
        }
        // They fit a label law, which was taken before.
        MethodName::LabelPlan | MethodName::FewLabels => "it fitted no label law",
    };
    Err(Error::NotPerClass { method: method.as_str(), why })
}
