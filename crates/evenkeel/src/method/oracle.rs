//! `oracle`: split conformal prediction on labels of the target data, which the other methods try to match without them.
//!
//! ```text
//! threshold = the ceil((m + 1)(1 - alpha))-th smallest target score
//! ```

use super::{About, Concluded, Needs, Rule, Sorted};
use crate::error::{Result, require_finite, require_some};

/// The room's entry in the list of methods. Only a comparison can run it: it needs target labels.
pub(crate) const ABOUT: About = About {
    name: "oracle",
    summary: "Split conformal prediction on the labels of the test points themselves (compare only)",
    assumption: "labels of the target data",
    needs: Needs::NOTHING,
};

/// From scores of labeled target points, shape `(m,)`, in any order.
///
/// # Errors
/// If there is none, or one is not finite.
pub(crate) fn from_scores(scores: &[f64]) -> Result<Concluded> {
    require_some("calibration scores", scores)?;
    require_finite("calibration scores", scores)?;
    // The rule of plain split conformal prediction, on other points: what differs is the shift
    // alone.
    Concluded::split(Sorted::new(scores), Rule::Quantile)
}
