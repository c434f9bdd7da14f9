//! What a threshold is worth for each class and each group of the target data.

use evenkeel::check::{Check, CheckEnded, ThresholdInQuestion};
use evenkeel::level::Miscoverage;
use evenkeel::per_group::{ClassCoverages, SmallGroups, Standing, class_coverage_rows};
use evenkeel::reading::{CoverageEstimate, Verdict};
use evenkeel::rows::RowKeys;
use evenkeel::score::Score;
use evenkeel::threshold::Threshold;

use super::divided::{Divided, SizesBy, TargetGroups};
use super::gathered::{GatheredData, GatheredRows};
use super::group_column::{GroupColumn, of_block, require_end};
use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::check::{CheckJob, Checked};
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// What a check finds of one group, or of several that are too small alone.
#[derive(Debug, Clone)]
pub struct CheckedGroup {
    /// The groups.
    pub groups: Vec<String>,
    /// Whether they were looked at together.
    pub standing: Standing,
    /// Calibration points.
    pub n: u64,
    /// Target rows.
    pub m: u64,
    /// Share of the calibration points that the threshold in question covers.
    pub coverage: Option<f64>,
    /// Coverage of the target rows at that threshold; none where there are too few points or rows to say.
    pub estimate: Option<CoverageEstimate>,
    /// What to make of it.
    pub verdict: Option<Verdict>,
}

/// Expected target rows of every class, and the share of them that the threshold in question covers, under the reading that the
/// estimate of a check rests on. One more pass over the target rows.
///
/// # Errors
/// If rows are not probabilities, or the observer stops it.
pub fn check_classes(
    checked: &Checked,
    score: Score,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Vec<(f64, f64)>> {
    let mut open = Some(class_coverage_rows(&checked.plan, score, checked.threshold()));
    each_block(target, checked.report.classes, (Stage::Reading, observer), |block| {
        let keys = RowKeys::From(block.first_row as u64);
        let add = |open: ClassCoverages| with_rows!(block.rows, |rows| open.add(keys, rows));
        open = open.take().map(add).transpose()?;
        Ok(())
    })?;
    Ok(open.map_or_else(Vec::new, |open| open.finish()))
}

/// One check for each group at the `threshold` in question, in one reading of the target rows a pass. Groups with too few points
/// for the level are looked at together.
///
/// # Errors
/// If there is not a group for each row, rows are not probabilities, or the observer stops it.
pub fn check_groups(
    job: &CheckJob,
    threshold: Threshold,
    (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
    (target, target_groups): (&mut dyn RowSource, &mut dyn GroupColumn),
    observer: &mut dyn Observer,
) -> Result<Vec<CheckedGroup>> {
    let scores = job.scores(labeled)?;
    let divided = divided(job.settings.alpha, (labeled, groups), target_groups)?;
    let mut settings = job.settings;
    settings.threshold = ThresholdInQuestion::Given(threshold);
    let mut open: Vec<Option<Check>> = Vec::new();
    for (part, rows) in divided.parts.iter().zip(&divided.calibration_rows) {
        open.push(match part.standing {
            Standing::AllLabels => None,
            Standing::Own | Standing::Rest => {
                let data = GatheredData::of(labeled, rows);
                Some(job.begin(&data.data()?, &settings)?)
            }
        });
    }
    let mut reports = vec![None; open.len()];
    let name = target.name().to_owned();
    while open.iter().any(Option::is_some) {
        target_groups.rewind()?;
        let rows = each_block(target, labeled.classes(), (Stage::Reading, observer), |block| {
            let of = (name.as_str(), block.first_row, block.rows.rows());
            let parts = of_block(target_groups, of, &mut |name, row| {
                divided.part_of_name(name).ok_or_else(|| {
                    let (name, known) = (name.to_owned(), divided.names.len());
                    JobError::Core(evenkeel::Error::UnknownGroup { name, row, known })
                })
            })?;
            let mut rows_of = vec![Vec::new(); open.len()];
            for (row, part) in parts.iter().enumerate() {
                rows_of[*part].push(row);
            }
            for (check, rows) in open.iter_mut().zip(&rows_of) {
                if rows.is_empty() {
                    continue;
                }
                let gathered = GatheredRows::of_block(block, rows);
                let keys = RowKeys::Each(&gathered.keys);
                let any = gathered.rows()?;
                let add = |check: Check| with_rows!(any, |rows| check.add(keys, rows));
                *check = check.take().map(add).transpose()?;
            }
            Ok(())
        })?;
        require_end(target_groups, &name, rows)?;
        for (place, report) in open.iter_mut().zip(&mut reports) {
            *place = match place.take().map(Check::end_pass).transpose()? {
                Some(CheckEnded::Again(again)) => Some(again),
                Some(CheckEnded::Done(found)) => {
                    *report = Some(found.report);
                    None
                }
                None => None,
            };
        }
    }
    let at = threshold.get();
    let lines = divided.parts.iter().enumerate().zip(reports).map(|((index, part), report)| {
        let rows = &divided.calibration_rows[index];
        let covered = rows.iter().filter(|row| scores[**row] <= at).count();
        CheckedGroup {
            groups: divided.groups_of(index),
            standing: part.standing,
            n: rows.len() as u64,
            m: divided.target_rows[index],
            coverage: (!rows.is_empty()).then(|| covered as f64 / rows.len() as f64),
            estimate: report.as_ref().map(|report| report.coverage_estimate),
            verdict: report.as_ref().map(|report| report.verdict),
        }
    });
    Ok(lines.collect())
}

/// Small groups together; where even that is too small, they are only counted.
fn divided(
    alpha: Miscoverage,
    (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
    target_groups: &mut dyn GroupColumn,
) -> Result<Divided> {
    let read = |groups: &mut dyn GroupColumn, target: &mut dyn GroupColumn, small| {
        let target = TargetGroups::read(target, None)?;
        Divided::of((labeled, groups), &target, (alpha, small), SizesBy::FittedPoints)
    };
    match read(groups, target_groups, SmallGroups::Merge) {
        Err(JobError::In { error, .. })
            if matches!(*error, evenkeel::Error::GroupsTooSmall { .. }) =>
        {
            read(groups, target_groups, SmallGroups::AllLabels)
        }
        other => other,
    }
}
