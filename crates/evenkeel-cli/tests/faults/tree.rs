//! What stands below a folder: files that are earlier ones, complete new ones, or neither.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What earlier results hold.
pub(crate) const EARLIER: &[u8] = b"an earlier result";

/// Seconds that cells took, appended as they end: it grows, and is no result.
const TIMING: &str = "timing.csv";

/// How the files of two complete runs are compared.
#[derive(Clone, Copy)]
pub(crate) enum Compared {
    /// They are the same.
    ToTheByte,
    /// They hold seconds, and are the same but for numbers.
    WithoutNumbers,
}

/// Files by their path below the folder.
#[derive(Debug, Clone)]
pub(crate) struct Tree(BTreeMap<PathBuf, Contents>);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Bytes that are the same in every run.
    Exact(Vec<u8>),
    /// A text whose numbers differ from run to run (seconds), with all of them left out.
    WithoutNumbers(Vec<u8>),
}

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Exact(bytes) | Self::WithoutNumbers(bytes)) = self;
        write!(f, "{} bytes", bytes.len())
    }
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Self {
        let mut found = BTreeMap::new();
        collect(root, root, &mut found);
        Self(found)
    }

    /// Temporary files.
    pub(crate) fn leftovers(&self) -> usize {
        self.0.keys().filter(|path| is_temporary(path)).count()
    }

    /// What every complete run leaves, from one of them.
    pub(crate) fn expected(self, compared: Compared) -> Self {
        let contents = |found: Contents| match compared {
            Compared::ToTheByte => found,
            Compared::WithoutNumbers => Contents::WithoutNumbers(without_numbers(found.bytes())),
        };
        Self(self.0.into_iter().map(|(path, found)| (path, contents(found))).collect())
    }

    /// Every file is complete, an earlier one, or temporary.
    pub(crate) fn assert_whole(&self, expected: &Self, place: &str) {
        for (path, found) in self.0.iter().filter(|(path, _)| !is_temporary(path)) {
            let complete = expected.0.get(path).is_some_and(|expected| expected.matches(found));
            let earlier = found.bytes() == EARLIER;
            assert!(complete || earlier, "{place}: {} is damaged: {found:?}", path.display());
        }
    }

    /// Exactly the files of a complete run.
    pub(crate) fn assert_complete(&self, expected: &Self, place: &str) {
        assert!(self.0.keys().eq(expected.0.keys()), "{place}: {self:?} instead of {expected:?}");
        for (path, expected) in &expected.0 {
            assert!(expected.matches(&self.0[path]), "{place}: {} differs", path.display());
        }
    }
}

impl Contents {
    fn bytes(&self) -> &[u8] {
        let (Self::Exact(bytes) | Self::WithoutNumbers(bytes)) = self;
        bytes
    }

    fn matches(&self, found: &Self) -> bool {
        match self {
            Self::Exact(bytes) => bytes == found.bytes(),
            Self::WithoutNumbers(text) => *text == without_numbers(found.bytes()),
        }
    }
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// A text with every run of what numbers are made of as one `#`, and `&lt; 0.001` for a short time likewise.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    const LESS: &[u8] = b"&lt; ";
    let mut out = Vec::new();
    for byte in text {
        let number = byte.is_ascii_digit() || b".-+e".contains(byte);
        match number {
            true if out.last() == Some(&b'#') => {}
            true => {
                out.truncate(out.strip_suffix(LESS).map_or(out.len(), <[u8]>::len));
                out.push(b'#');
            }
            false => out.push(*byte),
        }
    }
    out
}

/// A page without the shapes of its inputs. They are asked for once more in the end, for the record; a page does not fail
/// for a file that could be opened only once.
fn without_shapes(page: &[u8]) -> Vec<u8> {
    let page = String::from_utf8_lossy(page);
    let mut parts = page.split(" <span class=\"shape\">");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += part.split_once("</span>").map_or(part, |(_, rest)| rest);
    }
    out.into_bytes()
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Contents>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.file_name().is_none_or(|name| name != TIMING) {
            let mut bytes = std::fs::read(&path).unwrap();
            if path.extension().is_some_and(|extension| extension == "html") {
                bytes = without_shapes(&bytes);
            }
            let bytes = Contents::Exact(bytes);
            found.insert(path.strip_prefix(root).unwrap().to_path_buf(), bytes);
        }
    }
}
