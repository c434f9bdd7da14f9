//! `"file.npz:key" -> path, selector, format`: what the user typed, taken apart.

use crate::error::{IoError, Result};
use crate::folder::expand;
use crate::write::identity;
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The file formats a matrix can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One NumPy array, as written by `numpy.save`.
    Npy,
    /// A zip archive of NumPy arrays, as written by `numpy.savez`.
    Npz,
    /// Text with `,` `;` or tab between cells.
    Csv,
    /// One JSON object, list or value a line.
    Jsonl,
    /// An Apache Parquet table: numeric columns, or one column of lists.
    Parquet,
    /// The same in Apache Arrow's form for files and streams, which Feather is too.
    Arrow,
}

impl Format {
    /// The format a file name stands for, by its extension in any case.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        if matches!(extension.as_str(), "gz" | "zst") {
            // Of compressed files only text: the others are compressed inside.
            let text = |format: &Self| matches!(format, Self::Csv | Self::Jsonl);
            return Self::of(&path.with_extension("")).filter(text);
        }
        match extension.as_str() {
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "csv" | "tsv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// Whether a part of the file can be selected.
    fn has_parts(self) -> bool {
        self != Self::Npy
    }

    /// Whether columns may have names and hold words.
    pub(crate) fn is_table(self) -> bool {
        !matches!(self, Self::Npy | Self::Npz)
    }

    /// What a selector names, in words.
    pub(crate) fn part(self) -> &'static str {
        if self == Self::Npz { "an array" } else { "a column" }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        })
    }
}

/// A matrix argument: `file.npy`, `file.npz`, `file.npz:key`, `file.csv`, `file.csv:column`, `file.parquet`, `file.parquet:column`,
/// likewise `.jsonl` and `.arrow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixSource {
    path: PathBuf,
    selector: Option<String>,
    format: Format,
    gaps: Gaps,
    /// Files of a directory or a pattern, or of several arguments; none for a file.
    files: Vec<Self>,
    /// Arguments whose rows follow those of the first.
    further: usize,
}

/// What a missing number in a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gaps {
    /// An error: a row of probabilities has all of them.
    #[default]
    Refused,
    /// NaN: a label that is not known yet. Programs that write NaN to parquet leave nulls there.
    AreNan,
}

