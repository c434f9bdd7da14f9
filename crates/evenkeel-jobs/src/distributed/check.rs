//! A check whose target rows lie elsewhere.
//!
//! ```text
//! looking     the check itself; beside it the fit with labels of target rows, those rows, and the first rows for examples
//! repairing   a fit of what is recommended, where the check has not made it
//! sizing      the sizes of its sets, under the plan score
//! ```
//! All of them read the same rows: each pass is compared with those before it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Ended, Fit};
use evenkeel::check::{Check, CheckEnded};
use evenkeel::error::Error;
use evenkeel::score::Labels;

use super::bundle::require_parts_once;
use super::fit::expecting;
use super::readers::{Asks, Found};
use super::several::{Gathering, Passed, Plan};
use super::states_of;
use crate::any_rows::AnyRows;
use crate::check::{
    CheckJob, Checked, Counting, CoverageMeasured, FirstRows, LOOKED_AT, LabelsUsed, Repair,
    Settled,
};
use crate::error::Result;
use crate::labeled::LabeledData;

/// A check in the making, on the driver.
#[derive(Debug)]
pub struct DistributedCheck {
    setup: Setup,
    gathering: Gathering,
    stage: Stage,
}

/// What does not change from pass to pass.
#[derive(Debug)]
struct Setup {
    job: CheckJob,
    scores: Vec<f64>,
    labels: Labels,
    classes: usize,
    settings: Vec<(String, String)>,
    repairs: Repairs,
}

/// Fits that may be needed once the rows were looked at: begun while the calibration data are here.
#[derive(Debug)]
struct Repairs {
    anew: Option<Box<Fit>>,
    own_law: Option<Box<Fit>>,
    own_law_with_labels: Option<Box<Fit>>,
}

#[derive(Debug)]
enum Stage {
    Looking(Box<Looking>),
    Repairing(Box<(Settled, FirstRows, Fit)>),
    Sizing(Box<Sizing>),
}

#[derive(Debug)]
struct Looking {
    check: Running<Check, evenkeel::check::Checked>,
    /// With the labels of target rows, where there are any.
    fit: Option<Running<Fit, Calibration>>,
    /// Labeled rows and the first ones, of the first pass.
    kept: Found,
    /// What those came to, from the second pass on.
    seen: Option<(Option<CoverageMeasured>, FirstRows)>,
}

/// Something that waits for rows, or what it came to.
#[derive(Debug)]
enum Running<O, D> {
    Open(Box<O>),
    Done(Box<D>),
}

#[derive(Debug)]
struct Sizing {
    settled: Settled,
    first_rows: FirstRows,
    calibration: Calibration,
    found: Found,
}

/// What a pass leads to.
#[derive(Debug)]
pub enum CheckPassEnded {
    /// All rows are needed once more, with the plan that the check has now.
    Again(Box<DistributedCheck>),
    /// The answer.
    Done(Box<Checked>),
}

