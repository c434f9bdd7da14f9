//! A check in the making: the calibration data whole, the target rows in blocks or as states made elsewhere, once or twice.
//!
//! ```text
//! begin -> Check -add, absorb-> Check -end_pass-> Again(Check)       all rows once more
//!                                              -> Done(Checked)
//! ```
//! The first pass keeps rows up to 2^21 probabilities. Where these are all rows, or the test finds no shift, they give the readings.
//! Where it finds one and there are more rows, all of them are read once more: thresholds are made of these laws.
//!
//! The form is that of [`Fit`](crate::calibrator::Fit): every step takes the check and gives the next one back.

use std::sync::Arc;

use super::checked_calibration::CheckedCalibration;
use super::passes::{CheckPass, CheckState};
use super::report::ShiftReport;
use super::settings::CheckSettings;
use super::target_laws::TargetLaws;
use crate::calibration::Calibration;
use crate::error::{Error, Result, require_same_length};
use crate::method::Concluded;
use crate::method::label_plan::LabelPlan;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Labels, Probabilities, Score};
use crate::shift::ShiftTest;
use crate::side_inputs::{Labeled, SideInputs};
use crate::sketch::state::{JobHeader, Kind, open, open_parts, seal};
use crate::sketch::{PartIds, RowMarks};
use crate::threshold::Threshold;

/// A check in the making. Calibration points are whole in memory; target rows are added in blocks, once or twice, or by
/// [`absorb`](Self::absorb)ing what other processes made of theirs. Any cut into blocks and any order gives the same bits, as
/// long as every row keeps its key.
///
/// A check that has seen no target rows can be cloned for every batch: what is known of the calibration data is found once.
#[derive(Debug, Clone)]
pub struct Check {
    calibration: Arc<CheckedCalibration>,
    pass: CheckPass,
    state: CheckState,
    /// What the first pass left, in the second.
    before: Option<Box<FirstPassDone>>,
    /// How many target rows there will be, if that was said.
    expected: Option<u64>,
    /// Parts whose states were absorbed in this pass.
    parts: PartIds,
}

/// Some of the target rows of a pass, as one thread of several has seen them: see [`Check::share`].
#[derive(Debug)]
pub struct CheckShare(CheckState);

#[derive(Debug, Clone)]
struct FirstPassDone {
    laws: TargetLaws,
    test: ShiftTest,
    /// Number of rows, and their marks.
    rows: (u64, RowMarks),
}

/// What a pass over the target rows leads to.
#[derive(Debug)]
pub enum CheckEnded {
    /// All rows are needed once more.
    Again(Check),
    /// The answer.
    Done(Box<Checked>),
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The answer as data.
    pub report: ShiftReport,
    /// The laws around the target scores it speaks of.
    pub laws: TargetLaws,
    /// The label plan of the same passes: what `auto` at the check's `delta` and seed would correct by. Its
    /// [`laws`](LabelPlan::laws) give the readings at any other threshold.
    pub plan: LabelPlan,
    /// What `auto` at the check's `delta` and seed makes of the target data; none where its test does not reject.
    pub(crate) auto: Option<Box<Concluded>>,
}

impl Check {
    /// Takes the labeled calibration points, tests the model's belief on them, and waits for the target rows.
    ///
    /// # Errors
    /// If labels do not belong to the points, the threshold in question is not finite, or the permutations are too few for the
    /// test to reject at `settings.delta`.
    pub fn begin<T: Real>(
        probabilities: &Probabilities<'_, T>,
        labels: &Labels,
        score: &Score,
        settings: &CheckSettings,
    ) -> Result<Self> {
        let beside = SideInputs::default();
        Self::begin_beside(&Labeled { probabilities, labels, beside }, score, settings)
    }

    /// The same with what other models say of the calibration points.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and if something is given beside the points that a check does not use.
    pub fn begin_beside<T: Real>(
        labeled: &Labeled<'_, T>,
        score: &Score,
        settings: &CheckSettings,
    ) -> Result<Self> {
        Self::of(CheckedCalibration::new(labeled, (score, None), settings)?)
    }

