//! The fit of one part of the groups: on its rows as if there were no others.

use std::ops::ControlFlow;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Ended, Fit, Ready, ShiftCalibrator};
use evenkeel::per_group::{GroupPart, PerGroupCalibration, Standing};
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::{SideInputs, TargetLabels};

use super::divided::{Divided, SizesBy};
use super::gathered::GatheredData;
use super::groups::{GroupJob, OtherGroups};
use crate::AnyRows;
use crate::any_rows::with_rows;
use crate::error::{JobError, Result};
use crate::fit::Clock;
use crate::labeled::LabeledData;

/// The fit of one part; of none for all groups together.
#[derive(Debug)]
pub(crate) struct GroupFit {
    /// Which part its rows belong to.
    pub part: Option<usize>,
    data: Option<GatheredData>,
    stage: GroupStage,
}

#[derive(Debug)]
enum GroupStage {
    Open(Fit),
    Ready(Ready),
    /// Between the two, or after an error.
    Gone,
}

/// The fits of all parts that have one, and that of all groups together where rows of other groups shall have it.
pub(crate) fn begin_fits(
    calibrator: &ShiftCalibrator,
    job: &GroupJob,
    labeled: &LabeledData<'_>,
    divided: &Divided,
    clock: &mut Clock,
) -> Result<Vec<GroupFit>> {
    let mut fits: Vec<GroupFit> = Vec::new();
    for (index, part) in divided.parts.iter().enumerate() {
        if part.standing != Standing::AllLabels {
            fits.push(GroupFit::begin(calibrator, labeled, (divided, index), clock)?);
        }
    }
    if job.others == OtherGroups::Pooled {
        let stage = GroupStage::Open(clock.time(|| labeled.begin(calibrator))?);
        fits.push(GroupFit { part: None, data: None, stage });
    }
    Ok(fits)
}

/// What all fits came to, as one calibration.
pub(crate) fn finish_fits(
    fits: Vec<GroupFit>,
    (calibrator, job): (&ShiftCalibrator, &GroupJob),
    (labeled, divided): (&LabeledData<'_>, &Divided),
    clock: &mut Clock,
    go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<PerGroupCalibration> {
    let mut others = None;
    let mut made: Vec<Option<Calibration>> = vec![None; divided.parts.len()];
    for fit in fits {
        let (part, calibration) = fit.finish(calibrator, labeled, clock, go_on)?;
        match part {
            Some(part) => made[part] = Some(calibration),
            None => others = Some(calibration),
        }
    }
    let parts = divided.parts.iter().enumerate().map(|(index, part)| GroupPart {
        groups: divided.groups_of(index),
        standing: part.standing,
        points: divided.calibration_rows[index].len() as u64,
        rows: divided.target_rows[index],
        calibration: made[index].take(),
    });
    Ok(PerGroupCalibration::new(job.by.clone(), parts.collect(), others)?)
}

impl GroupFit {
    fn begin(
        calibrator: &ShiftCalibrator,
        labeled: &LabeledData<'_>,
        (divided, part): (&Divided, usize),
        clock: &mut Clock,
    ) -> Result<Self> {
        let rows = &divided.calibration_rows[part];
        if rows.is_empty() {
            let error = JobError::NoRows { input: labeled.name().to_owned() };
            return Err(in_part(divided, part, error));
        }
        let sizes_by = SizesBy::of(calibrator.method.name());
        let data = GatheredData::of(labeled, rows);
        let begun = || -> Result<Fit> {
            let own = data.data()?;
            let labels = match labeled.side_inputs().labels {
                Some(given) if !given.is_empty() => {
                    Some(TargetLabels::new(&divided.target_labels[part], labeled.classes())?)
                }
                _ => None,
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
        Ok(Self { part: Some(part), data: Some(data), stage: GroupStage::Open(fit) })
    }

    /// Whether it waits for rows.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, GroupStage::Open(_))
    }

    /// The fit, while it waits for rows.
    pub(crate) fn open(&self) -> Option<&Fit> {
        match &self.stage {
            GroupStage::Open(fit) => Some(fit),
            _ => None,
        }
    }

    /// Changes the fit while it waits for rows.
    pub(crate) fn change(&mut self, change: impl FnOnce(Fit) -> Result<Fit>) -> Result<()> {
        let stage = std::mem::replace(&mut self.stage, GroupStage::Gone);
        self.stage = match stage {
            GroupStage::Open(fit) => GroupStage::Open(change(fit)?),
            other => other,
        };
        Ok(())
    }

    pub(crate) fn add(
        &mut self,
        keys: RowKeys<'_>,
        rows: &AnyRows<'_>,
        side: SideInputs<'_>,
    ) -> Result<()> {
        self.change(|fit| Ok(with_rows!(*rows, |rows| fit.add(keys, rows, side))?))
    }

    pub(crate) fn end_pass(&mut self, divided: &Divided, clock: &mut Clock) -> Result<()> {
        let stage = std::mem::replace(&mut self.stage, GroupStage::Gone);
        self.stage = match stage {
            GroupStage::Open(fit) => {
                let ended = clock.time(|| fit.end_pass()).map_err(JobError::from);
                let ended = ended.map_err(|error| match self.part {
                    Some(part) => in_part(divided, part, error),
                    None => error,
                });
                match ended? {
                    Ended::Again(fit) => GroupStage::Open(fit),
                    Ended::Done(ready) => GroupStage::Ready(ready),
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
        go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(Option<usize>, Calibration)> {
        let GroupStage::Ready(ready) = self.stage else {
            return Err(JobError::NoRows { input: labeled.name().to_owned() });
        };
        let mut stopped = false;
        let fitted = clock.time(|| {
            ready.finish(&mut |point| {
                let next = go_on(point.step as u64);
                stopped |= next.is_break();
                next
            })
        })?;
        if stopped || go_on(0) == ControlFlow::Break(()) {
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
    JobError::Group { group: divided.groups_of(part).join(", "), error: Box::new(error) }
}
