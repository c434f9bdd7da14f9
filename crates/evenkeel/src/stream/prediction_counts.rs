//! What a model said of some rows, as counts: how sure it was, and of which class.
//!
//! ```text
//! cell of a row    the distance of its confidence from 1, 64 cells to an octave        4097 cells
//! class of a row   the predicted one
//! ```
//! Sums of whole numbers: any cut of the rows into parts, merged in any order, gives the same counts. No row can be read from
//! them. Tests on cells are exact whatever the cells are, because every row is put into its cell by the same rule.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::shift::Prediction;
use crate::sketch::log_bins;
use crate::sketch::state::{JobHeader, Kind, open, seal};

/// Bits of the fine cells of sketches that are told apart no longer here: 4096 to an octave become 64. Counts are written with
/// every batch, and finer cells would find nothing more.
const COARSER: u32 = 6;
/// Number of cells.
pub(super) const CELLS: usize = ((log_bins::CELLS - 1) >> COARSER) + 1;
/// Most rows that are counted: sums and products of two such counts fit their types.
const MOST_ROWS: u64 = 1 << 40;

/// The cell of a confidence: larger for more confident rows.
pub(super) fn cell_of(confidence: f64) -> u32 {
    (log_bins::cell_of(1.0 - confidence) >> COARSER) as u32
}

/// Counts of confidences in cells and of predicted classes: what is kept of a batch when its rows are not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PredictionCounts {
    rows: u64,
    cells: BTreeMap<u32, u64>,
    classes: BTreeMap<u32, u64>,
}

impl PredictionCounts {
    /// Counts of these predictions.
    pub fn of(predictions: &[Prediction]) -> Self {
        let mut counts = Self::default();
        predictions.iter().for_each(|said| counts.add(*said));
        counts
    }

    /// Adds one row.
    pub fn add(&mut self, said: Prediction) {
        self.rows += 1;
        *self.cells.entry(cell_of(said.confidence)).or_default() += 1;
        *self.classes.entry(said.class).or_default() += 1;
    }

    /// Adds what others counted.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        for (mine, theirs) in [(&mut self.cells, &other.cells), (&mut self.classes, &other.classes)]
        {
            for (name, count) in theirs {
                *mine.entry(*name).or_default() += count;
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of each predicted class, in increasing order of the class.
    pub fn classes(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.classes.iter().map(|(class, count)| (*class, *count))
    }

    /// Rows of each cell that has any, in increasing order of confidence.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.cells.iter().map(|(cell, count)| (*cell, *count))
    }

    /// As bytes with a version and a checksum.
    ///
    /// # Errors
    /// None: counts can always be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        seal(Kind::State, &header(), self)
    }

    /// Reads them back.
    ///
    /// # Errors
    /// If the bytes are something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (found, counts) = open(Kind::State, bytes)?;
        header().require_same(&found)?;
        Ok(counts)
    }
}

fn header() -> JobHeader {
    JobHeader {
        method: "prediction counts".to_owned(),
        settings: Vec::new(),
        pass: 0,
        calibration: [0; 32],
    }
}

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    rows: u64,
    cells: BTreeMap<u32, u64>,
    classes: BTreeMap<u32, u64>,
}

impl TryFrom<Stored> for PredictionCounts {
    type Error = Error;

    fn try_from(Stored { rows, cells, classes }: Stored) -> Result<Self> {
        let total = |counts: &BTreeMap<u32, u64>| {
            counts.values().try_fold(0_u64, |sum, count| match count {
                0 => None,
                count => sum.checked_add(*count),
            })
        };
        let fits = rows <= MOST_ROWS
            && total(&cells) == Some(rows)
            && total(&classes) == Some(rows)
            && cells.last_key_value().is_none_or(|(cell, _)| (*cell as usize) < CELLS);
        match fits {
            true => Ok(Self { rows, cells, classes }),
            false => Err(Error::Damaged {
                what: "the counts of predictions",
                why: "they do not add up to their rows",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn draws(n: usize, seed: u64) -> Vec<Prediction> {
        let mut stream = Seed::new(seed).stream("counts");
        let one = |_| Prediction {
            confidence: 1.0 - stream.uniform().powi(4),
            class: (stream.uniform() * 5.0) as u32,
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn any_cut_gives_the_same_counts() {
        let rows = draws(1000, 1);
        let whole = PredictionCounts::of(&rows);
        for cut in [1, 7, 100, 999] {
            let mut merged = PredictionCounts::default();
            rows.chunks(cut).rev().for_each(|part| merged.merge(&PredictionCounts::of(part)));
            assert_eq!(merged, whole);
        }
        assert_eq!(whole.rows(), 1000);
    }

    #[test]
    fn cells_are_ordered_as_confidences_are() {
        let mut rows = draws(5000, 2);
        rows.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
        let cells: Vec<u32> = rows.iter().map(|said| cell_of(said.confidence)).collect();
        assert!(cells.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(cells.iter().all(|cell| (*cell as usize) < CELLS));
        assert_eq!((cell_of(1.0) as usize, cell_of(0.0)), (CELLS - 1, 0));
    }

    #[test]
    fn bytes_come_back_whole_and_damage_is_found() {
        let counts = PredictionCounts::of(&draws(300, 3));
        let bytes = counts.to_bytes().unwrap();
        assert!(bytes.len() < 2000, "{}", bytes.len());
        assert_eq!(PredictionCounts::from_bytes(&bytes).unwrap(), counts);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(PredictionCounts::from_bytes(&damaged).is_err(), "{at}");
        }
        assert!(PredictionCounts::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        // Made up with a checksum that fits.
        let lying = PredictionCounts { rows: counts.rows + 1, ..counts };
        assert!(PredictionCounts::from_bytes(&lying.to_bytes().unwrap()).is_err());
    }
}
