//! Optimality on random problems, degenerate ones among them.

use evenkeel::method::conditional::FlatIntercept;
use proptest::prelude::*;

use crate::problems::Problem;

/// Features and scores from a coarse lattice (many duplicates and ties), from the line, or all the same.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0u8..=3).prop_map(|k| f64::from(k) / 3.0),
        4 => 0.0..=1.0f64,
        // Points that are almost duplicates: the kernel matrix is singular up to rounding.
        2 => (0u8..=3, 0.0..1e-8f64).prop_map(|(k, jitter)| f64::from(k) / 3.0 + jitter),
        1 => Just(0.25),
    ]
}

fn problem() -> impl Strategy<Value = Problem> {
    let alpha = prop_oneof![Just(0.1), Just(0.05), Just(0.2), Just(0.5), 0.02..0.98f64];
    let gamma = prop_oneof![3 => Just(12.5), 1 => Just(1e-6), 1 => Just(1e6), 2 => 0.1..50.0f64];
    let lambda = prop_oneof![
        3 => Just(0.005),
        1 => Just(1e-6),
        1 => Just(1e4),
        2 => (-4.0..1.0f64).prop_map(|power| 10f64.powf(power)),
    ];
    (1usize..=3, 1usize..=90, 1usize..=3).prop_flat_map(move |(columns, n, tests)| {
        let vectors = |count: usize| prop::collection::vec(coordinate(), count);
        let rest = (alpha.clone(), gamma.clone(), lambda.clone());
        (vectors(n * columns), vectors(n), vectors(tests * columns), rest).prop_map(
            move |(features, scores, test, (alpha, gamma, lambda))| Problem {
                columns,
                features,
                scores,
                test,
                alpha,
                gamma,
                lambda,
            },
        )
    })
}

/// 1e-8; with penalties below 1e-4, whose duals are beyond 1e4 in total, the rounding of sums of numbers of that size.
fn tolerance(problem: &Problem) -> f64 {
    1e-8_f64.max(1e-12 / problem.lambda)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Primal feasibility, optimality to 1e-8 from duals alone, and the cutoff they imply, for both ends.
    #[test]
    fn duals_are_feasible_and_optimal(problem in problem()) {
        let tolerance = tolerance(&problem);
        for end in [FlatIntercept::Largest, FlatIntercept::Smallest] {
            let model = problem.model_with(end);
            for point in problem.test_points() {
                match model.solution(point, problem.alpha()).unwrap() {
                    Some(solution) => {
                        problem.assert_optimal(point, &solution, tolerance);
                        prop_assert!(solution.violation <= tolerance);
                    }
                    None => prop_assert!((problem.n() as f64 + 1.0) * problem.alpha < 1.0),
                }
            }
        }
    }

    /// A point set and its order are the same problem.
    #[test]
    fn the_order_of_the_points_does_not_matter(problem in problem()) {
        let mut reversed = problem.clone();
        reversed.scores.reverse();
        let rows: Vec<&[f64]> = problem.features.chunks_exact(problem.columns).rev().collect();
        reversed.features = rows.concat();
        let tolerance = tolerance(&problem);
        for (a, b) in problem.cutoffs().into_iter().zip(reversed.cutoffs()) {
            prop_assert!(a == b || (a - b).abs() <= tolerance, "{} {}", a, b);
        }
    }

    /// Adding a constant to every score adds it to every cutoff.
    #[test]
    fn cutoffs_move_with_the_scores(problem in problem(), shift in -3.0..3.0f64) {
        let mut shifted = problem.clone();
        shifted.scores.iter_mut().for_each(|score| *score += shift);
        let tolerance = tolerance(&problem);
        for (a, b) in problem.cutoffs().into_iter().zip(shifted.cutoffs()) {
            prop_assert!(a + shift == b || (a + shift - b).abs() <= tolerance, "{} {}", a, b);
        }
    }
}