    /// A check of a threshold of a calibration in use, by what scores labels there: its score function, or the label law it keeps
    /// under the plan score. The threshold is that of `settings`.
    ///
    /// # Errors
    /// As [`begin_beside`](Self::begin_beside), and if the calibration has other classes.
    pub fn begin_as_scored_by<T: Real>(
        labeled: &Labeled<'_, T>,
        calibration: &Calibration,
        settings: &CheckSettings,
    ) -> Result<Self> {
        let (found, classes) = (labeled.probabilities.classes(), calibration.provenance().classes);
        require_same_length("classes", found, "the calibration's classes", classes)?;
        let (score, law) = (calibration.provenance().score, calibration.label_law());
        let score = match (score, law) {
            // Where no law was fitted the plan score is lac.
            (Score::Plan, None) => Score::Lac,
            (score, _) => score,
        };
        Self::of(CheckedCalibration::new(labeled, (&score, law), settings)?)
    }

    fn of(calibration: CheckedCalibration) -> Result<Self> {
        let calibration = Arc::new(calibration);
        let pass = CheckPass::First(Box::new(calibration.first_pass()?));
        let state = pass.empty();
        let parts = PartIds::default();
        Ok(Self { calibration, pass, state, before: None, expected: None, parts })
    }

    /// Says how many target rows there are, as [`Fit::expecting`](crate::calibrator::Fit::expecting) does.
    #[must_use]
    pub fn expecting(mut self, rows: u64) -> Self {
        self.expected = Some(rows);
        if self.rows() == 0 {
            self.state = self.pass.empty_of(rows);
        }
        self
    }

    /// Number of classes of the rows it takes.
    pub fn classes(&self) -> usize {
        self.pass.classes()
    }

    /// The threshold in question.
    pub fn threshold(&self) -> Threshold {
        self.calibration.threshold
    }

    /// Number of target rows so far in this pass.
    pub fn rows(&self) -> u64 {
        self.state.rows().0
    }

    /// Adds target rows of probabilities, read by the threads of the current rayon pool. Keys must be unique among all rows:
    /// use the row number for files and arrays, an id elsewhere.
    ///
    /// # Errors
    /// If a row is not a row of probabilities (named by its key), or the block has other classes than the calibration data.
    pub fn add<T: Real>(self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        self.add_beside(keys, block, SideInputs::default())
    }

    /// The same with what other models say of the rows.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if what is given beside the block does not belong to it.
    pub fn add_beside<T: Real>(
        self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<Self> {
        Ok(Self { state: self.pass.add(self.state, keys, block.any(), &beside)?, ..self })
    }

    /// For another thread of this process: it sees nothing yet. Rows are added to it by [`add_to`](Self::add_to), beside other threads,
    /// and in the end it is [`join`](Self::join)ed.
    pub fn share(&self) -> CheckShare {
        let pass = &self.pass;
        CheckShare(self.expected.map_or_else(|| pass.empty(), |rows| pass.empty_of(rows)))
    }

    /// Adds target rows to a share, as [`add_beside`](Self::add_beside) does to the check itself.
    ///
    /// # Errors
    /// As [`add_beside`](Self::add_beside), and if it is a share of another pass.
    pub fn add_to<T: Real>(
        &self,
        CheckShare(state): CheckShare,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<CheckShare> {
        self.pass.add(state, keys, block.any(), &beside).map(CheckShare)
    }

    /// Takes what a share of this pass has seen. The order does not matter.
    ///
    /// # Errors
    /// If it is a share of another pass.
    pub fn join(self, CheckShare(state): CheckShare) -> Result<Self> {
        let state = match self.rows() {
            // Nothing was seen so far: it is taken as it is, without a copy of the rows it keeps.
            0 if self.pass.is_of(&state) => state,
            _ => self.pass.merge(self.state, state)?,
        };
        Ok(Self { state, ..self })
    }

    /// What other processes need to read rows for this pass: see [`CheckPart`](super::CheckPart).
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a check that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        seal(Kind::Plan, &self.header()?, &self.pass)
    }

    /// An error unless these bytes are a state of this job and pass, of parts that were not absorbed yet. Asked before
    /// [`absorb`](Self::absorb), which takes the job itself, it keeps what was done so far.
    ///
    /// # Errors
    /// As [`absorb`](Self::absorb), as far as the sums do not matter.
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        let (header, parts) = open_parts(state)?;
        self.header()?.require_same(&header)?;
        self.parts.clone().joined(parts).map(drop)
    }

