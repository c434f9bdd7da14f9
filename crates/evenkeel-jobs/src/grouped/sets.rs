//! Sets, and how they do, of a calibration of any kind.

use std::collections::BTreeMap;

use evenkeel::calibration::ThresholdsDifferBy;
use evenkeel::conformal::LabelSets;
use evenkeel::evaluation::{Evaluation, EvaluationCounts};
use evenkeel::level::Miscoverage;
use evenkeel::per_group::{PerGroupCalibration, Standing};
use evenkeel::rows::{Real, Rows};
use evenkeel::side_inputs::SideInputs;
use evenkeel::threshold::Threshold;
use rayon::prelude::*;

use super::any::AnyCalibration;
use super::group_column::{GroupColumn, of_block, require_end};
use crate::any_rows::with_rows;
use crate::blocks::{each_block, each_labeled_block, shares};
use crate::error::{JobError, Result};
use crate::evaluate::evaluate;
use crate::observer::{Observer, Stage};
use crate::predict::{Predicted, predict};
use crate::source::{Block, RowSource};

/// What makes sets, with what does not change from block to block.
struct SetMaker<'a> {
    calibration: &'a AnyCalibration,
    alpha: Option<Miscoverage>,
    /// `t_y`, where there are thresholds for each class.
    of_classes: Vec<Threshold>,
}

impl<'a> SetMaker<'a> {
    fn new(calibration: &'a AnyCalibration, alpha: Option<Miscoverage>) -> Self {
        let of_classes = match calibration {
            AnyCalibration::PerClass(made) => made.thresholds(alpha),
            _ => Vec::new(),
        };
        Self { calibration, alpha, of_classes }
    }

    /// The sets of a block, made by all threads; `parts` of a calibration per group.
    fn sets(&self, block: &Block<'_>, parts: &[Option<usize>]) -> evenkeel::Result<LabelSets> {
        with_rows!(block.rows, |rows| self.typed(rows, block, parts))
    }

    fn typed<T: Real>(
        &self,
        rows: Rows<'_, T>,
        block: &Block<'_>,
        parts: &[Option<usize>],
    ) -> evenkeel::Result<LabelSets> {
        let of_share = |(offset, share): (usize, evenkeel::Result<Rows<'_, T>>)| {
            let share = share?;
            let these = offset..offset + share.rows();
            let side: SideInputs<'_> = block.side.of_rows(these.clone())?;
            let first_row = block.first_row + offset;
            match self.calibration {
                AnyCalibration::One(made) => {
                    made.predict_beside(first_row, share, side, self.alpha)
                }
                AnyCalibration::PerClass(made) => {
                    made.predict_at(first_row, share, &self.of_classes)
                }
                AnyCalibration::PerGroup(made) => {
                    // As many as rows: they were read for this block.
                    let parts = parts.get(these).unwrap_or_default();
                    made.predict(first_row, share, side, parts, self.alpha)
                }
            }
        };
        let made: Vec<LabelSets> = shares(rows).map(of_share).collect::<evenkeel::Result<_>>()?;
        LabelSets::concatenate(&made)
    }
}

