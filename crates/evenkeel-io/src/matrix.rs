//! `MatrixSource -> Matrix`: whole matrices in memory, for the calibration data.

use crate::block::Block;
use crate::error::{IoError, Result};
use crate::reader::MatrixReader;
use crate::source::MatrixSource;
use std::sync::Arc;

/// A matrix whole in memory is the block that holds all rows.
pub type Matrix = Block;

/// Bytes read at a time. The matrix grows with what is there: room for what a damaged file claims could be more than
/// the machine has.
pub(crate) const STEP_BYTES: usize = 4 << 20;

/// Bytes of numbers that any file may hold when it is read into memory at once.
const ALWAYS_HELD: u64 = 1 << 30;

/// A larger file may hold this many times its own bytes. Text and plain arrays stay below 8; deflate alone can write a
/// thousand times its bytes, and a parquet page that repeats one number has no limit: a small file could fill any machine.
const LARGEST_INFLATION: u64 = 256;

/// Reads all rows of a matrix into memory.
///
/// # Errors
/// As for [`MatrixReader::open`] and [`MatrixReader::next_block`], [`IoError::Inflated`] for a small file that claims to
/// hold, or holds, gigabytes, and [`IoError::OutOfMemory`] if there is no room.
pub fn read_matrix(source: &MatrixSource) -> Result<Matrix> {
    read_all(&mut MatrixReader::open(source)?)
}

/// The rest of a reader in one block.
pub(crate) fn read_all(reader: &mut MatrixReader) -> Result<Matrix> {
    let rows = reader.rows_within(STEP_BYTES);
    let mut matrix = reader.empty_block();
    // What the header says is enough to refuse a file; what it holds is held to the same.
    require_modest(reader, reader.rows().unwrap_or(0))?;
    let mut found = 0_u64;
    while let Some(block) = reader.next_block(rows)? {
        found += block.row_count() as u64;
        matrix.values.try_extend(&block.values).map_err(|_| IoError::OutOfMemory {
            origin: Arc::clone(&matrix.origin),
            bytes: matrix.values.bytes().saturating_mul(2),
        })?;
        require_modest(reader, found)?;
    }
    // A header without rows below it would pass as a matrix and fail later without a file's name.
    if matrix.values.is_empty() {
        return Err(IoError::NoRows { origin: matrix.origin });
    }
    Ok(matrix)
}

/// An error if `rows` rows take more memory than a file of this length may ask for.
fn require_modest(reader: &MatrixReader, rows: u64) -> Result<()> {
    let stored = reader.stored();
    let row = (reader.columns() * size_of::<f64>()) as u64;
    // Saturating: a row count is a claim.
    let (bytes, most) = (rows.saturating_mul(row), stored.saturating_mul(LARGEST_INFLATION));
    if bytes <= most.max(ALWAYS_HELD) {
        return Ok(());
    }
    Err(IoError::Inflated { origin: Arc::clone(reader.origin()), bytes, stored })
}
