//! A calibration for each group, of target rows that lie elsewhere.
//!
//! ```text
//! pass 1     how many rows has each group?      which groups stand alone, which are merged
//! pass 2...  the fits of all groups at once     each reads the rows of its groups
//! ```

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::per_group::PerGroupCalibration;
use evenkeel::side_inputs::TargetLabels;

use super::fit::expecting;
use super::readers::{Asks, Found, TOO_MANY};
use super::several::{Gathering, Passed, Plan};
use crate::error::{JobError, PerRow, Result};
use crate::fit::Clock;
use crate::grouped::{
    Divided, GatheredData, GroupColumn, GroupFit, GroupJob, MemoryGroups, SizesBy, TargetGroups,
    begin_fits, finish_fits,
};
use crate::labeled::LabeledData;

/// A fit on the driver.
#[derive(Debug)]
pub(super) struct GroupsFit {
    setup: Setup,
    gathering: Gathering,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Rows are counted.
    Counting(Found),
    /// The groups are fitted.
    Fitting(Box<Fitting>),
}

#[derive(Debug)]
struct Fitting {
    divided: Divided,
    fits: Vec<GroupFit>,
    /// Places of the fits that read rows in this pass, in the order of its readers.
    open: Vec<usize>,
}

/// What does not change from pass to pass.
#[derive(Debug)]
struct Setup {
    calibrator: ShiftCalibrator,
    job: GroupJob,
    data: GatheredData,
    /// Of the calibration rows, and what the caller calls them.
    groups: (String, Vec<String>),
    target_labels: Option<TargetLabels>,
    settings: Vec<(String, String)>,
    rows: Option<u64>,
}

/// What a pass leads to.
pub(super) enum GroupsEnded {
    Again(Box<GroupsFit>),
    Done(Box<ReadyGroups>),
}

/// Fits that have seen all they need.
#[derive(Debug)]
pub(super) struct ReadyGroups {
    setup: Setup,
    divided: Divided,
    fits: Vec<GroupFit>,
}

