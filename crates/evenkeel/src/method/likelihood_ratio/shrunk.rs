//! A linear logit with a prior: ratios of small samples that promise little.
//!
//! ```text
//! minimise   sum_i log(1 + exp(-y_i x_i'b)) + precision/2 |b|^2         on standardised features
//! ```
//! Without a prior, twenty features of a hundred rows separate any two samples of one law, and the weights pile up on few
//! points. With a normal prior on the coefficients the ratio stays near one unless the rows insist.

use super::newton::Design;
use super::sampling::rows_to_fit;
use super::standardisation::Standardisation;
use super::{model::LOG_RATIO_LIMIT, newton::dot};
use crate::rows::Rows;
use crate::seed::Seed;

/// `log dQ/dP` at the calibration rows up to a constant, shape `(n,)`; both tables are finite and have as many columns.
pub(crate) fn shrunk_log_ratios(
    calibration: Rows<'_, f64>,
    target: Rows<'_, f64>,
    precision: f64,
    seed: Seed,
) -> Vec<f64> {
    let features = calibration.columns();
    let mut stream = seed.stream("ratio-rows");
    let labeled = rows_to_fit(calibration, &mut stream);
    let unlabeled = rows_to_fit(target, &mut stream);
    let both: Vec<f64> = labeled.iter().chain(&unlabeled).copied().collect();
    let standardisation = Standardisation::of(&both, features);
    let (old, new) = (standardisation.applied(&labeled), standardisation.applied(&unlabeled));
    let rows = ((old.len() + new.len()) / features) as f64;
    let design = Design::new(&new, &old, features, features, |row, out| out.copy_from_slice(row));
    // The ridge stands against the mean loss: the prior weighs as much as `precision` rows, however many there are.
    let solution = design.minimise(precision / rows);
    let coefficients = &solution.coefficients[..features];
    let mut z = vec![0.0; features];
    let log_ratio = |row: &[f64]| {
        standardisation.apply(row, &mut z);
        let value = dot(coefficients, &z);
        if value.is_nan() { 0.0 } else { value.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT) }
    };
    calibration.iter().map(log_ratio).collect()
}