impl DistributedCheck {
    /// Takes the calibration data. The job's labels of target rows stand under the keys of their rows. `rows` is the number of all
    /// target rows, where it is known. Examples are rows of keys from 0 on: where keys are row numbers, those of one process.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn begin(job: CheckJob, labeled: &LabeledData<'_>, rows: Option<u64>) -> Result<Self> {
        let scores = job.scores(labeled)?;
        let check = job.begin(labeled, &job.settings)?;
        let check = match rows {
            Some(rows) => check.expecting(rows),
            None => check,
        };
        let classes = labeled.classes();
        let target_labels = job.labels.of_rows(classes)?;
        let with_labels = labeled.clone().with_target_labels(&target_labels);
        let boxed = |fit: Fit| Box::new(expecting(fit, rows));
        let fit = match job.labels.is_empty() {
            true => None,
            false => Some(Running::Open(boxed(job.begin_with_labels(&with_labels)?.0))),
        };
        let by_plan = job.by_plan();
        let repairs = Repairs {
            anew: match job.law_of.is_some() {
                true => None,
                false => Some(boxed(labeled.begin(&job.by_auto())?)),
            },
            own_law: match job.law_of.is_some() {
                true => Some(boxed(labeled.begin(&by_plan)?)),
                false => None,
            },
            own_law_with_labels: match job.law_of.is_some() && !job.labels.is_empty() {
                true => Some(boxed(with_labels.begin(&by_plan)?)),
                false => None,
            },
        };
        let settings = listed(&job, rows);
        let labels = labeled.labels().clone();
        let setup = Setup { job, scores, labels, classes, settings, repairs };
        let check = Running::Open(Box::new(check));
        let looking = Looking { check, fit, kept: Found::Nothing, seen: None };
        Self::of(setup, Passed::default(), Stage::Looking(Box::new(looking)))
    }

    fn of(setup: Setup, before: Passed, stage: Stage) -> Result<Self> {
        let readers = stage.asks(&setup.job)?.into_iter().map(|asks| (None, asks)).collect();
        let plan = Plan { classes: setup.classes, part_of: None, readers };
        let gathering = Gathering::begin(&setup.settings, before, plan)?;
        Ok(Self { setup, gathering, stage })
    }

    /// Number of rows merged in this pass.
    pub fn rows(&self) -> u64 {
        self.gathering.rows()
    }

    /// What workers need for this pass.
    pub fn plan(&self) -> &[u8] {
        self.gathering.plan()
    }

    /// An error unless this state, or every one of a bundle, can be merged.
    ///
    /// # Errors
    /// As [`DistributedFit::require_new`](super::DistributedFit::require_new).
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        let states = states_of(state)?;
        states.iter().try_for_each(|state| self.gathering.require_new(state))?;
        require_parts_once(&states)
    }

    /// Takes what parts made of their rows, in any order.
    ///
    /// # Errors
    /// As [`require_new`](Self::require_new).
    pub fn merge(mut self, state: &[u8]) -> Result<Self> {
        for state in states_of(state)? {
            let found = self.gathering.open(state)?;
            self.stage = self.stage.merge(found)?;
        }
        Ok(self)
    }

    /// Ends a pass over the target rows.
    ///
    /// # Errors
    /// If there were no rows, or not those of the pass before.
    pub fn end_pass(self) -> Result<CheckPassEnded> {
        let Self { setup, gathering, stage } = self;
        let passed = gathering.end()?;
        match stage {
            Stage::Looking(looking) => setup.looked(passed, *looking),
            Stage::Repairing(repairing) => {
                let (settled, first_rows, fit) = *repairing;
                match fit.end_pass()? {
                    Ended::Again(fit) => {
                        let stage = Stage::Repairing(Box::new((settled, first_rows, fit)));
                        again(setup, passed, stage)
                    }
                    Ended::Done(ready) => {
                        let made = ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration;
                        setup.repaired(passed, (settled, first_rows), made)
                    }
                }
            }
            Stage::Sizing(sizing) => {
                let Sizing { settled, first_rows, calibration, found } = *sizing;
                let (labels, rows) = match found {
                    Found::Sizes { labels, rows } => (labels, rows),
                    _ => (0, 0),
                };
                let after = labels as f64 / rows.max(1) as f64;
                let found = settled.by_own_law(&setup.job, &calibration, after);
                setup.done((settled, first_rows), (Some(found), Some(&calibration)))
            }
        }
    }
}

/// Another pass.
fn again(setup: Setup, before: Passed, stage: Stage) -> Result<CheckPassEnded> {
    Ok(CheckPassEnded::Again(Box::new(DistributedCheck::of(setup, before, stage)?)))
}

