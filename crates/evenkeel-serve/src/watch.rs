//! `--watch DIR`: files of `DIR/MODEL/` are batches of that model, each once, by its content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use evenkeel_io::Format;
use evenkeel_monitor::{Instant, ModelName, file_digest};

use crate::app::App;
use crate::batch_columns::BatchColumns;
use crate::content::rows_of_file;
use crate::problem::Problem;
use crate::routes::batches::store_rows;
use crate::tokens::hexadecimal;

/// How often the folder is looked through.
const PAUSE: Duration = Duration::from_secs(1);

/// What is known of a file: its length and when it was changed.
type Mark = (u64, Option<SystemTime>);

/// Whether a file was taken, in the state it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It may still be written.
    Growing(Mark),
    /// It was taken or refused, and has not changed since.
    Done(Mark),
    /// It could not be taken for a reason that may pass; so many looks are left until it is tried again.
    Later(Mark, u32),
}

/// Looks between two tries of a file that could not be taken.
const LOOKS_BETWEEN_TRIES: u32 = 15;

/// Takes what arrives until `stop` is closed.
pub(crate) fn watch(app: &Arc<App>, folder: &Path, stop: &Receiver<()>) {
    let mut seen = BTreeMap::new();
    while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(PAUSE) {
        look_through(app, folder, &mut seen);
    }
}

fn look_through(app: &App, folder: &Path, seen: &mut BTreeMap<PathBuf, Seen>) {
    // A folder that is away for a while, or that cannot be read, is looked for again.
    for model in entries(folder) {
        let name = model.file_name().and_then(|name| name.to_str()).map(ModelName::new);
        let Some(Ok(name)) = name.filter(|_| model.is_dir()) else { continue };
        for file in entries(&model) {
            let hidden =
                file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if hidden || Format::of(&file).is_none() {
                continue;
            }
            let Ok(about) = fs::metadata(&file) else { continue };
            if !about.is_file() {
                continue;
            }
            let mark: Mark = (about.len(), about.modified().ok());
            match seen.get(&file) {
                Some(Seen::Done(before)) if *before == mark => {}
                // The same twice: whoever wrote it has finished. Better still, write elsewhere and move it here.
                Some(Seen::Growing(before)) if *before == mark => {
                    let tried = take(app, &name, &file, about.modified().ok());
                    let next = after(tried.as_ref().err(), mark);
                    if let Err(problem) = tried {
                        app.metrics.watch_failures.fetch_add(1, Ordering::Relaxed);
                        crate::log::line(format_args!("{}: {}", file.display(), problem.detail()));
                    }
                    seen.insert(file, next);
                }
                Some(Seen::Later(before, looks)) if *before == mark => {
                    let next = match looks.checked_sub(1) {
                        Some(left) => Seen::Later(mark, left),
                        None => Seen::Growing(mark),
                    };
                    seen.insert(file, next);
                }
                _ => {
                    seen.insert(file, Seen::Growing(mark));
                }
            }
        }
    }
    seen.retain(|file, _| file.exists());
}

/// What is to be done with a file after a try.
///
/// Rows that are wrong stay wrong until the file changes. A model that is not there yet, a full disk and a busy store may pass.
fn after(problem: Option<&Problem>, mark: Mark) -> Seen {
    match problem.map(|problem| problem.status().as_u16()) {
        None | Some(413 | 415 | 422) => Seen::Done(mark),
        Some(_) => Seen::Later(mark, LOOKS_BETWEEN_TRIES),
    }
}

/// What is in a folder, by name: batches of one night are taken in their order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn take(
    app: &App,
    model: &ModelName,
    file: &Path,
    modified: Option<SystemTime>,
) -> Result<(), Problem> {
    let content = file_digest(file).map_err(|error| Problem::data(error.to_string()))?;
    let columns = BatchColumns::of(&app.monitor, model, None)?;
    let rows = rows_of_file(file, &app.limits, &columns)?;
    let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let seconds = since.and_then(|since| i64::try_from(since.as_secs()).ok());
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let key = hexadecimal(&content);
    let received =
        store_rows(app, model, (&key, &name), seconds.map(Instant::from_seconds), content, &rows)?;
    if !received.duplicate {
        crate::log::line(format_args!(
            "{}: batch {} of {model}",
            file.display(),
            received.record.batch
        ));
    }
    Ok(())
}
