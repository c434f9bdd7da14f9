//! The definition of the cutoff, by a slow solver of its own: fit all `n + 1` points with an imputed test score.

use evenkeel::seed::Seed;

use crate::problems::Problem;

/// Duals of `n + 1` points with these scores by sequential minimal optimisation: two duals at a time, those that violate
/// the conditions most. Shares no code and no idea with the active-set method.
fn duals_by_pairs(kernel: &[Vec<f64>], scores: &[f64], lower: f64, upper: f64) -> Vec<f64> {
    let n = scores.len();
    let mut duals = vec![0.0; n];
    let mut gradient = scores.to_vec();
    for _ in 0..2_000_000 {
        let up = (0..n)
            .filter(|i| duals[*i] < upper)
            .max_by(|a, b| gradient[*a].total_cmp(&gradient[*b]))
            .unwrap();
        let down = (0..n)
            .filter(|i| duals[*i] > lower)
            .min_by(|a, b| gradient[*a].total_cmp(&gradient[*b]))
            .unwrap();
        let violation = gradient[up] - gradient[down];
        if violation < 1e-12 {
            return duals;
        }
        let curvature = kernel[up][up] + kernel[down][down] - 2.0 * kernel[up][down];
        let mut step = if curvature > 0.0 { violation / curvature } else { f64::INFINITY };
        let (room_up, room_down) = (upper - duals[up], duals[down] - lower);
        step = step.min(room_up).min(room_down);
        duals[up] = if step == room_up { upper } else { duals[up] + step };
        duals[down] = if step == room_down { lower } else { duals[down] - step };
        for i in 0..n {
            gradient[i] -= step * (kernel[i][up] - kernel[i][down]);
        }
    }
    panic!("the twin did not converge");
}

/// The test point's dual when its score is `imputed`.
fn test_dual(problem: &Problem, point: &[f64], imputed: f64) -> f64 {
    let points: Vec<&[f64]> =
        (0..problem.n()).map(|row| problem.point(row)).chain([point]).collect();
    let kernel: Vec<Vec<f64>> =
        points.iter().map(|a| points.iter().map(|b| problem.kernel(a, b)).collect()).collect();
    let scores: Vec<f64> = problem.scores.iter().copied().chain([imputed]).collect();
    let (lower, upper) = problem.bounds();
    *duals_by_pairs(&kernel, &scores, lower, upper).last().unwrap()
}

fn random_problem(n: usize, seed: u64) -> Problem {
    let mut stream = Seed::new(seed).stream("twin");
    let mut uniform = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.uniform()).collect() };
    Problem {
        columns: 2,
        features: uniform(2 * n),
        scores: uniform(n),
        test: uniform(2 * 3),
        // (n + 1) alpha is no whole number for the n below, so that the intercept is unique.
        alpha: [0.11, 0.23, 0.37][seed as usize % 3],
        gamma: 12.5,
        lambda: [0.005, 0.02, 0.2][seed as usize / 3 % 3],
    }
}

/// Just below the cutoff the test dual is inside its box, just above it stands at the upper bound.
#[test]
fn the_test_dual_reaches_its_bound_at_the_cutoff() {
    let mut checked = 0;
    for seed in 0..27 {
        let problem = random_problem([14, 25, 40][seed as usize / 9], seed);
        let upper = problem.bounds().1;
        for (point, cutoff) in problem.test_points().zip(problem.cutoffs()) {
            let shift = 1e-6;
            let below = test_dual(&problem, point, cutoff - shift);
            let above = test_dual(&problem, point, cutoff + shift);
            assert!(below < upper - 1e-9, "seed {seed}: {below} at the bound {upper}");
            assert_eq!(above, upper, "seed {seed}");
            checked += 1;
        }
    }
    assert_eq!(checked, 81);
}

/// The same cutoff by bisection over imputed scores, which is how the definition would be computed.
#[test]
fn the_cutoff_is_the_one_bisection_finds() {
    for seed in 0..3 {
        let problem = random_problem(14, seed);
        let upper = problem.bounds().1;
        for (point, cutoff) in problem.test_points().zip(problem.cutoffs()) {
            let (mut low, mut high) = (-5.0, 30.0);
            while high - low > 1e-9 {
                let middle = 0.5 * (low + high);
                let inside = test_dual(&problem, point, middle) < upper;
                (low, high) = if inside { (middle, high) } else { (low, middle) };
            }
            assert!((cutoff - low).abs() < 1e-7, "seed {seed}: {cutoff}, bisection {low}");
        }
    }
}
