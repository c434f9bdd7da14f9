//! A calibration in the making: the calibration data whole, the target rows in blocks or as states made elsewhere.
//!
//! ```text
//! begin -> Fit -add, absorb-> Fit -end_pass-> Again(Fit)          all rows once more
//!                                          -> Done(Ready) -finish-> Fitted
//! ```
//! Every step takes the fit and gives the next one back, so that a wrong order, or a fit whose last block failed, is a type
//! error and not a message: there is no `finish` before a pass has ended.
//!
//! ```compile_fail,E0599
//! # use evenkeel::calibrator::Fit;
//! fn too_early(fit: Fit) {
//!     let _ = fit.finish(&mut |_| std::ops::ControlFlow::Continue(()));
//! }
//! ```
//! Nor is there a fit left that could be used after a block was refused.
//!
//! ```compile_fail,E0382
//! # use evenkeel::{calibrator::Fit, rows::{RowKeys, Rows}, side_inputs::SideInputs};
//! fn after_a_refused_block(fit: Fit, block: Rows<'_, f64>) {
//!     let _ = fit.add(RowKeys::From(0), block, SideInputs::default());
//!     let _ = fit.end_pass();
//! }
//! ```

use std::ops::ControlFlow;

use super::ShiftCalibrator;
use crate::calibration::Calibration;
use crate::error::{Error, PointSet, Result};
use crate::label_law::LabelLawMap;
use crate::learning::optimise::TracePoint;
use crate::method::fit::{Next, Open, Scored};
use crate::method::ot::Learning;
use crate::method::{AnyStage, AnyState, Concluded, require_and_refuse};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Labels, Score};
use crate::side_inputs::{Labeled, SideInputs, TargetLabels};
use crate::sketch::state::{JobHeader, Kind, digest_of, open, open_parts, seal};
use crate::sketch::{PartIds, RowMarks};

/// A calibration in the making. Calibration points are whole in memory; target rows are added in blocks, so that they may be
/// more than fit there, or by [`absorb`](Self::absorb)ing what other processes made of theirs. Any cut into blocks and any
/// order gives the same bits, as long as every row keeps its key.
#[derive(Debug)]
pub struct Fit {
    /// What does not change from pass to pass.
    job: Job,
    /// The method's own state, and what rows left behind so far. Boxed: it is moved with every
    /// block.
    stage: Box<AnyStage>,
    /// Rows of the pass before and their marks, if there was one.
    before: Option<(u64, RowMarks)>,
    /// Parts whose states were absorbed in this pass.
    parts: PartIds,
}

/// Some of the target rows of a pass, as one thread of several has seen them: see [`Fit::share`].
#[derive(Debug)]
pub struct FitShare(AnyState);

/// What does not change from pass to pass.
#[derive(Debug)]
struct Job {
    /// The settings of the job, all of them.
    calibrator: ShiftCalibrator,
    /// Number of classes of both data sets.
    classes: usize,
    /// Which pass over the rows, from 1.
    pass: u8,
    /// How many target rows there will be, if that was said.
    rows: Option<u64>,
    /// The calibration data, for the job's name on the wire.
    calibration: Fingerprinted,
}

/// The calibration data as far as they name a job. Only fits that are spread over processes need the name, and hashing
/// takes longer than a small fit, so it is made when somebody asks.
#[derive(Debug)]
struct Fingerprinted {
    /// In the caller's order; they stand for the probabilities, which are not kept.
    scores: Vec<f64>,
    /// True labels, in the caller's order.
    labels: Labels,
    /// Features and their columns, if there were any.
    features: Option<(Vec<f64>, usize)>,
    /// Known likelihood ratios, if there were any.
    ratios: Option<Vec<f64>>,
    /// Weights of the user's own, if there were any.
    weights: Option<Vec<f64>>,
    target_labels: Option<TargetLabels>,
    /// Probabilities of other models and their columns, if there were any.
    second: Option<(Vec<f64>, usize)>,
}

