//! The paper's tables from all cells.

use evenkeel_report::study::{Drawing, Joined, LineAxis, LinePlot, Reference, line_plot};

use super::{
    CellOutcome, ImageCell, ImageMethod, Images, LABEL_SHIFT_DRAWS, LABEL_SHIFT_LEAST,
    LabelMarginal, MethodOutcome, Tables,
};
use crate::run::{Entry, NumberStyle, Outputs, Spread, Table};

type Finished = [(ImageCell, CellOutcome)];

const SPREAD: &str = "Mean ± standard deviation over seeds and corruptions.";

/// Methods with a bound that Table 5 shows.
const BOUNDED: [&str; 4] = ["ff-min-max", "ff-f-u", "ff-w1-min-max", "ff-w1-f-u"];

/// Methods in the figures of coverage: as many as can be told apart.
const DRAWN: [&str; 8] =
    ["uncorrected", "oracle", "likelihood-ratio", "ecp", "conditional", "qtc", "ff-f-u", "auto"];

pub(super) fn outputs(images: &Images, finished: &Finished) -> Outputs {
    let cells = Cells { images, finished };
    let level = 1.0 - images.settings.alpha.get();
    let tables = match images.settings.tables {
        Tables::All => vec![
            cells.distance_from_level(level),
            cells.coverage_and_size(),
            cells.total_gaps(),
            cells.tightness(),
            cells.coverage_by_corruption(),
        ],
        Tables::Tightness => vec![cells.tightness()],
    };
    let kept =
        || finished.iter().map(|(_, outcome)| outcome).filter(|kept| kept.left_out.is_none());
    let unlabeled = range(kept().map(|outcome| outcome.unlabeled));
    let tests = range(kept().map(|outcome| outcome.test));
    Outputs {
        title: match images.settings.tables {
            Tables::All => "Image classification under shift",
            Tables::Tightness => "Bounds against measured gaps",
        }
        .to_owned(),
        subtitle: format!(
            "{} conditions, {} seeds, n = {} calibration points ({} for weight functions), m = {unlabeled} unlabeled, {tests} test points, level {:.0} %",
            images.data.conditions().len(),
            images.settings.seeds,
            images.settings.calibration,
            2 * images.settings.calibration,
            100.0 * level
        ),
        lead: [
            "FF: free-form weights; WF: a weight function; without a number, 1000 steps for each unit of severity, as in the \
             paper, which takes knowing the severity. Coverage in percent, sizes in labels."
                .to_owned(),
        ]
        .into_iter()
        .chain(label_shift_words(finished))
        .collect(),
        tables,
        data: vec![cells.all()],
        figures: cells.figures(level),
    }
}

/// The smallest and the largest number, in words.
fn range(numbers: impl Iterator<Item = usize> + Clone) -> String {
    match (numbers.clone().min(), numbers.max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "0".to_owned(),
    }
}

