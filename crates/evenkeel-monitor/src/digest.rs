//! SHA-256 of what arrives: the same contents are the same batch.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Of a file, read in pieces.
///
/// # Errors
/// If it cannot be read.
pub fn file_digest(path: &Path) -> io::Result<[u8; 32]> {
    let (mut file, mut digest) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(digest.finalize().into()),
            Ok(read) => digest.update(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Of bytes in memory.
pub fn bytes_digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
