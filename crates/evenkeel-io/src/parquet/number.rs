//! `7 bits per byte, zigzag sign`: integers of thrift's compact protocol.

/// A variable-length integer, seven bits per byte; `None` if it does not fit 64 bits.
pub(super) fn varint<E>(next: &mut dyn FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut value = 0_u64;
    // Ten bytes at most: an endless run of continuation bytes must end.
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Signed integers are stored as 0, -1, 1, -2, ...
pub(super) fn from_zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
