//! `"file.npz:key" -> path, selector, format`: what the user typed, taken apart.

use crate::error::{IoError, Result};
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
    /// An Apache Parquet table: numeric columns, or one column of lists.
    Parquet,
}

impl Format {
    /// The format a file name stands for, by its extension in any case.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// Whether a part of the file can be selected.
    fn has_parts(self) -> bool {
        matches!(self, Self::Npz | Self::Parquet)
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
            Self::Parquet => "parquet",
        })
    }
}

/// A matrix argument: `file.npy`, `file.npz`, `file.npz:key`, `file.csv`, `file.parquet`, `file.parquet:column`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixSource {
    path: PathBuf,
    selector: Option<String>,
    format: Format,
}

impl MatrixSource {
    /// Takes an argument apart. A file whose own name contains the colon wins over a selector.
    ///
    /// # Errors
    /// [`IoError::UnknownFormat`] unless the extension is one of the four, [`IoError::EmptySelector`] for a colon with
    /// nothing after it, [`IoError::UnexpectedSelector`] for a selector after a format that holds one matrix. Whether
    /// the file exists is found out when it is opened.
    pub fn parse(argument: &str) -> Result<Self> {
        let whole = Path::new(argument);
        if let (Some(format), Ok(true)) = (Format::of(whole), whole.try_exists()) {
            return Ok(Self { path: whole.into(), selector: None, format });
        }
        let mut cuts = argument
            .match_indices(':')
            .filter_map(|(at, _)| {
                let path = Path::new(&argument[..at]);
                Some((path, &argument[at + 1..], Format::of(path)?))
            })
            .peekable();
        let first = cuts.peek().copied();
        // Keys and directories may hold colons too: the cut after a file that exists is the one that was meant.
        let cut = cuts.find(|(path, ..)| path.try_exists().unwrap_or(false)).or(first);
        match (cut, Format::of(whole)) {
            (Some((path, selector, format)), _) => Self::select(path, selector, format),
            (None, Some(format)) => Ok(Self { path: whole.into(), selector: None, format }),
            (None, None) => Err(IoError::UnknownFormat { origin: argument.to_owned() }),
        }
    }

    fn select(path: &Path, selector: &str, format: Format) -> Result<Self> {
        let path = path.to_path_buf();
        if selector.is_empty() {
            return Err(IoError::EmptySelector { path, format });
        }
        let selector = selector.to_owned();
        if !format.has_parts() {
            return Err(IoError::UnexpectedSelector { path, selector, format });
        }
        Ok(Self { path, selector: Some(selector), format })
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
        write!(f, "{}", self.path.display())?;
        match &self.selector {
            Some(selector) => write!(f, ":{selector}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