impl MatrixSource {
    /// Takes an argument apart. A file whose own name contains the colon wins over a selector. Bytes of a name that are
    /// not UTF-8 stand in it as [`text_of_path`] writes them.
    ///
    /// # Errors
    /// [`IoError::UnknownFormat`] unless the extension is one of those of [`Format`], [`IoError::EmptySelector`] for a colon with
    /// nothing after it, [`IoError::UnexpectedSelector`] for a selector after a format that holds one matrix. Whether
    /// the file exists is found out when it is opened.
    pub fn parse(argument: &str) -> Result<Self> {
        if let Some(selector) =
            argument.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(':'))
        {
            let (path, format) = crate::stdin::spooled()?;
            let selector = selector.strip_prefix(':').map(str::to_owned);
            return Ok(Self { selector, ..Self::whole(path.to_path_buf(), format) });
        }
        let whole = path_of_text(argument);
        // A folder may be named like a table: programs write `table.parquet/part-0.parquet`.
        let is_there = |path: &Path| path.try_exists().unwrap_or(false) && !path.is_dir();
        if let (Some(format), true) = (Format::of(&whole), is_there(&whole)) {
            return Ok(Self::whole(whole, format));
        }
        let cuts: Vec<(PathBuf, &str, Format)> = argument
            .match_indices(':')
            .filter_map(|(at, _)| {
                let path = path_of_text(&argument[..at]);
                let format = Format::of(&path)?;
                Some((path, &argument[at + 1..], format))
            })
            .collect();
        // Keys and directories may hold colons too: the cut after a file that exists is the one that was meant.
        let there = cuts.iter().position(|(path, ..)| is_there(path));
        if there.is_none()
            && let Some(several) = Self::several(argument)?
        {
            return Ok(several);
        }
        match (cuts.into_iter().nth(there.unwrap_or(0)), Format::of(&whole)) {
            (Some((path, selector, format)), _) => Self::select(path, selector, format),
            (None, Some(format)) => Ok(Self::whole(whole, format)),
            (None, None) => Err(IoError::UnknownFormat { origin: argument.to_owned() }),
        }
    }

    /// A directory, or a pattern, with or without a column of its tables.
    fn several(argument: &str) -> Result<Option<Self>> {
        let cuts = argument
            .rmatch_indices(':')
            .map(|(at, _)| (&argument[..at], Some(&argument[at + 1..])));
        for (text, selector) in std::iter::once((argument, None)).chain(cuts) {
            let path = path_of_text(text);
            let Some((files, format)) = expand(&path)? else { continue };
            let selector = selector.map(str::to_owned);
            let file = |path: PathBuf| {
                let format = Format::of(&path).unwrap_or(format);
                Self { selector: selector.clone(), ..Self::whole(path, format) }
            };
            let files = files.into_iter().map(file).collect();
            return Ok(Some(Self { selector, files, ..Self::whole(path, format) }));
        }
        Ok(None)
    }

    fn select(path: PathBuf, selector: &str, format: Format) -> Result<Self> {
        if selector.is_empty() {
            return Err(IoError::EmptySelector { path, format });
        }
        let selector = selector.to_owned();
        if !format.has_parts() {
            return Err(IoError::UnexpectedSelector { path, selector, format });
        }
        Ok(Self { selector: Some(selector), ..Self::whole(path, format) })
    }

    fn whole(path: PathBuf, format: Format) -> Self {
        let (gaps, files, further) = (Gaps::default(), Vec::new(), 0);
        Self { path, selector: None, format, gaps, files, further }
    }

    /// The rows of this argument, then those of others, in their order.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn followed_by(self, more: &[String]) -> Result<Self> {
        if more.is_empty() {
            return Ok(self);
        }
        let mut files: Vec<Self> = self.parts().collect();
        for argument in more {
            files.extend(Self::parse(argument)?.parts());
        }
        // Rows that count twice narrow every interval, and nothing would show it.
        let mut seen = HashSet::new();
        let mut twice = |file: &&Self| identity(&file.path).is_some_and(|one| !seen.insert(one));
        if let Some(file) = files.iter().find(|file| twice(file)) {
            return Err(IoError::GivenTwice { origin: file.to_string().into() });
        }
        Ok(Self { files, further: self.further + more.len(), ..self })
    }

    /// The same with gaps in its plain columns.
    #[must_use]
    pub fn with_gaps(self, gaps: Gaps) -> Self {
        Self { gaps, ..self }
    }

    /// What a missing number is.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// Whether it is a table, whose columns may have names and hold words.
    pub(crate) fn is_table(&self) -> bool {
        self.format.is_table()
    }

    /// Whether it is one file.
    pub(crate) fn is_whole(&self) -> bool {
        self.files.is_empty()
    }

    /// The files it stands for, in their order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Self> {
        let files =
            if self.files.is_empty() { std::slice::from_ref(self) } else { &self.files[..] };
        files.iter().map(|file| Self { gaps: self.gaps, ..file.clone() })
    }

    /// The files that a folder or a pattern stands for; none for a single file.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    /// Whether a file of this path would be one of the tables of the folder or the pattern.
    pub fn would_read(&self, path: &Path) -> bool {
        !self.files.is_empty() && self.further == 0 && crate::folder::would_hold(&self.path, path)
    }

    /// Path of the file, without the selector.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands after the colon: a key or a column.
    pub fn selector(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// Format of the file, from its extension.
    pub fn format(&self) -> Format {
        self.format
    }
}

impl fmt::Display for MatrixSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As it was typed: the file that keeps what came in is gone when the message is read.
        match crate::stdin::keeps(&self.path) {
            true => f.write_str("-")?,
            false => f.write_str(&text_of_path(&self.path))?,
        }
        if let Some(selector) = &self.selector {
            write!(f, ":{selector}")?;
        }
        match self.further {
            0 => Ok(()),
            further => write!(f, " and {further} more"),
        }
    }
}