impl Fingerprinted {
    /// Copies what names the data; the caller's tables may be gone when the name is asked for.
    fn new(scores: Vec<f64>, labels: &Labels, side: &SideInputs<'_>) -> Self {
        Self {
            scores,
            labels: labels.clone(),
            features: side.features.map(|table| (table.values().to_vec(), table.columns())),
            ratios: side.ratios.map(<[f64]>::to_vec),
            weights: side.weights.map(<[f64]>::to_vec),
            target_labels: side.labels.cloned(),
            second: side.second.map(|table| (table.values().to_vec(), table.columns())),
        }
    }

    /// SHA-256 of the data: two jobs with the same settings on other data must not be merged.
    fn digest(&self) -> Result<[u8; 32]> {
        let side = SideInputs {
            features: rows_of("features", self.features.as_ref())?,
            second: rows_of("second models", self.second.as_ref())?,
            ratios: self.ratios.as_deref(),
            weights: self.weights.as_deref(),
            labels: self.target_labels.as_ref(),
        };
        Ok(digest_of(&self.scores, &self.labels, &side))
    }
}

/// Only jobs come here, and they ask first.
const NO_LAW: Error = Error::Unsupported {
    what: "a fit scored by the label law of this calibration",
    instead: "take few-labels with the plan score, and a calibration that was made with the plan score",
};

/// A kept table as rows again.
fn rows_of<'a>(
    what: &'static str,
    kept: Option<&'a (Vec<f64>, usize)>,
) -> Result<Option<Rows<'a, f64>>> {
    kept.map(|(values, columns)| Rows::new(what, values, *columns)).transpose()
}

impl Job {
    /// The name of the job and the pass on the wire: method, settings, pass, digest of the data.
    fn header(&self) -> Result<JobHeader> {
        Ok(JobHeader {
            method: self.calibrator.method.name().as_str().to_owned(),
            settings: self.calibrator.settings(),
            pass: self.pass,
            rows: self.rows,
            calibration: self.calibration.digest()?,
        })
    }
}

/// What a pass over the target rows leads to. Taking it apart is the only way on.
#[derive(Debug)]
pub enum Ended {
    /// All rows are needed once more, with the same keys.
    Again(Fit),
    /// Nothing more is needed; [`Ready::finish`] gives the calibration.
    Done(Ready),
}

/// A fit that has seen all it asked for; only an optimisation may be left to run.
#[derive(Debug)]
pub struct Ready {
    /// Settings and classes.
    job: Job,
    /// What the last pass left to do.
    outcome: Outcome,
    /// Number and marks of the target rows.
    seen: (u64, RowMarks),
}

/// What is left after the last pass.
#[derive(Debug)]
enum Outcome {
    /// All but the weights, which an optimisation finds.
    Learn(Box<Learning>),
    /// Weights and rule are found.
    Done(Box<Concluded>),
}

/// A calibration, and where its points stood in the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The calibration; its scores are in increasing order.
    pub calibration: Calibration,
    /// `order[k]` is the input position of the point with the `k`-th smallest score; points that were used up in fitting a
    /// weight function are not among them.
    pub order: Vec<usize>,
    /// The label law of the target data; none where the method fits none. Coverage for each class rests on it.
    pub(crate) fitted_law: Option<LabelLawMap>,
    /// The target rows it was fitted to, by their number and marks; none where it was made of something else.
    pub(crate) fitted_to: Option<(u64, RowMarks)>,
}