/// The parts of a block's rows; empty where the calibration knows no groups.
fn parts_of(
    calibration: &AnyCalibration,
    groups: Option<&mut (dyn GroupColumn + '_)>,
    (matrix, block): (&str, &Block<'_>),
) -> Result<Vec<Option<usize>>> {
    let (AnyCalibration::PerGroup(made), Some(groups)) = (calibration, groups) else {
        return Ok(Vec::new());
    };
    let input = groups.name().to_owned();
    of_block(groups, (matrix, block.first_row, block.rows.rows()), &mut |name, row| {
        made.part_of(name, row).map_err(|error| JobError::found_in(&input, error))
    })
}

/// An error unless groups are given exactly where they are needed.
fn require_groups(calibration: &AnyCalibration, given: bool, matrix: &str) -> Result<()> {
    match (calibration.needs_groups(), given) {
        (true, false) => Err(JobError::NoGroups { input: matrix.to_owned() }),
        _ => Ok(()),
    }
}

/// [`predict`] with a calibration of any kind; `groups` are those of the rows, for a calibration per group.
///
/// # Errors
/// As [`predict`], if groups are missing or given without need, or a row is of a group that the calibration does not know.
pub fn predict_any(
    calibration: &AnyCalibration,
    alpha: Option<Miscoverage>,
    source: &mut dyn RowSource,
    mut groups: Option<&mut dyn GroupColumn>,
    sink: &mut dyn FnMut(&LabelSets) -> Result<()>,
    observer: &mut dyn Observer,
) -> Result<Predicted> {
    require_groups(calibration, groups.is_some(), source.name())?;
    let thresholds_differ_by = match calibration {
        AnyCalibration::One(one) if groups.is_none() => {
            return predict(one, alpha, source, sink, observer);
        }
        AnyCalibration::One(_) | AnyCalibration::PerClass(_) if groups.is_some() => {
            let input = groups.map_or_else(String::new, |groups| groups.name().to_owned());
            return Err(JobError::GroupsNotUsed { input });
        }
        AnyCalibration::PerGroup(_) => ThresholdsDifferBy::Point,
        _ => ThresholdsDifferBy::Label,
    };
    let classes = calibration.provenance().classes;
    let mut predicted = Predicted {
        n: 0,
        alpha: alpha.unwrap_or(calibration.provenance().alpha),
        threshold: None,
        thresholds_differ_by,
        labels: 0,
        empty: 0,
        full: 0,
    };
    let maker = SetMaker::new(calibration, alpha);
    let name = source.name().to_owned();
    if let Some(groups) = &mut groups {
        groups.rewind()?;
    }
    let rows = each_block(source, classes, (Stage::Predicting, observer), |block| {
        let column = groups.as_mut().map(|groups| &mut **groups as &mut dyn GroupColumn);
        let parts = parts_of(calibration, column, (&name, block))?;
        let sets = maker.sets(block, &parts)?;
        predicted.count(&sets);
        sink(&sets)
    })?;
    if let Some(groups) = groups {
        require_end(groups, &name, rows)?;
    }
    Ok(predicted)
}

/// How the sets of one group did.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedGroup {
    /// Its name.
    pub group: String,
    /// What its threshold rests on; none where one serves all groups.
    pub standing: Option<Standing>,
    /// The threshold of its rows; none where it is infinite or they have more than one.
    pub threshold: Option<f64>,
    /// Coverage, sizes and the rest, of its rows alone.
    pub evaluation: Evaluation,
}

/// What an evaluation with groups, or with thresholds for each class, gives.
#[derive(Debug, Clone)]
pub struct EvaluatedGroups {
    /// Of all rows.
    pub evaluation: Evaluation,
    /// `t_y` of every class where each has its own; infinite ones included. Empty otherwise.
    pub class_thresholds: Vec<Threshold>,
    /// Of every group that occurs, by name; empty without groups.
    pub per_group: Vec<EvaluatedGroup>,
}

impl EvaluatedGroups {
    /// What people see of it.
    pub fn document<'a>(
        &'a self,
        class_names: Option<&'a [String]>,
    ) -> crate::documents::EvaluateDocument<'a> {
        super::documents::evaluate_document(self, class_names)
    }
}

