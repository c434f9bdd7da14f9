//! How often the model is right on the target data, as far as its outputs can tell.
//!
//! ```text
//! ramp     clip((D - d) / (0.25 - d), 0, 1),  mix = ramp james_stein            D, d, james_stein: shift_statistics
//! a_P      mean max fP                                                          on the calibration rows, at T
//! a_f      mean max fQ                                                          on the kept target rows, at T
//! a_infl   mean max softmax(z / (T (1 + max(0, D - d))))
//! a_plan   (1 - james_stein) a_f + james_stein mean_j g_j(top_j)                g the balanced plan at T
//! a_carry  mean_j softmax(x'_j / T)(top_j)                                      x' carried logits
//!
//! own      0.5 a_plan + 0.5 (a_P - 1.25 (a_P - a_carry))
//! a        clip(a_infl + ramp (own - a_infl), 1/C, 1)
//! ```
//! Three views of one number: what softened confidences say, what class frequencies say, and what outputs on their old scale
//! say. With no sign of a shift the first alone counts.

use serde::{Deserialize, Serialize};

use super::calibration_outputs::CalibrationOutputs;
use super::carried_logits::ClassMoments;
use super::class_groups::ClassGroups;
use super::first_pass::confidence;
use super::kept_rows::KeptRows;
use super::labeled_logits::LabeledLogits;
use super::shift_statistics::{ShiftStatistics, ramp};
use super::transport_plan::{
    GroupTable, Iterating, Marginal, TransportPlan, fit_plan, tempered_softmax,
};

/// Distance of confidences at which what the model says of itself no longer counts.
const FULL_DISTANCE: f64 = 0.25;
/// Carried confidences fall short of the loss by this factor.
const CARRIED_FACTOR: f64 = 1.25;
/// Share of the plan in the model's own accuracy.
const PLAN_SHARE: f64 = 0.5;
/// Half-width of the band around an accuracy where nothing was lost.
const BAND_START: f64 = 0.02;
/// Growth of the band with the accuracy lost.
const BAND_GROWTH: f64 = 0.5;

/// The accuracy on the target data without labels, and what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AccuracyStatistics {
    /// `a_P`: mean confidence on the calibration rows, which is their accuracy at the fitted temperature.
    pub calibration: f64,
    /// `a_f`: mean confidence on the target rows.
    pub believed: f64,
    /// `a_infl`: the same at the inflated temperature.
    pub inflated: f64,
    /// `a_plan`: with the predicted classes brought back to the class frequencies of the calibration data.
    pub planned: f64,
    /// `a_carry`: with the outputs brought back to their scale on the calibration data.
    pub carried: f64,
    /// How far the confidences moved, from 0 (noise) to 1.
    pub ramp: f64,
    /// Share of the balanced plan in a law that is matched to an accuracy.
    pub mix: f64,
    /// `a`, the accuracy that follows.
    pub estimate: f64,
}

impl AccuracyStatistics {
    /// The numbers are such as rows give.
    pub(crate) fn is_sound(&self) -> bool {
        let Self { calibration, believed, inflated, planned, carried, ramp, mix, estimate } = self;
        [calibration, believed, inflated, planned, carried, ramp, mix, estimate]
            .iter()
            .all(|share| (0.0..=1.0).contains(*share))
    }

    /// `Delta = 0.02 + 0.5 max(0, a_P - a)`: how far from an accuracy `a` the truth may be.
    pub(crate) fn band_around(&self, accuracy: f64) -> f64 {
        BAND_START + BAND_GROWTH * (self.calibration - accuracy).max(0.0)
    }
}

/// The calibration side of a model: its labeled logits and the temperature fitted to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FittedModel<'a> {
    pub labeled: &'a LabeledLogits,
    pub temperature: f64,
    pub outputs: &'a CalibrationOutputs,
}

