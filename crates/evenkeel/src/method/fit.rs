//! What every method does, in one form: it looks at the calibration data, says what a pass over the target data must
//! keep, ends a pass, and concludes.
//!
//! ```text
//! begin(calibration data)          -> a stage, and the pass it asks for
//! pass.empty, pass.add, pass.merge -> the state of a pass: made anywhere, merged in any order
//! stage.end_pass(state)            -> the next stage and its pass, or what is concluded: weights, rule, evidence
//! ```
//! A pass is split in two. The *pass* itself is what a worker needs to read rows: settings and places where CDFs must
//! be exact. The *state* is what the rows leave behind. Both travel between processes; only states are merged.

use std::fmt::Debug;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Concluded;
use super::dispatch::AnyStage;
use super::ot::Learning;
use crate::error::{Error, Result, require_same_length};
use crate::learning::optimise::TracePoint;
use crate::level::Miscoverage;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Labels, Probabilities, Score};
use crate::seed::Seed;
use crate::side_inputs::SideInputs;
use crate::sketch::{RowMarks, marks_of_keys};

/// Sees every recorded point of an optimisation, and may end it.
pub(crate) type Observer<'a> = dyn FnMut(&TracePoint) -> ControlFlow<()> + 'a;

/// What is asked for, whatever the method: the part of the settings that every room sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Context {
    /// What scores labels, of both data sets alike.
    pub score: Score,
    /// Miscoverage rate of the level asked for; most methods serve every rate and trace this one.
    pub alpha: Miscoverage,
    /// Root of all randomness; each purpose opens a stream of its own.
    pub seed: Seed,
}

/// The calibration data, checked and scored once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored<'a, T> {
    /// Class probabilities, shape `(n, C)`.
    pub probabilities: &'a Probabilities<'a, T>,
    /// Their true labels, in the same order; shape `(n,)`.
    pub labels: &'a Labels,
    /// Features, ratios and weights given with the points; checked to be finite and one for each.
    pub side: SideInputs<'a>,
    /// `s(x_i, y_i)`, shape `(n,)`, in the caller's order.
    pub scores: &'a [f64],
    /// Score, level and seed of the run.
    pub context: Context,
}

impl<T: Real> Scored<'_, T> {
    /// Number `C` of classes, the columns of the probabilities.
    pub(crate) fn classes(&self) -> usize {
        self.probabilities.classes()
    }
}

/// What reads target rows into a state. It is sent to workers, so it holds all they need and no more.
pub(crate) trait Pass: Clone + Debug + Serialize + DeserializeOwned + Send + Sync {
    /// What the rows leave behind: bounded in size, or growing with the rows where nothing less
    /// will do.
    type State: Clone + Debug + Serialize + DeserializeOwned + Send;

    /// The state before the first row; merging it changes nothing.
    fn empty(&self) -> Self::State;

    /// Adds a block of probability rows and what was given with them. Every row is checked here, once; an error names the
    /// row by its key.
    fn add<T: Real>(
        &self,
        state: Self::State,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<Self::State>;

    /// Joins two states of this pass. The order does not matter.
    ///
    /// Neither does the tree: sums are of whole numbers or run in the order of the keys, so that
    /// any cut into parts gives the same bytes.
    fn merge(&self, state: Self::State, other: Self::State) -> Result<Self::State>;

    /// An error unless a state that came from elsewhere can be one of this pass.
    ///
    /// Its checksum only finds accidents. Merging relies on shapes, seeds and ranges that this
    /// compares.
    fn check(&self, state: &Self::State) -> Result<()>;

    /// Number of classes of the rows it reads.
    fn classes(&self) -> usize;

    /// An empty state, one of several that will see `rows` rows together: it may keep less than one that sees them all alone.
    ///
    /// What all of them are merged to is the same. States whose size does not depend on the rows stay as they are.
    fn empty_of(&self, rows: u64) -> Self::State {
        let _ = rows;
        self.empty()
    }

    /// What tells the rows of a block from others: their keys, or where a second pass follows their contents too.
    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_keys(keys, block.rows())
    }
}

