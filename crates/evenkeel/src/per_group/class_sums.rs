//! Scores and label masses of every class, row by row, as whole numbers.
//!
//! ```text
//! mass_j(y) = h_j(y) in units of 2^-52
//! ```
//! Sums of whole numbers do not depend on blocks, merges or threads.

use serde::{Deserialize, Serialize};

use crate::error::{Result, require_same_length};
use crate::label_law::LabelLawMap;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{RowScratch, Score, row_scale, widen_scaled};
use crate::sketch::contradiction;

/// Units of a mass of one.
const UNITS: f64 = (1_u64 << 52) as f64;

/// A mass in `[0, 1]` as a whole number of units.
fn whole(mass: f64) -> u64 {
    (mass * UNITS).round() as u64
}

/// `part / all` of masses; 0 of nothing.
pub(super) fn share(part: u128, all: u128) -> f64 {
    if all == 0 { 0.0 } else { (part as f64 / all as f64).min(1.0) }
}

/// A sum of masses as a number of rows.
pub(super) fn rows_of(mass: u128) -> f64 {
    mass as f64 / UNITS
}

/// How the rows of the target data are read: what scores their labels, and how likely each label is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ClassReading {
    /// `h`.
    pub law: LabelLawMap,
    /// What scores labels.
    pub score: ClassScore,
    /// Number of classes.
    pub classes: usize,
}

/// What scores labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum ClassScore {
    /// A function, with the draws of target rows.
    Function(Score),
    /// `1 - h`.
    Own,
    /// `1 - h'` of another law.
    Law(LabelLawMap),
}

/// One row as it is read.
pub(super) struct ClassRow<'a> {
    pub key: u64,
    /// `p`, widened and normalised.
    pub probabilities: &'a [f64],
    /// `s_jy` of each label.
    pub scores: &'a [f64],
    /// `h_j(y)` of each label, in units.
    pub masses: &'a [u64],
}

impl ClassReading {
    /// An error unless its laws are of its classes: it may come from elsewhere.
    pub(super) fn check(&self) -> Result<()> {
        if self.classes == 0 {
            return Err(contradiction("it has no classes"));
        }
        self.law.require_classes(self.classes)?;
        match &self.score {
            ClassScore::Law(law) => law.require_classes(self.classes),
            ClassScore::Function(_) | ClassScore::Own => Ok(()),
        }
    }

    /// Hands every row of a block to `take`, in order.
    ///
    /// # Errors
    /// If the block has other classes, or a row does not hold probabilities.
    pub(super) fn each_row<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        mut take: impl FnMut(ClassRow<'_>),
    ) -> Result<()> {
        require_same_length("columns", block.columns(), "classes", self.classes)?;
        let mut memory = ReadingMemory::new(self.classes);
        let mut probabilities = vec![0.0; self.classes];
        for (offset, values) in block.iter().enumerate() {
            let key = keys.key(offset);
            widen_scaled(values, row_scale(block.what(), key, values)?, &mut probabilities);
            memory.read(self, key, &probabilities);
            let (scores, masses) = (&memory.scores[..], &memory.masses[..]);
            take(ClassRow { key, probabilities: &probabilities, scores, masses });
        }
        Ok(())
    }
}

/// Memory for one row.
pub(super) struct ReadingMemory {
    room: Vec<f64>,
    scratch: RowScratch,
    /// `1 - h`.
    complements: Vec<f64>,
    pub scores: Vec<f64>,
    pub masses: Vec<u64>,
}

impl ReadingMemory {
    pub(super) fn new(classes: usize) -> Self {
        let row = vec![0.0; classes];
        Self {
            room: Vec::new(),
            scratch: RowScratch::default(),
            complements: row.clone(),
            scores: row,
            masses: vec![0; classes],
        }
    }

    /// Scores and masses of a row that sums to one.
    pub(super) fn read(&mut self, reading: &ClassReading, key: u64, probabilities: &[f64]) {
        let Self { room, scratch, complements, scores, masses } = self;
        reading.law.scores(reading.classes, probabilities, room, complements);
        match &reading.score {
            ClassScore::Function(score) => score.score_row(key, probabilities, scratch, scores),
            ClassScore::Own => scores.copy_from_slice(complements),
            ClassScore::Law(law) => law.scores(reading.classes, probabilities, room, scores),
        }
        for (mass, complement) in masses.iter_mut().zip(complements.iter()) {
            *mass = whole(1.0 - complement);
        }
    }
}

/// Increasing scores with their masses.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Atoms(Vec<(f64, u128)>);

impl Atoms {
    /// Of scores in any order; equal ones become one.
    pub(super) fn new(mut atoms: Vec<(f64, u64)>) -> Self {
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut merged: Vec<(f64, u128)> = Vec::with_capacity(atoms.len());
        for (score, mass) in atoms {
            match merged.last_mut() {
                Some((last, total)) if *last == score => *total += u128::from(mass),
                _ => merged.push((score, u128::from(mass))),
            }
        }
        Self(merged)
    }

    /// The whole mass.
    pub(super) fn total(&self) -> u128 {
        self.0.iter().map(|(_, mass)| mass).sum()
    }

    /// Scores at which a law is kept: `most` levels apart by equal masses, that of `level`, those in `also`, and the
    /// largest. All of them where there are no more than `most`.
    pub(super) fn places(&self, most: usize, level: f64, also: &[f64]) -> Vec<f64> {
        let mut places: Vec<f64> = also.to_vec();
        if self.0.len() <= most {
            places.extend(self.0.iter().map(|(score, _)| *score));
        } else {
            let total = self.total();
            let step = total / most as u128 + 1;
            let asked = (level * total as f64).floor() as u128;
            let (mut below, mut next) = (0_u128, step);
            for (score, mass) in &self.0 {
                let reached = below + mass;
                // The first at or above each step, and the first at or above the level.
                if reached >= next || (below < asked && reached >= asked) {
                    places.push(*score);
                    next = (reached / step + 1) * step;
                }
                below = reached;
            }
            places.extend(self.0.last().map(|(score, _)| *score));
        }
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// Mass at or below each of increasing places.
    pub(super) fn at(&self, places: &[f64]) -> Vec<u128> {
        let (mut sums, mut atoms, mut below) = (Vec::new(), self.0.iter().peekable(), 0);
        for place in places {
            while let Some((_, mass)) = atoms.next_if(|(score, _)| score <= place) {
                below += mass;
            }
            sums.push(below);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_hold_the_level_and_cut_the_mass_evenly() {
        let atoms: Vec<(f64, u64)> = (0..10_000)
            .map(|i| (f64::from((i * 7919) % 10_007), 1 + u64::from(i as u32 % 5)))
            .collect();
        let atoms = Atoms::new(atoms);
        let places = atoms.places(100, 0.9, &[3.5]);
        assert!(places.is_sorted() && places.contains(&3.5) && places.len() <= 103);
        let (sums, total) = (atoms.at(&places), atoms.total());
        assert_eq!(sums.last(), Some(&total));
        assert!(sums.windows(2).all(|pair| pair[1] - pair[0] <= total / 100 + 6));
        // The smallest score that reaches the level is one of them.
        let all: Vec<f64> = atoms.0.iter().map(|(score, _)| *score).collect();
        let first = |places: &[f64]| {
            let sums = atoms.at(places);
            places[sums.partition_point(|sum| share(*sum, total) < 0.9 - 1e-12)]
        };
        assert_eq!(first(&places), first(&all));
    }
}
