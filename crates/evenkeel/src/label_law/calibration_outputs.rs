//! What the model says of the calibration rows at the fitted temperature: found once, the same for all target data.

use super::carried_logits::ClassMoments;
use super::first_pass::{confidence, confidence_of};
use super::labeled_logits::LabeledLogits;
use super::target_rows::predicted;
use super::temperature::MOST_TURNED;
use super::transport_plan::tempered_softmax;
use crate::numeric::{ABREAST, RowsAbreast};

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
        let few = labeled.logits().len() <= MOST_TURNED;
        let turned = few.then(|| RowsAbreast::new(rows.clone(), classes)).flatten();
        let said = match turned {
            Some(turned) => said_abreast(&turned, inverse, &top),
            None => said_by_rows(rows.clone(), inverse, &top),
        };
        let confidences: Vec<f64> = said.iter().map(|(confidence, _)| *confidence).collect();
        let by_confidence = in_increasing_order(&confidences);
        let of_top = said.iter().map(|(_, of_top)| *of_top);
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

/// Confidence of each row, and the probability of the class it says: equal but for the last digits, which confidences are without.
fn said_by_rows<'a>(
    rows: impl Iterator<Item = &'a [f64]>,
    inverse: f64,
    top: &[usize],
) -> Vec<(f64, f64)> {
    let mut row = Vec::new();
    let said = rows.zip(top).map(|(logits, top)| {
        row.resize(logits.len(), 0.0);
        tempered_softmax(logits, inverse, &mut row);
        (confidence(logits, inverse), row[*top])
    });
    said.collect()
}

/// The same of short rows, eight at a time, to the bit.
fn said_abreast(rows: &RowsAbreast, inverse: f64, top: &[usize]) -> Vec<(f64, f64)> {
    let mut said = Vec::with_capacity(top.len());
    rows.for_each(0..rows.groups(), inverse, |first, made| {
        for (place, (top, sum)) in top[first..].iter().zip(made.sums).enumerate() {
            let scale = 1.0 / sum;
            said.push((confidence_of(sum.ln()), made.made[top * ABREAST + place] * scale));
        }
    });
    said
}

fn in_increasing_order(confidences: &[f64]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..confidences.len() as u32).collect();
    // Stable: weights of tied confidences are added in the order given, hence to the same bits.
    rows.sort_by(|a, b| confidences[*a as usize].total_cmp(&confidences[*b as usize]));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn rows_abreast_say_what_rows_say() {
        let mut stream = Seed::new(8).stream("outputs");
        for classes in [1, 2, 10, 32] {
            for n in [1, 7, 8, 300] {
                let logits: Vec<f64> = (0..n * classes).map(|_| 9.0 * stream.uniform()).collect();
                let rows = logits.chunks_exact(classes);
                let top: Vec<usize> = rows.clone().map(predicted).collect();
                let turned = RowsAbreast::new(rows.clone(), classes).unwrap();
                let (found, expected) =
                    (said_abreast(&turned, 0.7, &top), said_by_rows(rows, 0.7, &top));
                assert_eq!(found, expected, "{n} x {classes}");
            }
        }
    }
}
