//! Arguments resolved: checked settings, and what can go wrong.

use std::io::Write;
use std::path::PathBuf;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{KnownRatios, Method, MethodName, OptionValues};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::IoError;

use crate::args::{Common, Scoring};
use crate::spelling::CliSpelling;

/// Why a command could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something about a setting, or about data whose file is clear from the words.
    #[error("{}", .0.spelled(&CliSpelling))]
    Core(#[from] evenkeel::Error),
    /// Something about a file.
    #[error("{}", io_words(.0))]
    Io(#[from] IoError),
    /// Something about an experiment.
    #[error("{0}")]
    Experiment(#[from] evenkeel_experiments::Error),
    /// Data that came from a file the core knows nothing of.
    #[error("{path}: {}", error.spelled(&CliSpelling))]
    InFile {
        /// The file, as typed.
        path: String,
        /// What is wrong.
        error: evenkeel::Error,
    },
    /// Two files that do not fit each other.
    #[error("{0}")]
    Mismatch(String),
    /// A calibration file that cannot be read.
    #[error("{}: {reason}", path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An argument clap could not judge.
    #[error("{0}")]
    Argument(String),
    /// Threads could not be started.
    #[error("could not start {threads} threads: {reason}; use fewer with --threads")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// A result that has no JSON form.
    #[error("could not write JSON: {0}")]
    Json(serde_json::Error),
    /// stdout cannot be written.
    #[error("could not write to stdout: {}; send the output elsewhere", system_words(.0))]
    Stdout(std::io::Error),
}

/// What is wrong with a file; where the core found it, flags are spelled.
fn io_words(error: &IoError) -> String {
    match error {
        IoError::Core { origin, error } => format!("{origin}: {}", error.spelled(&CliSpelling)),
        other => other.to_string(),
    }
}

impl Failure {
    /// Whether the data were the reason, not a file or an argument.
    pub(crate) fn is_about_data(&self) -> bool {
        matches!(self, Self::Core(_) | Self::InFile { .. })
    }
}

/// The system's words without "(os error 2)", which tells a user nothing.
pub(crate) fn system_words(error: &std::io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Settings every command resolves first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub alpha: Miscoverage,
    pub seed: Seed,
}

impl Rates {
    pub(crate) fn of(common: &Common) -> Result<Self, Failure> {
        Ok(Self { alpha: Miscoverage::new(common.alpha)?, seed: Seed::new(common.seed) })
    }
}

/// Runs `work` on a pool of the asked-for size.
pub(crate) fn on_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    if threads == Some(0) {
        return Err(Failure::Argument(
            "--threads is 0; use at least 1, or leave it out for all cores".into(),
        ));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::Threads {
        threads: threads.unwrap_or(0),
        reason: error.to_string(),
    })?;
    pool.install(work)
}

/// The score function as asked for.
pub(crate) fn score(scoring: &Scoring, seed: Seed) -> Result<Score, Failure> {
    Ok(Score::from_options(scoring.values()?, seed)?)
}

/// The calibrator of a method, with those of the options that it uses.
pub(crate) fn calibrator(
    method: MethodName,
    options: &OptionValues,
    ratios: KnownRatios,
    score: Score,
    rates: Rates,
) -> Result<ShiftCalibrator, Failure> {
    let method = Method::from_options(method, options, ratios)?;
    Ok(ShiftCalibrator { method, score, alpha: rates.alpha, seed: rates.seed })
}

/// Prints to stdout. A reader that went away (`| head`) is not an error of ours, and the exit code still tells it what
/// it asked for.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(()),
    }
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::Json)?;
    print(&format!("{text}\n"))
}

/// One line of JSON.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(Failure::Json)
}
