//! The plan matched to an accuracy: the temperature at which the model is right as often as it should be.
//!
//! ```text
//! h_e = (1 - mix) f_e + mix g_e,   f_e = softmax(z / (T e)),   g_e its balanced plan
//! e in [1/8, 16]  such that  mean_j h_e,j(top_j) = a           30 bisections of ln e
//! ```
//! The mean falls as `e` grows: a hotter softmax is less sure of its first choice. An accuracy that no `e` reaches leaves the
//! nearer end, and says so.

use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::kept_rows::KeptRows;
use super::transport_plan::{GroupTable, Iterating, Marginal, TransportPlan, fit_plan};

/// Smallest and largest factor on the temperature.
pub(crate) const FACTORS: (f64, f64) = (0.125, 16.0);
/// Bisections of the logarithm of the factor.
const BISECTIONS: usize = 30;
/// After so many bisections in one direction the end itself is tried: near `1/8` rows are all but certain, the balanced plan
/// takes thousands of iterations there, and an accuracy beyond the end would be looked for thirty times over.
const BEFORE_THE_END: usize = 6;
/// An end that misses the accuracy by no more than this has reached it.
const REACHED: f64 = 1e-6;

/// Whether a law could be matched to an accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Match {
    /// Its accuracy is the one asked for.
    Reached,
    /// No temperature gives it: the law is that of the nearer end.
    AccuracyUnreachable,
}

/// A label law with a given accuracy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchedPlan {
    /// The accuracy asked for; a band may ask for more than one.
    pub accuracy: f64,
    /// `e`, the factor on the fitted temperature.
    pub factor: f64,
    /// Whether the accuracy was reached.
    pub matched: Match,
    /// The balanced plan at `T e`; not needed where its share is zero.
    pub plan: TransportPlan,
}

/// What is matched: kept target rows, their groups, the fitted temperature and the plan's share.
#[derive(Clone, Copy)]
pub(crate) struct Matching<'a> {
    pub target: &'a KeptRows,
    pub groups: &'a ClassGroups,
    pub temperature: f64,
    pub mix: f64,
    pub iterating: Iterating,
}

impl Matching<'_> {
    /// The law with this accuracy.
    pub(crate) fn to(&self, accuracy: f64) -> MatchedPlan {
        let (sharpest, hottest) = (FACTORS.0.ln(), FACTORS.1.ln());
        let (mut low, mut high) = (sharpest, hottest);
        for bisection in 0..BISECTIONS {
            if bisection == BEFORE_THE_END {
                if low == sharpest {
                    let end = self.at(FACTORS.0);
                    if end.0 <= accuracy {
                        return self.end(FACTORS.0, accuracy, end);
                    }
                } else if high == hottest {
                    let end = self.at(FACTORS.1);
                    if end.0 > accuracy {
                        return self.end(FACTORS.1, accuracy, end);
                    }
                }
            }
            let middle = 0.5 * (low + high);
            if self.at(middle.exp()).0 > accuracy {
                low = middle;
            } else {
                high = middle;
            }
        }
        let factor = (0.5 * (low + high)).exp();
        let (_, plan) = self.at(factor);
        MatchedPlan { accuracy, factor, matched: Match::Reached, plan }
    }

    fn end(&self, factor: f64, accuracy: f64, (mean, plan): (f64, TransportPlan)) -> MatchedPlan {
        let near = (mean - accuracy).abs() <= REACHED;
        let matched = if near { Match::Reached } else { Match::AccuracyUnreachable };
        MatchedPlan { accuracy, factor, matched, plan }
    }

    /// `mean_j h_e,j(top_j)`, and the plan in it.
    fn at(&self, factor: f64) -> (f64, TransportPlan) {
        let Self { target, groups, temperature, mix, iterating } = *self;
        let table = GroupTable::new(target.logits(), target.top(), groups, temperature * factor);
        let plan = if mix > 0.0 {
            fit_plan(&table, &groups.prior, Marginal::Balanced, iterating)
        } else {
            TransportPlan::not_needed(groups.len())
        };
        (table.mean_top(mix, &plan, groups, target.top()), plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label_law::first_pass::FirstPass;
    use crate::label_law::target_rows::TargetRows;
    use crate::rows::{RowKeys, Rows};
    use crate::seed::Seed;

    const CLASSES: usize = 4;

    fn target(sharpness: f64) -> KeptRows {
        let mut stream = Seed::new(6).stream("matching");
        let logits: Vec<f64> = (0..300 * CLASSES).map(|_| sharpness * stream.uniform()).collect();
        let block = TargetRows::Logits(Rows::new("logits", &logits, CLASSES).unwrap());
        let first = FirstPass::new(CLASSES, 1.0, 0, 1000);
        KeptRows::of(first.add(RowKeys::From(0), &block).unwrap()).unwrap()
    }

    fn groups() -> ClassGroups {
        ClassGroups { group_of: vec![0, 1, 2, 1], prior: vec![0.5, 0.3, 0.2] }
    }

    /// For any share of the plan, and with classes that share a group, the law has the accuracy asked for.
    #[test]
    fn a_matched_law_has_the_accuracy() {
        let (target, groups) = (target(6.0), groups());
        let iterating = Iterating { tolerance: 1e-12, most_iterations: 100_000 };
        for mix in [0.0, 0.3, 1.0] {
            let matching =
                Matching { target: &target, groups: &groups, temperature: 1.0, mix, iterating };
            let mut before = 0.0;
            for accuracy in [0.8, 0.6, 0.45] {
                let found = matching.to(accuracy);
                assert_eq!(found.matched, Match::Reached);
                let (mean, _) = matching.at(found.factor);
                assert!((mean - accuracy).abs() < 1e-8, "{mean} for {accuracy} at {mix}");
                assert!(found.factor > before, "{found:?}");
                before = found.factor;
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_said() {
        let (target, groups) = (target(6.0), groups());
        let iterating = Iterating { tolerance: 1e-4, most_iterations: 10_000 };
        for mix in [0.0, 0.5] {
            let matching =
                Matching { target: &target, groups: &groups, temperature: 1.0, mix, iterating };
            for (accuracy, end) in [(1.02, FACTORS.0), (0.9999, FACTORS.0), (0.2, FACTORS.1)] {
                let found = matching.to(accuracy);
                assert_eq!(found.matched, Match::AccuracyUnreachable, "{found:?}");
                assert_eq!(found.factor, end);
            }
        }
    }

    /// A model that is all but certain is right as often as it says at any temperature near its own.
    #[test]
    fn certainty_is_reached_at_the_end() {
        let (target, groups) = (target(1e6), groups());
        let iterating = Iterating { tolerance: 1e-4, most_iterations: 10_000 };
        let matching =
            Matching { target: &target, groups: &groups, temperature: 1.0, mix: 0.0, iterating };
        let found = matching.to(1.0);
        assert_eq!((found.matched, found.factor), (Match::Reached, FACTORS.0));
    }
}
