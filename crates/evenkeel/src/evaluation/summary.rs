//! Counts per class and per set size: everything about the sets of labeled points, counted block by block.

use serde::{Deserialize, Serialize};

use super::coverage::{ClassCoverage, Hits, SizeCoverage};
use super::set_size::SetSizes;
use crate::conformal::LabelSets;
use crate::error::{Error, Result, require_same_length};
use crate::level::Miscoverage;
use crate::score::Labels;
use crate::sketch::{contradiction, rows_of_both, sum_of_counts};

/// How prediction sets did on labeled points.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Number of labeled points the rest is about.
    pub n: u64,
    /// The miscoverage rate the sets were made for.
    pub alpha: Miscoverage,
    /// Share of the points whose label is in their set, in `[0, 1]`.
    pub coverage: f64,
    /// Mean number of labels in a set.
    pub mean_size: f64,
    /// Median set size: of an even number of sets, the average of the middle two.
    pub median_size: f64,
    /// Number of sets without any label.
    pub empty: u64,
    /// Number of sets with every label.
    pub full: u64,
    /// Measured total coverage gap; none where no single calibration law exists (a threshold per point).
    pub total_coverage_gap: Option<f64>,
    /// Coverage of every class that occurs, by increasing label.
    pub per_class: Vec<ClassCoverage>,
    /// Coverage of every set size that occurs, by increasing size.
    pub by_size: Vec<SizeCoverage>,
}

/// What is counted on the way to an [`Evaluation`]: 32 bytes per class. Parts merge into the whole, bit for bit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct EvaluationCounts {
    /// One for each class, by the label of the point.
    classes: Vec<Hits>,
    /// One for each size `0..=classes`, by the size of the set: the same points once more.
    sizes: Vec<Hits>,
}

/// As they are stored; checked when read back. Same fields in the same order as the counts, for
/// formats without names.
#[derive(Deserialize)]
struct Stored {
    classes: Vec<Hits>,
    sizes: Vec<Hits>,
}

impl TryFrom<Stored> for EvaluationCounts {
    type Error = Error;

    /// An error unless both lists count the same points and cover no more than there are.
    fn try_from(Stored { classes, sizes }: Stored) -> Result<Self> {
        let total = |hits: &[Hits]| -> Result<(u64, u64)> {
            let points = sum_of_counts(hits.iter().map(|hits| hits.points))?;
            Ok((points, sum_of_counts(hits.iter().map(|hits| hits.covered))?))
        };
        let covered_are_points =
            classes.iter().chain(&sizes).all(|hits| hits.covered <= hits.points);
        if classes.is_empty()
            || sizes.len() != classes.len() + 1
            || !covered_are_points
            // Every point is counted once in either list. Made-up counts that disagree would give a
            // coverage by class that contradicts the whole.
            || total(&classes)? != total(&sizes)?
        {
            return Err(contradiction("its points by class are not its points by set size"));
        }
        Ok(Self { classes, sizes })
    }
}

impl EvaluationCounts {
    /// Nothing counted yet, over `classes` classes.
    ///
    /// # Errors
    /// `TooFew` for no classes.
    pub fn new(classes: usize) -> Result<Self> {
        if classes == 0 {
            return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
        }
        Ok(Self {
            classes: vec![Hits::default(); classes],
            sizes: vec![Hits::default(); classes + 1],
        })
    }

    /// The counts of one table.
    ///
    /// # Errors
    /// `LengthMismatch` unless there is one label per set, `LabelOutOfRange` for a label that is not below the number
    /// of classes.
    pub fn of(sets: &LabelSets, labels: &Labels) -> Result<Self> {
        Self::new(sets.classes())?.add(0, sets, labels.as_slice())
    }