/// What states depend on beside the data, by name.
fn listed(job: &CheckJob, rows: Option<u64>) -> Vec<(String, String)> {
    let settings = [
        ("the kind of job", "check".to_owned()),
        ("score", format!("{:?}", job.score)),
        ("alpha", job.settings.alpha.get().to_string()),
        ("delta", job.settings.delta.get().to_string()),
        ("seed", job.settings.seed.get().to_string()),
        ("the number of all rows", rows.map_or_else(|| "not said".to_owned(), |n| n.to_string())),
    ];
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Stage {
    /// What its readers ask, in the order in which `merge` takes what they found.
    fn asks(&self, job: &CheckJob) -> Result<Vec<Asks>> {
        Ok(match self {
            Self::Looking(looking) => {
                let mut asks = Vec::new();
                if let Running::Open(check) = &looking.check {
                    asks.push(Asks::Job { plan: check.plan()? });
                }
                if let Some(Running::Open(fit)) = &looking.fit {
                    asks.push(Asks::Job { plan: fit.plan()? });
                }
                if looking.seen.is_none() {
                    let keys = job.labels.pairs().iter().map(|(row, _)| *row as u64).collect();
                    asks.push(Asks::Rows { keys, below: LOOKED_AT as u64 });
                }
                asks
            }
            Self::Repairing(repairing) => vec![Asks::Job { plan: repairing.2.plan()? }],
            Self::Sizing(sizing) => vec![Asks::sizes_of(&sizing.calibration)?],
        })
    }

    fn merge(self, found: Vec<Found>) -> Result<Self> {
        let mut found = found.into_iter();
        let mut next = || found.next().unwrap_or(Found::Nothing);
        Ok(match self {
            Self::Looking(mut looking) => {
                if let Running::Open(check) = looking.check {
                    looking.check = Running::Open(match next() {
                        Found::Job(state) => Box::new(check.absorb(&state)?),
                        _ => check,
                    });
                }
                if let Some(Running::Open(fit)) = looking.fit {
                    looking.fit = Some(Running::Open(absorbed(fit, next())?));
                }
                if looking.seen.is_none() {
                    looking.kept = looking.kept.merge(next())?;
                }
                Self::Looking(looking)
            }
            Self::Repairing(repairing) => {
                let (settled, first_rows, fit) = *repairing;
                let fit = *absorbed(Box::new(fit), next())?;
                Self::Repairing(Box::new((settled, first_rows, fit)))
            }
            Self::Sizing(mut sizing) => {
                sizing.found = sizing.found.merge(next())?;
                Self::Sizing(sizing)
            }
        })
    }
}

fn absorbed(fit: Box<Fit>, found: Found) -> Result<Box<Fit>> {
    Ok(match found {
        Found::Job(state) => Box::new(fit.absorb(&state)?),
        _ => fit,
    })
}

impl Setup {
    fn looked(self, passed: Passed, looking: Looking) -> Result<CheckPassEnded> {
        let Looking { check, fit, kept, seen } = looking;
        let threshold = match &check {
            Running::Open(check) => check.threshold(),
            Running::Done(found) => found.report.threshold.map_or(
                evenkeel::threshold::Threshold::AllLabels,
                evenkeel::threshold::Threshold::Finite,
            ),
        };
        let seen = match seen {
            Some(seen) => seen,
            None => self.seen(kept, threshold)?,
        };
        let check = match check {
            Running::Open(check) => match check.end_pass()? {
                CheckEnded::Again(check) => Running::Open(Box::new(check)),
                CheckEnded::Done(found) => Running::Done(found),
            },
            done => done,
        };
        let fit = match fit {
            Some(Running::Open(fit)) => Some(match fit.end_pass()? {
                Ended::Again(fit) => Running::Open(Box::new(fit)),
                Ended::Done(ready) => {
                    let made = ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration;
                    Running::Done(Box::new(made))
                }
            }),
            other => other,
        };
        let (found, fitted) = match (check, fit) {
            (Running::Done(found), None) => (found, None),
            (Running::Done(found), Some(Running::Done(fitted))) => (found, Some(*fitted)),
            (check, fit) => {
                let looking = Looking { check, fit, kept: Found::Nothing, seen: Some(seen) };
                return again(self, passed, Stage::Looking(Box::new(looking)));
            }
        };
        let (measured, first_rows) = seen;
        let settled = Settled::new((*found, threshold, self.classes), (measured, fitted));
        self.settled(passed, settled, first_rows)
    }

    /// Coverage of the labeled rows, and the first rows.
    fn seen(
        &self,
        kept: Found,
        threshold: evenkeel::threshold::Threshold,
    ) -> Result<(Option<CoverageMeasured>, FirstRows)> {
        let rows = match kept {
            Found::Rows(rows) => rows,
            _ => BTreeMap::new(),
        };
        let labels = self.job.labels.pairs();
        let mut missing = labels.iter().filter(|(row, _)| !rows.contains_key(&(*row as u64)));
        if let Some((row, _)) = missing.next() {
            let (key, missing) = (*row as u64, 1 + missing.count());
            return Err(Error::LabelWithoutRow { key, missing }.into());
        }
        let mut counting = Counting::new(&self.job, threshold);
        for (row, _) in labels {
            if let Some(values) = rows.get(&(*row as u64)) {
                counting.add(*row, &AnyRows::f64(values, self.classes)?)?;
            }
        }
        let measured = counting.finish(0, self.job.settings.delta)?;
        let mut first_rows = FirstRows::default();
        for row in 0..LOOKED_AT {
            let Some(values) = rows.get(&(row as u64)) else { break };
            first_rows.add(row, &AnyRows::f64(values, self.classes)?);
        }
        Ok((measured, first_rows))
    }

    /// What is recommended, or the pass that it takes to say so.
    fn settled(
        mut self,
        passed: Passed,
        settled: Settled,
        first_rows: FirstRows,
    ) -> Result<CheckPassEnded> {
        let repairs = &mut self.repairs;
        let fit = match settled.repair(&self.job)? {
            Repair::None => return self.done((settled, first_rows), (None, None)),
            Repair::Known(known) => {
                return self.done((settled, first_rows), (Some(*known), None));
            }
            Repair::Anew => repairs.anew.take(),
            Repair::ByOwnLaw(LabelsUsed::Used) => repairs.own_law_with_labels.take(),
            Repair::ByOwnLaw(LabelsUsed::LeftOut) => repairs.own_law.take(),
        };
        match fit {
            Some(fit) => {
                again(self, passed, Stage::Repairing(Box::new((settled, first_rows, *fit))))
            }
            // Every repair that can be asked for was begun, and is asked for once.
            None => Err(Error::IncompatibleSketches { what: "pass" }.into()),
        }
    }

    fn repaired(
        self,
        passed: Passed,
        (settled, first_rows): (Settled, FirstRows),
        made: Calibration,
    ) -> Result<CheckPassEnded> {
        if self.job.law_of.is_none() {
            let found = settled.anew(&self.job, &made);
            return self.done((settled, first_rows), (Some(found), None));
        }
        let sizing = Sizing { settled, first_rows, calibration: made, found: Found::Nothing };
        again(self, passed, Stage::Sizing(Box::new(sizing)))
    }

    fn done(
        self,
        (settled, first_rows): (Settled, FirstRows),
        made: (Option<crate::check::Recommended>, Option<&Calibration>),
    ) -> Result<CheckPassEnded> {
        let given = (self.scores, self.labels.as_slice());
        let checked = settled.conclude(&self.job, given, made, &first_rows)?;
        Ok(CheckPassEnded::Done(Box::new(checked)))
    }
}
