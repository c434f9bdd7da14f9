//! The calibration data: whole in memory, checked once.

use evenkeel::calibration::{Calibration, Reference, ReferenceRows};
use evenkeel::calibrator::{Fit, ShiftCalibrator};
use evenkeel::check::{Check, CheckSettings};
use evenkeel::error::Error;
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs};

use crate::any_rows::{AnyRows, with_rows};
use crate::error::{JobError, PerRow, Result};

/// What the caller calls the side inputs of one set of points, for errors.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideNames<'a> {
    /// Name of the table of features in errors.
    pub features: &'a str,
    /// Name of the known likelihood ratios in errors.
    pub ratios: &'a str,
    /// Weights of the user's own.
    pub weights: &'a str,
}

impl SideNames<'_> {
    /// Each on its own, so that an error names the input it is about.
    pub(crate) fn check(
        &self,
        side: &SideInputs<'_>,
        (matrix, rows): (&str, usize),
        first_row: usize,
    ) -> Result<()> {
        let none = SideInputs::default();
        let given = [
            (
                self.features,
                PerRow::Features,
                side.features.map(|features| features.rows()),
                SideInputs { features: side.features, ..none },
            ),
            (
                self.ratios,
                PerRow::Ratio,
                side.ratios.map(<[f64]>::len),
                SideInputs { ratios: side.ratios, ..none },
            ),
            (
                self.weights,
                PerRow::Weight,
                side.weights.map(<[f64]>::len),
                SideInputs { weights: side.weights, ..none },
            ),
        ];
        for (input, what, found, alone) in given {
            let Some(found) = found else { continue };
            if found != rows {
                let (input, matrix) = (input.to_owned(), matrix.to_owned());
                return Err(JobError::Count { input, what, found, matrix, rows, more: false });
            }
            alone.check(rows).map_err(|error| {
                JobError::found_in(input, crate::error::counted_from(first_row, error))
            })?;
        }
        // Found here, where the file's name is known; the core would refuse them later without it.
        if side.weights.is_some_and(|weights| weights.iter().all(|weight| *weight <= 0.0)) {
            return Err(JobError::found_in(self.weights, Error::ZeroTotal { what: "weights" }));
        }
        Ok(())
    }
}

/// Probabilities in the precision they came in.
#[derive(Debug, Clone)]
enum AnyProbabilities<'a> {
    F32(Probabilities<'a, f32>),
    F64(Probabilities<'a, f64>),
}

/// The same expression for probabilities of either precision.
macro_rules! with_probabilities {
    ($any:expr, |$probabilities:ident| $body:expr) => {
        match $any {
            AnyProbabilities::F32($probabilities) => $body,
            AnyProbabilities::F64($probabilities) => $body,
        }
    };
}

/// The calibration data: probabilities, labels and side inputs that are known to be sound and to fit each other.
#[derive(Debug, Clone)]
pub struct LabeledData<'a> {
    name: String,
    probabilities: AnyProbabilities<'a>,
    /// As they were given, neither checked nor normalised.
    given: AnyRows<'a>,
    labels: Labels,
    side: SideInputs<'a>,
    /// Where labels of the target rows come from, and how many rows they have an entry for.
    target_entries: Option<(String, usize)>,
}

impl<'a> LabeledData<'a> {
    /// `(n, classes)` probabilities and their labels, with the caller's names of both.
    ///
    /// # Errors
    /// If a row is not a probability vector, a label names no class, or there are not as many labels as rows.
    pub fn new(
        name: &str,
        values: &'a [f64],
        classes: usize,
        labels_name: &str,
        labels: Vec<usize>,
    ) -> Result<Self> {
        let rows =
            AnyRows::f64(values, classes).map_err(|error| JobError::found_in(name, error))?;
        Self::of_rows(name, rows, labels_name, labels)
    }

