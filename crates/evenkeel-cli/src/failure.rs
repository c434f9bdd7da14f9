//! Why a command could not run, in the words of the command line.

use std::path::PathBuf;

use evenkeel_io::IoError;
use evenkeel_jobs::JobError;
use evenkeel_monitor::MonitorError;

use crate::spelling::CliSpelling;

/// Why a command could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something about a setting.
    #[error("{}", spelled(.0))]
    Core(#[from] evenkeel::Error),
    /// Something a job found, with the file it found it in.
    #[error("{}", job_words(.0))]
    Job(#[from] JobError),
    /// Something about a file.
    #[error("{}", io_words(.0))]
    Io(#[from] IoError),
    /// Something about a store of batches.
    #[error("{}", monitor_words(.0))]
    Monitor(#[from] MonitorError),
    /// Something about an experiment.
    #[error("{0}")]
    Experiment(#[from] evenkeel_experiments::Error),
    /// A calibration file that cannot be read.
    #[error("{}: {reason}", path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A server that cannot start or go on.
    #[cfg(feature = "serve")]
    #[error("{0}")]
    Serve(evenkeel_serve::ServeError),
    /// An argument clap could not judge.
    #[error("{0}")]
    Argument(String),
    /// Threads could not be started.
    #[error("could not start the threads: {reason}; use fewer with --threads")]
    Threads {
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

impl Failure {
    /// Whether something was written that nobody reads any more, as by `| head`.
    pub(crate) fn is_of_a_reader_gone(&self) -> bool {
        let io = match self {
            Self::Io(error) => Some(error),
            Self::Job(JobError::Source(source)) => source.downcast_ref::<IoError>(),
            _ => None,
        };
        matches!(io, Some(IoError::Write { error, .. }) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

/// What a job found. A file that was read for it speaks for itself, with flags spelled.
fn job_words(error: &JobError) -> String {
    match error {
        JobError::Source(source) => match source.downcast_ref::<IoError>() {
            Some(io) => io_words(io),
            None => error.to_string(),
        },
        other => other.spelled(&spelled),
    }
}

/// What is wrong with a store, or with a batch for it.
fn monitor_words(error: &MonitorError) -> String {
    match error {
        MonitorError::Job(job) => job_words(job),
        MonitorError::Core(core) => spelled(core),
        MonitorError::Io(io) => io_words(io),
        other => other.to_string(),
    }
}

/// What is wrong with a file; where the core found it, flags are spelled.
fn io_words(error: &IoError) -> String {
    match error {
        IoError::Core { origin, error } => format!("{origin}: {}", spelled(error)),
        other => other.to_string(),
    }
}

/// An error of the core with options as they are typed here: the one place where the command line's spelling comes in.
pub(crate) fn spelled(error: &evenkeel::Error) -> String {
    error.spelled(&CliSpelling)
}

/// The system's words without "(os error 2)", which tells a user nothing.
pub(crate) fn system_words(error: &std::io::Error) -> String {
    let words = error.to_string();
    // Cut off the words, because the standard library has no call without the number.
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// What `serve` gets for an answer where it was left out: the documentation has it, and this program does not.
#[cfg(not(feature = "serve"))]
pub(crate) fn without_server() -> Failure {
    Failure::Argument(
        "serve: this program was built without the server; `cargo install evenkeel-cli --features serve` builds one with it"
            .into(),
    )
}
