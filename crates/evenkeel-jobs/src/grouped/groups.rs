//! A calibration for each group: every method, fitted on the rows of each group, in one reading of the target rows a pass.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::per_group::{PerGroupCalibration, SmallGroups};
use evenkeel::rows::RowKeys;

use super::divided::{Divided, SizesBy, TargetGroups};
use super::documents::CalibratePerGroupDocument;
use super::gathered::GatheredRows;
use super::group_column::{GroupColumn, of_block, require_end};
use super::group_fit::{GroupFit, begin_fits, finish_fits};
use crate::blocks::each_block;
use crate::error::{JobError, Result};
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
    let of_target = TargetGroups::read(&mut *target_groups, labeled.side_inputs().labels)?;
    let sizes_by = SizesBy::of(calibrator.method.name());
    let divided =
        Divided::of((labeled, &mut *groups), &of_target, (calibrator.alpha, job.small), sizes_by)?;
    let mut clock = Clock::default();
    let mut fits = begin_fits(calibrator, job, labeled, &divided, &mut clock)?;
    let mut rows_seen = 0;
    while fits.iter().any(GroupFit::is_open) {
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
    let go_on = &mut |step: u64| observer.reached(step);
    let calibration = finish_fits(fits, (calibrator, job), (labeled, &divided), &mut clock, go_on)?;
    observer.end();
    Ok(CalibratedPerGroup { calibration, seconds: clock.seconds })
}

/// Every block once, its rows handed to the fits of their groups.
fn one_pass(
    fits: &mut [GroupFit],
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
                    let gathered = GatheredRows::of_block(block, &rows_of[part]);
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
