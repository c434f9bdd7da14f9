//! The plan matched to an accuracy: the temperature at which the model is right as often as it should be.
//!
//! ```text
//! h_e = (1 - mix) f_e + mix g_e,   f_e = softmax(z / (T e)),   g_e its balanced plan
//! e in [1/8, 16]  such that  mean_j h_e,j(top_j) = a           ln e as exact as 30 bisections make it
//! ```
//! The mean falls as `e` grows: a hotter softmax is less sure of its first choice. An accuracy that no `e` reaches leaves the
//! nearer end, and says so. Every mean takes a fixed point, so the root is found by interpolation where the function lets it
//! be (Chandrupatla, 1997) and by bisection where it does not: a third of the evaluations as a rule.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::kept_rows::KeptRows;
use super::transport_plan::{GroupTable, Iterating, Marginal, TransportPlan, fit_plan};

/// Smallest and largest factor on the temperature.
pub(crate) const FACTORS: (f64, f64) = (0.125, 16.0);
/// Bisections of the logarithm of the factor.
const BISECTIONS: i32 = 30;
/// After so many bisections in one direction the end itself is tried, and not before: near `1/8` rows are all but certain, and
/// the balanced plan takes thousands of iterations there.
const BEFORE_THE_END: usize = 4;
/// After so many evaluations a root is bisected: interpolation has not helped.
const MOST_INTERPOLATIONS: usize = 40;
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

/// Means `mean_j h_e,j(top_j)` that are known, by `ln e`. Brackets of neighbouring accuracies begin with the same bisections.
#[derive(Debug, Default)]
struct KnownMeans(Mutex<Vec<(f64, f64)>>);

impl KnownMeans {
    /// The mean at a factor, made if it is not known. Two threads may make the same one: its bits are the same.
    fn at(&self, ln_factor: f64, make: impl Fn() -> f64) -> f64 {
        // A thread that panicked left whole pairs behind.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, mean)) = known().iter().find(|(at, _)| *at == ln_factor) {
            return *mean;
        }
        let mean = make();
        known().push((ln_factor, mean));
        mean
    }
}

impl Matching<'_> {
    /// The laws with these accuracies, by the threads of the current rayon pool.
    pub(crate) fn to_each(self, accuracies: &[f64]) -> Vec<MatchedPlan> {
        let known = KnownMeans::default();
        accuracies.par_iter().map(|accuracy| self.to(*accuracy, &known)).collect()
    }

    /// The law with this accuracy.
    fn to(&self, accuracy: f64, known: &KnownMeans) -> MatchedPlan {
        let mean = |ln_factor: f64| self.at(ln_factor.exp()).0;
        let above = |ln_factor: f64| mean(ln_factor) - accuracy;
        let (sharpest, hottest) = (FACTORS.0.ln(), FACTORS.1.ln());
        // Bisection, until both ends of the bracket are known: (ln e, mean - a), the first above and the second not.
        let (mut low, mut high) = ((sharpest, None), (hottest, None));
        let mut bisections = 0;
        let (low, high) = loop {
            match (low, high) {
                ((a, Some(above_a)), (b, Some(above_b))) => break ((a, above_a), (b, above_b)),
                ((_, known_low), (_, known_high)) if bisections == BEFORE_THE_END => {
                    let end = if known_low.is_none() { FACTORS.0 } else { FACTORS.1 };
                    let (mean, plan) = self.at(end);
                    let beyond = mean - accuracy;
                    if known_low.is_none() && beyond > 0.0 {
                        low.1 = Some(beyond);
                    } else if known_high.is_none() && beyond <= 0.0 {
                        high.1 = Some(beyond);
                    } else {
                        return Self::end(end, accuracy, mean, plan);
                    }
                }
                ((a, _), (b, _)) => {
                    let middle = 0.5 * (a + b);
                    let found = known.at(middle, || mean(middle)) - accuracy;
                    let side = if found > 0.0 { &mut low } else { &mut high };
                    *side = (middle, Some(found));
                    bisections += 1;
                }
            }
        };
        let width = (hottest - sharpest) * 0.5_f64.powi(BISECTIONS);
        let factor = root(low, high, width, above).exp();
        let (_, plan) = self.at(factor);
        MatchedPlan { accuracy, factor, matched: Match::Reached, plan }
    }

    fn end(factor: f64, accuracy: f64, mean: f64, plan: TransportPlan) -> MatchedPlan {
        let near = (mean - accuracy).abs() <= REACHED;
        let matched = if near { Match::Reached } else { Match::AccuracyUnreachable };
        MatchedPlan { accuracy, factor, matched, plan }
    }

    /// `mean_j h_e,j(top_j)`, and the plan in it.
    fn at(&self, factor: f64) -> (f64, TransportPlan) {
        let Self { target, groups, temperature, mix, iterating } = *self;
        if mix <= 0.0 {
            let mean = target.mean_top(temperature * factor);
            return (mean, TransportPlan::not_needed(groups.len()));
        }
        let table = GroupTable::of_kept(target, groups, temperature * factor);
        let plan = fit_plan(&table, &groups.prior, Marginal::Balanced, iterating);
        (table.mean_top(mix, &plan, groups, target.top()), plan)
    }
}