/// Evaluates a calibration of any kind on labeled rows, with a line for each group where groups are given.
///
/// # Errors
/// As [`evaluate`](crate::evaluate()), or if a calibration per group has no groups.
pub fn evaluate_any(
    calibration: &AnyCalibration,
    alpha: Option<Miscoverage>,
    source: &mut dyn RowSource,
    mut groups: Option<&mut dyn GroupColumn>,
    observer: &mut dyn Observer,
) -> Result<EvaluatedGroups> {
    require_groups(calibration, groups.is_some(), source.name())?;
    // The gap needs the scores of all rows against those of the calibration, which only one law for all has.
    let gap = match calibration {
        AnyCalibration::One(one) => {
            evaluate(one, alpha, source, observer)?.evaluation.total_coverage_gap
        }
        _ => None,
    };
    let provenance = calibration.provenance();
    let rate = alpha.unwrap_or(provenance.alpha);
    let maker = SetMaker::new(calibration, alpha);
    let mut all = Some(EvaluationCounts::new(provenance.classes)?);
    let mut of_groups: BTreeMap<String, EvaluationCounts> = BTreeMap::new();
    let name = source.name().to_owned();
    if let Some(groups) = &mut groups {
        groups.rewind()?;
    }
    let rows =
        each_labeled_block(source, provenance.classes, (Stage::Evaluating, observer), |block| {
            let names: Vec<String> = match &mut groups {
                None => Vec::new(),
                Some(groups) => of_block(
                    &mut **groups,
                    (&name, block.first_row, block.rows.rows()),
                    &mut |name, _| Ok(name.to_owned()),
                )?,
            };
            let parts = match (calibration, &groups) {
                (AnyCalibration::PerGroup(made), Some(groups)) => {
                    let of = |(row, name): (usize, &String)| {
                        made.part_of(name, block.first_row + row)
                            .map_err(|error| JobError::found_in(groups.name(), error))
                    };
                    names.iter().enumerate().map(of).collect::<Result<_>>()?
                }
                _ => Vec::new(),
            };
            let sets = maker.sets(block, &parts)?;
            let counted = all.take().map(|all| all.add(block.first_row, &sets, block.labels));
            all = counted.transpose()?;
            count_groups(&mut of_groups, &names, &sets, block)
        })?;
    if let Some(groups) = groups {
        require_end(groups, &name, rows)?;
    }
    let all = all.ok_or_else(|| JobError::NoRows { input: name.clone() })?;
    let group = |(group, counts): (String, EvaluationCounts)| -> Result<EvaluatedGroup> {
        let evaluation = counts.finish(rate, None)?;
        let (standing, threshold) = match calibration {
            AnyCalibration::PerGroup(made) => standing_of(made, &group, rate),
            AnyCalibration::One(one) => (None, one.threshold(alpha).and_then(finite)),
            AnyCalibration::PerClass(_) => (None, None),
        };
        Ok(EvaluatedGroup { group, standing, threshold, evaluation })
    };
    Ok(EvaluatedGroups {
        evaluation: all.finish(rate, gap)?,
        class_thresholds: maker.of_classes,
        per_group: of_groups.into_iter().map(group).collect::<Result<_>>()?,
    })
}

fn finite(threshold: Threshold) -> Option<f64> {
    Some(threshold.get()).filter(|value| value.is_finite())
}

/// What a group's threshold rests on, and the threshold.
fn standing_of(
    made: &PerGroupCalibration,
    group: &str,
    alpha: Miscoverage,
) -> (Option<Standing>, Option<f64>) {
    let part = made.part_of(group, 0).ok().flatten().map(|part| &made.parts()[part]);
    let calibration = match part {
        Some(part) => part.calibration.as_ref(),
        None => made.others(),
    };
    let threshold = calibration.and_then(|one| one.threshold(Some(alpha))).and_then(finite);
    (part.map(|part| part.standing), threshold)
}

/// Adds the rows of a block to the counts of their groups.
fn count_groups(
    of_groups: &mut BTreeMap<String, EvaluationCounts>,
    names: &[String],
    sets: &LabelSets,
    block: &Block<'_>,
) -> Result<()> {
    let mut rows_of: BTreeMap<&str, (Vec<bool>, Vec<usize>)> = BTreeMap::new();
    for (row, name) in names.iter().enumerate() {
        let (members, labels) = rows_of.entry(name).or_default();
        members.extend((0..sets.classes()).map(|label| sets.contains(row, label)));
        labels.extend(block.labels.get(row));
    }
    for (name, (members, labels)) in rows_of {
        let sets = LabelSets::from_bools(&members, sets.classes())?;
        let before = match of_groups.remove(name) {
            Some(counts) => counts,
            None => EvaluationCounts::new(sets.classes())?,
        };
        of_groups.insert(name.to_owned(), before.add(block.first_row, &sets, &labels)?);
    }
    Ok(())
}
