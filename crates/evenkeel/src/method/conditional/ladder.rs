//! Cutoffs that do not grow with alpha, at any alpha.
//!
//! ```text
//! rungs          0.0001, 0.0002, 0.0005, 0.001, ..., 0.05, 0.1, 0.15, 0.2, 0.3, 0.5
//! below(alpha)   the largest rung <= alpha
//! cutoff*(alpha) = max { cutoff(rung) : rung >= below(alpha) }
//! ```
//! Each rate is a fit of its own, and quantile fits may cross: a label could be in the set at 80 % and not at 90 %. The maximum
//! runs over more rungs for a smaller alpha, so it does not grow with alpha, whatever the fits do. It is at least the cutoff
//! of the fit at `below(alpha) <= alpha`, so every guarantee of the rate `below(alpha)`, and with it that of alpha, holds. At a
//! rung where fits do not cross it is the fit at alpha, to the bit.
//!
//! A fit at alpha itself would be tighter between two rungs, but two such fits may cross, and there are too many rates to
//! compare all of them.

use super::ConditionalModel;
use crate::error::Result;
use crate::level::Miscoverage;
use crate::measure::QUANTILE_TOLERANCE;
use crate::rows::Rows;
use crate::threshold::Threshold;

/// Rates at which programs are solved: those that people ask for. Each costs a program for every point at all smaller rates.
///
/// The smallest is that of a single point among the most calibration points there can be: below it every set holds every
/// label anyway.
const RUNGS: [f64; 15] =
    [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

/// A cutoff for each of the test points with these features, shape `(m, d)`; none grows with alpha.
///
/// # Errors
/// As [`ConditionalModel::cutoffs`].
pub(super) fn nested_cutoffs(
    model: &ConditionalModel,
    rows: Rows<'_, f64>,
    alpha: Miscoverage,
) -> Result<Vec<Threshold>> {
    // Before the work: what is wrong with the rows is known at once, also where there is no rung.
    model.test_features(&rows)?;
    let Some(below) = rung_below(alpha) else {
        return Ok(vec![Threshold::AllLabels; rows.rows()]);
    };
    let lowest = model.at(Miscoverage::new(RUNGS[below])?)?;
    let mut nested = lowest.cutoffs(rows)?;
    // Too few points for the rate: no cutoff is larger than that of every label.
    if !lowest.has_program() {
        return Ok(nested);
    }
    for rung in &RUNGS[below + 1..] {
        let above = model.at(Miscoverage::new(*rung)?)?.cutoffs(rows)?;
        for (cutoff, above) in nested.iter_mut().zip(above) {
            if above.get() > cutoff.get() {
                *cutoff = above;
            }
        }
    }
    Ok(nested)
}

/// Place of the largest rung that is at most alpha; none below the first.
fn rung_below(alpha: Miscoverage) -> Option<usize> {
    // 1 - 0.9 is a rounding below 0.1: without the slack it would be given the sets of the next rung down.
    let reached = RUNGS.partition_point(|rung| *rung <= alpha.get() + QUANTILE_TOLERANCE);
    reached.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_stands_on_the_rung_below_it() {
        let below = |alpha: f64| rung_below(Miscoverage::new(alpha).unwrap()).map(|at| RUNGS[at]);
        for rung in RUNGS {
            assert_eq!(below(rung), Some(rung));
        }
        assert_eq!(below(1.0 - 0.9), Some(0.1));
        assert_eq!(below(0.14), Some(0.1));
        assert_eq!(below(0.99), Some(0.5));
        assert_eq!(below(0.00009), None);
    }

    #[test]
    fn rungs_increase() {
        assert!(RUNGS.windows(2).all(|pair| pair[0] < pair[1]));
        // One point among the most there can be.
        let most = super::super::LARGEST_CALIBRATION as f64;
        assert!((most + 1.0) * RUNGS[0] >= 1.0 && most * RUNGS[0] <= 1.0);
    }
}