    /// Adds a block of sets with their labels; `first_row` is the index of the block's first row in the whole input,
    /// for errors.
    ///
    /// Adding consumes the counts and gives them back, so that none can be used after a block failed half-way.
    ///
    /// # Errors
    /// `LengthMismatch` unless the sets choose from the classes counted here and there is one label per set;
    /// `LabelOutOfRange` for a label that is not below the number of classes, counted from `first_row`.
    pub fn add(self, first_row: usize, sets: &LabelSets, labels: &[usize]) -> Result<Self> {
        self.add_chosen(first_row, sets, labels, |_| true)
    }

    /// The same for those rows of the block that are `chosen`, counted from its first; all labels are checked.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_chosen(
        mut self,
        first_row: usize,
        sets: &LabelSets,
        labels: &[usize],
        chosen: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let classes = self.classes.len();
        require_same_length("classes of the sets", sets.classes(), "the evaluation", classes)?;
        require_same_length("labels", labels.len(), "the evaluated sets", sets.rows())?;
        for (row, label) in labels.iter().enumerate() {
            // Checked here although `Labels` are: blocks arrive as plain numbers from a file.
            let Some(class) = self.classes.get_mut(*label) else {
                let (index, label) = (first_row.saturating_add(row), *label);
                return Err(Error::LabelOutOfRange { what: "labels", index, label, classes });
            };
            if chosen(row) {
                let covered = u64::from(sets.contains(row, *label));
                class.count(covered);
                self.sizes[sets.size(row)].count(covered);
            }
        }
        Ok(self)
    }

    /// The counts of these points and the other's.
    ///
    /// # Errors
    /// `LengthMismatch` unless both count the same number of classes.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        require_same_length(
            "the merged evaluation's classes",
            other.classes.len(),
            "the evaluation",
            self.classes.len(),
        )?;
        // Before anything is added: a sum that overflows must leave nothing half merged.
        rows_of_both(self.all().points, other.all().points)?;
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.merge(*theirs);
        }
        for (mine, theirs) in self.sizes.iter_mut().zip(&other.sizes) {
            mine.merge(*theirs);
        }
        Ok(self)
    }

    /// The evaluation of what was counted; the total coverage gap comes from the scores
    /// ([`total_coverage_gap`](super::total_coverage_gap)), if there is a calibration law.
    ///
    /// # Errors
    /// `Empty` if nothing was counted.
    pub fn finish(
        &self,
        alpha: Miscoverage,
        total_coverage_gap: Option<f64>,
    ) -> Result<Evaluation> {
        let counts: Vec<u64> = self.sizes.iter().map(|hits| hits.points).collect();
        let sizes = SetSizes::from_counts(&counts)?;
        Ok(Evaluation {
            n: self.all().points,
            alpha,
            coverage: self.coverage()?,
            mean_size: sizes.mean,
            median_size: sizes.median,
            empty: sizes.empty,
            full: sizes.full,
            total_coverage_gap,
            per_class: self.by_class(),
            by_size: self.by_size(),
        })
    }

    /// All points counted, over the classes.
    fn all(&self) -> Hits {
        let mut all = Hits::default();
        self.classes.iter().for_each(|hits| all.merge(*hits));
        all
    }

    /// Share of all points that are covered.
    ///
    /// # Errors
    /// `Empty` if nothing was counted.
    pub(super) fn coverage(&self) -> Result<f64> {
        self.all().share().ok_or(Error::Empty { what: "the evaluated sets" })
    }

    /// Coverage of the classes that occur, by increasing label.
    pub(super) fn by_class(&self) -> Vec<ClassCoverage> {
        let class = |(label, hits): (usize, &Hits)| {
            hits.share().map(|coverage| ClassCoverage { label, n: hits.points, coverage })
        };
        self.classes.iter().enumerate().filter_map(class).collect()
    }

    /// Coverage of the set sizes that occur, by increasing size.
    pub(super) fn by_size(&self) -> Vec<SizeCoverage> {
        let size = |(size, hits): (usize, &Hits)| {
            hits.share().map(|coverage| SizeCoverage { size, n: hits.points, coverage })
        };
        self.sizes.iter().enumerate().filter_map(size).collect()
    }
}
