//! What a method takes beside the probabilities, and who refuses what.
//!
//! ```text
//!               features   ratios             weights   second models
//! calibration   needs      needs              needs     needs
//! target        needs      never              never     needs
//! predicted     needs      needs              never     never           of the method and its options
//! ```

use super::{Method, MethodName};
use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::side_inputs::SideInputs;

/// Whether a method takes a side input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It has no use for it; giving it is an error, so that nobody believes it entered.
    Unused,
    /// It works without, and better or on something else with it.
    Optional,
    /// It cannot work without; leaving it out is an error before any row is read.
    Required,
}

/// What a method takes of the calibration points beside their probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// A row of features per point of both data sets.
    pub features: Need,
    /// A known likelihood ratio `dQ/dP` per calibration point.
    pub ratios: Need,
    /// Weights of the user's own, one for each calibration point.
    pub weights: Need,
    /// Labels of some of the target rows.
    pub labels: Need,
    /// What other models say of the rows of both data sets.
    pub second: Need,
}

impl Needs {
    /// Probabilities are enough; every side input is refused.
    pub const NOTHING: Self = Self {
        features: Need::Unused,
        ratios: Need::Unused,
        weights: Need::Unused,
        labels: Need::Unused,
        second: Need::Unused,
    };

    /// The need for one side input, where code goes over all of them.
    pub fn of(&self, side: SideInput) -> Need {
        match side {
            SideInput::Features => self.features,
            SideInput::Ratios => self.ratios,
            SideInput::Weights => self.weights,
            SideInput::Labels => self.labels,
            SideInput::Second => self.second,
        }
    }
}

impl Method {
    /// What it takes of some points: target points have no ratios or weights, which are of calibration points alone.
    fn needs_of(&self, points: PointSet) -> Needs {
        match points {
            PointSet::Calibration => self.needs(),
            PointSet::Target => {
                let Needs { features, second, .. } = self.needs();
                Needs { features, second, ..Needs::NOTHING }
            }
            PointSet::Predicted | PointSet::Test => Needs {
                weights: Need::Unused,
                labels: Need::Unused,
                second: Need::Unused,
                ..self.needs()
            },
        }
    }

    /// Those of the side inputs that it uses: what one method of a comparison is given.
    pub(crate) fn used_of<'a>(&self, given: SideInputs<'a>) -> SideInputs<'a> {
        let needs = self.needs();
        let used = |side| needs.of(side) != Need::Unused;
        SideInputs {
            features: given.features.filter(|_| used(SideInput::Features)),
            ratios: given.ratios.filter(|_| used(SideInput::Ratios)),
            weights: given.weights.filter(|_| used(SideInput::Weights)),
            labels: given.labels.filter(|_| used(SideInput::Labels)),
            second: given.second.filter(|_| used(SideInput::Second)),
        }
    }
}

/// An error unless `given` is what the method needs of these points: nothing missing, nothing unused.
///
/// # Errors
/// [`Error::Missing`] or [`Error::NotUsed`] with the first that is.
///
/// Inputs are looked at in the order of `SideInput::ALL`, so that the same mistake gives the same
/// message in every shell.
pub fn require_and_refuse(method: &Method, points: PointSet, given: &[SideInput]) -> Result<()> {
    let needs = method.needs_of(points);
    for side in SideInput::ALL {
        let what = Input::Side(side, side.points(points));
        match (needs.of(side), given.contains(&side)) {
            (Need::Required, false) => return Err(Error::Missing { what, whose: method.user() }),
            (Need::Unused, true) => {
                // With another value of its option the method would use it, so the message must
                // name that option; otherwise the option has nothing to do with it.
                let used_otherwise = method.name().needs().of(side) != Need::Unused;
                let by = if used_otherwise {
                    method.user()
                } else {
                    User::Method(method.name().as_str())
                };
                return Err(Error::NotUsed { what, by, owners: owners(side) });
            }
            _ => {}
        }
    }
    Ok(())
}

/// An error if a side input was given that none of the methods of a comparison may use.
///
/// # Errors
/// [`Error::NotUsed`] with the first.
pub fn require_a_user_among(
    methods: &[MethodName],
    points: PointSet,
    given: &[SideInput],
) -> Result<()> {
    let unused = given
        .iter()
        .find(|side| methods.iter().all(|method| method.needs().of(**side) == Need::Unused));
    match unused {
        None => Ok(()),
        Some(side) => Err(Error::NotUsed {
            what: Input::Side(*side, side.points(points)),
            by: User::Comparison,
            owners: owners(*side),
        }),
    }
}

/// The methods that use a side input, in the order of the list; with the option they need for it.
fn owners(side: SideInput) -> Vec<User> {
    let used = |method: &MethodName| method.needs().of(side) != Need::Unused;
    let user = |method: MethodName| match (method, side) {
        (MethodName::LikelihoodRatio, SideInput::Ratios) => {
            User::MethodWith { method: method.as_str(), option: "ratio", value: "known" }
        }
        _ => User::Method(method.as_str()),
    };
    MethodName::ALL.into_iter().filter(used).map(user).collect()
}