    /// The same in the precision they came in: nothing is copied.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_rows(
        name: &str,
        rows: AnyRows<'a>,
        labels_name: &str,
        labels: Vec<usize>,
    ) -> Result<Self> {
        let classes = rows.columns();
        let probabilities = match rows {
            AnyRows::F32(rows) => Probabilities::from_rows(rows).map(AnyProbabilities::F32),
            AnyRows::F64(rows) => Probabilities::from_rows(rows).map(AnyProbabilities::F64),
        };
        let probabilities = probabilities.map_err(|error| JobError::found_in(name, error))?;
        // Counted before labels are judged: a missing row is the likelier mistake, and explains the
        // rest.
        let given = rows;
        let (found, rows) = (labels.len(), rows.rows());
        if found != rows {
            return Err(JobError::Count {
                input: labels_name.to_owned(),
                what: PerRow::Label,
                found,
                matrix: name.to_owned(),
                rows,
                more: false,
            });
        }
        let labels =
            Labels::new(labels, classes).map_err(|error| JobError::found_in(labels_name, error))?;
        let (name, side) = (name.to_owned(), SideInputs::default());
        Ok(Self { name, probabilities, given, labels, side, target_entries: None })
    }

    /// The calibration data that a stored calibration keeps; `name` is the caller's for it.
    ///
    /// # Errors
    /// If the rows are damaged.
    pub fn of_reference(name: &str, reference: &'a Reference, classes: usize) -> Result<Self> {
        let rows = match reference.probabilities() {
            ReferenceRows::F32(values) => AnyRows::f32(values, classes),
            ReferenceRows::F64(values) => AnyRows::f64(values, classes),
        };
        let rows = rows.map_err(|error| JobError::found_in(name, error))?;
        Self::of_rows(name, rows, name, reference.labels().to_vec())
    }

    /// Adds what stands beside the probabilities; there must be one row or number for each point.
    ///
    /// # Errors
    /// If there is not, or a number is not finite or, for ratios and weights, negative.
    pub fn with_side_inputs(mut self, names: SideNames<'_>, side: SideInputs<'a>) -> Result<Self> {
        names.check(&side, (&self.name, self.rows()), 0)?;
        self.side = side;
        Ok(self)
    }

    /// Adds what second models say of the points, beside each other, as [`beside_each_other`](crate::beside_each_other) gives it.
    ///
    /// # Errors
    /// If there is not a row for each point.
    pub fn with_second(mut self, wide: &'a [f64]) -> Result<Self> {
        if wide.is_empty() {
            return Ok(self);
        }
        let columns = wide.len() / self.rows().max(1);
        self.side.second = Some(Rows::new("probabilities of second models", wide, columns)?);
        Ok(self)
    }

    /// Adds labels of some target rows, for methods that use them.
    #[must_use]
    pub fn with_target_labels(mut self, labels: &'a evenkeel::side_inputs::TargetLabels) -> Self {
        self.side.labels = Some(labels);
        self
    }

    /// Says that the labels of target rows came as a column with an entry, or a gap, for each of so many rows.
    #[must_use]
    pub fn with_target_entries(mut self, name: &str, entries: Option<usize>) -> Self {
        self.target_entries = entries.map(|entries| (name.to_owned(), entries));
        self
    }

    /// An error unless there was an entry for each of `rows` target rows, or labels that name their rows.
    pub(crate) fn require_target_rows(&self, rows: usize) -> Result<()> {
        match &self.target_entries {
            Some((input, entries)) if *entries != rows => {
                Err(JobError::OtherNumberOfRows { input: input.clone(), entries: *entries, rows })
            }
            _ => Ok(()),
        }
    }

    /// What the caller calls the probabilities.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of points.
    pub fn rows(&self) -> usize {
        with_probabilities!(&self.probabilities, |probabilities| probabilities.rows())
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        with_probabilities!(&self.probabilities, |probabilities| probabilities.classes())
    }

    /// True class of each row, shape `(n,)`, below `C`.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The rows as they were given.
    pub(crate) fn rows_as_given(&self) -> AnyRows<'a> {
        self.given
    }

    /// What stands beside the probabilities.
    pub fn side_inputs(&self) -> SideInputs<'a> {
        self.side
    }

    /// A fit that has taken them and waits for the target rows.
    pub(crate) fn begin(&self, calibrator: &ShiftCalibrator) -> evenkeel::Result<Fit> {
        let (labels, beside) = (&self.labels, self.side);
        with_probabilities!(&self.probabilities, |probabilities| {
            calibrator.begin(&Labeled { probabilities, labels, beside })
        })
    }

    /// A check that has taken them and waits for the target rows.
    pub(crate) fn begin_check(
        &self,
        score: &Score,
        settings: &CheckSettings,
    ) -> evenkeel::Result<Check> {
        with_probabilities!(&self.probabilities, |probabilities| {
            let beside = SideInputs { second: self.side.second, ..SideInputs::default() };
            let labels = &self.labels;
            Check::begin_beside(&Labeled { probabilities, labels, beside }, score, settings)
        })
    }

    /// What the model says of every point.
    pub fn predictions(&self) -> Vec<evenkeel::shift::Prediction> {
        with_probabilities!(&self.probabilities, |probabilities| {
            evenkeel::shift::predictions(probabilities)
        })
    }

    /// The same by what scores labels in a calibration in use.
    pub(crate) fn begin_check_as(
        &self,
        calibration: &Calibration,
        settings: &CheckSettings,
    ) -> evenkeel::Result<Check> {
        with_probabilities!(&self.probabilities, |probabilities| {
            let beside = SideInputs { second: self.side.second, ..SideInputs::default() };
            let labels = &self.labels;
            let labeled = Labeled { probabilities, labels, beside };
            Check::begin_as_scored_by(&labeled, calibration, settings)
        })
    }

    /// The rows themselves, for a calibration to keep.
    pub(crate) fn reference(&self, seed: Seed) -> evenkeel::Result<Reference> {
        with_probabilities!(&self.probabilities, |probabilities| {
            Reference::of(probabilities, &self.labels, seed)
        })
    }

    /// `s(x_i, y_i)`, with the draws of calibration points.
    ///
    /// # Errors
    /// If a score is not finite.
    pub fn scores(&self, score: &Score) -> Result<Vec<f64>> {
        // The word is part of the results: a stored threshold was found with these draws.
        let drawn = score.with_draws_for("calibration");
        let scores = with_probabilities!(&self.probabilities, |probabilities| {
            drawn.label_scores(probabilities, &self.labels)
        });
        scores.map_err(|error| JobError::from(error).while_reading(&self.name))
    }

    /// The same by the label law that a calibration keeps.
    ///
    /// # Errors
    /// If the calibration has other classes.
    pub(crate) fn scores_as(&self, calibration: &Calibration) -> Result<Vec<f64>> {
        let labels = self.labels.as_slice();
        let scores = with_rows!(self.given, |rows| calibration.label_scores(0, rows, labels));
        scores.map_err(|error| JobError::from(error).while_reading(&self.name))
    }
}
