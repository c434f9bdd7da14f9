//! Which groups of both data sets stand alone, and which share a calibration.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel::level::Miscoverage;
use evenkeel::method::MethodName;
use evenkeel::per_group::{Part, SmallGroups, parts};
use evenkeel::side_inputs::TargetLabels;

use super::group_column::{GroupColumn, Names, each_group};
use crate::error::{JobError, PerRow, Result};
use crate::labeled::LabeledData;

/// The groups of the target rows: how many rows each has, and which the labeled ones are in.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TargetGroups {
    pub counts: BTreeMap<String, u64>,
    /// Key, group and label, in the order of the keys.
    pub labeled: Vec<(u64, String, usize)>,
}

impl TargetGroups {
    /// Reads the group of every row; keys are row numbers.
    pub(super) fn read(
        column: &mut dyn GroupColumn,
        labels: Option<&TargetLabels>,
    ) -> Result<Self> {
        let mut names = Names::default();
        let mut counts: Vec<u64> = Vec::new();
        let mut labeled_rows: Vec<(usize, u64, usize)> = Vec::new();
        each_group(column, &mut names, |row, number| {
            if number >= counts.len() {
                counts.resize(number + 1, 0);
            }
            counts[number] += 1;
            let place = labels.and_then(|labels| labels.place_of(row as u64));
            if let (Some(place), Some(labels)) = (place, labels) {
                labeled_rows.push((number, row as u64, labels.as_slice()[place]));
            }
        })?;
        let (names, place_of) = names.sorted();
        let of = |number: usize| names[place_of[number]].clone();
        Ok(Self {
            counts: counts.iter().enumerate().map(|(number, count)| (of(number), *count)).collect(),
            labeled: labeled_rows
                .into_iter()
                .map(|(number, row, label)| (row, of(number), label))
                .collect(),
        })
    }
}

/// Groups of both data sets, and those that share a calibration.
#[derive(Debug)]
pub(crate) struct Divided {
    /// Increasing.
    pub names: Vec<String>,
    pub parts: Vec<Part>,
    /// Part of every group.
    pub part_of: Vec<usize>,
    /// Calibration rows of every part.
    pub calibration_rows: Vec<Vec<usize>>,
    /// Target rows of every part.
    pub target_rows: Vec<u64>,
    /// Labels of the target rows of every part.
    pub target_labels: Vec<Vec<(u64, usize)>>,
}

impl Divided {
    /// Reads the groups of the calibration data, and divides those of both. `sizes_by` says what makes a group large enough.
    pub(crate) fn of(
        (labeled, groups): (&LabeledData<'_>, &mut dyn GroupColumn),
        target: &TargetGroups,
        (alpha, small): (Miscoverage, SmallGroups),
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
        let (of_cal, place_of) = names.sorted();
        let all: BTreeSet<&String> = of_cal.iter().chain(target.counts.keys()).collect();
        let names: Vec<String> = all.into_iter().cloned().collect();
        let place = |name: &String| names.binary_search(name).unwrap_or(usize::MAX);
        let in_both: Vec<usize> = of_cal.iter().map(place).collect();
        let group_of = |row: usize| in_both[place_of[numbers[row]]];
        let target_counts: Vec<u64> =
            names.iter().map(|name| target.counts.get(name).copied().unwrap_or(0)).collect();
        let weights = labeled.side_inputs().weights;
        let mut sizes = vec![0.0; names.len()];
        for row in 0..rows {
            sizes[group_of(row)] += match (sizes_by, weights) {
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
        for row in 0..rows {
            calibration_rows[part_of[group_of(row)]].push(row);
        }
        let mut target_rows = vec![0; parts.len()];
        for (group, count) in target_counts.iter().enumerate() {
            target_rows[part_of[group]] += count;
        }
        let mut target_labels = vec![Vec::new(); parts.len()];
        for (key, group, label) in &target.labeled {
            if let Some(part) = part_of.get(place(group)) {
                target_labels[*part].push((*key, *label));
            }
        }
        Ok(Self { names, parts, part_of, calibration_rows, target_rows, target_labels })
    }

    /// The part of a group by its name; the column may have changed since it was read.
    pub(super) fn part_of_name(&self, name: &str) -> Option<usize> {
        let place = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        Some(self.part_of[place])
    }

    /// The names of the groups of a part.
    pub(crate) fn groups_of(&self, part: usize) -> Vec<String> {
        self.parts[part].members.iter().map(|group| self.names[*group].clone()).collect()
    }
}

/// What makes a group large enough for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizesBy {
    /// Its calibration points; target rows change no threshold.
    Points,
    /// Its calibration points, if it has target rows.
    FittedPoints,
    /// The weight of its calibration points.
    Weights,
}

impl SizesBy {
    /// Of a method.
    pub(crate) fn of(method: MethodName) -> Self {
        match method {
            MethodName::Uncorrected | MethodName::Oracle => Self::Points,
            MethodName::Fixed => Self::Weights,
            _ => Self::FittedPoints,
        }
    }
}