    /// Takes what another process made of its rows of this pass.
    ///
    /// # Errors
    /// If the bytes are damaged, or belong to another check or pass (the error says which setting differs), or hold a part that
    /// was absorbed already.
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (parts, state)) = open::<(PartIds, CheckState)>(Kind::State, state)?;
        self.header()?.require_same(&header)?;
        let parts = self.parts.joined(parts)?;
        Ok(Self { state: self.pass.merge(self.state, state)?, parts, ..self })
    }

    fn header(&self) -> Result<JobHeader> {
        self.calibration.header(if self.before.is_some() { 2 } else { 1 }, self.expected)
    }

    /// Ends a pass over the target rows.
    ///
    /// # Errors
    /// If there were no rows, two have one key, or the rows are not those of the pass before.
    pub fn end_pass(self) -> Result<CheckEnded> {
        let Self { calibration, pass, state, before, expected, .. } = self;
        let seen = state.rows();
        if seen.0 == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        if let Some(expected) = expected.filter(|expected| *expected != seen.0) {
            return Err(Error::OtherNumberOfRows { expected, found: seen.0 });
        }
        match (pass, state, before) {
            (CheckPass::First(pass), CheckState::First(state), None) => {
                let first = state.state;
                if first.plan.rows() != seen.0 {
                    let what = "the first pass";
                    return Err(Error::Damaged { what, why: "it does not count its rows" });
                }
                let laws = pass.laws.finish(first.target)?;
                let test = calibration.test(&laws)?;
                let prepared = calibration.prepare(&first.plan)?;
                if calibration.is_answered_by(&first.plan, &test) {
                    let (prepared, second) = prepared.read_kept(&first.plan)?;
                    let checked = calibration.finish((laws, test), &prepared, second)?;
                    return Ok(CheckEnded::Done(Box::new(checked)));
                }
                let pass = CheckPass::Second(Box::new(prepared));
                let state = pass.empty();
                let before = Some(Box::new(FirstPassDone { laws, test, rows: seen }));
                let parts = PartIds::default();
                Ok(CheckEnded::Again(Self { calibration, pass, state, before, expected, parts }))
            }
            (CheckPass::Second(prepared), CheckState::Second(state), Some(before)) => {
                let FirstPassDone { laws, test, rows } = *before;
                if seen != rows {
                    return Err(Error::OtherRows { before: rows.0, now: seen.0 });
                }
                let checked = calibration.finish((laws, test), &prepared, state.state)?;
                Ok(CheckEnded::Done(Box::new(checked)))
            }
            // A check holds the state of its own pass: nothing else can be put into one.
            _ => Err(Error::IncompatibleSketches { what: "pass" }),
        }
    }
}

/// The check of tables in memory.
///
/// # Errors
/// As [`Check::begin`], and if the target table has other classes than the calibration data.
pub fn check<T: Real, U: Real>(
    probabilities: &Probabilities<'_, T>,
    labels: &Labels,
    target: &Probabilities<'_, U>,
    score: &Score,
    settings: &CheckSettings,
) -> Result<Checked> {
    let mut open =
        Check::begin(probabilities, labels, score, settings)?.expecting(target.rows() as u64);
    loop {
        match open.add(RowKeys::From(0), target.table())?.end_pass()? {
            CheckEnded::Again(again) => open = again,
            CheckEnded::Done(checked) => return Ok(*checked),
        }
    }
}
