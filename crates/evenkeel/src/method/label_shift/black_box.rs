//! `M Q = q`: class shares by black-box shift estimation, BBSE \[LWS18\].
//!
//! ```text
//! |error of Q|_1 <= |M^-1|_1 |error of q|_1,    condition = |M|_1 |M^-1|_1,   |M|_1 = 1
//! ```

use super::linear_system::{Factored, norm_1};
use super::weights::{LabelShiftEvidence, LabelShiftMethod, LabelWeights};
use super::{class_shares, require_paired};
use crate::error::{Error, Result, require_some};
use crate::score::Labels;

/// Largest condition number at which the confusion matrix is inverted. Shares of predictions are known to about
/// `1/sqrt(n)`, and the condition multiplies that error: at 1000 even a million points leave an error of one.
pub const MOST_CONDITION: f64 = 1e3;

/// `Q(y) / P(y)` from predicted labels of both data sets and the true ones of the calibration data.
///
/// ```text
/// M[a][y] = share of predictions a among calibration points of class y          columns sum to one
/// q[a]    = share of predictions a among target points
/// M Q = q,   w(y) = Q(y) / P(y)
/// ```
/// This is the paper's `C w = q` with the joint confusion matrix `C[a][y] = M[a][y] P(y)`; with the columns normalised
/// the condition number does not grow because a class is rare. Negative shares are sampling noise: they are set to 0,
/// the rest is normalised, and the evidence names the classes.
///
/// # Errors
/// If the confusion matrix is singular or its condition number exceeds [`MOST_CONDITION`], a class has no calibration
/// point, a prediction is not a class, or there are not as many predictions as labels.
pub fn black_box_shift(
    calibration_predictions: &[usize],
    labels: &Labels,
    target_predictions: &[usize],
    classes: usize,
) -> Result<LabelWeights> {
    require_paired(calibration_predictions.len(), labels)?;
    require_some("target predictions", target_predictions)?;
    require_classes("calibration predictions", calibration_predictions, classes)?;
    require_classes("target predictions", target_predictions, classes)?;
    let calibration_shares = class_shares(labels, classes)?;

    let mut confusion = vec![0.0; classes * classes];
    // All positive: `class_shares` has refused a class without a point, whose column would be 0 /
    // 0.
    let per_class: Vec<f64> = calibration_shares.iter().map(|p| p * labels.len() as f64).collect();
    for (predicted, label) in calibration_predictions.iter().zip(labels.as_slice()) {
        confusion[predicted * classes + label] += 1.0;
    }
    for row in confusion.chunks_exact_mut(classes) {
        row.iter_mut().zip(&per_class).for_each(|(entry, count)| *entry /= count);
    }
    // Before any solve: a nearly singular matrix still gives shares, and they would look as good as any.
    let (factored, condition) = well_conditioned(&confusion, classes)?;

    let mut predicted_shares = vec![0.0; classes];
    target_predictions.iter().for_each(|predicted| predicted_shares[*predicted] += 1.0);
    predicted_shares.iter_mut().for_each(|share| *share /= target_predictions.len() as f64);
    // Solved with the factor, not with the inverse that the condition needed: fewer roundings.
    let mut target_shares = factored.solve(&predicted_shares);
    // Noted before they are set to 0: a user cannot see from a share of 0 that it came out
    // negative.
    let clipped: Vec<usize> = (0..classes).filter(|class| target_shares[*class] < 0.0).collect();
    target_shares.iter_mut().for_each(|share| *share = share.max(0.0));
    // Columns of M and the shares q sum to one, so the shares do so too before clipping: the sum is at least one.
    let total: f64 = target_shares.iter().sum();
    target_shares.iter_mut().for_each(|share| *share /= total);

    LabelWeights::new(LabelShiftEvidence {
        method: LabelShiftMethod::BlackBox { condition },
        calibration_shares,
        target_shares,
        clipped,
    })
}

/// The factored matrix and its condition `|M|_1 |M^-1|_1`, or an error with the class that is least determined.
///
/// # Errors
/// `SingularConfusion`, with an infinite condition where a pivot vanished.
fn well_conditioned(confusion: &[f64], classes: usize) -> Result<(Factored, f64)> {
    let most = MOST_CONDITION;
    let factored = Factored::new(confusion, classes).map_err(|class| Error::SingularConfusion {
        class,
        condition: f64::INFINITY,
        most,
    })?;
    let inverse = factored.inverse();
    let condition = norm_1(confusion, classes) * norm_1(&inverse, classes);
    if condition <= MOST_CONDITION {
        return Ok((factored, condition));
    }
    // Row y of the inverse is how errors of the predicted shares enter the share of class y.
    let error_of = |class: usize| -> f64 {
        inverse[class * classes..][..classes].iter().map(|entry| entry.abs()).sum()
    };
    // Named so that a user knows which class to label more of, or to merge.
    let class = (0..classes).max_by(|a, b| error_of(*a).total_cmp(&error_of(*b))).unwrap_or(0);
    Err(Error::SingularConfusion { class, condition, most })
}

/// An error with the first prediction that names no class: it would index past the matrix.
fn require_classes(what: &'static str, labels: &[usize], classes: usize) -> Result<()> {
    match labels.iter().position(|label| *label >= classes) {
        None => Ok(()),
        Some(index) => Err(Error::LabelOutOfRange { what, index, label: labels[index], classes }),
    }
}
