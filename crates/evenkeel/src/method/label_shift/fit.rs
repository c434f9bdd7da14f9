//! `label-shift` as a method: class shares of the target data by BBSE or EM, then a weight for each label.
//!
//! ```text
//! BBSE   predicted label of every target row -> shares -> w(y)
//! EM     probabilities of a sample of rows   -> shares -> w(y)
//! ```

use serde::{Deserialize, Serialize};

use super::{
    EmSettings, LabelShiftChoice, LabelWeights, black_box_shift, expectation_maximisation,
    predicted_labels,
};
use crate::error::{Result, require_same_length};
use crate::method::dispatch::AnyStage;
use crate::method::fit::{Next, Open, Pass, Scored, Stage};
use crate::method::ratio_rule::{RatioSource, weighted_by};
use crate::method::row_pass::{SampledRows, normalised, sample_seed};
use crate::method::{About, Concluded, Evidence, Needs, Sorted};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Labels, Probabilities};
use crate::side_inputs::SideInputs;
use crate::sketch::{MOST_CANDIDATES, RowSample};

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "label-shift",
    summary: "Weights Q(y)/P(y) of the labels (Podkopaev & Ramdas 2021)",
    assumption: "label shift",
    needs: Needs::NOTHING,
};

/// BBSE: what the model predicted for labeled points, half of the confusion matrix.
#[derive(Debug)]
pub(crate) struct BlackBoxFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// True labels in the caller's order; shape `(n,)`.
    labels: Labels,
    /// Predicted labels in the caller's order; shape `(n,)`.
    predicted: Vec<usize>,
}

/// EM: the labels, whose shares it starts from.
#[derive(Debug)]
pub(crate) struct EmFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// True labels in the caller's order; shape `(n,)`.
    labels: Labels,
    /// Tolerance and most iterations of EM.
    settings: EmSettings,
}

/// Takes the labels, and what the model predicted for them; says what to keep of the target rows.
///
/// # Errors
/// None yet: labels that name no class, or classes without a label, are found when shares are
/// taken.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: LabelShiftChoice,
) -> Result<AnyStage> {
    let classes = calibration.classes();
    let (sorted, labels) = (Sorted::new(calibration.scores), calibration.labels.clone());
    let seed = calibration.context.seed;
    Ok(match settings {
        LabelShiftChoice::BlackBox => {
            let predicted = predicted_labels(calibration.probabilities);
            let pass = PredictedLabels { classes, seed: sample_seed(seed) };
            Open::new(BlackBoxFit { sorted, labels, predicted }, pass).into()
        }
        LabelShiftChoice::ExpectationMaximisation(settings) => {
            let pass = SampledRows::probabilities(classes, seed);
            Open::new(EmFit { sorted, labels, settings }, pass).into()
        }
    })
}

impl Stage for BlackBoxFit {
    type Pass = PredictedLabels;

    /// Shares by inverting the confusion matrix, then a weight for each label.
    fn end_pass(self, pass: PredictedLabels, kept: RowSample<u32>, _: u64) -> Result<Next> {
        let predicted: Vec<usize> =
            kept.into_values()?.into_iter().map(|label| label as usize).collect();
        let weights = black_box_shift(&self.predicted, &self.labels, &predicted, pass.classes)?;
        Next::done(by_label(self.sorted, &self.labels, weights)?)
    }
}

impl Stage for EmFit {
    type Pass = SampledRows;

    /// Shares by maximum likelihood, then a weight for each label.
    fn end_pass(self, pass: SampledRows, kept: RowSample<Box<[f64]>>, _: u64) -> Result<Next> {
        let rows = pass.rows_of(kept)?;
        // Checked again although every row was: a state from elsewhere may hold any numbers.
        let target = Probabilities::new(&rows, pass.width())?;
        let weights = expectation_maximisation(&self.labels, &target, self.settings)?;
        Next::done(by_label(self.sorted, &self.labels, weights)?)
    }
}

/// Weights `w(y_i)`, and the class weights themselves for the candidates of test points.
fn by_label(sorted: Sorted, labels: &Labels, weights: LabelWeights) -> Result<Concluded> {
    let of_label = weights.ratios();
    let ratios: Vec<f64> = labels.as_slice().iter().map(|label| of_label[*label]).collect();
    let evidence = Evidence::LabelShift(weights.evidence().clone());
    weighted_by(sorted, &ratios, RatioSource::Labels { weights }, Some(evidence))
}

/// Keeps the predicted label of up to 2^21 rows, of a uniform sample beyond: shares of a sample
/// that large are off by some ten-thousandths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PredictedLabels {
    /// Number of classes; labels are below it.
    classes: usize,
    /// Chooses the sample; the same in every process.
    seed: u64,
}

impl Pass for PredictedLabels {
    type State = RowSample<u32>;

    /// A sample that has seen no row.
    fn empty(&self) -> RowSample<u32> {
        RowSample::new(self.seed, MOST_CANDIDATES)
    }

    /// The predicted label of each row, under its key.
    fn add<T: Real>(
        &self,
        mut state: RowSample<u32>,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<RowSample<u32>> {
        // Normalised first, as the calibration rows are: scaling can make two entries equal, and
        // the first of equal ones is predicted.
        let values = normalised(keys, block)?;
        let labels = predicted_labels(&Probabilities::new(&values, block.columns())?);
        for (offset, label) in labels.into_iter().enumerate() {
            state.add(keys.key(offset), label as u32);
        }
        Ok(state)
    }

    fn merge(&self, mut state: RowSample<u32>, other: RowSample<u32>) -> Result<RowSample<u32>> {
        state.merge(other)?;
        Ok(state)
    }

    /// An error unless it is a sample by this seed and every label names a class.
    fn check(&self, state: &RowSample<u32>) -> Result<()> {
        state.require(self.seed, MOST_CANDIDATES)?;
        // A label of made-up bytes would index past the shares.
        match state.rows().map(|(_, label)| label).find(|label| **label as usize >= self.classes) {
            None => Ok(()),
            Some(label) => require_same_length(
                "a predicted label",
                *label as usize,
                "the largest label",
                self.classes.saturating_sub(1),
            ),
        }
    }

    fn classes(&self) -> usize {
        self.classes
    }
}
