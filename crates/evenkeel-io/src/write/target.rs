//! `link -> link -> file`: where an output goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed at most; as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The file that a path leads to, whether or not it is there: a link stays a link, and what it names is written.
///
/// The system follows links only to files that exist. Renaming onto a link that leads nowhere would replace the link.
///
/// # Errors
/// If links lead in a circle, or one cannot be read.
pub(super) fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let is_link = fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink());
        if !is_link {
            return Ok(at);
        }
        let leads_to = fs::read_link(&at)?;
        // Relative to the link's own directory; an absolute path takes the place of all of it.
        at = super::temporary::directory_of(&at).join(leads_to);
    }
    Err(io::Error::other("its links lead in a circle"))
}
