//! Rows to label, drawn at random, and what their labels will be worth.

use std::collections::BTreeMap;

use evenkeel::calibration::Calibration;
use evenkeel::certify::{HalfWidth, RowDraw, expected_interval, label_budget};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::{Guarantee, GuaranteeProbability};
use evenkeel::rows::{Real, Rows};
use evenkeel::score::Probabilities;
use evenkeel::seed::Seed;
use evenkeel::shift::predictions;
use serde::Serialize;

use crate::any_rows::with_rows;
use crate::blocks::{each_block, require_classes};
use crate::error::{JobError, Result};
use crate::observer::{Observer, Stage};
use crate::source::{Block, RowSource};

/// Probability of the guarantee that a sheet's words are about.
const USUAL_PROBABILITY: f64 = 0.9;

/// How rows to label are drawn.
#[derive(Debug, Clone, Copy)]
pub struct LabelJob<'a> {
    /// Rows to draw.
    pub budget: u64,
    /// Rows that are on the sheet already, and what the caller calls that sheet.
    pub taken: (&'a str, &'a [u64]),
    /// What stands beside each row.
    pub shown: Shown<'a>,
    /// Chooses the rows.
    pub seed: Seed,
}

/// What the labeler sees of the model's answer.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// Nothing: nobody can be led by it.
    Nothing,
    /// The most probable class.
    Class,
    /// The most probable class, and the set of a calibration at a rate, its own if none is named.
    Sets(&'a Calibration, Option<Miscoverage>),
}

/// A row to label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowToLabel {
    /// Its number, from 0.
    pub row: u64,
    /// The most probable class; none where nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<usize>,
    /// Its set; none where no sets are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<Vec<usize>>,
}

/// Rows that were drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Number of target rows.
    pub m: u64,
    /// The rows, in the order in which they were drawn.
    pub rows: Vec<RowToLabel>,
    /// The rows that were on the sheet already, as the model says of them now; nothing is shown of them where nothing is shown.
    pub before: Vec<RowToLabel>,
}

/// Draws rows of a source: it is read once to count them, and once to show what the model says of those that were drawn. Memory is that of a block and of the rows drawn.
///
/// # Errors
/// If there are not as many rows, a row of the sheet is not among them, the calibration is of other classes or needs more than
/// probabilities, or the observer stops it.
pub fn label(
    job: &LabelJob<'_>,
    source: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Drawn> {
    let classes = match job.shown {
        Shown::Sets(calibration, _) => calibration.provenance().classes,
        Shown::Nothing | Shown::Class => source.columns(),
    };
    require_classes(source, classes)?;
    let (sheet, taken) = job.taken;
    let mut draw = RowDraw::new(job.budget, taken.iter().copied(), job.seed)?;
    // Counted, also where a file says how many rows it has: a damaged one may say anything, and rows that are not there would be drawn.
    let m = each_block(source, classes, (Stage::Reading, observer), |_| Ok(()))? as u64;
    if let Some(row) = taken.iter().find(|row| **row >= m) {
        return Err(JobError::NoSuchRow { input: sheet.to_owned(), row: *row as usize });
    }
    draw.add(0, m);
    let drawn = draw.rows()?;
    let unseen = |row: u64| RowToLabel { row, predicted: None, set: None };
    let mut found: BTreeMap<u64, RowToLabel> =
        drawn.iter().chain(taken).map(|row| (*row, unseen(*row))).collect();
    if !matches!(job.shown, Shown::Nothing) {
        each_block(source, classes, (Stage::Predicting, observer), |block| {
            let first = block.first_row as u64;
            let end = first + block.rows.rows() as u64;
            for to_label in found.range_mut(first..end).map(|(_, to_label)| to_label) {
                show(block, to_label, job.shown)?;
            }
            Ok(())
        })?;
    }
    let mut of = |rows: &[u64]| rows.iter().filter_map(|row| found.remove(row)).collect();
    Ok(Drawn { m, rows: of(&drawn), before: of(taken) })
}

/// What the model says of a row of a block.
fn show(block: &Block<'_>, to_label: &mut RowToLabel, shown: Shown<'_>) -> Result<()> {
    let offset = to_label.row as usize - block.first_row;
    let one = block.rows.part(offset..offset + 1)?;
    with_rows!(one, |row| show_row(row, to_label, shown))
}

fn show_row<T: Real>(row: Rows<'_, T>, to_label: &mut RowToLabel, shown: Shown<'_>) -> Result<()> {
    let said = predictions(&Probabilities::from_rows(row)?);
    to_label.predicted = said.first().map(|said| said.class as usize);
    if let Shown::Sets(calibration, alpha) = shown {
        let sets = calibration.predict(to_label.row as usize, row, alpha)?;
        to_label.set = sets.iter().next().map(Iterator::collect);
    }
    Ok(())
}

/// What a number of labels is worth, where coverage is near the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelsWorth {
    /// Number of labels.
    pub labels: u64,
    /// The level: the coverage asked for.
    pub level: f64,
    /// Half the width of the interval that they will give.
    pub half_width: f64,
    /// Its low end.
    pub low: f64,
    /// Its high end.
    pub high: f64,
    /// Its confidence.
    pub confidence: f64,
    /// Labels that a guarantee on average takes.
    pub needed_on_average: u64,
    /// Labels that a guarantee with probability 0.9 takes.
    pub needed_with_probability: u64,
}

impl LabelsWorth {
    /// Of so many labels at a level and a confidence.
    ///
    /// # Errors
    /// None for a number of labels that there can be.
    pub fn new(labels: u64, alpha: Miscoverage, failure: FailureProbability) -> Result<Self> {
        let found = expected_interval(labels, alpha.level(), failure)?;
        let probability = GuaranteeProbability::new(USUAL_PROBABILITY)?;
        Ok(Self {
            labels,
            level: alpha.level().get(),
            half_width: 0.5 * (found.high - found.low),
            low: found.low,
            high: found.high,
            confidence: found.confidence,
            needed_on_average: Guarantee::Average.labels_needed(alpha),
            needed_with_probability: Guarantee::Probability { probability }.labels_needed(alpha),
        })
    }
}

/// How many labels it takes to know coverage to within a half-width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelsFor {
    /// The half-width asked for, as a share.
    pub half_width: f64,
    /// Labels that it takes.
    pub labels: u64,
    /// The level: the coverage asked for.
    pub level: f64,
    /// Confidence of the interval.
    pub confidence: f64,
}

impl LabelsFor {
    /// For a half-width at a level and a confidence.
    pub fn new(half_width: HalfWidth, alpha: Miscoverage, failure: FailureProbability) -> Self {
        Self {
            half_width: half_width.get(),
            labels: label_budget(half_width, alpha.level(), failure),
            level: alpha.level().get(),
            confidence: 1.0 - failure.get(),
        }
    }
}
