//! Cells for numbers in `[0, 1]` that crowd at one end: `4096` to an octave of the distance from that end.
//!
//! Confidences and scores of many classes crowd at 1, where equal cells would put most of them into one. Cells follow the
//! bits of the distance, so that each is `1/4096` of it wide wherever it lies.

/// Cells to an octave, as a power of two.
const BITS: u32 = 12;
/// Octaves told apart; distances below `2^-64` share the last cell, and round to nothing beside 1.
const OCTAVES: u64 = 64;
/// Number of cells, 262 145: 64 octaves of 4096, and one for the distance 1 itself.
pub(crate) const CELLS: usize = ((OCTAVES << BITS) + 1) as usize;

/// Bits of the mantissa below the first twelve, which a cell does not tell apart.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
/// Exponent and twelve bits of the smallest distance told apart, `2^-64`.
const FIRST: u64 = (1023 - OCTAVES) << BITS;

/// The cell of a distance in `[0, 1]`, counted from the far end: cell 0 holds the distance 1.
///
/// ```text
/// distance   1 -> cell 0     1/2 -> cell 4096     1/4 -> cell 8192     0 -> cell 262 144
/// ```
#[inline]
pub(crate) fn cell_of(distance: f64) -> usize {
    // The bits of positive doubles increase with their value, so that a shift finds the cell
    // without a logarithm, which is slower and rounds differently between C libraries.
    let key = (distance.clamp(0.0, 1.0).to_bits() >> SHIFT).saturating_sub(FIRST);
    // At most OCTAVES << BITS, that of the distance 1.
    CELLS - 1 - (key as usize).min(CELLS - 1)
}

/// The same in 32 bits, which vector registers compare: a loop of it becomes vector code.
#[inline(always)]
pub(crate) fn short_cell_of(distance: f64) -> u32 {
    const LAST: u32 = CELLS as u32 - 1;
    // Comparisons, not `clamp`: one instruction each.
    let distance = if distance < 0.0 { 0.0 } else { distance };
    let distance = if distance > 1.0 { 1.0 } else { distance };
    let key = (distance.to_bits() >> SHIFT) as u32;
    LAST - (key.max(FIRST as u32) - FIRST as u32).min(LAST)
}

/// The smallest distance of a cell; 0 for the last one, and for numbers past it.
pub(crate) fn smallest_distance(cell: usize) -> f64 {
    match CELLS - 1 - cell.min(CELLS - 1) {
        0 => 0.0,
        key => f64::from_bits((key as u64 + FIRST) << SHIFT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_ordered_and_hold_their_distances() {
        let mut last = CELLS;
        for exponent in 0..2000 {
            let distance = 0.97_f64.powi(exponent);
            let cell = cell_of(distance);
            assert!(cell < CELLS && smallest_distance(cell) <= distance);
            assert!(cell == 0 || smallest_distance(cell - 1) > distance || exponent == 0);
            if exponent > 0 && distance > 1e-18 {
                assert!(cell > last, "finer than 3 %");
            }
            last = cell;
        }
        assert_eq!((cell_of(1.0), cell_of(2.0)), (0, 0));
        assert_eq!(cell_of(0.0), CELLS - 1);
        assert_eq!(smallest_distance(CELLS - 1), 0.0);
    }
}
