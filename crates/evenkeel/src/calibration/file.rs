//! A calibration as plain data, for any serialisation format.
//!
//! ```text
//! format, version, method, score, classes, alpha, seed, scores, weights, test_mass, ..., evidence
//! ```
//! The field names and their order are the file format: see `tests/files_v1`, which holds files of
//! every method and reads them back.

use serde::{Deserialize, Serialize};

use super::{
    Calibration, ClassNames, Evidence, Learned, Provenance, RecordedOptions, Reference, Rule,
    Warning,
};
use crate::error::{Error, Result, require_increasing};
use crate::label_law::LabelLawMap;
use crate::learning::optimise::{StopReason, Trace, TracePoint};
use crate::level::Miscoverage;
use crate::measure::Weights;
use crate::method::MethodName;
use crate::score::{Aps, Randomisation, Raps, Score};
use crate::seed::Seed;
use crate::threshold::{TestMass, Threshold};

/// What every calibration file says it is; the first thing in it.
pub(crate) const FORMAT: &str = "evenkeel/calibration";
/// Classes of a calibration at most: the columns a table of the readers may have.
const MOST_CLASSES: usize = 1 << 22;
/// Version of the layout below. A change that older readers would misread must raise it.
pub(crate) const VERSION: u32 = 1;

/// A calibration as it stands in a file. Reading one checks everything again: files are user input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CalibrationFile {
    /// Always [`FORMAT`]; anything else is refused before the rest is looked at.
    pub format: String,
    /// Always [`VERSION`]; another one is refused, not guessed at.
    pub version: u32,
    /// Name of the method, as users type it.
    pub method: MethodName,
    /// Score function of the calibration points and of every set.
    pub score: ScoreFile,
    /// Number of classes `C`, from 1 to 2^22.
    pub classes: usize,
    /// Miscoverage rate asked for when none is named, in `(0, 1)`.
    pub alpha: f64,
    /// Root of all randomness of the run that made it.
    pub seed: u64,
    /// Calibration scores, increasing; shape `(n,)`.
    pub scores: Vec<f64>,
    /// Their weights, summing to one within 1e-9; shape `(n,)`.
    pub weights: Vec<f64>,
    /// The test point's share of the mass, in `[0, 1]`.
    pub test_mass: f64,
    /// Eq 7 or eq 8 at uniform weights; none if nothing was minimised.
    pub bound_before: Option<f64>,
    /// The same at the learned weights.
    pub bound_after: Option<f64>,
    /// Exact bound on the total coverage gap at uniform weights. Files of before have none, and stay as they are when written
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_gap_bound_before: Option<f64>,
    /// The same at the learned weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_gap_bound_after: Option<f64>,
    /// Options in effect; none if no bound was minimised.
    pub options: Option<RecordedOptions>,
    /// Optimiser steps taken; 0 if nothing was optimised.
    pub steps: usize,
    /// Why the run stopped; `not-iterative` where there was none.
    pub stopped: StopReason,
    /// Recorded states of the run, about a hundred.
    pub trace: Vec<TraceFile>,
    /// What a user should know, as data; the words are made when they are shown.
    pub warnings: Vec<Warning>,
    /// How thresholds follow from the weighted scores.
    pub rule: Rule,
    /// What the method measured on its way; files of methods that measure nothing may lack it.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// The labeled rows it was made of. Files of before have none, and stay as they are when written again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What scores labels under the score `plan`. Readers of before refuse the name of the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_law: Option<LabelLawMap>,
    /// What the user calls the classes. Files of before have no names, and stay as they are when written again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_names: Option<ClassNames>,
}

/// What stands first in every calibration: read it alone to say what a file is before reading the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationHeader {
    /// `evenkeel/calibration` in a file of ours.
    pub format: String,
    /// Version of the file format; this library reads version 1.
    pub version: u32,
}

impl CalibrationHeader {
    /// An error unless format and version are those this library reads.
    ///
    /// # Errors
    /// If `format` names something else than a calibration, or `version` is not one that this library reads.
    pub fn check(&self) -> Result<()> {
        self.check_as(FORMAT, VERSION)
    }

    /// The same for another format.
    pub(crate) fn check_as(&self, expected: &'static str, supported: u32) -> Result<()> {
        // The format first: the version of something else means nothing.
        if self.format != expected {
            return Err(Error::NotACalibration { expected });
        }
        if self.version != supported {
            return Err(Error::UnsupportedVersion { found: self.version, supported });
        }
        Ok(())
    }

    /// Whether it is the header of a calibration with a threshold for each class.
    pub fn is_per_class(&self) -> bool {
        self.format == "evenkeel/calibration-per-class"
    }

    /// Whether it is the header of calibrations for each group.
    pub fn is_per_group(&self) -> bool {
        self.format == "evenkeel/calibration-per-group"
    }
}

/// A score function in a file: its name and parameters, with the seed of its draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub(crate) enum ScoreFile {
    /// `1 - p_y`, which has no parameter.
    Lac,
    /// Adaptive prediction sets, drawn or not.
    Aps {
        /// Seed of the randomisation, if there is one.
        randomised: Option<u64>,
    },
    /// Regularised adaptive prediction sets, drawn or not.
    Raps {
        /// Penalty per rank beyond `k_reg`.
        lambda: f64,
        /// Number of ranks without penalty.
        k_reg: usize,
        /// Seed of the randomisation, if there is one.
        randomised: Option<u64>,
    },
    /// Best rival's probability minus the label's.
    Margin,
    /// One minus the probability of the file's label law, or of the model where it has none.
    Plan,
}