impl ShiftCalibrator {
    /// Takes the labeled calibration points and waits for the target rows.
    ///
    /// # Errors
    /// If labels or side inputs do not belong to the points, or the method lacks something it needs.
    pub fn begin<T: Real>(&self, labeled: &Labeled<'_, T>) -> Result<Fit> {
        let Labeled { probabilities, labels, beside } = *labeled;
        beside.check(probabilities.rows())?;
        self.method.require_no_choice_beside(beside.labels)?;
        // `auto` with labels is `few-labels`: from here on the job is called so.
        let calibrator = Self { method: self.method.with_labels(beside.labels), ..*self };
        // What a method of a comparison has no use for is left out, not refused: the others may
        // need it.
        let used = calibrator.method.used_of(beside).given();
        require_and_refuse(&calibrator.method, PointSet::Calibration, &used)?;
        calibrator.method.require_score(&self.score)?;
        // Target and test rows have draws of their own. The word is part of the draws, and so of
        // files.
        let drawn = self.score.with_draws_for("calibration");
        let scores = drawn.label_scores(probabilities, labels)?;
        let scored = Scored {
            probabilities,
            labels,
            side: calibrator.method.used_of(beside),
            scores: &scores,
            context: self.context(),
        };
        let stage = Box::new(calibrator.method.begin(&scored)?);
        let classes = probabilities.classes();
        let calibration = Fingerprinted::new(scores, labels, &beside);
        let job = Job { calibrator, classes, pass: 1, rows: None, calibration };
        Ok(Fit { job, stage, before: None, parts: PartIds::default() })
    }

    /// Everything the states of a job depend on, by name.
    ///
    /// A worker compares them one by one and names the first that differs, so each has a name.
    fn settings(&self) -> Vec<(String, String)> {
        let own = self.method.options().into_iter().map(|(name, value)| (name.to_owned(), value));
        let mut settings: Vec<(String, String)> = own.collect();
        settings.extend([
            // With its parameters and the seed of its draws, which its option does not show.
            ("score".to_owned(), format!("{:?}", self.score)),
            ("alpha".to_owned(), self.alpha.get().to_string()),
            ("seed".to_owned(), self.seed.get().to_string()),
            // Last, so that what has a name is named: settings that only Rust programs can set stand here.
            ("settings in full".to_owned(), format!("{:?}", self.method)),
        ]);
        settings
    }
}

impl Fit {
    /// The same fit with both data sets scored by the label law that a calibration keeps, so that its threshold can be asked about.
    ///
    /// # Errors
    /// If the calibration keeps no such law, or the fit is not one of `few-labels` with the plan score before its first row.
    // Hidden: for the jobs, which ask what labels say of a calibration in use.
    #[doc(hidden)]
    pub fn scored_as(self, calibration: &Calibration) -> Result<Self> {
        let law = calibration.label_law().cloned().ok_or(NO_LAW)?;
        let Self { job, stage, before, parts } = self;
        match *stage {
            AnyStage::FewLabelsFirst(open) if job.calibrator.score == Score::Plan => {
                let Open { stage, pass, seen } = open;
                let open = Open { stage: stage.scored_by(law)?, pass, seen };
                Ok(Self { job, stage: Box::new(open.into()), before, parts })
            }
            _ => Err(NO_LAW),
        }
    }

    /// Number of target rows so far in this pass, absorbed ones included.
    pub fn rows(&self) -> u64 {
        self.stage.rows().0
    }

    /// Says how many target rows there are. Parts then keep no more than will be needed in the end, and the states of all of
    /// them together take little more room than one. The result is the same; another number of rows is an error.
    #[must_use]
    pub fn expecting(mut self, rows: u64) -> Self {
        self.job.rows = Some(rows);
        self.stage = Box::new(self.stage.expecting(rows));
        self
    }

    /// Number of classes of the rows it takes.
    pub fn classes(&self) -> usize {
        self.job.classes
    }

