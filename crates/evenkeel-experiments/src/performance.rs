//! How often the classifier is right, and how sure it is, clean and spoilt.

use evenkeel::seed::Seed;

use crate::classifier::{Classifier, predicted_class};
use crate::corruption::{Condition, images_under};
use crate::error::Result;
use crate::fashion_mnist::{CLASSES, LabeledImages};

/// What a classifier's probabilities are worth on labeled images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Performance {
    /// Share of images whose largest probability is their label's.
    pub accuracy: f64,
    /// Mean of the largest probability; far above the accuracy where the classifier is confident and wrong.
    pub confidence: f64,
}

impl Performance {
    /// Of rows of [`CLASSES`] probabilities with their labels; NaN of none.
    pub fn of(probabilities: &[f32], labels: &[usize]) -> Self {
        let mut correct = 0;
        let mut confidence = 0.0;
        for (row, label) in probabilities.chunks_exact(CLASSES).zip(labels) {
            // The first of equal ones, as in the shift test: both must mean the same by
            // "predicted".
            let predicted = predicted_class(row);
            correct += usize::from(predicted == *label);
            confidence += f64::from(row[predicted]);
        }
        let count = labels.len() as f64;
        Self { accuracy: correct as f64 / count, confidence: confidence / count }
    }

    /// On the images with these ids under a condition.
    pub fn under(
        condition: Condition,
        classifier: &Classifier,
        images: &LabeledImages,
        ids: &[usize],
        seed: Seed,
    ) -> Result<Self> {
        let spoilt = images_under(condition, images, ids, seed)?;
        let labels: Vec<usize> = ids.iter().map(|id| images.labels()[*id]).collect();
        Ok(Self::of(&classifier.probabilities(&spoilt)?, &labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_rows_are_counted_and_confidences_averaged() {
        let mut rows = vec![0.0; 3 * CLASSES];
        rows[4] = 1.0;
        rows[CLASSES + 2] = 0.5;
        rows[2 * CLASSES + 9] = 0.75;
        let performance = Performance::of(&rows, &[4, 2, 0]);
        assert_eq!(performance, Performance { accuracy: 2.0 / 3.0, confidence: 0.75 });
    }
}