/// The middle of a bracket no wider than `width` around the root of a falling function that is positive at `low` and not at
/// `high`; both are `(x, function(x))`.
///
/// The next point is that of inverse quadratic interpolation through the last three where it can be trusted, the middle
/// elsewhere, and never nearer to an end than half the width: so both ends close in.
fn root(low: (f64, f64), high: (f64, f64), width: f64, function: impl Fn(f64) -> f64) -> f64 {
    // `newest` and `other` are on two sides of the root, `before` is the end that `newest` replaced.
    let (mut newest, mut other) = (low, high);
    let mut share = 0.5;
    for evaluated in 0.. {
        let next = newest.0 + share * (other.0 - newest.0);
        let found = (next, function(next));
        let before = if (found.1 > 0.0) == (newest.1 > 0.0) {
            newest
        } else {
            std::mem::replace(&mut other, newest)
        };
        newest = found;
        let nearest = 0.5 * width / (other.0 - newest.0).abs();
        if nearest >= 0.5 {
            break;
        }
        let (a, b, c) = (newest, other, before);
        let xi = (a.0 - b.0) / (c.0 - b.0);
        let phi = (a.1 - b.1) / (c.1 - b.1);
        let trusted = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        share = if trusted && evaluated < MOST_INTERPOLATIONS {
            let quadratic = a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1)
                + (c.0 - a.0) / (b.0 - a.0) * a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1);
            quadratic.clamp(nearest, 1.0 - nearest)
        } else {
            0.5
        };
    }
    0.5 * (newest.0 + other.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

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
        KeptRows::of(&first.add(RowKeys::From(0), &block).unwrap()).unwrap()
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
            for accuracy in [0.65, 0.55, 0.45] {
                let found = matching.to(accuracy, &KnownMeans::default());
                assert_eq!(found.matched, Match::Reached);
                let (mean, _) = matching.at(found.factor);
                assert!((mean - accuracy).abs() < 1e-8, "{mean} for {accuracy} at {mix}");
                assert!(found.factor > before, "{found:?}");
                before = found.factor;
            }
        }
    }

    /// Evaluations that several accuracies share change nothing: each law is the one it is alone, to the bit.
    #[test]
    fn laws_matched_together_are_those_matched_alone() {
        let (target, groups) = (target(6.0), groups());
        let iterating = Iterating { tolerance: 1e-9, most_iterations: 10_000 };
        for mix in [0.0, 0.4] {
            let matching =
                Matching { target: &target, groups: &groups, temperature: 1.0, mix, iterating };
            let accuracies = [0.5, 0.45, 0.55, 0.5, 1.02];
            let alone = accuracies.map(|share| matching.to(share, &KnownMeans::default()));
            assert_eq!(matching.to_each(&accuracies), alone);
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
                let found = matching.to(accuracy, &KnownMeans::default());
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
        let found = matching.to(1.0, &KnownMeans::default());
        assert_eq!((found.matched, found.factor), (Match::Reached, FACTORS.0));
    }

    /// The root that bisection finds, for smooth functions and for steps; for smooth ones in a third of the evaluations.
    #[test]
    fn roots_are_those_of_bisection() {
        type Function = fn(f64) -> f64;
        let functions: [(&str, Function); 5] = [
            ("line", |x| 0.3 - x),
            ("curve", |x| (-x).exp() - 0.9),
            ("step", |x| if x < 0.123 { 1.0 } else { -1e-3 }),
            ("stairs", |x| 0.2 - (x * 50.0).floor() / 50.0 - 1e-3),
            ("flat", |x| -(x - 0.4).powi(5)),
        ];
        for (name, function) in functions {
            let (mut a, mut b) = (-2.0, 2.5);
            let width = (b - a) * 0.5_f64.powi(BISECTIONS);
            let evaluations = Cell::new(0);
            let counted = |x| {
                evaluations.set(evaluations.get() + 1);
                function(x)
            };
            let found = root((a, function(a)), (b, function(b)), width, counted);
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (a + b);
                if function(middle) > 0.0 { a = middle } else { b = middle }
            }
            assert!((found - 0.5 * (a + b)).abs() <= width, "{name}: {found} in [{a}, {b}]");
            assert!(evaluations.get() <= 2 * BISECTIONS, "{name}: {}", evaluations.get());
            let smooth = ["line", "curve"].contains(&name);
            assert!(!smooth || evaluations.get() <= 12, "{name}: {}", evaluations.get());
        }
    }
}
