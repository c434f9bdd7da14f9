//! Laws that the experiments draw from, on top of the core's uniform streams.

use evenkeel::seed::Stream;

/// A standard normal number (Box-Muller, the cosine half); takes two uniform numbers.
pub fn standard_normal(stream: &mut Stream) -> f64 {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// A Poisson number: events of a unit-rate process up to time `mean`. Takes about `mean` uniform numbers.
pub fn poisson(stream: &mut Stream, mean: f64) -> u32 {
    let mut time = -(1.0 - stream.uniform()).ln();
    let mut events = 0;
    while time < mean {
        events += 1;
        time -= (1.0 - stream.uniform()).ln();
    }
    events
}

/// `magnitude` with a random sign.
pub fn random_sign(stream: &mut Stream, magnitude: f64) -> f64 {
    if stream.uniform() < 0.5 { -magnitude } else { magnitude }
}

/// `0..count` in a random order (Fisher-Yates).
pub fn permutation(stream: &mut Stream, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // `last + 1`: an entry may stay where it is; without that only cyclic orders would come
        // out.
        order.swap(last, stream.below(last + 1));
    }
    order
}

/// The logarithm of a gamma number of unit scale (Marsaglia & Tsang 2000). In logarithms because a shape of 0.01 gives
/// numbers below the smallest `f64`.
pub fn log_gamma_number(stream: &mut Stream, shape: f64) -> f64 {
    if shape < 1.0 {
        // Gamma(shape) = Gamma(shape + 1) U^(1 / shape).
        let boosted = log_gamma_number(stream, shape + 1.0);
        return boosted + (1.0 - stream.uniform()).ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = standard_normal(stream);
        let v = (1.0 + c * x).powi(3);
        let u = 1.0 - stream.uniform();
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return (d * v).ln();
        }
    }
}

/// A point of the simplex from a Dirichlet law; entries of concentration zero are zero.
pub fn dirichlet(stream: &mut Stream, concentrations: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = concentrations
        .iter()
        .map(
            |shape| if *shape > 0.0 { log_gamma_number(stream, *shape) } else { f64::NEG_INFINITY },
        )
        .collect();
    // Relative to the largest: all of them may lie below the smallest number.
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::seed::Seed;

    fn mean_and_variance(draw: impl FnMut(usize) -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..40_000).map(draw).collect();
        let mean = values.iter().sum::<f64>() / 40_000.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 40_000.0;
        (mean, variance)
    }

    #[test]
    fn normal_and_poisson_have_their_moments() {
        let mut stream = Seed::new(1).stream("normal");
        let (mean, variance) = mean_and_variance(|_| standard_normal(&mut stream));
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let (mean, variance) = mean_and_variance(|_| f64::from(poisson(&mut stream, 2.5)));
        assert!((mean - 2.5).abs() < 0.04 && (variance - 2.5).abs() < 0.1, "{mean} {variance}");
        assert_eq!(poisson(&mut stream, 0.0), 0);
    }

    #[test]
    fn gamma_and_dirichlet_have_their_moments() {
        let mut stream = Seed::new(3).stream("gamma");
        for shape in [0.3, 1.0, 4.5] {
            let (mean, variance) =
                mean_and_variance(|_| log_gamma_number(&mut stream, shape).exp());
            assert!((mean - shape).abs() < 0.03 * shape.max(1.0), "{shape}: {mean}");
            assert!((variance - shape).abs() < 0.1 * shape.max(1.0), "{shape}: {variance}");
        }
        // The first share of Dirichlet(1, 1, 2) is Beta(1, 3): mean 1/4, variance 3/80.
        let (mean, variance) = mean_and_variance(|_| dirichlet(&mut stream, &[1.0, 1.0, 2.0])[0]);
        assert!((mean - 0.25).abs() < 0.004 && (variance - 0.0375).abs() < 0.002);
        let sparse = dirichlet(&mut stream, &[0.001, 0.0, 0.001]);
        assert!((sparse.iter().sum::<f64>() - 1.0).abs() < 1e-12 && sparse[1] == 0.0);
    }

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut order = permutation(&mut Seed::new(2).stream("order"), 100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
