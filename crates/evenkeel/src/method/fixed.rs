//! `fixed`: the user's own weights, and 1 for the test point \[BCRT23\].
//!
//! ```text
//! w_i = v_i / (sum_k v_k + 1)
//! t(alpha) = smallest s with sum_{i: s_i <= s} w_i >= 1 - alpha
//! ```

use super::fit::{Next, Open, Scored, Stage};
use super::target_laws::{SeenScores, extremes};
use super::uncorrected::extremes_pass;
use super::{About, Concluded, Need, Needs, Rule, Sorted};
use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::measure::Weights;
use crate::rows::Real;
use crate::sketch::{TargetTable, TargetTableRecipe};
use crate::threshold::TestMass;

/// The room's entry in the list of methods; weights of the calibration points are required.
pub(crate) const ABOUT: About = About {
    name: "fixed",
    summary: "Weights that you give with the calibration points (Barber et al. 2023)",
    assumption: "the weights are right",
    needs: Needs { weights: Need::Required, ..Needs::NOTHING },
};

/// Given weights in the making of a calibration.
#[derive(Debug)]
pub(crate) struct FixedFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// `v_i` in the caller's order: finite, not negative, not normalised.
    weights: Vec<f64>,
}

/// Takes the weights; the target rows are still to come.
///
/// # Errors
/// `Missing` if no weights were given with the calibration points.
pub(crate) fn begin<T: Real>(calibration: &Scored<'_, T>) -> Result<Open<FixedFit>> {
    let weights = calibration.side.weights.ok_or(Error::Missing {
        what: Input::Side(SideInput::Weights, PointSet::Calibration),
        whose: User::Method(ABOUT.name),
    })?;
    let sorted = Sorted::new(calibration.scores);
    let pass = extremes_pass(calibration)?;
    Ok(Open::new(FixedFit { sorted, weights: weights.to_vec() }, pass))
}

impl Stage for FixedFit {
    type Pass = TargetTableRecipe;

    /// Weights in the order of the scores, and the test point's share `1 / (sum_k v_k + 1)`.
    fn end_pass(self, pass: TargetTableRecipe, state: TargetTable, _: u64) -> Result<Next> {
        let target = SeenScores::new(&pass, state)?;
        // Of the weights as given: dividing them by their sum first would change what a test point
        // of weight 1 is worth against them.
        let test_mass = TestMass::from_unnormalised(1.0, self.weights.iter().sum())?;
        let weights = Weights::normalised(self.sorted.arrange(&self.weights))?;
        let concluded = Concluded::given(self.sorted, weights, test_mass, Rule::Quantile);
        // The laws do not touch the weights; a warning asks them whether the scores reach far
        // enough.
        Next::done(concluded.with_sandwich(extremes(target.as_target())?))
    }
}
