//! `n_w = 1 / sum_i w_i^2` draws from `P_w`: bounds after the weights were learned (Rem A.8).

use crate::error::Result;
use crate::measure::WeightedEmpirical;
use crate::seed::Seed;

/// `n_w` independent draws from `P_w`, each with mass `1 / n_w`; `n_w` is rounded down, at least 1.
///
/// ```text
/// draw = smallest atom s with F_w(s) > u,   u uniform on [0, 1)
/// ```
///
/// The DKW inequality is about independent points with equal mass. Learned weights are worth `n_w = 1 / sum w_i^2` such
/// points, so bounds with a correction are evaluated on this sample, with its size for `n`.
///
/// # Errors
/// None for a checked law in practice: the errors are those of [`WeightedEmpirical::uniform`].
pub fn resample(p: &WeightedEmpirical, seed: Seed) -> Result<WeightedEmpirical> {
    // An n_w of 299.999999 is 300 points with rounding, not 299. The slack is relative because rounding is: the sum
    // of a million squared weights is off by 1e-11 of itself, which is 1e-5 points.
    let size = ((p.effective_sample_size() * (1.0 + 1e-9)).floor() as usize).max(1);
    let mut stream = seed.stream("resampling");
    let draws: Vec<f64> = (0..size)
        .map(|_| {
            let u = stream.uniform();
            let index = p.cumulative().partition_point(|cumulative| *cumulative <= u);
            // `u < 1` and the last cumulative mass is 1, so the index is in range; the minimum keeps a rounding from
            // becoming a panic.
            p.atoms()[index.min(p.atoms().len() - 1)]
        })
        .collect();
    WeightedEmpirical::uniform(&draws)
}
