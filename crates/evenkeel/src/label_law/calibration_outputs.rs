//! What the model says of the calibration rows at the fitted temperature: found once, the same for all target data.

use super::carried_logits::ClassMoments;
use super::first_pass::confidence;
use super::labeled_logits::LabeledLogits;
use super::target_rows::predicted;
use super::transport_plan::tempered_softmax;

/// Predictions on the calibration rows, shapes `(n,)`, and what averages of them say.
#[derive(Debug)]
pub(crate) struct CalibrationOutputs {
    /// The predicted class of each row.
    pub top: Vec<usize>,
    /// Largest probability of each row, in `[0, 1]`.
    pub confidences: Vec<f64>,
    /// Rows in increasing order of confidence; ties in the order given.
    pub by_confidence: Vec<u32>,
    /// Mean probability of the predicted class.
    pub mean_top: f64,
    /// Moments of the centred logits of each class.
    pub moments: ClassMoments,
}

impl CalibrationOutputs {
    pub(crate) fn of(labeled: &LabeledLogits, temperature: f64) -> Self {
        let (classes, inverse) = (labeled.classes(), 1.0 / temperature);
        let rows = labeled.logits().chunks_exact(classes.max(1));
        let top: Vec<usize> = rows.clone().map(predicted).collect();
        let confidences: Vec<f64> = rows.clone().map(|row| confidence(row, inverse)).collect();
        let by_confidence = in_increasing_order(&confidences);
        let mut row = vec![0.0; classes];
        let of_top = rows.clone().zip(&top).map(|(logits, top)| {
            tempered_softmax(logits, inverse, &mut row);
            row[*top]
        });
        let mean_top = of_top.sum::<f64>() / labeled.len() as f64;
        let moments = ClassMoments::of(rows, classes);
        Self { top, confidences, by_confidence, mean_top, moments }
    }

    /// Of predictions alone, whose rows nobody asks about.
    #[cfg(test)]
    pub(super) fn of_predictions(top: Vec<usize>, confidences: Vec<f64>) -> Self {
        let by_confidence = in_increasing_order(&confidences);
        let moments = ClassMoments::of(std::iter::empty(), 1);
        Self { top, confidences, by_confidence, mean_top: f64::NAN, moments }
    }

    /// Positions of the rows in increasing order of confidence.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.by_confidence.iter().map(|row| *row as usize)
    }
}

fn in_increasing_order(confidences: &[f64]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..confidences.len() as u32).collect();
    // Stable: weights of tied confidences are added in the order given, hence to the same bits.
    rows.sort_by(|a, b| confidences[*a as usize].total_cmp(&confidences[*b as usize]));
    rows
}
