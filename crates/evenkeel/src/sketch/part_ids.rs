//! Which parts a state holds: a part that comes twice is an error, not rows that count twice.

use serde::{Deserialize, Serialize};

use super::row_count::contradiction;
use crate::error::{Error, Result};

/// Numbers of the parts whose rows a state holds, increasing. Parts without a number are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct PartIds(Vec<u64>);

impl TryFrom<Vec<u64>> for PartIds {
    type Error = Error;

    /// Refuses numbers that do not increase: one part would be there twice.
    fn try_from(ids: Vec<u64>) -> Result<Self> {
        match ids.is_sorted_by(|a, b| a < b) {
            true => Ok(Self(ids)),
            false => Err(contradiction("the numbers of its parts do not increase")),
        }
    }
}

impl From<PartIds> for Vec<u64> {
    fn from(PartIds(ids): PartIds) -> Self {
        ids
    }
}

impl PartIds {
    /// A single part.
    pub fn one(id: u64) -> Self {
        Self(vec![id])
    }

    /// The parts of both.
    ///
    /// # Errors
    /// [`Error::PartTwice`] if one is in both.
    pub fn joined(mut self, other: Self) -> Result<Self> {
        self.0.extend(other.0);
        self.0.sort_unstable();
        match self.0.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(self),
            Some(pair) => Err(Error::PartTwice { part: pair[0] }),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no part has a number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_once() {
        let both = PartIds::one(7).joined(PartIds::one(2)).unwrap();
        assert_eq!(Vec::from(both.clone()), [2, 7]);
        let again = both.clone().joined(PartIds::one(7));
        assert!(matches!(again, Err(Error::PartTwice { part: 7 })));
        assert_eq!(both.clone().joined(PartIds::default()).unwrap(), both);
        assert!(PartIds::try_from(vec![2, 2]).is_err() && PartIds::try_from(vec![3, 2]).is_err());
    }
}
