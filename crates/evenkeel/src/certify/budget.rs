//! How many labels it takes to know a coverage to within a half-width.
//!
//! ```text
//! k = smallest number of labels whose Clopper-Pearson interval at x = round(level k) covered has (high - low)/2 <= half-width
//! ```
//! Rounding `x` makes the half-width rise and fall by a little from one `k` to the next. Above 200 labels, multiples of five are
//! tried: a budget is planned, and nobody plans 414.

use super::interval::{CoveredLabels, MeasuredCoverage, clopper_pearson, exact_ends};
use crate::error::{Error, Result};
use crate::level::{FailureProbability, Level};
use crate::numeric::beta::beta_quantile;

/// Up to here every number of labels is tried; above, multiples of [`STEP`].
const EVERY_NUMBER_TO: u64 = 200;
const STEP: u64 = 5;
/// Narrower intervals take more than ten million labels.
const NARROWEST: f64 = 1e-4;

/// Half the width of an interval for a coverage, between 0.0001 and 1: 0.05 is "plus or minus five points".
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct HalfWidth(f64);

impl HalfWidth {
    /// Checks that `0.0001 <= half_width < 1`.
    ///
    /// # Errors
    /// `OutOfRange` otherwise.
    pub fn new(half_width: f64) -> Result<Self> {
        if (NARROWEST..1.0).contains(&half_width) {
            Ok(Self(half_width))
        } else {
            Err(Error::OutOfRange {
                what: "the half-width",
                value: half_width,
                expected: "at least 0.0001 and below 1 (0.05 asks for plus or minus 5 points)",
            })
        }
    }

    /// The half-width.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The Clopper-Pearson interval that `labels` labels will give where coverage is `level`: `x = round(level k)` of them covered.
pub fn expected_interval(
    labels: u64,
    level: Level,
    failure: FailureProbability,
) -> Result<MeasuredCoverage> {
    let covered = ((level.get() * labels as f64).round() as u64).min(labels);
    Ok(clopper_pearson(CoveredLabels::new(covered, labels)?, failure))
}

/// Labels that make a Clopper-Pearson interval of at most this half-width where coverage is near `level`.
pub fn label_budget(half_width: HalfWidth, level: Level, failure: FailureProbability) -> u64 {
    let (asked, p, d) = (half_width.get(), level.get(), failure.get());
    let near = smallest_of_smooth(asked, p, d);
    // Half a label more or less changes the half-width as 2.2 / (p (1 - p)) labels at most do; where labels are few, look at all.
    let slack = (3.0 / (p * (1.0 - p))).min(1e9).ceil() as u64;
    let from = if near <= 2 * EVERY_NUMBER_TO { 0 } else { near.saturating_sub(slack) };
    let search = Search { asked, p, d };
    let mut first = place_of(from);
    loop {
        let last = first + LOOKED_AT - 1;
        if let Some(found) = search.first_of(first, last) {
            return planned(found);
        }
        first = last + 1;
    }
}

/// Places looked at together at first.
const LOOKED_AT: u64 = 64;

/// The number of labels at a place of the list of those worth planning.
fn planned(place: u64) -> u64 {
    place.min(EVERY_NUMBER_TO) + STEP * place.saturating_sub(EVERY_NUMBER_TO)
}

/// The first place whose number of labels is at least this.
fn place_of(labels: u64) -> u64 {
    labels.min(EVERY_NUMBER_TO) + labels.saturating_sub(EVERY_NUMBER_TO).div_ceil(STEP)
}

/// The search for the fewest labels.
struct Search {
    asked: f64,
    p: f64,
    d: f64,
}

impl Search {
    fn covered(&self, labels: u64) -> u64 {
        ((self.p * labels as f64).round() as u64).min(labels)
    }

    /// Both ends of the interval of so many covered labels of so many.
    fn ends(&self, covered: u64, labels: u64) -> (f64, f64) {
        // Always a count: never more covered than there are.
        CoveredLabels::new(covered.min(labels), labels)
            .map_or((0.0, 1.0), |counted| exact_ends(counted, self.d))
    }

    /// The first of the places from `first` to `last` whose interval is narrow enough.
    fn first_of(&self, first: u64, last: u64) -> Option<u64> {
        if !self.may_fit(planned(first), planned(last)) {
            return None;
        }
        if first == last {
            return Some(first);
        }
        let middle = first + (last - first) / 2;
        self.first_of(first, middle).or_else(|| self.first_of(middle + 1, last))
    }

