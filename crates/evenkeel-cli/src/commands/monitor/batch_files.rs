//! Files that are batches: names with `*` and `?`, their contents and their times.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use evenkeel_io::MatrixSource;
use evenkeel_monitor::{Instant, file_digest};

use crate::failure::{Failure, system_words};

/// A file that is a batch.
#[derive(Debug, Clone)]
pub(super) struct BatchFile {
    /// As it is opened: path and selector.
    pub argument: String,
    /// Name of the file.
    pub name: String,
    pub time: Instant,
    pub content: [u8; 32],
}

impl BatchFile {
    /// The key of its contents.
    pub(super) fn key(&self) -> String {
        let digits: String = self.content.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.argument.split_once(self.name.as_str()).map(|(_, selector)| selector) {
            Some(selector) if !selector.is_empty() => format!("sha256:{digits}{selector}"),
            _ => format!("sha256:{digits}"),
        }
    }
}

/// All files that the arguments name, in the order of their times.
pub(super) fn batch_files(arguments: &[String]) -> Result<Vec<BatchFile>, Failure> {
    let mut found = Vec::new();
    for argument in arguments {
        let (pattern, selector) = split_selector(argument);
        let paths = matching(&pattern)?;
        if paths.is_empty() {
            return Err(Failure::Argument(format!(
                "--batches {argument}: no file has such a name; check the folder, and put the pattern in quotes"
            )));
        }
        for path in paths {
            found.push(batch_file(&path, &selector)?);
        }
    }
    found.sort_by(|a, b| (a.time, &a.argument).cmp(&(b.time, &b.argument)));
    found.dedup_by(|a, b| a.argument == b.argument);
    Ok(found)
}

/// The path or pattern, and `:column` after it.
fn split_selector(argument: &str) -> (String, String) {
    let path =
        MatrixSource::parse(argument).ok().map(|source| evenkeel_io::text_of_path(source.path()));
    match path
        .and_then(|path| argument.strip_prefix(&path).map(|rest| (path.clone(), rest.to_owned())))
    {
        Some((path, selector)) => (path, selector),
        None => (argument.to_owned(), String::new()),
    }
}

fn batch_file(path: &Path, selector: &str) -> Result<BatchFile, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::Argument(format!(
            "--batches {}: cannot be read: {}",
            path.display(),
            system_words(&error)
        ))
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Failure::Argument(format!(
            "--batches {}: is not a file; every file is a batch, '{}/*' names those of a folder",
            path.display(),
            path.display()
        )));
    }
    let name =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let changed = || {
        let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    };
    let time = date_in(&name).unwrap_or_else(|| Instant::from_seconds(changed()));
    let content = file_digest(path).map_err(unreadable)?;
    Ok(BatchFile {
        argument: format!("{}{selector}", evenkeel_io::text_of_path(path)),
        name,
        time,
        content,
    })
}

/// The first date that stands in a name, with the hour where one follows: `2026-11-17`, `2026-11-17T02`.
fn date_in(name: &str) -> Option<Instant> {
    let starts = name.char_indices().map(|(at, _)| at);
    starts.filter_map(|at| name.get(at..at + 10)).find_map(|part| Instant::parse(part).ok())
}

/// Files whose names fit; a name without `*` and `?` is itself.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let path = Path::new(pattern);
    let last = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A file may have a star in its name.
    if path.exists() || !last.contains(['*', '?']) {
        return Ok(vec![path.to_path_buf()]);
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let read = fs::read_dir(folder).map_err(|error| {
        Failure::Argument(format!(
            "--batches {pattern}: the folder cannot be read: {}",
            system_words(&error)
        ))
    })?;
    let mut found = Vec::new();
    for entry in read.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Hidden files are someone's unfinished ones.
        let hidden = name.starts_with('.') && !last.starts_with('.');
        if !hidden && fits(&last, &name) && entry.path().is_file() {
            let at =
                if folder == Path::new(".") { PathBuf::from(&*name) } else { folder.join(&*name) };
            found.push(at);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a name fits a pattern: `*` is any letters, `?` is one. In time proportional to both lengths' product.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // fitting[j]: whether the pattern so far fits the first j letters.
    let mut fitting = vec![false; name.len() + 1];
    fitting[0] = true;
    for sign in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match sign {
                '*' => fitting[at] || (at > 0 && next[at - 1]),
                '?' => at > 0 && fitting[at - 1],
                letter => at > 0 && fitting[at - 1] && name[at - 1] == letter,
            };
        }
        fitting = next;
    }
    fitting[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_should() {
        for (pattern, name, expected) in [
            ("*.npy", "night-01.npy", true),
            ("*.npy", "night.npz", false),
            ("night-??.npy", "night-07.npy", true),
            ("night-??.npy", "night-7.npy", false),
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("é?", "éx", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn dates_are_found_in_names() {
        let date = |name: &str| date_in(name).map(Instant::date);
        assert_eq!(date("night-2026-11-17.npy").as_deref(), Some("2026-11-17"));
        assert_eq!(date("2026-02-30.npy"), None);
        assert_eq!(date("é2026-11-17"), Some("2026-11-17".to_owned()));
        assert_eq!(date("night-01.npy"), None);
    }
}
