//! A calibration for each group: every method, fitted on the rows of each group, in one reading of the target rows a pass.

use std::ops::ControlFlow;

use evenkeel::calibrator::{Ended, Fit, Ready, ShiftCalibrator};
use evenkeel::method::MethodName;
use evenkeel::per_group::{GroupPart, PerGroupCalibration, SmallGroups, Standing, parts};
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::TargetLabels;

use super::documents::CalibratePerGroupDocument;
use super::gathered::{GatheredData, GatheredRows};
use super::group_column::{GroupColumn, Names, each_group, of_block, require_end};
use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::{JobError, PerRow, Result};
use crate::fit::Clock;
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// What becomes of rows whose group has no calibration points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherGroups {
    /// They are an error that names the group.
    #[default]
    Refuse,
    /// Their sets are made by a calibration of all groups together.
    Pooled,
}

/// How groups are treated.
#[derive(Debug, Clone, Default)]
pub struct GroupJob {
    /// What the groups are called together, such as the column they came from.
    pub by: Option<String>,
    /// What becomes of groups with too few calibration points.
    pub small: SmallGroups,
    /// What becomes of groups that have none.
    pub others: OtherGroups,
}

/// What a calibration for each group gives.
#[derive(Debug, Clone)]
pub struct CalibratedPerGroup {
    /// The calibrations, to predict with and to store.
    pub calibration: PerGroupCalibration,
    /// Seconds of the fits, without reading.
    pub seconds: f64,
}

impl CalibratedPerGroup {
    /// What people see of it.
    pub fn document(&self) -> CalibratePerGroupDocument<'_> {
        CalibratePerGroupDocument::new(&self.calibration, self.seconds)
    }
}

/// Groups of both data sets, and those that share a calibration.
pub(super) struct Divided {
    /// Increasing.
    pub names: Vec<String>,
    pub parts: Vec<evenkeel::per_group::Part>,
    /// Part of every group.
    pub part_of: Vec<usize>,
    /// Calibration rows of every part.
    pub calibration_rows: Vec<Vec<usize>>,
    /// Target rows of every part.
    pub target_rows: Vec<u64>,
    /// Labels of the target rows of every part.
    target_labels: Vec<Vec<(u64, usize)>>,
}

impl Divided {
    /// Reads the groups of both data sets. `needs_target` says that a group without target rows cannot be fitted alone.
    pub(super) fn read(
        (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
        target_groups: &mut dyn GroupColumn,
        alpha: evenkeel::level::Miscoverage,
        small: SmallGroups,
        sizes_by: SizesBy,
    ) -> Result<Self> {
        let mut names = Names::default();
        let mut numbers = Vec::with_capacity(labeled.rows());
        let found = each_group(groups, &mut names, |_, number| numbers.push(number))?;
        let rows = labeled.rows();
        if found != rows {
            let (input, matrix) = (groups.name().to_owned(), labeled.name().to_owned());
            let what = PerRow::Group;
            return Err(JobError::Count { input, what, found, matrix, rows, more: false });
        }
        let mut counts: Vec<u64> = Vec::new();
        let labels = labeled.side_inputs().labels;
        let mut labeled_rows: Vec<(usize, u64, usize)> = Vec::new();
        each_group(target_groups, &mut names, |row, number| {
            if number >= counts.len() {
                counts.resize(number + 1, 0);
            }
            counts[number] += 1;
            let place = labels.and_then(|labels| labels.keys().binary_search(&(row as u64)).ok());
            if let (Some(place), Some(labels)) = (place, labels) {
                labeled_rows.push((number, row as u64, labels.as_slice()[place]));
            }
        })?;
        counts.resize(names.len(), 0);
        let (names, place_of) = names.sorted();
        let mut target_counts = vec![0; names.len()];
        for (number, count) in counts.into_iter().enumerate() {
            target_counts[place_of[number]] = count;
        }
        let weights = labeled.side_inputs().weights;
        let mut sizes = vec![0.0; names.len()];
        for (row, number) in numbers.iter().enumerate() {
            sizes[place_of[*number]] += match (sizes_by, weights) {
                (SizesBy::Weights, Some(weights)) => weights[row],
                _ => 1.0,
            };
        }
        // A method that learns from target rows has nothing to learn from in a group without any.
        let lacks = |group: usize| sizes_by == SizesBy::FittedPoints && target_counts[group] == 0;
        let usable: Vec<f64> =
            (0..sizes.len()).map(|group| if lacks(group) { 0.0 } else { sizes[group] }).collect();
        let name = |group: usize| match lacks(group) && sizes[group] > 0.0 {
            true => format!("{} (without target rows)", names[group]),
            false => names[group].clone(),
        };
        let points = match sizes_by {
            SizesBy::Weights => "of weight in the group",
            SizesBy::FittedPoints | SizesBy::Points => "calibration points",
        };
        let parts = parts(&usable, alpha, small, (&name, points))
            .map_err(|error| JobError::found_in(groups.name(), error))?;
        let mut part_of = vec![0; names.len()];
        for (index, part) in parts.iter().enumerate() {
            part.members.iter().for_each(|group| part_of[*group] = index);
        }
        let mut calibration_rows = vec![Vec::new(); parts.len()];
        for (row, number) in numbers.iter().enumerate() {
            calibration_rows[part_of[place_of[*number]]].push(row);
        }
        let mut target_rows = vec![0; parts.len()];
        for (group, count) in target_counts.iter().enumerate() {
            target_rows[part_of[group]] += count;
        }
        let mut target_labels = vec![Vec::new(); parts.len()];
        for (number, row, label) in labeled_rows {
            target_labels[part_of[place_of[number]]].push((row, label));
        }
        Ok(Self { names, parts, part_of, calibration_rows, target_rows, target_labels })
    }

    /// The part of a group by its name; the column may have changed since it was read.
    pub(super) fn part_of_name(&self, name: &str) -> Option<usize> {
        let place = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        Some(self.part_of[place])
    }
}

/// What makes a group large enough for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizesBy {
    /// Its calibration points; target rows change no threshold.
    Points,
    /// Its calibration points, if it has target rows.
    FittedPoints,
    /// The weight of its calibration points.
    Weights,
}