impl FittedModel<'_> {
    fn rows(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.labeled.logits().chunks_exact(self.labeled.classes())
    }

    /// Probability at the fitted temperature of one label of each calibration row, averaged.
    pub(crate) fn mean_probability(&self, labels: impl Iterator<Item = usize>) -> f64 {
        let mut row = vec![0.0; self.labeled.classes()];
        let said = self.rows().zip(labels).map(|(logits, label)| {
            tempered_softmax(logits, 1.0 / self.temperature, &mut row);
            row[label]
        });
        said.sum::<f64>() / self.labeled.len() as f64
    }

    /// The predicted class of each calibration row.
    pub(crate) fn predicted(&self) -> impl Iterator<Item = usize> {
        self.outputs.top.iter().copied()
    }

    /// Probability at the fitted temperature, after carrying, of one label of each target row, averaged.
    pub(crate) fn mean_carried(&self, target: &KeptRows, labels: &[usize]) -> f64 {
        let classes = self.labeled.classes();
        let rows = target.logits().iter().map(|row| &row[..]);
        let (from, onto) = (ClassMoments::of(rows.clone(), classes), &self.outputs.moments);
        let (mut carried, mut row) = (vec![0.0; classes], vec![0.0; classes]);
        let said = rows.zip(labels).map(|(logits, label)| {
            from.carry(onto, logits, &mut carried);
            tempered_softmax(&carried, 1.0 / self.temperature, &mut row);
            row[*label]
        });
        said.sum::<f64>() / target.len() as f64
    }
}

/// What the outputs say of the accuracy, and the balanced plan at `T` it rests on.
pub(crate) fn accuracy_statistics(
    model: FittedModel<'_>,
    groups: &ClassGroups,
    statistics: &ShiftStatistics,
    target: &KeptRows,
    iterating: Iterating,
) -> (AccuracyStatistics, TransportPlan) {
    let FittedModel { labeled, temperature, outputs } = model;
    let mean_confidence = |temperature: f64| {
        let said = target.logits().iter().map(|row| confidence(row, 1.0 / temperature));
        said.sum::<f64>() / target.len() as f64
    };
    let moved = (statistics.ks - statistics.ks_start).max(0.0);
    let calibration = outputs.mean_top;
    let believed = mean_confidence(temperature);
    let inflated = mean_confidence(temperature * (1.0 + moved));
    let james_stein = statistics.james_stein;
    // Where the histograms differ by no more than noise the plan does not count, and is not made.
    let (plan, planned) = if james_stein > 0.0 {
        let table = GroupTable::of_kept(target, groups, temperature);
        let plan = fit_plan(&table, &groups.prior, Marginal::Balanced, iterating);
        let top = table.mean_top(1.0, &plan, groups, target.top());
        (plan, (1.0 - james_stein) * believed + james_stein * top)
    } else {
        (TransportPlan::not_needed(groups.len()), believed)
    };
    let carried = model.mean_carried(target, target.top());
    let ramp = ramp(statistics.ks, statistics.ks_start, FULL_DISTANCE);
    let own = PLAN_SHARE * planned
        + (1.0 - PLAN_SHARE) * (calibration - CARRIED_FACTOR * (calibration - carried));
    let estimate = clip_to_shares(inflated + ramp * (own - inflated), labeled.classes());
    let mix = ramp * james_stein;
    // Means of shares pass one by rounding.
    let share = |value: f64| value.clamp(0.0, 1.0);
    let found = AccuracyStatistics {
        calibration: share(calibration),
        believed: share(believed),
        inflated: share(inflated),
        planned: share(planned),
        carried: share(carried),
        ramp,
        mix,
        estimate,
    };
    (found, plan)
}

/// `clip(a, 1/C, 1)`: a guess among `C` classes is right that often.
pub(crate) fn clip_to_shares(accuracy: f64, classes: usize) -> f64 {
    accuracy.clamp(1.0 / classes as f64, 1.0)
}
