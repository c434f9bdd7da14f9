//! `MatrixSource -> Matrix`: whole matrices in memory, for the calibration data.

use crate::block::Block;
use crate::error::{IoError, Result};
use crate::reader::MatrixReader;
use crate::source::MatrixSource;

/// A matrix whole in memory is the block that holds all rows.
pub type Matrix = Block;

/// Bytes read at a time. The matrix grows with what is there: room for what a damaged file claims could be more than
/// the machine has.
const STEP_BYTES: usize = 4 << 20;

/// Reads all rows of a matrix into memory.
///
/// # Errors
/// As for [`MatrixReader::open`] and [`MatrixReader::next_block`].
pub fn read_matrix(source: &MatrixSource) -> Result<Matrix> {
    read_all(&mut MatrixReader::open(source)?)
}

/// The rest of a reader in one block.
pub(crate) fn read_all(reader: &mut MatrixReader) -> Result<Matrix> {
    let rows = reader.rows_within(STEP_BYTES);
    let mut matrix = reader.empty_block();
    while let Some(block) = reader.next_block(rows)? {
        matrix.values.extend(&block.values);
    }
    // A header without rows below it would pass as a matrix and fail later without a file's name.
    if matrix.values.is_empty() {
        return Err(IoError::NoRows { origin: matrix.origin });
    }
    Ok(matrix)
}
