//! What target data are compared with: calibration data, or a calibration that keeps them.

use std::path::Path;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel::seed::Seed;
use evenkeel_io::LabeledFiles;
use evenkeel_jobs::grouped::AnyCalibration;
use evenkeel_jobs::{CheckJob, JobError, LabeledData};

use super::DEFAULT_ALPHA;
use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::files::{load_any_calibration, named_by};
use crate::settings::score;
use crate::table_args::LabeledPaths;

/// What target data are compared with.
pub(super) enum Reference<'a> {
    Files(Box<LabeledFiles<'a>>),
    Calibration { path: String, calibration: Box<Calibration> },
}

impl Reference<'_> {
    pub(super) fn read<'a>(
        args: &'a CheckArgs,
        paths: Option<&'a LabeledPaths>,
    ) -> Result<Reference<'a>, Failure> {
        match (&args.reference.calibration, paths) {
            (Some(path), _) => {
                let calibration = match load_any_calibration(path)? {
                    AnyCalibration::One(calibration) => Box::new(calibration),
                    grouped => return Err(refused(args, &grouped)),
                };
                Ok(Reference::Calibration { path: path.display().to_string(), calibration })
            }
            (None, Some(paths)) => {
                let files = args.reading.read_labeled(paths, &args.per.columns())?;
                Ok(Reference::Files(Box::new(files)))
            }
            (None, None) => Err(Failure::Argument(
                "give --cal-probs and --cal-labels, or --cal, or --calibration with a file written by calibrate".into(),
            )),
        }
    }

    pub(super) fn data(&self) -> Result<LabeledData<'_>, Failure> {
        match self {
            Self::Files(files) => Ok(files.data()?),
            Self::Calibration { path, calibration } => {
                let Some(reference) = calibration.reference() else {
                    return Err(Failure::from(JobError::NotCheckable {
                        input: path.clone(),
                        why: "it does not keep its calibration data, as files of version 0.1 do not; give --cal-probs and \
                              --cal-labels, or calibrate anew",
                    }));
                };
                Ok(LabeledData::of_reference(path, reference, calibration.provenance().classes)?)
            }
        }
    }

    /// The job at a rate: rates that were not typed, score and threshold are the calibration's where there is one.
    pub(super) fn job(
        &self,
        args: &CheckArgs,
        alpha: Option<Miscoverage>,
    ) -> Result<CheckJob, Failure> {
        let delta = FailureProbability::new(args.delta)?;
        let mut job = match self {
            Self::Files(_) => {
                let seed = Seed::new(args.common.seed.unwrap_or(0));
                let alpha = alpha.map_or_else(|| Miscoverage::new(DEFAULT_ALPHA), Ok)?;
                CheckJob::new(score(&args.scoring, seed)?, alpha, delta, seed)
            }
            Self::Calibration { path, calibration } => {
                if let Some((name, _)) = args.scoring.values()?.iter().next() {
                    return Err(Failure::Argument(format!(
                        "--{name} has no use with --calibration: the score is that of the calibration; leave it out"
                    )));
                }
                let mut job = CheckJob::of_calibration(calibration, path, alpha, delta)?;
                job.settings.seed = args.common.seed.map_or(job.settings.seed, Seed::new);
                job
            }
        };
        job.settings.bound_grid =
            args.bound_grid.values()?.count("bound-grid").unwrap_or(job.settings.bound_grid);
        job.settings.permutations = args.permutations.unwrap_or(job.settings.permutations);
        job.settings.assumptions = PlanAssumptions::from_options(args.assumptions.values()?)?;
        Ok(job)
    }

    /// What the user calls the classes.
    pub(super) fn class_names(&self) -> ClassNames {
        match self {
            Self::Files(files) => files.class_names(),
            Self::Calibration { calibration, .. } => named_by(calibration),
        }
    }

    /// What is doubtful about columns that were taken for classes.
    pub(super) fn doubts(&self) -> Vec<String> {
        match self {
            Self::Files(files) => files.doubts(),
            Self::Calibration { .. } => Vec::new(),
        }
    }

    /// What the page calls the calibration data.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Files(files) => files.probs().to_owned(),
            Self::Calibration { path, .. } => path.clone(),
        }
    }
}

/// Why a calibration with a threshold for each class or group cannot be asked about, and what to type instead.
fn refused(args: &CheckArgs, calibration: &AnyCalibration) -> Failure {
    let path = args.reference.calibration.as_deref().unwrap_or(Path::new(""));
    let instead = match calibration {
        AnyCalibration::PerGroup(made) => {
            let by = made.by().unwrap_or("COLUMN");
            format!(
                "for each group, give the calibration data: --cal-probs and --cal-labels with --cal-groups and --unlabeled-groups, or \
                 --cal TABLE with --per {by}"
            )
        }
        _ => "for each class, give the calibration data: --cal-probs and --cal-labels with --per class".to_owned(),
    };
    Failure::Calibration {
        path: path.to_owned(),
        reason: format!(
            "has a threshold for each class or group, and a check asks about one. To see the coverage to expect {instead}. Once labels are \
             there, evaluate tells what this calibration covers"
        ),
    }
}