/// A recorded state of a run in a file. JSON has no infinity, so the threshold may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct TraceFile {
    /// Steps taken before this point was recorded.
    pub step: usize,
    /// Value of the bound that is minimised.
    pub objective: f64,
    /// `n_w = 1 / sum_i w_i^2`, in `[1, n]`.
    pub effective_sample_size: f64,
    /// Threshold at the run's alpha; none is infinite.
    pub threshold: Option<f64>,
}

impl From<Calibration> for CalibrationFile {
    /// Always writes the present version.
    fn from(calibration: Calibration) -> Self {
        let Provenance { method, score, classes, alpha, seed } = *calibration.provenance();
        let learned = calibration.learned();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            method,
            score: ScoreFile::from(score),
            classes,
            alpha: alpha.get(),
            seed: seed.get(),
            scores: calibration.scores().to_vec(),
            weights: calibration.weights().as_slice().to_vec(),
            test_mass: calibration.test_mass().get(),
            bound_before: learned.bound_before,
            bound_after: learned.bound_after,
            total_gap_bound_before: learned.total_gap_bound_before,
            total_gap_bound_after: learned.total_gap_bound_after,
            options: learned.options.clone(),
            steps: learned.steps,
            stopped: learned.stopped,
            trace: learned.trace.points().iter().map(TraceFile::from).collect(),
            warnings: learned.warnings.clone(),
            rule: calibration.rule().clone(),
            evidence: learned.evidence.clone(),
            reference: calibration.reference().cloned(),
            label_law: calibration.label_law().cloned(),
            class_names: calibration.class_names().cloned(),
        }
    }
}

impl TryFrom<CalibrationFile> for Calibration {
    type Error = Error;

    /// Checks everything again; whatever a constructor refuses is refused here.
    fn try_from(file: CalibrationFile) -> Result<Self> {
        CalibrationHeader { format: file.format, version: file.version }.check()?;
        if file.classes == 0 {
            return Err(Error::TooFew { what: "classes of a calibration", found: 0, least: 1 });
        }
        // Nothing may be allocated by a number in a file: no table has that many columns.
        if file.classes > MOST_CLASSES {
            return Err(Error::Damaged {
                what: "this calibration",
                why: "it names more classes than a table can have",
            });
        }
        require_increasing("calibration scores", &file.scores)?;
        let provenance = Provenance {
            method: file.method,
            score: Score::try_from(file.score)?,
            classes: file.classes,
            alpha: Miscoverage::new(file.alpha)?,
            seed: Seed::new(file.seed),
        };
        let learned = Learned {
            bound_before: file.bound_before,
            bound_after: file.bound_after,
            total_gap_bound_before: file.total_gap_bound_before,
            total_gap_bound_after: file.total_gap_bound_after,
            options: file.options,
            steps: file.steps,
            stopped: file.stopped,
            trace: file.trace.iter().map(TracePoint::from).collect::<Trace>(),
            warnings: file.warnings,
            evidence: file.evidence,
        };
        // As they stand: dividing by a sum that is off by a rounding would change their bits at
        // every reading.
        let weights = Weights::already_normalised(file.weights)?;
        let test_mass = TestMass::new(file.test_mass)?;
        let read = Self::new(provenance, file.scores, weights, test_mass, file.rule, learned)?;
        let read = read.with_label_law(file.label_law)?;
        let read = match file.class_names {
            Some(names) => read.with_class_names(names)?,
            None => read,
        };
        match file.reference {
            Some(reference) => read.with_reference(reference),
            None => Ok(read),
        }
    }
}

impl From<Score> for ScoreFile {
    /// The seed goes along: sets of randomised scores must come out the same after reading.
    fn from(score: Score) -> Self {
        let seed_of = |randomisation| match randomisation {
            Randomisation::Deterministic => None,
            Randomisation::Uniform(seed) => Some(Seed::get(seed)),
        };
        match score {
            Score::Lac => Self::Lac,
            Score::Aps(aps) => Self::Aps { randomised: seed_of(aps.randomisation) },
            Score::Raps(raps) => Self::Raps {
                lambda: raps.lambda(),
                k_reg: raps.k_reg(),
                randomised: seed_of(raps.randomisation()),
            },
            Score::Margin => Self::Margin,
            Score::Plan => Self::Plan,
        }
    }
}

impl TryFrom<ScoreFile> for Score {
    type Error = Error;

    /// An error for a penalty that `raps` does not take.
    fn try_from(file: ScoreFile) -> Result<Self> {
        let randomisation = |seed: Option<u64>| {
            seed.map_or(Randomisation::Deterministic, |seed| {
                Randomisation::Uniform(Seed::new(seed))
            })
        };
        Ok(match file {
            ScoreFile::Lac => Self::Lac,
            ScoreFile::Aps { randomised } => {
                Self::Aps(Aps { randomisation: randomisation(randomised) })
            }
            ScoreFile::Raps { lambda, k_reg, randomised } => {
                Self::Raps(Raps::new(lambda, k_reg, randomisation(randomised))?)
            }
            ScoreFile::Margin => Self::Margin,
            ScoreFile::Plan => Self::Plan,
        })
    }
}

impl From<&TracePoint> for TraceFile {
    /// An infinite threshold becomes none.
    fn from(point: &TracePoint) -> Self {
        let threshold = match point.threshold {
            Threshold::Finite(score) => Some(score),
            Threshold::AllLabels => None,
        };
        let TracePoint { step, objective, effective_sample_size, .. } = *point;
        Self { step, objective, effective_sample_size, threshold }
    }
}

impl From<&TraceFile> for TracePoint {
    /// None becomes an infinite threshold.
    fn from(file: &TraceFile) -> Self {
        let TraceFile { step, objective, effective_sample_size, threshold } = *file;
        let threshold = threshold.map_or(Threshold::AllLabels, Threshold::Finite);
        Self { step, objective, effective_sample_size, threshold }
    }
}
