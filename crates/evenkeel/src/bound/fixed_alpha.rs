//! `|F_P(t) - F_Q(t)|` and its bound between two laws: the coverage gap at one miscoverage rate
//! (Thm A.11).
//!
//! ```text
//! t         = smallest atom of P with F_P(t) >= 1 - alpha
//! labeled   = |F_P(t) - F_Q(t)|
//! unlabeled = (|F_P(t) - F_up(t)| + |F_P(t) - F_lo(t)| + |F_lo(t) - F_up(t)|) / 2
//! ```
//!
//! Both bounds are read off at `t`, the `1 - alpha` quantile of `P` without test mass. Add a [`DkwCorrection`] with
//! [`GapBound::with_correction`].
//!
//! [`DkwCorrection`]: super::DkwCorrection

use super::unlabeled::reference;
use super::{Form, GapBound, Rates, Reference, Terms};
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::sandwich::Sandwich;

/// `|F_P(t) - F_Q(t)|`, from labeled scores of the target data; in `[0, 1]`.
pub fn labeled_gap_at(
    p: &WeightedEmpirical,
    q: &WeightedEmpirical,
    alpha: Miscoverage,
) -> GapBound {
    // Without the test point's mass at infinity: the theorem compares laws, not a threshold in use.
    let t = p.quantile(alpha.level());
    let distance = (p.cdf(t) - q.cdf(t)).abs();
    GapBound {
        value: distance,
        form: Form::Pointwise,
        terms: Terms::ToLabeled { distance },
        reference: Reference::Labeled,
        rates: Rates::At(alpha),
        mass: 1.0,
        correction: None,
    }
}

/// `(|F_P - F_lo| + |F_P - F_up| + |F_lo - F_up|) / 2` at `t`; in `[0, 1]`.
///
/// Unlike eq 7 the theorem prints the last term as an absolute value, so a violated order still adds to the bound.
pub fn unlabeled_gap_at(
    p: &WeightedEmpirical,
    sandwich: &Sandwich,
    alpha: Miscoverage,
) -> GapBound {
    let t = p.quantile(alpha.level());
    let (f_p, f_lower, f_upper) = (p.cdf(t), sandwich.lower().cdf(t), sandwich.upper().cdf(t));
    let to_upper = (f_p - f_upper).abs();
    let to_lower = (f_p - f_lower).abs();
    let width = (f_lower - f_upper).abs();
    GapBound {
        value: 0.5 * (to_upper + to_lower + width),
        form: Form::Pointwise,
        terms: Terms::BetweenLaws { to_upper, to_lower, width },
        reference: reference(sandwich),
        rates: Rates::At(alpha),
        mass: 1.0,
        correction: None,
    }
}
