//! `-`: what comes on stdin, kept in a temporary file: jobs read their rows twice, and memory stays small.

use crate::error::{IoError, Result};
use crate::input::open_text;
use crate::source::Format;
use crate::write::create_temporary;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What was read; the file stays locked while the process lives, and is removed when it ends.
struct Spooled {
    path: PathBuf,
    format: Format,
    _file: File,
}

/// What went wrong; errors of the system cannot be copied, and everybody who asks is told.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Reading(io::ErrorKind),
    Keeping(io::ErrorKind),
}

static SPOOLED: OnceLock<std::result::Result<Spooled, Trouble>> = OnceLock::new();

/// The file that holds stdin, and its format by its first bytes. Read once, whoever asks.
pub(crate) fn spooled() -> Result<(&'static Path, Format)> {
    let found = SPOOLED.get_or_init(spool);
    match found {
        Ok(spooled) => Ok((&spooled.path, spooled.format)),
        Err(Trouble::Reading(kind)) => {
            Err(IoError::Read { origin: "-".into(), error: (*kind).into() })
        }
        Err(Trouble::Keeping(kind)) => {
            Err(IoError::KeepStdin { folder: std::env::temp_dir(), error: (*kind).into() })
        }
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

fn spool() -> std::result::Result<Spooled, Trouble> {
    let reading = |error: io::Error| Trouble::Reading(error.kind());
    let keeping = |error: io::Error| Trouble::Keeping(error.kind());
    let (mut file, path) = create_temporary(&std::env::temp_dir()).map_err(keeping)?;
    // Not `io::copy`: whether a read or a write failed decides what there is to do.
    let (mut stdin, mut buffer) = (io::stdin().lock(), vec![0; BUFFER_BYTES]);
    loop {
        let count = match stdin.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(reading(error)),
        };
        file.write_all(&buffer[..count]).map_err(keeping)?;
    }
    let format = format_of(&path).map_err(reading)?;
    Ok(Spooled { path, format, _file: file })
}

const BUFFER_BYTES: usize = 1 << 16;

/// The format of what was kept, by its first bytes.
fn format_of(path: &Path) -> io::Result<Format> {
    let mut head = Vec::new();
    File::open(path)?.take(6).read_to_end(&mut head)?;
    Ok(match &head[..] {
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        [0x93, b'N', b'U', b'M', b'P', b'Y'] => Format::Npy,
        [b'P', b'K', 3, 4, ..] => Format::Npz,
        b"ARROW1" | [0xff, 0xff, 0xff, 0xff, ..] => Format::Arrow,
        _ => text_format(path)?,
    })
}
