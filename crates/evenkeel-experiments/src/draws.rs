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
        order.swap(last, stream.below(last + 1));
    }
    order
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
    fn a_permutation_holds_every_index_once() {
        let mut order = permutation(&mut Seed::new(2).stream("order"), 100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