    /// Whether some number of labels between these two may be enough; exact for a single one.
    ///
    /// Both ends grow with what is covered and fall with the labels, so that none of these intervals reaches up less than the one of
    /// the most labels with the least covered, nor down less than the one of the fewest labels with the most covered.
    fn may_fit(&self, fewest: u64, most: u64) -> bool {
        let (least, largest) = (self.covered(fewest), self.covered(most));
        let (_, high) = self.ends(least, most);
        let (low, _) = self.ends(largest, fewest.max(largest));
        // Rounding of the ends must not rule out what a look at each number would find.
        let room = if fewest == most { 0.0 } else { 1e-9 };
        0.5 * (high - low) <= self.asked + room
    }
}

/// The same with `x = level k` not rounded, which falls steadily with `k`: doubling, then bisection.
fn smallest_of_smooth(asked: f64, p: f64, d: f64) -> u64 {
    let fits = |k: u64| {
        let (hits, misses) = (p * k as f64, (1.0 - p) * k as f64);
        let end = |hits: f64, misses: f64| {
            if hits > 0.0 { beta_quantile(hits, misses + 1.0, d / 2.0) } else { 0.0 }
        };
        0.5 * (1.0 - end(misses, hits) - end(hits, misses)) <= asked
    };
    // The narrowest interval and the smallest failure probability there is take less than 2^45 labels.
    let (mut low, mut high) = (0, 1);
    while high < 1 << 45 && !fits(high) {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(half_width: f64, level: f64, d: f64) -> u64 {
        let failure = FailureProbability::new(d).unwrap();
        label_budget(HalfWidth::new(half_width).unwrap(), Level::new(level).unwrap(), failure)
    }

    /// What is passed over together holds nothing that a look at each number would have found.
    #[test]
    fn it_is_the_first_of_all_numbers() {
        for (half_width, level, d) in [
            (0.3, 0.9, 0.05),
            (0.05, 0.9, 0.05),
            (0.06, 0.5, 0.1),
            (0.04, 0.99, 0.05),
            (0.031, 0.8, 0.2),
            (0.025, 0.97, 0.01),
        ] {
            let fits = |k: u64| {
                let covered = ((level * k as f64).round() as u64).min(k);
                let (low, high) = exact_ends(CoveredLabels::new(covered, k).unwrap(), d);
                0.5 * (high - low) <= half_width
            };
            let each = (0..).map(planned).find(|k| fits(*k)).unwrap();
            assert_eq!(budget(half_width, level, d), each, "{half_width} at {level}, {d}");
        }
    }

    #[test]
    fn the_specification_is_met() {
        let found = [0.1, 0.07, 0.05, 0.03].map(|half_width| budget(half_width, 0.9, 0.05));
        assert_eq!(found, [42, 83, 155, 415]);
    }

    #[test]
    fn a_budget_buys_its_half_width() {
        let (level, failure) = (Level::new(0.9).unwrap(), FailureProbability::FIVE_PERCENT);
        for (labels, fits) in [(155, true), (154, false)] {
            let found = expected_interval(labels, level, failure).unwrap();
            assert_eq!(0.5 * (found.high - found.low) <= 0.05, fits, "{found:?}");
        }
        let nothing = expected_interval(0, level, failure).unwrap();
        assert_eq!((nothing.low, nothing.high), (0.0, 1.0));
    }

    /// The start of the search leaves out no smaller budget.
    #[test]
    fn it_is_the_first_that_fits() {
        for (half_width, level, d) in
            [(0.02, 0.9, 0.05), (0.025, 0.99, 0.1), (0.03, 0.5, 0.2), (0.01, 0.999, 0.05)]
        {
            let found = budget(half_width, level, d);
            for k in (0..found).filter(|k| planned(*k) == *k) {
                let counted = CoveredLabels::new((level * k as f64).round() as u64, k).unwrap();
                let (low, high) = exact_ends(counted, d);
                assert!(0.5 * (high - low) > half_width, "{k} fits too, {found} was found");
            }
        }
    }

    #[test]
    fn extremes_end() {
        assert_eq!(budget(0.5, 0.9, 0.05), 0);
        assert_eq!(budget(0.999, 0.0, 0.999), 0);
        for level in [0.0, 1.0] {
            let k = budget(0.01, level, 0.05);
            // (d/2)^(1/k) >= 1 - 2 * 0.01.
            let least = (0.025_f64.ln() / 0.98_f64.ln()).ceil();
            assert!((k as f64 - least).abs() < 5.0, "{k} {least}");
        }
        assert!(budget(1e-4, 0.9, 0.05) > 34_000_000);
        assert!(budget(0.05, 0.9, f64::MIN_POSITIVE) > 10_000);
        for bad in [0.0, -1.0, 1.0, f64::NAN, 1e-9] {
            assert!(HalfWidth::new(bad).is_err());
        }
    }
}
