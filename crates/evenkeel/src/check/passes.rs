//! What the two passes of a check read and keep.
//!
//! ```text
//! first    both pairs of laws around the target scores, predictions for the shift test, and the first pass of the label plan
//! second   the laws of all readings: the second pass of the label plan; only where kept rows do not give them
//! ```

use serde::{Deserialize, Serialize};

use super::target_laws::{GatheredTarget, TargetLawsRecipe};
use crate::error::{Error, Result};
use crate::label_law::Unsampled;
use crate::method::fit::{Pass, Seen};
use crate::method::label_plan::{FirstPass, PlanFirstPass, PreparedPlan, SecondPass};
use crate::rows::{AnyRows, Real, RowKeys, Rows, of_their_type};
use crate::side_inputs::SideInputs;
use crate::sketch::{RowMarks, contradiction, marks_of_rows};

/// How rows are read in the first pass of a check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FirstCheckPass {
    pub laws: TargetLawsRecipe,
    pub plan: PlanFirstPass,
}

/// What the first pass leaves.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct FirstCheckState {
    pub target: GatheredTarget,
    pub plan: FirstPass,
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    target: GatheredTarget,
    plan: FirstPass,
}

impl TryFrom<Stored> for FirstCheckState {
    type Error = Error;

    fn try_from(Stored { target, plan }: Stored) -> Result<Self> {
        if target.rows() != plan.rows() {
            return Err(contradiction("its laws and its plan are not of the same rows"));
        }
        Ok(Self { target, plan })
    }
}

impl Pass for FirstCheckPass {
    type State = FirstCheckState;

    fn empty(&self) -> FirstCheckState {
        FirstCheckState { target: self.laws.empty(), plan: self.plan.empty() }
    }

    fn add<T: Real>(
        &self,
        mut state: FirstCheckState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<FirstCheckState> {
        self.laws.add(&mut state.target, keys, block)?;
        // The laws have read every row of the block, and refused those that are no probabilities.
        let read = Unsampled::WereRead;
        state.plan = self.plan.add_rows(state.plan, keys, block, side, read)?;
        Ok(state)
    }

    fn merge(&self, mut state: FirstCheckState, other: FirstCheckState) -> Result<FirstCheckState> {
        self.laws.merge(&mut state.target, other.target)?;
        state.plan = state.plan.merge(other.plan)?;
        Ok(state)
    }

    fn check(&self, state: &FirstCheckState) -> Result<()> {
        self.laws.check(&state.target)?;
        self.plan.check(&state.plan)
    }

    fn classes(&self) -> usize {
        self.plan.classes()
    }

    fn empty_of(&self, rows: u64) -> FirstCheckState {
        FirstCheckState { target: self.laws.empty_of(rows), plan: self.plan.empty_of(rows) }
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}

/// Either pass, as it is sent to workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum CheckPass {
    First(Box<FirstCheckPass>),
    Second(Box<PreparedPlan>),
}

/// What either pass leaves, as it is sent back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum CheckState {
    First(Box<Seen<FirstCheckState>>),
    Second(Box<Seen<SecondPass>>),
}

const OTHER_PASS: Error = Error::IncompatibleSketches { what: "pass" };

impl CheckPass {
    pub(super) fn empty(&self) -> CheckState {
        match self {
            Self::First(pass) => CheckState::First(Box::new(Seen::new(pass.empty()))),
            Self::Second(pass) => CheckState::Second(Box::new(Seen::new(pass.empty()))),
        }
    }

    /// The same for one of several parts that will see so many rows together.
    pub(super) fn empty_of(&self, rows: u64) -> CheckState {
        match self {
            Self::First(pass) => CheckState::First(Box::new(Seen::new(pass.empty_of(rows)))),
            Self::Second(pass) => CheckState::Second(Box::new(Seen::new(pass.empty_of(rows)))),
        }
    }

    pub(super) fn classes(&self) -> usize {
        match self {
            Self::First(pass) => pass.classes(),
            Self::Second(pass) => pass.classes(),
        }
    }

    pub(super) fn add(
        &self,
        state: CheckState,
        keys: RowKeys<'_>,
        block: AnyRows<'_>,
        side: &SideInputs<'_>,
    ) -> Result<CheckState> {
        match (self, state) {
            (Self::First(pass), CheckState::First(seen)) => {
                let seen = of_their_type!(block, rows => seen.add(&**pass, keys, rows, side))?;
                Ok(CheckState::First(Box::new(seen)))
            }
            (Self::Second(pass), CheckState::Second(seen)) => {
                let seen = of_their_type!(block, rows => seen.add(&**pass, keys, rows, side))?;
                Ok(CheckState::Second(Box::new(seen)))
            }
            _ => Err(OTHER_PASS),
        }
    }

    /// Whether a state is one of this pass, and not of the other.
    pub(super) fn is_of(&self, state: &CheckState) -> bool {
        matches!(
            (self, state),
            (Self::First(_), CheckState::First(_)) | (Self::Second(_), CheckState::Second(_))
        )
    }

    /// Joins two states; the second is checked first, as it may come from elsewhere.
    pub(super) fn merge(&self, state: CheckState, other: CheckState) -> Result<CheckState> {
        match (self, state, other) {
            (Self::First(pass), CheckState::First(seen), CheckState::First(other)) => {
                Ok(CheckState::First(Box::new(seen.merge(&**pass, *other)?)))
            }
            (Self::Second(pass), CheckState::Second(seen), CheckState::Second(other)) => {
                Ok(CheckState::Second(Box::new(seen.merge(&**pass, *other)?)))
            }
            _ => Err(OTHER_PASS),
        }
    }
}

impl CheckState {
    /// Number of rows seen, and their marks.
    pub(super) fn rows(&self) -> (u64, RowMarks) {
        match self {
            Self::First(seen) => (seen.rows, seen.marks),
            Self::Second(seen) => (seen.rows, seen.marks),
        }
    }
}
