//! All cells to tables and a figure.

use evenkeel_report::study::{Joined, LineAxis, LinePlot, line_plot};

use super::approach::{LabelApproach, Uses};
use super::cell::{ApproachOutcome, LabelsOutcome};
use super::{LabelsCell, LabelsSettings};
use crate::images::LabelMarginal;
use crate::run::{Entry, NumberStyle, Outputs, Spread, Table};

/// Number of labels at which conditions are told apart.
const SHOWN_LABELS: usize = 50;

/// Cells that are averaged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum World {
    /// Clean images with the class shares of the calibration data.
    NoShift,
    /// Corrupted images with those shares.
    Corrupted,
    /// Clean images with other class shares.
    LabelShift,
    /// Corrupted images with other class shares.
    Both,
}

impl World {
    const ALL: [Self; 4] = [Self::NoShift, Self::Corrupted, Self::LabelShift, Self::Both];

    fn of(cell: &LabelsCell) -> Self {
        match (&cell.condition, cell.marginal) {
            (None, LabelMarginal::Same) => Self::NoShift,
            (Some(_), LabelMarginal::Same) => Self::Corrupted,
            (None, LabelMarginal::Shifted) => Self::LabelShift,
            (Some(_), LabelMarginal::Shifted) => Self::Both,
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::NoShift => "no-shift",
            Self::Corrupted => "corrupted",
            Self::LabelShift => "label-shift",
            Self::Both => "corrupted-label-shift",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::NoShift => "no shift",
            Self::Corrupted => "corrupted images",
            Self::LabelShift => "label shift",
            Self::Both => "corrupted images and label shift",
        }
    }
}

type Finished = [(LabelsCell, LabelsOutcome)];

/// Everything that the cells say.
pub(super) fn outputs(settings: &LabelsSettings, finished: &Finished) -> Outputs {
    let found = Found { settings, finished };
    let mut outputs = Outputs {
        title: "Coverage with a few labels of the target data".to_owned(),
        subtitle: format!(
            "level {} %, n = {}, m = {}, {} seeds",
            percent(settings.alpha.level().get()),
            settings.calibration,
            settings.unlabeled,
            settings.seeds
        ),
        lead: found.lead(),
        ..Outputs::default()
    };
    for world in World::ALL {
        outputs.tables.extend(found.tables(world));
        outputs.figures.extend(found.figure(world));
    }
    outputs.tables.extend(found.by_condition());
    outputs.data.push(found.every_cell());
    outputs
}

/// A share as a percentage without digits that say nothing.
fn percent(share: f64) -> String {
    let rounded = (1e4 * share).round() / 100.0;
    rounded.to_string()
}

struct Found<'a> {
    settings: &'a LabelsSettings,
    finished: &'a Finished,
}

