//! Label shift: the mix of classes changed, what a class looks like did not.
//!
//! ```text
//! w(y)       = Q(y) / P(y)                                                    by BBSE or EM, from predictions alone
//! threshold  of candidate y: weights w(y_i) / (sum_k w(y_k) + w(y))           Podkopaev & Ramdas 2021
//! ```
//! The test point's weight depends on the label it would have, so every class has a threshold of its own.
//!
//! A class that no calibration label names is an error, not a guess: its `P(y)` is 0, its column of the confusion matrix
//! is unknown, and whatever weight it were given would decide the sets.

mod black_box;
mod choice;
mod expectation_maximisation;
mod fit;
mod linear_system;
mod weights;

pub use black_box::{MOST_CONDITION, black_box_shift};
pub use choice::LabelShiftChoice;
pub use expectation_maximisation::{EmSettings, expectation_maximisation};
pub(crate) use fit::{ABOUT, BlackBoxFit, EmFit, begin};
pub use weights::{EmStop, LabelShiftEvidence, LabelShiftMethod, LabelWeights};

use crate::error::{Error, Result, require_same_length};
use crate::rows::Real;
use crate::score::{Labels, Probabilities};

/// Class of the largest probability of every row; the first among equals. Shape `(rows,)`.
pub fn predicted_labels<T: Real>(probabilities: &Probabilities<'_, T>) -> Vec<usize> {
    let mut row = vec![0.0; probabilities.classes()];
    let mut predicted = |index: usize| {
        probabilities.read_row(index, &mut row);
        let largest = row.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (label, p)| {
            // Strictly larger: ties go to the first class, as wherever labels are predicted.
            if *p > best.1 { (label, *p) } else { best }
        });
        largest.0
    };
    (0..probabilities.rows()).map(&mut predicted).collect()
}

/// `P(y)`: shares of the classes among labels, all positive; an error names the first class without a label.
///
/// # Errors
/// `TooFew` for fewer than two classes, `LabelOutOfRange`, or `UnseenClass`.
fn class_shares(labels: &Labels, classes: usize) -> Result<Vec<f64>> {
    if classes < 2 {
        return Err(Error::TooFew { what: "classes for label shift", found: classes, least: 2 });
    }
    labels.require_below(classes)?;
    let mut counts = vec![0usize; classes];
    labels.as_slice().iter().for_each(|label| counts[*label] += 1);
    // No pseudo-count: whatever share an unseen class were given would decide its weight.
    if let Some(class) = counts.iter().position(|count| *count == 0) {
        return Err(Error::UnseenClass { class });
    }
    Ok(counts.into_iter().map(|count| count as f64 / labels.len() as f64).collect())
}

/// An error unless predictions and labels describe the same points.
fn require_paired(predicted: usize, labels: &Labels) -> Result<()> {
    require_same_length("calibration predictions", predicted, "calibration labels", labels.len())
}