/// What became of the cells with label shift that had too few points; nothing if all had enough.
fn label_shift_words(finished: &Finished) -> Option<String> {
    let shifted = || {
        finished.iter().filter(|(cell, _)| cell.labels == LabelMarginal::Shifted).map(|(_, of)| of)
    };
    let left_out = shifted().filter(|outcome| outcome.left_out.is_some()).count();
    let redrawn = shifted().filter(|outcome| outcome.redraws > 0).count();
    let all = shifted().count();
    let largest = shifted().filter_map(|outcome| outcome.left_out).max();
    let mut words = Vec::new();
    if let Some(largest) = largest {
        words.push(format!(
            "{left_out} of {all} cells with label shift are left out of all averages: none of {LABEL_SHIFT_DRAWS} label \
             marginals allowed a sample of {LABEL_SHIFT_LEAST} points without replacement (the largest had {largest})."
        ));
    }
    if redrawn > 0 {
        words.push(format!(
            "In {redrawn} of {all} cells with label shift the label marginal was drawn again until it allowed \
             {LABEL_SHIFT_LEAST} points: their shift is milder than the Dirichlet law's."
        ));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

struct Cells<'a> {
    images: &'a Images,
    finished: &'a Finished,
}

impl Cells<'_> {
    fn severities(&self) -> Vec<u32> {
        let mut found: Vec<u32> =
            self.images.data.conditions().iter().map(|condition| condition.severity).collect();
        // Neighbours only: the conditions are in the order of their severities.
        found.dedup();
        found
    }

    /// Corruptions in the order of the folder.
    fn corruptions(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for condition in self.images.data.conditions() {
            if !found.contains(&condition.corruption.as_str()) {
                found.push(&condition.corruption);
            }
        }
        found
    }

    /// The outcomes of one method in the cells that fit.
    fn of<'b>(
        &'b self,
        method: ImageMethod,
        fits: impl Fn(&ImageCell) -> bool + 'b,
    ) -> impl Iterator<Item = &'b MethodOutcome> + 'b {
        let fitting = self.finished.iter().filter(move |(cell, _)| fits(cell));
        fitting
            .flat_map(|(_, outcome)| &outcome.methods)
            .filter(move |outcome| outcome.method == method.id())
    }

    /// How to read a table, and which cells are not in it.
    fn note(&self, words: &str) -> String {
        match label_shift_words(self.finished) {
            Some(more) => format!("{words} {more}"),
            None => words.to_owned(),
        }
    }

    /// Table 1: coverage and size by severity.
    fn coverage_and_size(&self) -> Table {
        let mut columns = vec!["method".to_owned()];
        for severity in self.severities() {
            columns.push(format!("sev. {severity}: coverage"));
            columns.push(format!("sev. {severity}: size"));
        }
        let title = "Table 1: coverage and set size, averaged over corruptions";
        let mut table = Table::new("table-1", title, columns).with_note(&self.note(SPREAD));
        for labels in &self.images.settings.marginals {
            for method in &self.images.settings.methods {
                let mut row = vec![Entry::text(self.heading(*labels, *method))];
                for severity in self.severities() {
                    let found = || {
                        self.of(*method, move |cell| {
                            cell.labels == *labels && cell.condition.severity == severity
                        })
                    };
                    let (percent, two) = (NumberStyle::Percent, NumberStyle::Decimals(2));
                    row.push(Entry::spread(found().map(|outcome| outcome.coverage), percent));
                    row.push(Entry::spread(found().map(|outcome| outcome.size), two));
                }
                table.rows.push(row);
            }
        }
        table
    }

    fn heading(&self, labels: LabelMarginal, method: ImageMethod) -> String {
        if self.images.settings.marginals.len() > 1 {
            format!("{} ({})", method.words(), labels.words())
        } else {
            method.words().to_owned()
        }
    }

    /// How far coverage is from the level, cell by cell: the number methods are compared by.
    fn distance_from_level(&self, level: f64) -> Table {
        let mut columns = vec!["method".to_owned()];
        for labels in &self.images.settings.marginals {
            for severity in self.severities() {
                columns.push(format!("{}, sev. {severity}", labels.words()));
            }
            columns.push(format!("{}, all", labels.words()));
        }
        columns.extend(["all cells".to_owned(), "mean coverage".to_owned()]);
        columns.push("cells below level by 5 points".to_owned());
        let title = "Distance from the level: mean |coverage - level| over cells, in points";
        let mut table = Table::new("distance", title, columns).with_note(&self.note(
            "Averages over single cells, so that overcoverage in one does not make up for undercoverage in another.",
        ));
        let percent = NumberStyle::Percent;
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            Entry::number(Spread::of(values).map(|spread| spread.mean), percent)
        };
        let off = |outcome: &MethodOutcome| (outcome.coverage - level).abs();
        for method in &self.images.settings.methods {
            let mut row = vec![Entry::text(method.words())];
            for labels in &self.images.settings.marginals {
                for severity in self.severities() {
                    let fits = move |cell: &ImageCell| {
                        cell.labels == *labels && cell.condition.severity == severity
                    };
                    row.push(mean(&mut self.of(*method, fits).map(off)));
                }
                let fits = move |cell: &ImageCell| cell.labels == *labels;
                row.push(mean(&mut self.of(*method, fits).map(off)));
            }
            let all = || self.of(*method, |_| true);
            row.push(mean(&mut all().map(off)));
            row.push(mean(&mut all().map(|outcome| outcome.coverage)));
            // Averages hide the cells that hurt: how many miss by five points is told beside them.
            let below = |outcome: &MethodOutcome| f64::from(outcome.coverage < level - 0.05);
            row.push(mean(&mut all().map(below)));
            table.rows.push(row);
        }
        table
    }

    /// Table 4: measured total coverage gaps by severity.
    fn total_gaps(&self) -> Table {
        let severities = self.severities();
        let mut columns = vec!["method".to_owned()];
        columns.extend(severities.iter().map(|severity| format!("sev. {severity}")));
        let title = "Table 4: total coverage gap";
        let mut table = Table::new("table-4", title, columns).with_note(&self.note(SPREAD));
        for labels in &self.images.settings.marginals {
            for method in &self.images.settings.methods {
                let mut row = vec![Entry::text(self.heading(*labels, *method))];
                for severity in &severities {
                    let fits = move |cell: &ImageCell| {
                        cell.labels == *labels && cell.condition.severity == *severity
                    };
                    let gaps = self.of(*method, fits).filter_map(|outcome| outcome.total_gap);
                    row.push(Entry::spread(gaps, NumberStyle::Decimals(3)));
                }
                // Methods with thresholds of their own for each point have no total gap; an empty
                // row would puzzle.
                if row.iter().any(|entry| matches!(entry, Entry::Spread(..))) {
                    table.rows.push(row);
                }
            }
        }
        table
    }

    /// Table 5: the bound that was minimised against the measured gap, at the highest severity, without label shift.
    fn tightness(&self) -> Table {
        let severity = self.severities().last().copied().unwrap_or(0);
        let labels = self.images.settings.marginals.first().copied().unwrap_or(LabelMarginal::Same);
        let shown: Vec<ImageMethod> = BOUNDED
            .into_iter()
            .filter_map(|id| {
                self.images.settings.methods.iter().copied().find(|method| method.id() == id)
            })
            .collect();
        let mut columns = vec!["corruption".to_owned()];
        for method in &shown {
            columns.push(format!("{}: gap", method.words()));
            columns.push(format!("{}: bound", method.words()));
        }
        let title = format!(
            "Table 5: measured total gap and its bound at severity {severity}, {}",
            labels.words()
        );
        let mut table = Table::new("table-5", &title, columns)
            .with_note("Mean ± standard deviation over seeds. No finite-sample correction.");
        let three = NumberStyle::Decimals(3);
        for corruption in self.corruptions() {
            let mut row = vec![Entry::text(corruption)];
            for method in &shown {
                let found = || {
                    self.of(*method, move |cell| {
                        cell.labels == labels
                            && cell.condition.severity == severity
                            && cell.condition.corruption == corruption
                    })
                };
                let gaps = found().filter_map(|outcome| outcome.total_gap);
                row.push(Entry::spread(gaps, three));
                row.push(Entry::spread(found().filter_map(|outcome| outcome.bound), three));
            }
            table.rows.push(row);
        }
        table
    }

    /// Table 6: coverage by corruption.
    fn coverage_by_corruption(&self) -> Table {
        let corruptions = self.corruptions();
        let mut columns = vec!["method".to_owned()];
        columns.extend(corruptions.iter().map(|corruption| (*corruption).to_owned()));
        columns.extend(["average".to_owned(), "size".to_owned()]);
        let title = "Table 6: coverage by corruption";
        let mut table = Table::new("table-6", title, columns)
            .with_note(&self.note("Mean ± standard deviation over seeds; in the last two columns over corruptions as well."));
        for severity in self.severities() {
            for labels in &self.images.settings.marginals {
                for method in &self.images.settings.methods {
                    let heading = self.heading(*labels, *method);
                    let mut row = vec![Entry::text(format!("sev. {severity}: {heading}"))];
                    let fits = move |cell: &ImageCell| {
                        cell.labels == *labels && cell.condition.severity == severity
                    };
                    for corruption in &corruptions {
                        let found = self.of(*method, move |cell| {
                            fits(cell) && cell.condition.corruption == *corruption
                        });
                        let coverage = found.map(|outcome| outcome.coverage);
                        row.push(Entry::spread(coverage, NumberStyle::Percent));
                    }
                    let all = || self.of(*method, fits);
                    let coverage = all().map(|outcome| outcome.coverage);
                    row.push(Entry::spread(coverage, NumberStyle::Percent));
                    let size = all().map(|outcome| outcome.size);
                    row.push(Entry::spread(size, NumberStyle::Decimals(2)));
                    table.rows.push(row);
                }
            }
        }
        table
    }

    /// Coverage by severity for each label marginal, and bounds against gaps.
    fn figures(&self, level: f64) -> Vec<Drawing> {
        let coverage =
            self.images.settings.marginals.iter().map(|labels| match self.images.settings.tables {
                Tables::All => self.coverage_figure(*labels, level),
                Tables::Tightness => None,
            });
        coverage.chain([self.tightness_figure()]).flatten().collect()
    }

    fn coverage_figure(&self, labels: LabelMarginal, level: f64) -> Option<Drawing> {
        let chosen = &self.images.settings.methods;
        let mut shown: Vec<ImageMethod> =
            chosen.iter().copied().filter(|method| DRAWN.contains(&method.id())).collect();
        if shown.is_empty() {
            // Of methods that are none of the usual ones, the first: a figure without curves helps
            // nobody.
            shown = chosen.iter().copied().take(DRAWN.len()).collect();
        }
        let series = shown.iter().map(|method| {
            let at = |severity: u32| {
                let fits = move |cell: &ImageCell| {
                    cell.labels == labels && cell.condition.severity == severity
                };
                let spread = Spread::of(self.of(*method, fits).map(|outcome| outcome.coverage))?;
                Some((f64::from(severity), spread.mean))
            };
            (method.words().to_owned(), self.severities().into_iter().filter_map(at).collect())
        });
        line_plot(&LinePlot {
            name: format!("coverage-{}", labels.name()),
            title: format!("Coverage by severity, {}", labels.words()),
            caption: format!(
                "Mean over corruptions and seeds of {} of {} methods; all of them are in Table 1.",
                shown.len(),
                chosen.len()
            ),
            across: ("severity".to_owned(), LineAxis::Plain),
            up: ("coverage".to_owned(), LineAxis::Percent),
            reference: Some(Reference::Height(level, format!("level {:.0} %", 100.0 * level))),
            joined: Joined::Lines,
            series: series.collect(),
        })
    }

    fn tightness_figure(&self) -> Option<Drawing> {
        let severity = self.severities().last().copied()?;
        let labels = self.images.settings.marginals.first().copied()?;
        let fits =
            move |cell: &ImageCell| cell.labels == labels && cell.condition.severity == severity;
        let methods =
            self.images.settings.methods.iter().filter(|method| BOUNDED.contains(&method.id()));
        let series = methods.map(|method| {
            let pair = |outcome: &MethodOutcome| Some((outcome.bound?, outcome.total_gap?));
            (method.words().to_owned(), self.of(*method, fits).filter_map(pair).collect())
        });
        line_plot(&LinePlot {
            name: "bound-and-gap".to_owned(),
            title: format!("Bound and measured gap at severity {severity}, {}", labels.words()),
            caption: "A point for each cell. Below the dotted line the bound holds; the nearer to it, the tighter it is."
                .to_owned(),
            across: ("bound".to_owned(), LineAxis::Plain),
            up: ("measured total coverage gap".to_owned(), LineAxis::Plain),
            reference: Some(Reference::Diagonal("gap = bound".to_owned())),
            joined: Joined::Points,
            series: series.collect(),
        })
    }

    /// Every number of every cell.
    fn all(&self) -> Table {
        let columns = [
            "corruption",
            "severity",
            "labels",
            "repetition",
            "method",
            "coverage",
            "size",
            "total_gap",
            "bound",
            "n_w",
            "unlabeled",
            "test",
        ];
        let mut table = Table::new("cells", "All cells", columns.map(str::to_owned).to_vec());
        // For the style of people only: files hold every digit.
        let exact = NumberStyle::Decimals(6);
        for (cell, outcome) in self.finished {
            for row in &outcome.methods {
                table.rows.push(vec![
                    Entry::text(&cell.condition.corruption),
                    Entry::text(cell.condition.severity.to_string()),
                    Entry::text(cell.labels.name()),
                    Entry::text(cell.repetition.to_string()),
                    Entry::text(&row.method),
                    Entry::Number(row.coverage, exact),
                    Entry::Number(row.size, exact),
                    Entry::number(row.total_gap, exact),
                    Entry::number(row.bound, exact),
                    Entry::number(row.effective, exact),
                    Entry::text(outcome.unlabeled.to_string()),
                    Entry::text(outcome.test.to_string()),
                ]);
            }
        }
        table
    }
}