    /// Adds target rows of probabilities, and what is given beside them. Keys must be unique among all rows: use the row
    /// number for files and arrays, an id elsewhere.
    ///
    /// # Errors
    /// If a row is not a row of probabilities (named by its key), the block has other classes than the calibration data, or
    /// what is given beside it does not belong to it.
    pub fn add<T: Real>(
        self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<Self> {
        Ok(Self { stage: Box::new(self.stage.add(keys, block.any(), &beside)?), ..self })
    }

    /// For another thread of this process: it sees nothing yet. Rows are added to it by [`add_to`](Self::add_to), beside other threads,
    /// and in the end it is [`join`](Self::join)ed.
    pub fn share(&self) -> FitShare {
        FitShare(self.stage.empty_share(self.job.rows))
    }

    /// Adds target rows to a share, as [`add`](Self::add) does to the fit itself.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if it is a share of another pass.
    pub fn add_to<T: Real>(
        &self,
        FitShare(state): FitShare,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<FitShare> {
        self.stage.add_to(state, keys, block.any(), &beside).map(FitShare)
    }

    /// Takes what a share of this pass has seen. The order does not matter.
    ///
    /// # Errors
    /// If it is a share of another pass.
    pub fn join(self, FitShare(state): FitShare) -> Result<Self> {
        Ok(Self { stage: Box::new(self.stage.join(state)?), ..self })
    }

    /// What other processes need to read rows for this pass: see [`Part`](super::Part).
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a fit that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        seal(Kind::Plan, &self.job.header()?, &self.stage.pass())
    }

    /// An error unless these bytes are a state of this job and pass, of parts that were not absorbed yet. Asked before
    /// [`absorb`](Self::absorb), which takes the job itself, it keeps what was done so far.
    ///
    /// # Errors
    /// As [`absorb`](Self::absorb), as far as the sums do not matter.
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        let (header, parts) = open_parts(state)?;
        self.job.header()?.require_same(&header)?;
        self.parts.clone().joined(parts).map(drop)
    }

    /// Takes what another process made of its rows of this pass.
    ///
    /// # Errors
    /// If the bytes are damaged, or belong to another job or pass (the error says which setting differs), or hold a part that
    /// was absorbed already.
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (parts, state)) = open::<(PartIds, AnyState)>(Kind::State, state)?;
        // Before the state is merged: sums of another job would fit in shape and mean something
        // else.
        self.job.header()?.require_same(&header)?;
        let parts = self.parts.joined(parts)?;
        Ok(Self { stage: Box::new(self.stage.absorb(state)?), parts, ..self })
    }

    /// Ends a pass over the target rows: most methods need one, the label plan two.
    ///
    /// # Errors
    /// If there were no rows, the rows are not those of the pass before, or the method cannot work with them.
    pub fn end_pass(self) -> Result<Ended> {
        let Self { mut job, stage, before, .. } = self;
        let seen = stage.rows();
        if seen.0 == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        if let Some(expected) = job.rows.filter(|expected| *expected != seen.0) {
            return Err(Error::OtherNumberOfRows { expected, found: seen.0 });
        }
        // A second pass over other rows would give laws of one file with scalings of another.
        if let Some(before) = before.filter(|before| *before != seen) {
            return Err(Error::OtherRows { before: before.0, now: seen.0 });
        }
        Ok(match stage.end_pass()? {
            // At most two passes exist, so the count cannot wrap.
            Next::Again(stage) => {
                job.pass += 1;
                Ended::Again(Self { job, stage, before: Some(seen), parts: PartIds::default() })
            }
            Next::Learn(learning) => {
                Ended::Done(Ready { job, outcome: Outcome::Learn(learning), seen })
            }
            Next::Done(concluded) => {
                Ended::Done(Ready { job, outcome: Outcome::Done(concluded), seen })
            }
        })
    }
}

impl Ready {
    /// The calibration; `observer` sees every recorded point of an optimisation and may end it.
    ///
    /// # Errors
    /// If the method cannot work with what it has seen.
    pub fn finish(
        self,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Fitted> {
        let Self { job: Job { calibrator, classes, .. }, outcome, seen } = self;
        let concluded = match outcome {
            Outcome::Learn(learning) => learning.conclude(observer)?,
            Outcome::Done(concluded) => *concluded,
        };
        let fitted = calibrator.finish(calibrator.method.name(), concluded, classes)?;
        Ok(Fitted { fitted_to: Some(seen), ..fitted })
    }
}
