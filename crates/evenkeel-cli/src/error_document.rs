//! What a program reads in place of a result: `{"error": {kind, message, file, row, column, line}}`.

use evenkeel::error::Category as CoreCategory;
use evenkeel_io::{Category, IoError};
use evenkeel_jobs::{ErrorPlace, JobError};
use evenkeel_monitor::{Kind as MonitorKind, MonitorError};
use serde::Serialize;

use crate::failure::Failure;

/// The document of a run that could not be done.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorDocument {
    error: Described,
}

#[derive(Debug, Serialize)]
struct Described {
    kind: Kind,
    message: String,
    #[serde(flatten)]
    place: ErrorPlace,
}

/// What kind of trouble it is, so that a program can tell what to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The command itself: an option, a name, a setting out of its range.
    Usage,
    /// What a file holds.
    Data,
    /// Inputs that do not fit each other.
    Incompatible,
    /// A calibration that cannot be used.
    Calibration,
    /// The system refused: a file that is not there, space, permissions, memory.
    System,
}

impl ErrorDocument {
    /// Of arguments that are no command.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let rendered = error.render().to_string();
        // The first paragraph is the finding; usage and hints are for people.
        let finding = rendered.split("\n\n").next().unwrap_or_default().trim();
        let message = finding.strip_prefix("error: ").unwrap_or(finding).to_owned();
        Self { error: Described { kind: Kind::Usage, message, place: ErrorPlace::default() } }
    }

    /// Of a run that failed.
    pub(crate) fn of_failure(failure: &Failure) -> Self {
        let (kind, place) = match failure {
            Failure::Core(error) => (of_core(error.category()), ErrorPlace::of_core(error)),
            Failure::Io(error) => of_io(error),
            Failure::Job(error) => of_job(error),
            Failure::Calibration { path, .. } => {
                let file = Some(evenkeel_io::text_of_path(path));
                (Kind::Calibration, ErrorPlace { file, ..ErrorPlace::default() })
            }
            #[cfg(feature = "serve")]
            Failure::Serve(_) => (Kind::System, ErrorPlace::default()),
            Failure::Monitor(error) => of_monitor(error),
            Failure::Argument(_) => (Kind::Usage, ErrorPlace::default()),
            Failure::Experiment(_) => (Kind::Data, ErrorPlace::default()),
            Failure::Threads { .. } | Failure::Json(_) | Failure::Stdout(_) => {
                (Kind::System, ErrorPlace::default())
            }
        };
        Self { error: Described { kind, message: failure.to_string(), place } }
    }
}

fn of_core(category: CoreCategory) -> Kind {
    match category {
        CoreCategory::InvalidInput => Kind::Data,
        CoreCategory::InvalidParameter => Kind::Usage,
        CoreCategory::Incompatible => Kind::Incompatible,
    }
}

fn of_io(error: &IoError) -> (Kind, ErrorPlace) {
    let kind = match error.category() {
        Category::Argument => Kind::Usage,
        Category::Content => Kind::Data,
        Category::Incompatible => Kind::Incompatible,
        Category::System => Kind::System,
        Category::Core(category) => of_core(category),
    };
    (kind, error.place())
}

fn of_monitor(error: &MonitorError) -> (Kind, ErrorPlace) {
    match error {
        MonitorError::Job(error) => of_job(error),
        MonitorError::Core(error) => (of_core(error.category()), ErrorPlace::of_core(error)),
        MonitorError::Io(error) => of_io(error),
        other => {
            let kind = match other.kind() {
                MonitorKind::NotFound | MonitorKind::Invalid => Kind::Usage,
                MonitorKind::Conflict => Kind::Incompatible,
                MonitorKind::Busy | MonitorKind::Storage => Kind::System,
            };
            (kind, ErrorPlace::default())
        }
    }
}

fn of_job(error: &JobError) -> (Kind, ErrorPlace) {
    let found = match error {
        JobError::Source(source) => source.downcast_ref::<IoError>(),
        _ => None,
    };
    match (found, error.category()) {
        (Some(io), _) => of_io(io),
        (None, Some(category)) => (of_core(category), error.place()),
        (None, None) => (Kind::System, error.place()),
    }
}