/// A path as text that leads back to it: bytes that are not UTF-8 are written `\xNN`.
///
/// ```
/// # #[cfg(unix)] {
/// use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};
/// let path = Path::new(OsStr::from_bytes(b"caf\xe9.npy"));
/// assert_eq!(evenkeel_io::text_of_path(path), r"caf\xe9.npy");
/// # }
/// ```
pub fn text_of_path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// The path that a text stands for. A file of exactly this name wins: `\xNN` may be part of it.
fn path_of_text(text: &str) -> PathBuf {
    let literal = PathBuf::from(text);
    match bytes_of_text(text).and_then(path_of_bytes) {
        Some(path) if !literal.exists() && path.exists() => path,
        _ => literal,
    }
}

/// The bytes of a text with its `\xNN` taken back; none if it has none.
fn bytes_of_text(text: &str) -> Option<Vec<u8>> {
    let (start, mut rest) = text.split_once("\\x")?;
    let mut bytes = start.as_bytes().to_vec();
    loop {
        let (digits, behind) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        let Some((between, next)) = behind.split_once("\\x") else {
            bytes.extend_from_slice(behind.as_bytes());
            return Some(bytes);
        };
        bytes.extend_from_slice(between.as_bytes());
        rest = next;
    }
}

#[cfg(unix)]
fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Elsewhere names are not bytes.
#[cfg(not(unix))]
fn path_of_bytes(_: Vec<u8>) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_lead_to_their_files() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let directory = std::env::temp_dir().join(format!("evenkeel-bytes-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for name in [&b"\xff\xfe.npz"[..], b"caf\xe9.npz", b"\xe2\x82.npz"] {
            let path = directory.join(OsStr::from_bytes(name));
            std::fs::write(&path, b"").unwrap();
            let text = text_of_path(&path);
            assert_eq!(MatrixSource::parse(&text).unwrap().path, path);
            let selected = MatrixSource::parse(&format!("{text}:k")).unwrap();
            assert_eq!((&selected.path, selected.selector()), (&path, Some("k")));
            assert_eq!(selected.to_string(), format!("{text}:k"));
        }
        // The name as it is typed wins over what it could stand for.
        let literal = directory.join(r"caf\xe9.npz");
        std::fs::write(&literal, b"").unwrap();
        assert_eq!(MatrixSource::parse(literal.to_str().unwrap()).unwrap().path, literal);
        std::fs::remove_dir_all(directory).unwrap();
        for missing in [r"\x", r"\xz1.npy", r"a\xe9", r"\xffé.npy", r"\xé.npy"] {
            drop(MatrixSource::parse(missing));
        }
    }

    fn parts(argument: &str) -> (String, Option<String>) {
        let source = MatrixSource::parse(argument).unwrap();
        (source.path.display().to_string(), source.selector)
    }

    #[test]
    fn a_selector_follows_the_first_colon_after_a_file_name() {
        assert_eq!(parts("a/b.npy"), ("a/b.npy".into(), None));
        assert_eq!(parts("b.npz:k"), ("b.npz".into(), Some("k".into())));
        assert_eq!(parts("b.npz:k:l.npz"), ("b.npz".into(), Some("k:l.npz".into())));
        assert_eq!(parts("a:b/c.parquet:p"), ("a:b/c.parquet".into(), Some("p".into())));
        assert_eq!(parts("a:b/c.CSV"), ("a:b/c.CSV".into(), None));
    }

    #[test]
    fn a_file_with_a_colon_in_its_name_wins() {
        let directory = std::env::temp_dir().join(format!("evenkeel-colon-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("a.npz:b.npz");
        std::fs::write(&path, b"").unwrap();
        let name = path.to_str().unwrap().to_owned();
        assert_eq!(parts(&name), (name.clone(), None));
        assert_eq!(parts(&format!("{name}:k")), (name, Some("k".into())));
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn arguments_that_name_no_matrix_say_so() {
        for (argument, words) in [
            ("probs", "expected .npy"),
            ("probs.txt", "expected .npy"),
            ("probs.npz:", "name an array"),
            ("probs.npy:k", "drop ':k'"),
            ("", "expected .npy"),
        ] {
            let message = MatrixSource::parse(argument).unwrap_err().to_string();
            assert!(message.contains(words), "{argument}: {message}");
        }
    }
}
