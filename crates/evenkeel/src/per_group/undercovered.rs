//! Classes that one threshold for all covers far below the level.
//!
//! ```text
//! named   coverage < level - 5 points  and  P(Bin(n_y, level) <= covered) < 0.01 / classes that occur
//! ```
//! Coverage at one threshold is an average over classes: a rare class can be covered half as often as the level says, and the
//! average stays where it should be.

use crate::evaluation::ClassCoverage;
use crate::level::Miscoverage;
use crate::numeric::beta::binomial_tails;
use crate::warning::Warning;

/// How far below the level is far.
const FAR: f64 = 0.05;
/// Probability that any class is named although all are covered at the level.
const FAILURE: f64 = 0.01;

/// The classes that are covered far below the level, the worst first, of the coverage of each class that occurs.
pub fn undercovered(per_class: &[ClassCoverage], alpha: Miscoverage) -> Vec<ClassCoverage> {
    let level = alpha.level().get();
    let limit = FAILURE / per_class.len().max(1) as f64;
    let mut found: Vec<ClassCoverage> = per_class
        .iter()
        .filter(|class| {
            let covered = (class.coverage * class.n as f64).round() as u64;
            class.coverage < level - FAR && binomial_tails(covered, class.n, level).lower < limit
        })
        .copied()
        .collect();
    found.sort_by(|a, b| a.coverage.total_cmp(&b.coverage).then(a.label.cmp(&b.label)));
    found
}

impl Warning {
    /// The warning about the worst of some undercovered classes; none where there is none.
    pub fn of_undercovered(found: &[ClassCoverage], alpha: Miscoverage) -> Option<Self> {
        let ClassCoverage { label, n, coverage } = *found.first()?;
        let (level, classes) = (alpha.level().get(), found.len());
        Some(Self::ClassUndercovered { label, points: n, coverage, level, classes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(label: usize, n: u64, coverage: f64) -> ClassCoverage {
        ClassCoverage { label, n, coverage }
    }

    #[test]
    fn what_chance_explains_is_not_named() {
        let alpha = Miscoverage::new(0.1).unwrap();
        let classes =
            [class(0, 900, 0.95), class(1, 100, 0.4), class(2, 100, 0.2), class(3, 6, 0.5)];
        let labels: Vec<usize> =
            undercovered(&classes, alpha).iter().map(|class| class.label).collect();
        assert_eq!(labels, [2, 1]);
        // Significant, and near: 87 of 90 % of very many.
        assert!(undercovered(&[class(0, 1_000_000, 0.87)], alpha).is_empty());
        assert!(undercovered(&[], alpha).is_empty());
        let said = Warning::of_undercovered(&undercovered(&classes, alpha), alpha).unwrap();
        assert!(said.to_string().contains("class 2 is covered 20.0 %"), "{said}");
    }
}
