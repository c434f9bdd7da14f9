//! Prediction sets as a bit for each row and class, so that labels that come late can be judged by them.

use evenkeel::conformal::LabelSets;

/// Sets of more bits than this are not kept: 8 MB a batch.
const MOST_BITS: u64 = 1 << 26;

/// Bits, row after row, the first label in the lowest bit.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedSets {
    classes: usize,
    bits: u64,
    bytes: Vec<u8>,
}

impl PackedSets {
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes, bits: 0, bytes: Vec::new() }
    }

    /// Adds the sets of some rows; none are kept any more once there are too many.
    pub(crate) fn add(&mut self, sets: &LabelSets) {
        for row in 0..sets.rows() {
            for class in 0..self.classes {
                if self.bits < MOST_BITS {
                    if self.bits.is_multiple_of(8) {
                        self.bytes.push(0);
                    }
                    if let Some(last) = self.bytes.last_mut().filter(|_| sets.contains(row, class))
                    {
                        *last |= 1 << (self.bits % 8);
                    }
                }
                self.bits += 1;
            }
        }
    }

    /// The bytes; none if there were too many.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        (self.bits <= MOST_BITS).then_some(self.bytes)
    }
}

/// Whether the set of a row holds a label; none if the bytes end before.
pub(crate) fn holds(bytes: &[u8], classes: u64, row: u64, label: u64) -> Option<bool> {
    let bit = row.checked_mul(classes)?.checked_add(label)?;
    let byte = bytes.get(usize::try_from(bit / 8).ok()?)?;
    Some(byte >> (bit % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_found_again() {
        let members: Vec<bool> = (0..7 * 11).map(|at| at % 3 == 0 || at % 7 == 1).collect();
        let sets = LabelSets::from_bools(&members, 7).unwrap();
        let mut packed = PackedSets::new(7);
        packed.add(&sets);
        let bytes = packed.into_bytes().unwrap();
        assert_eq!(bytes.len(), 10);
        for (at, member) in members.iter().enumerate() {
            assert_eq!(holds(&bytes, 7, at as u64 / 7, at as u64 % 7), Some(*member));
        }
        assert_eq!(holds(&bytes, 7, 12, 0), None);
        assert_eq!(holds(&bytes, 7, u64::MAX, 0), None);
    }
}