/// A method between the calibration data and the end of a pass over the target data.
pub(crate) trait Stage: Debug + Send + Sized {
    /// What it asks of the target rows, and what is sent to workers.
    type Pass: Pass;

    /// Takes the state of all rows of the pass; `rows` is their number, at least 1.
    ///
    /// By value: a stage cannot be ended twice, nor take rows after its end.
    fn end_pass(
        self,
        pass: Self::Pass,
        state: <Self::Pass as Pass>::State,
        rows: u64,
    ) -> Result<Next>;
}

/// What follows a pass: another one, a descent, or the end.
#[derive(Debug)]
pub(crate) enum Next {
    /// All rows are needed once more.
    Again(Box<AnyStage>),
    /// All is known, but for an optimisation that somebody may watch; it runs when it is asked for.
    Learn(Box<Learning>),
    /// All is known: weights, rule and evidence.
    Done(Box<Concluded>),
}

impl Next {
    /// The next stage, of whichever room.
    pub(crate) fn again(stage: impl Into<AnyStage>) -> Self {
        Self::Again(Box::new(stage.into()))
    }

    /// The end. A `Result`, because it stands last in functions that give one.
    pub(crate) fn done(concluded: Concluded) -> Result<Self> {
        Ok(Self::Done(Box::new(concluded)))
    }
}

/// A stage, its pass, and what the rows have left behind so far.
#[derive(Debug)]
pub(crate) struct Open<S: Stage> {
    /// The calibration side, as far as the end of the pass needs it.
    pub stage: S,
    /// How rows are read; a copy of it is what a plan for workers holds.
    pub pass: S::Pass,
    /// What they left so far, on this side of the wire.
    pub seen: Seen<<S::Pass as Pass>::State>,
}

impl<S: Stage> Open<S> {
    /// A stage that has seen no row of its pass yet.
    pub(crate) fn new(stage: S, pass: S::Pass) -> Self {
        let seen = Seen::new(pass.empty());
        Self { stage, pass, seen }
    }
}

/// The state of some rows, how many they were, and which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen<S> {
    /// Number of rows, blocks and merged states together.
    pub rows: u64,
    /// Which they were: two passes over the same rows have the same marks.
    pub marks: RowMarks,
    /// What the pass made of them.
    pub state: S,
}

impl<S> Seen<S> {
    /// No rows, and the pass's empty state.
    pub(crate) fn new(state: S) -> Self {
        Self { rows: 0, marks: RowMarks::default(), state }
    }

    /// Adds a block. The state is taken and given back, so that none can be used after a block failed half-way.
    ///
    /// # Errors
    /// If the block has other classes, keys or side inputs are not one for each row, or the pass
    /// refuses a row.
    pub(crate) fn add<P: Pass<State = S>, T: Real>(
        self,
        pass: &P,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<Self> {
        let rows = block.rows();
        // Here for all methods, before any room sees the block: a room may index by class and by
        // row.
        require_same_length(
            "target classes",
            block.columns(),
            "calibration classes",
            pass.classes(),
        )?;
        keys.check(rows)?;
        side.check(rows)?;
        Ok(Self {
            rows: self.rows + rows as u64,
            marks: self.marks.and(pass.marks(keys, block)),
            state: pass.add(self.state, keys, block, side)?,
        })
    }

    /// Joins what other rows left behind.
    ///
    /// # Errors
    /// `Damaged` if the rows of both overflow a count, or the other state is not one of this pass.
    pub(crate) fn merge<P: Pass<State = S>>(self, pass: &P, other: Self) -> Result<Self> {
        // The number stands in bytes that anybody may have written; a sum that wraps would pass for
        // few rows.
        let rows = self.rows.checked_add(other.rows);
        let rows = rows.ok_or(Error::Damaged {
            what: "the state",
            why: "it counts more rows than there can be",
        })?;
        pass.check(&other.state)?;
        Ok(Self {
            rows,
            marks: self.marks.and(other.marks),
            state: pass.merge(self.state, other.state)?,
        })
    }
}
