//! `-`: what comes on stdin, kept in a temporary file: jobs read their rows twice, and memory stays small.

use crate::error::{IoError, Result};
use crate::input::open_text;
use crate::source::Format;
use crate::write::create_temporary;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What was read; the file stays locked while the process lives, and is removed when it ends.
struct Spooled {
    path: PathBuf,
    format: Format,
    _file: File,
}

static SPOOLED: OnceLock<std::result::Result<Spooled, io::ErrorKind>> = OnceLock::new();

/// The file that holds stdin, and its format by its first bytes. Read once, whoever asks.
pub(crate) fn spooled() -> Result<(&'static Path, Format)> {
    let found = SPOOLED.get_or_init(|| spool().map_err(|error| error.kind()));
    match found {
        Ok(spooled) => Ok((&spooled.path, spooled.format)),
        Err(kind) => Err(IoError::Read { origin: "-".into(), error: (*kind).into() }),
    }
}

/// Whether this is the file that holds stdin.
pub(crate) fn keeps(path: &Path) -> bool {
    matches!(SPOOLED.get(), Some(Ok(spooled)) if spooled.path == path)
}

/// JSON lines begin with a brace or a bracket, which no table in csv does; what is compressed is looked into.
fn text_format(path: &Path) -> io::Result<Format> {
    let mut text = open_text(path).map_err(io::Error::other)?;
    let mut head = Vec::new();
    text.by_ref().take(64).read_to_end(&mut head)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    Ok(match head.trim_ascii_start().first() {
        Some(b'{' | b'[') => Format::Jsonl,
        _ => Format::Csv,
    })
}

fn spool() -> io::Result<Spooled> {
    let (mut file, path) = create_temporary(&std::env::temp_dir())?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    let mut head = Vec::new();
    let mut again = File::open(&path)?;
    again.seek(SeekFrom::Start(0))?;
    again.take(6).read_to_end(&mut head)?;
    let format = match &head[..] {
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        [0x93, b'N', b'U', b'M', b'P', b'Y'] => Format::Npy,
        [b'P', b'K', 3, 4, ..] => Format::Npz,
        b"ARROW1" | [0xff, 0xff, 0xff, 0xff, ..] => Format::Arrow,
        _ => text_format(&path)?,
    };
    Ok(Spooled { path, format, _file: file })
}
