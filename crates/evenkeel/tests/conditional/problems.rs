//! Random problems, and the optimality conditions computed anew.

use evenkeel::level::Miscoverage;
use evenkeel::method::conditional::{
    ConditionalModel, ConditionalSettings, ConditionalSolution, FlatIntercept, LambdaChoice,
};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;

#[derive(Debug, Clone)]
pub struct Problem {
    pub columns: usize,
    pub features: Vec<f64>,
    pub scores: Vec<f64>,
    pub test: Vec<f64>,
    pub alpha: f64,
    pub gamma: f64,
    pub lambda: f64,
}

impl Problem {
    pub fn n(&self) -> usize {
        self.scores.len()
    }

    pub fn alpha(&self) -> Miscoverage {
        Miscoverage::new(self.alpha).unwrap()
    }

    pub fn model(&self) -> ConditionalModel {
        self.model_with(FlatIntercept::Largest)
    }

    pub fn model_with(&self, flat_intercept: FlatIntercept) -> ConditionalModel {
        let lambda = LambdaChoice::Fixed(self.lambda);
        let settings = ConditionalSettings { gamma: self.gamma, lambda, flat_intercept };
        let features = Rows::new("features", &self.features, self.columns).unwrap();
        ConditionalModel::fit(features, &self.scores, &settings).unwrap()
    }

    pub fn cutoffs(&self) -> Vec<f64> {
        let test = Rows::new("test features", &self.test, self.columns).unwrap();
        let cutoffs = self.model().cutoffs(test, self.alpha()).unwrap();
        cutoffs.into_iter().map(Threshold::get).collect()
    }

    pub fn point(&self, row: usize) -> &[f64] {
        &self.features[row * self.columns..][..self.columns]
    }

    pub fn test_points(&self) -> impl Iterator<Item = &[f64]> {
        self.test.chunks_exact(self.columns)
    }

    pub fn kernel(&self, a: &[f64], b: &[f64]) -> f64 {
        let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        (-self.gamma * distance).exp()
    }

    /// `(lower, upper)`.
    pub fn bounds(&self) -> (f64, f64) {
        let c = 1.0 / (self.lambda * (self.n() as f64 + 1.0));
        (-c * self.alpha, c * (1.0 - self.alpha))
    }

    /// Asserts feasibility, optimality and the cutoff of a solution, from nothing but its duals.
    pub fn assert_optimal(&self, point: &[f64], solution: &ConditionalSolution, tolerance: f64) {
        let (lower, upper) = self.bounds();
        let rounding = 1e-12 * (upper - lower) * self.n() as f64;
        assert!((solution.test_dual - upper).abs() <= rounding);
        let total: f64 = solution.duals.iter().sum::<f64>() + solution.test_dual;
        assert!(total.abs() <= rounding, "duals sum to {total}");
        let (mut above, mut below) = (f64::NEG_INFINITY, f64::INFINITY);
        for (row, dual) in solution.duals.iter().enumerate() {
            assert!(*dual >= lower - 1e-15 && *dual <= upper + 1e-15);
            let fitted: f64 = (0..self.n())
                .map(|other| {
                    solution.duals[other] * self.kernel(self.point(row), self.point(other))
                })
                .sum();
            let gradient = self.scores[row]
                - fitted
                - solution.test_dual * self.kernel(self.point(row), point);
            // A dual off its bound by rounding only is at its bound: (n + 1) alpha may be whole.
            if *dual < upper - rounding {
                above = above.max(gradient);
            }
            if *dual > lower + rounding {
                below = below.min(gradient);
            }
        }
        assert!(above - below <= tolerance, "conditions violated by {}", above - below);
        if let Threshold::Finite(cutoff) = solution.cutoff {
            let b = solution.intercept;
            assert!(b >= above - tolerance && b <= below + tolerance, "{above} {b} {below}");
            let fitted: f64 = (0..self.n())
                .map(|row| solution.duals[row] * self.kernel(self.point(row), point))
                .sum();
            let expected = fitted + solution.test_dual + b;
            assert!((cutoff - expected).abs() <= tolerance, "{cutoff} {expected}");
        }
    }
}

/// Softmax-like rows of ten classes with LAC scores: most rows crowd at the corners.
pub fn softmax_problem(n: usize, tests: usize, seed: u64) -> Problem {
    let classes = 10;
    let mut stream = Seed::new(seed).stream("softmax problem");
    let mut rows = |count: usize| {
        let (mut values, mut scores) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let label = stream.below(classes);
            let logits: Vec<f64> = (0..classes)
                .map(|class| 6.0 * stream.uniform() + if class == label { 5.0 } else { 0.0 })
                .collect();
            let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
            values.extend(logits.iter().map(|logit| logit.exp() / total));
            scores.push(1.0 - logits[label].exp() / total);
        }
        (values, scores)
    };
    let (features, scores) = rows(n);
    let (test, _) = rows(tests);
    Problem { columns: classes, features, scores, test, alpha: 0.1, gamma: 12.5, lambda: 0.005 }
}