impl SizesBy {
    fn of(method: MethodName) -> Self {
        match method {
            MethodName::Uncorrected | MethodName::Oracle => Self::Points,
            MethodName::Fixed => Self::Weights,
            _ => Self::FittedPoints,
        }
    }
}

/// Calibrates every group by itself. The target rows are read as often as the method asks for, for all groups at once.
///
/// # Errors
/// As [`calibrate`](crate::calibrate()), if there is not a group for each row, or if groups have too few points and that is refused.
pub fn calibrate_per_group(
    calibrator: &ShiftCalibrator,
    job: &GroupJob,
    (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
    (target, target_groups): (&mut dyn RowSource, &mut dyn GroupColumn),
    observer: &mut dyn Observer,
) -> Result<CalibratedPerGroup> {
    let sizes_by = SizesBy::of(calibrator.method.name());
    let divided = Divided::read(
        (labeled, &mut *groups),
        &mut *target_groups,
        calibrator.alpha,
        job.small,
        sizes_by,
    )?;
    let mut clock = Clock::default();
    let mut fits: Vec<OneFit> = Vec::new();
    for (index, part) in divided.parts.iter().enumerate() {
        if part.standing != Standing::AllLabels {
            fits.push(OneFit::begin(calibrator, labeled, (&divided, index), sizes_by, &mut clock)?);
        }
    }
    if job.others == OtherGroups::Pooled {
        fits.push(OneFit {
            part: None,
            data: None,
            stage: OneStage::Open(clock.time(|| labeled.begin(calibrator))?),
        });
    }
    let mut rows_seen = 0;
    while fits.iter().any(|fit| matches!(fit.stage, OneStage::Open(_))) {
        target_groups.rewind()?;
        rows_seen =
            one_pass(&mut fits, &divided, (labeled, target, target_groups), &mut clock, observer)?;
        require_end(target_groups, target.name(), rows_seen)?;
        for fit in &mut fits {
            fit.end_pass(&divided, &mut clock)?;
        }
    }
    labeled.require_target_rows(rows_seen)?;
    observer.begin(Stage::Learning, None);
    let mut others = None;
    let mut made: Vec<Option<evenkeel::calibration::Calibration>> = vec![None; divided.parts.len()];
    for fit in fits {
        let (part, calibration) = fit.finish(calibrator, labeled, &mut clock, observer)?;
        match part {
            Some(part) => made[part] = Some(calibration),
            None => others = Some(calibration),
        }
    }
    observer.end();
    let parts = divided.parts.iter().enumerate().map(|(index, part)| GroupPart {
        groups: part.members.iter().map(|group| divided.names[*group].clone()).collect(),
        standing: part.standing,
        points: divided.calibration_rows[index].len() as u64,
        rows: divided.target_rows[index],
        calibration: made[index].take(),
    });
    let parts = parts.collect();
    let calibration = PerGroupCalibration::new(job.by.clone(), parts, others)?;
    Ok(CalibratedPerGroup { calibration, seconds: clock.seconds })
}

/// Every block once, its rows handed to the fits of their groups.
fn one_pass(
    fits: &mut [OneFit],
    divided: &Divided,
    (labeled, target, target_groups): (&LabeledData<'_>, &mut dyn RowSource, &mut dyn GroupColumn),
    clock: &mut Clock,
    observer: &mut dyn Observer,
) -> Result<usize> {
    let name = target.name().to_owned();
    each_block(target, labeled.classes(), (Stage::Reading, observer), |block| {
        let rows = (name.as_str(), block.first_row, block.rows.rows());
        let parts = of_block(target_groups, rows, &mut |name, row| {
            divided.part_of_name(name).ok_or_else(|| changed(name, row))
        })?;
        let mut rows_of = vec![Vec::new(); divided.parts.len()];
        for (row, part) in parts.iter().enumerate() {
            rows_of[*part].push(row);
        }
        for fit in fits.iter_mut() {
            clock.time(|| match fit.part {
                None => fit.add(RowKeys::From(block.first_row as u64), &block.rows, block.side),
                Some(part) if rows_of[part].is_empty() => Ok(()),
                Some(part) => {
                    let gathered = GatheredRows::of(block, &rows_of[part]);
                    fit.add(RowKeys::Each(&gathered.keys), &gathered.rows()?, gathered.side()?)
                }
            })?;
        }
        Ok(())
    })
}

/// A name that was not there when the groups were counted.
fn changed(name: &str, row: usize) -> JobError {
    JobError::Core(evenkeel::Error::UnknownGroup { name: name.to_owned(), row, known: 0 })
}

/// The fit of one part; of none for all groups together.
struct OneFit {
    part: Option<usize>,
    data: Option<GatheredData>,
    stage: OneStage,
}

enum OneStage {
    Open(Fit),
    Ready(Ready),
    /// Between the two, or after an error.
    Gone,
}

impl OneFit {
    fn begin(
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        (divided, part): (&Divided, usize),
        sizes_by: SizesBy,
        clock: &mut Clock,
    ) -> Result<Self> {
        let rows = &divided.calibration_rows[part];
        if rows.is_empty() {
            return Err(in_part(
                divided,
                part,
                JobError::NoRows { input: labeled.name().to_owned() },
            ));
        }
        let data = GatheredData::of(labeled, rows);
        let begun = || -> Result<Fit> {
            let own = data.data()?;
            let given = labeled.side_inputs().labels;
            let labels = match given {
                Some(given) if given.is_empty() => None,
                Some(_) => {
                    Some(TargetLabels::new(&divided.target_labels[part], labeled.classes())?)
                }
                None => None,
            };
            let own = match &labels {
                Some(labels) => own.with_target_labels(labels),
                None => own,
            };
            let mut fit = own.begin(calibrator)?;
            if divided.target_rows[part] == 0 && sizes_by != SizesBy::FittedPoints {
                // Target rows only serve a warning here; without any the group's own rows stand in for them.
                let side = data.side()?;
                fit = with_rows!(data.rows()?, |rows| fit.add(RowKeys::From(0), rows, side))?;
            }
            Ok(fit)
        };
        let fit = clock.time(begun).map_err(|error| in_part(divided, part, error))?;
        Ok(Self { part: Some(part), data: Some(data), stage: OneStage::Open(fit) })
    }

    fn add(
        &mut self,
        keys: RowKeys<'_>,
        rows: &crate::AnyRows<'_>,
        side: evenkeel::side_inputs::SideInputs<'_>,
    ) -> Result<()> {
        let stage = std::mem::replace(&mut self.stage, OneStage::Gone);
        self.stage = match stage {
            OneStage::Open(fit) => {
                OneStage::Open(with_rows!(*rows, |rows| fit.add(keys, rows, side))?)
            }
            other => other,
        };
        Ok(())
    }

    fn end_pass(&mut self, divided: &Divided, clock: &mut Clock) -> Result<()> {
        let stage = std::mem::replace(&mut self.stage, OneStage::Gone);
        self.stage = match stage {
            OneStage::Open(fit) => {
                let ended = clock.time(|| fit.end_pass()).map_err(JobError::from);
                let ended = ended.map_err(|error| match self.part {
                    Some(part) => in_part(divided, part, error),
                    None => error,
                });
                match ended? {
                    Ended::Again(fit) => OneStage::Open(fit),
                    Ended::Done(ready) => OneStage::Ready(ready),
                }
            }
            other => other,
        };
        Ok(())
    }

    fn finish(
        self,
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        clock: &mut Clock,
        observer: &mut dyn Observer,
    ) -> Result<(Option<usize>, evenkeel::calibration::Calibration)> {
        let OneStage::Ready(ready) = self.stage else {
            return Err(JobError::NoRows { input: labeled.name().to_owned() });
        };
        let mut stopped = false;
        let fitted = clock.time(|| {
            ready.finish(&mut |point| {
                let next = observer.reached(point.step as u64);
                stopped |= next.is_break();
                next
            })
        })?;
        if stopped || observer.reached(0) == ControlFlow::Break(()) {
            return Err(JobError::Stopped);
        }
        let reference = match &self.data {
            Some(data) => data.data()?.reference(calibrator.seed)?,
            None => labeled.reference(calibrator.seed)?,
        };
        Ok((self.part, fitted.calibration.with_reference(reference)?))
    }
}

/// An error of one group's fit, with the name of the group.
fn in_part(divided: &Divided, part: usize, error: JobError) -> JobError {
    let names: Vec<&str> =
        divided.parts[part].members.iter().map(|group| divided.names[*group].as_str()).collect();
    JobError::Group { group: names.join(", "), error: Box::new(error) }
}