impl GroupsFit {
    pub(super) fn begin(
        calibrator: &ShiftCalibrator,
        job: GroupJob,
        (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
        rows: Option<u64>,
    ) -> Result<Self> {
        // What is wrong with the data or the method is said before any row is read.
        labeled.begin(calibrator)?;
        let all: Vec<usize> = (0..labeled.rows()).collect();
        let target_labels = labeled.side_inputs().labels.cloned();
        let setting = |name: &str, value: String| (name.to_owned(), value);
        let settings = vec![
            setting("the method of each group", calibrator.method.name().as_str().to_owned()),
            setting("score", format!("{:?}", calibrator.score)),
            setting("alpha", calibrator.alpha.get().to_string()),
            setting("seed", calibrator.seed.get().to_string()),
            setting("per", job.by.clone().unwrap_or_default()),
            setting("the number of all rows", rows.map_or_else(String::new, |n| n.to_string())),
        ];
        let setup = Setup {
            calibrator: *calibrator,
            job,
            data: GatheredData::of(labeled, &all),
            groups: (groups.name().to_owned(), cells(groups)?),
            target_labels,
            settings,
            rows,
        };
        let found = setup.groups.1.len();
        if found != labeled.rows() {
            let (input, matrix) = (setup.groups.0, labeled.name().to_owned());
            let (what, rows) = (PerRow::Group, labeled.rows());
            return Err(JobError::Count { input, what, found, matrix, rows, more: false });
        }
        let keys =
            setup.target_labels.as_ref().map_or_else(Vec::new, |labels| labels.keys().to_vec());
        let readers = vec![(None, Asks::Groups { keys })];
        let plan = Plan { classes: labeled.classes(), part_of: None, readers };
        let gathering = Gathering::begin(&setup.settings, Passed::default(), plan)?;
        Ok(Self { setup, gathering, stage: Stage::Counting(Found::Nothing) })
    }

    pub(super) fn is_counting(&self) -> bool {
        matches!(self.stage, Stage::Counting(_))
    }

    pub(super) fn rows(&self) -> u64 {
        self.gathering.rows()
    }

    pub(super) fn plan(&self) -> &[u8] {
        self.gathering.plan()
    }

    pub(super) fn require_new(&self, state: &[u8]) -> Result<()> {
        self.gathering.require_new(state)
    }

    pub(super) fn absorb(mut self, state: &[u8]) -> Result<Self> {
        let found = self.gathering.open(state)?;
        self.stage = match self.stage {
            Stage::Counting(counted) => {
                Stage::Counting(found.into_iter().try_fold(counted, Found::merge)?)
            }
            Stage::Fitting(mut fitting) => {
                for (place, found) in fitting.open.iter().zip(found) {
                    if let Found::Job(state) = found {
                        fitting.fits[*place].change(|fit| Ok(fit.absorb(&state)?))?;
                    }
                }
                Stage::Fitting(fitting)
            }
        };
        Ok(self)
    }

    pub(super) fn end_pass(self) -> Result<GroupsEnded> {
        let Self { setup, gathering, stage } = self;
        let (divided, mut fits) = match stage {
            Stage::Counting(counted) => setup.divide(counted)?,
            Stage::Fitting(fitting) => {
                let Fitting { divided, mut fits, .. } = *fitting;
                for fit in &mut fits {
                    fit.end_pass(&divided, &mut Clock::default())?;
                }
                (divided, fits)
            }
        };
        // After the groups, whose errors say which of them has other rows.
        let passed = gathering.end()?;
        if !fits.iter().any(GroupFit::is_open) {
            return Ok(GroupsEnded::Done(Box::new(ReadyGroups { setup, divided, fits })));
        }
        let (mut open, mut readers) = (Vec::new(), Vec::new());
        for (place, fit) in fits.iter_mut().enumerate() {
            if let Some(running) = fit.open() {
                readers.push((fit.part, Asks::Job { plan: running.plan()? }));
                open.push(place);
            }
        }
        let part_of: BTreeMap<String, usize> =
            divided.names.iter().cloned().zip(divided.part_of.iter().copied()).collect();
        let classes = setup.data.data()?.classes();
        let plan = Plan { classes, part_of: Some(part_of), readers };
        let gathering = Gathering::begin(&setup.settings, passed, plan)?;
        let stage = Stage::Fitting(Box::new(Fitting { divided, fits, open }));
        Ok(GroupsEnded::Again(Box::new(Self { setup, gathering, stage })))
    }
}

impl Setup {
    /// The groups that stand alone and those that are merged, and the fit of each, once all rows are counted.
    fn divide(&self, counted: Found) -> Result<(Divided, Vec<GroupFit>)> {
        let Found::Groups { counts, of } = counted else {
            return Err(Error::Empty { what: "target probabilities" }.into());
        };
        // One overflow would let a state that was made up pass for few rows.
        let sum = counts.values().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let found = sum.ok_or(TOO_MANY)?;
        if let Some(expected) = self.rows.filter(|expected| *expected != found) {
            return Err(Error::OtherNumberOfRows { expected, found }.into());
        }
        let labeled = self.labeled(&of)?;
        let target = TargetGroups { counts, labeled };
        let data = self.with_labels(self.data.data()?);
        let mut groups = MemoryGroups::new(&self.groups.0, &self.groups.1);
        let sizes_by = SizesBy::of(self.calibrator.method.name());
        let at = (self.calibrator.alpha, self.job.small);
        let divided = Divided::of((&data, &mut groups), &target, at, sizes_by)?;
        let mut clock = Clock::default();
        let mut fits = begin_fits(&self.calibrator, &self.job, &data, &divided, &mut clock)?;
        for fit in &mut fits {
            let rows = fit.part.map_or(found, |part| divided.target_rows[part]);
            // A group without target rows has its own in their place.
            if rows > 0 {
                fit.change(|running| Ok(expecting(running, Some(rows))))?;
            }
        }
        Ok((divided, fits))
    }

    /// Key, group and label of the labeled rows; an error unless all of them came.
    fn labeled(&self, of: &BTreeMap<u64, String>) -> Result<Vec<(u64, String, usize)>> {
        let Some(labels) = &self.target_labels else { return Ok(Vec::new()) };
        let mut missing = labels.keys().iter().filter(|key| !of.contains_key(key));
        if let Some(key) = missing.next() {
            return Err(Error::LabelWithoutRow { key: *key, missing: 1 + missing.count() }.into());
        }
        let pairs = labels.keys().iter().zip(labels.as_slice());
        Ok(pairs.filter_map(|(key, label)| Some((*key, of.get(key)?.clone(), *label))).collect())
    }

    fn with_labels<'a>(&'a self, data: LabeledData<'a>) -> LabeledData<'a> {
        match &self.target_labels {
            Some(labels) => data.with_target_labels(labels),
            None => data,
        }
    }
}

impl ReadyGroups {
    pub(super) fn finish(
        self,
        go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<PerGroupCalibration> {
        let Self { setup, divided, fits } = self;
        let data = setup.with_labels(setup.data.data()?);
        let job = (&setup.calibrator, &setup.job);
        finish_fits(fits, job, (&data, &divided), &mut Clock::default(), go_on)
    }
}

/// All cells of a column of groups.
fn cells(column: &mut dyn GroupColumn) -> Result<Vec<String>> {
    column.rewind()?;
    let mut cells = Vec::new();
    while column.next_cells(1 << 16, &mut |cell| {
        cells.push(cell.to_owned());
        Ok(())
    })? > 0
    {}
    Ok(cells)
}