impl Found<'_> {
    fn lead(&self) -> Vec<String> {
        let mut lead = vec![
            "Error: |coverage - level| in percentage points, measured on test points that nobody labeled, averaged over \
             conditions and seeds. An error of the mean over test points has both signs; the tables of coverage show which \
             one prevails."
                .to_owned(),
            "Labels are those of target points drawn at random. Without labels few-labels is auto.".to_owned(),
        ];
        let most = self.settings.labels.iter().copied().max().unwrap_or(0);
        let left_out = self.finished.iter().filter(|(_, outcome)| outcome.target == 0).count();
        let small = self.finished.iter().filter(|(_, outcome)| outcome.target < most).count();
        if small > 0 {
            lead.push(format!(
                "Label shift left {left_out} cells out, and {} more without enough points for {most} labels: columns average \
                 the cells that have them.",
                small - left_out
            ));
        }
        lead
    }

    /// Numbers of labels: 0 and those asked for, increasing.
    fn counts(&self) -> Vec<usize> {
        let mut counts = self.settings.labels.clone();
        counts.push(0);
        counts.sort_unstable();
        counts
    }

    /// What an approach came to with so many labels.
    fn outcomes(
        &self,
        keep: impl Fn(&LabelsCell) -> bool,
        approach: LabelApproach,
        labels: usize,
    ) -> Vec<&ApproachOutcome> {
        let (approach, labels) = match (approach.uses(), labels) {
            (Uses::NoLabels, _) => (approach, 0),
            (Uses::LabelsOrAuto, 0) => (approach.without_labels(), 0),
            (_, labels) => (approach, labels),
        };
        let cells = self.finished.iter().filter(|(cell, _)| keep(cell));
        let all = cells.flat_map(|(_, outcome)| &outcome.approaches);
        all.filter(|row| row.approach == approach.id() && row.labels == labels).collect()
    }

    fn error(&self, row: &ApproachOutcome) -> f64 {
        (row.coverage - self.settings.alpha.level().get()).abs()
    }

    /// A row for each approach, a column for each number of labels.
    fn tables(&self, world: World) -> Vec<Table> {
        let level = percent(self.settings.alpha.level().get());
        let points = format!("|coverage - {level} %| in points");
        let error = |row: &ApproachOutcome| self.error(row);
        let coverage = |row: &ApproachOutcome| row.coverage;
        let size = |row: &ApproachOutcome| row.size;
        let (share, two) = (NumberStyle::Percent, NumberStyle::Decimals(2));
        [
            self.table(world, ("error", &points), share, &error),
            self.table(world, ("coverage", "coverage, %"), share, &coverage),
            self.table(world, ("size", "mean set size"), two, &size),
        ]
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
    }

    fn table(
        &self,
        world: World,
        (name, title): (&str, &str),
        style: NumberStyle,
        value: &dyn Fn(&ApproachOutcome) -> f64,
    ) -> Table {
        let counts = self.counts();
        let mut columns = vec!["".to_owned()];
        columns.extend(counts.iter().map(|count| format!("k = {count}")));
        let name = format!("{name}-{}", world.id());
        let mut table = Table::new(&name, &format!("{}: {title}", capital(world.words())), columns);
        for approach in LabelApproach::ALL {
            let entries: Vec<Entry> = counts
                .iter()
                .map(|count| {
                    let found = self.outcomes(|cell| World::of(cell) == world, approach, *count);
                    Entry::spread(found.into_iter().map(value), style)
                })
                .collect();
            if entries.iter().any(|entry| *entry != Entry::Missing) {
                let name = std::iter::once(Entry::text(approach.words()));
                table.rows.push(name.chain(entries).collect());
            }
        }
        table
    }

    /// Error against the number of labels.
    fn figure(&self, world: World) -> Option<evenkeel_report::study::Drawing> {
        let mean = |approach: LabelApproach, count: usize| {
            let found = self.outcomes(|cell| World::of(cell) == world, approach, count);
            let spread = Spread::of(found.into_iter().map(|row| self.error(row)))?;
            Some((count as f64, 100.0 * spread.mean))
        };
        // Uncorrected is left to the tables: on corrupted images its line would flatten all others.
        let series = LabelApproach::ALL
            .into_iter()
            .filter(|approach| *approach != LabelApproach::Uncorrected)
            .map(|approach| {
                let points = self.counts().into_iter().filter_map(|count| mean(approach, count));
                (approach.words().to_owned(), points.collect())
            });
        line_plot(&LinePlot {
            name: format!("error-{}", world.id()),
            title: format!("Error against the number of labels: {}", world.words()),
            caption: format!(
                "Mean |coverage - {} %| over conditions and seeds; lower is better.",
                percent(self.settings.alpha.level().get())
            ),
            across: ("labels".to_owned(), LineAxis::Plain),
            up: ("error, points".to_owned(), LineAxis::Plain),
            reference: None,
            joined: Joined::Lines,
            series: series.collect(),
        })
    }

    /// Error of every condition with one number of labels.
    fn by_condition(&self) -> Option<Table> {
        let labels = self.settings.labels.iter().copied().find(|count| *count == SHOWN_LABELS)?;
        let mut columns = vec!["condition".to_owned()];
        for marginal in LabelMarginal::ALL {
            let heading =
                |approach: &LabelApproach| format!("{}, {}", approach.words(), marginal.words());
            columns.extend(LabelApproach::ALL.iter().map(heading));
        }
        let title = format!("|coverage - level| in points with {labels} labels, by condition");
        let mut table = Table::new("error-by-condition", &title, columns);
        let mut conditions: Vec<String> =
            self.finished.iter().map(|(cell, _)| cell.condition_name()).collect();
        conditions.dedup();
        for condition in conditions {
            let mut row = vec![Entry::text(condition.clone())];
            for marginal in LabelMarginal::ALL {
                let keep = |cell: &LabelsCell| {
                    cell.marginal == marginal && cell.condition_name() == condition
                };
                row.extend(LabelApproach::ALL.into_iter().map(|approach| {
                    let found = self.outcomes(keep, approach, labels);
                    Entry::spread(
                        found.into_iter().map(|row| self.error(row)),
                        NumberStyle::Percent,
                    )
                }));
            }
            table.rows.push(row);
        }
        Some(table)
    }

    /// One line for every cell, approach and number of labels.
    fn every_cell(&self) -> Table {
        let names =
            ["condition", "labels_of", "repetition", "approach", "k", "coverage", "mean_size"];
        let columns = names.map(str::to_owned).to_vec();
        let mut table = Table::new("cells", "Every cell", columns);
        let exact = NumberStyle::Decimals(6);
        for (cell, outcome) in self.finished {
            for row in &outcome.approaches {
                table.rows.push(vec![
                    Entry::text(cell.condition_name()),
                    Entry::text(cell.marginal.name()),
                    Entry::text(cell.repetition.to_string()),
                    Entry::text(row.approach.clone()),
                    Entry::text(row.labels.to_string()),
                    Entry::number(Some(row.coverage), exact),
                    Entry::number(Some(row.size), exact),
                ]);
            }
        }
        table
    }
}

/// With a capital at its start.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
