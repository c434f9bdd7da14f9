//! Laws beyond the largest calibration score, where no calibration score can be the threshold.
//!
//! ```text
//! few atoms     (score, mass) of each, up to 16 384 of 32 bytes until equal ones are joined
//! many atoms    a mass for each of 262 145 cells, 2 MB, and 4 MB once a cell has taken in thousands of rows
//! ```
//! Cells are finer the nearer to the end of the range, and each mass is moved up to the end of its cell. A quantile is never too
//! small, and too large by `1/4096` of its distance from the end of the range, or of the tail's mass, at most. Which form a tail
//! has depends on how many distinct atoms there are, and not on the order they came in.

use serde::{Deserialize, Serialize, Serializer};

use super::gathered_masses::GatheredMasses;
use super::log_bins::{CELLS, cell_of, smallest_distance};

/// Atoms of a tail that are kept one by one.
const MOST_TAIL_ATOMS: usize = 4096;

/// A score and its mass in units of `2^-52`.
type Atom = (f64, u128);

/// Tails of some laws; they begin and end at the same scores.
#[derive(Debug, Clone)]
pub(super) struct Tails {
    /// The largest calibration score, where the tails begin.
    low: f64,
    /// The end of the range of scores.
    high: f64,
    /// Atoms of each law, unsorted and with repeats until they are settled; none of a law whose atoms were gathered.
    kept: Vec<Option<Vec<Atom>>>,
    /// Masses of the laws that were gathered, those of a cell beside each other. None before the first is.
    gathered: Option<GatheredMasses>,
}

impl Tails {
    /// Tails of so many laws without atoms.
    pub(super) fn new(low: f64, high: f64, laws: usize) -> Self {
        Self { low, high, kept: vec![Some(Vec::new()); laws], gathered: None }
    }

    /// Tails of the same form without atoms.
    pub(super) fn emptied(&self) -> Self {
        let kept: Vec<Option<Vec<Atom>>> =
            self.kept.iter().map(|kept| kept.as_ref().map(|_| Vec::new())).collect();
        let gathered = self.gathered.as_ref().map(|_| GatheredMasses::new(kept.len()));
        Self { low: self.low, high: self.high, kept, gathered }
    }

    /// Where they begin and end; none where there is no tail.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        (!self.kept.is_empty()).then_some((self.low, self.high))
    }

    /// The masses in cells, where all laws were gathered.
    pub(super) fn all_gathered(&mut self) -> Option<&mut GatheredMasses> {
        let all = self.kept.iter().all(Option::is_none);
        self.gathered.as_mut().filter(|_| all)
    }

    /// Adds an atom of a law; its score is above that of the beginning.
    #[inline]
    pub(super) fn add(&mut self, law: usize, score: f64, mass: u128) {
        match &mut self.kept[law] {
            Some(atoms) => {
                atoms.push((score, mass));
                // Room for repeats, so that thousands of pushes share the cost of one sort.
                if atoms.len() > 4 * MOST_TAIL_ATOMS {
                    self.settle(law);
                }
            }
            None => self.gather_atom(law, score, mass),
        }
    }

    fn gather_atom(&mut self, law: usize, score: f64, mass: u128) {
        let laws = self.kept.len();
        let masses = self.gathered.get_or_insert_with(|| GatheredMasses::new(laws));
        masses.add(cell_of((self.high - score) / (self.high - self.low)), law, mass);
    }

    /// Adds the masses of other tails of the same laws over the same scores.
    pub(super) fn merge(&mut self, other: Self) {
        for (law, kept) in other.kept.into_iter().enumerate() {
            match kept {
                Some(atoms) => {
                    atoms.into_iter().for_each(|(score, mass)| self.add(law, score, mass));
                }
                None => self.gather(law),
            }
        }
        // Of laws that were not gathered there, these are zeros.
        match (&mut self.gathered, other.gathered) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }

    /// Joins equal atoms, and gathers them where too many are left: more will not make them fewer.
    fn settle(&mut self, law: usize) {
        let Some(atoms) = &mut self.kept[law] else { return };
        // Unstable is safe: atoms that tie are joined next, and whole masses add up alike in any
        // order.
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        atoms.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        if atoms.len() > MOST_TAIL_ATOMS {
            self.gather(law);
        }
    }

    /// Puts the atoms of a law into cells; what is in cells stays there.
    fn gather(&mut self, law: usize) {
        if let Some(atoms) = self.kept[law].take() {
            let laws = self.kept.len();
            self.gathered.get_or_insert_with(|| GatheredMasses::new(laws));
            atoms.into_iter().for_each(|(score, mass)| self.gather_atom(law, score, mass));
        }
    }

    /// Increasing atoms with their masses of each law, at most one more than [`MOST_TAIL_ATOMS`].
    pub(super) fn atoms(mut self) -> Vec<Vec<Atom>> {
        (0..self.kept.len()).for_each(|law| self.settle(law));
        let Self { low, high, kept, gathered } = self;
        let of_law = |(law, kept): (usize, Option<Vec<Atom>>)| match (kept, &gathered) {
            (Some(atoms), _) => atoms,
            (None, Some(masses)) => few_atoms(low, high, || masses.of_law(law)),
            (None, None) => Vec::new(),
        };
        kept.into_iter().enumerate().map(of_law).collect()
    }
}

/// Masses of cells as few atoms, each at the upper end of its last cell.
fn few_atoms<M>(low: f64, high: f64, masses: impl Fn() -> M) -> Vec<Atom>
where
    M: DoubleEndedIterator<Item = u128> + ExactSizeIterator,
{
    let end = |cell: usize| high - smallest_distance(cell) * (high - low);
    let total: u128 = masses().sum();
    let step = total / MOST_TAIL_ATOMS as u128;
    let last = masses().rposition(|mass| mass > 0);
    let mut atoms: Vec<Atom> = Vec::new();
    let mut gathered = 0;
    for (cell, mass) in masses().enumerate() {
        gathered += mass;
        // At the upper end of the cell: a threshold read off it is never too small.
        if gathered > step || (Some(cell) == last && gathered > 0) {
            atoms.push((end(cell), gathered));
            gathered = 0;
        }
    }
    atoms
}

/// One tail as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredTail {
    low: f64,
    high: f64,
    kept: StoredAtoms,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum StoredAtoms {
    /// Increasing, each score once.
    Kept(Vec<Atom>),
    /// One for each cell.
    Gathered(Vec<u128>),
}

/// Written one by one with equal atoms joined, so that the bytes do not depend on how they arrived.
impl Serialize for Tails {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut settled = self.clone();
        (0..settled.kept.len()).for_each(|law| settled.settle(law));
        let Self { low, high, kept, gathered } = settled;
        let stored = kept.into_iter().enumerate().map(|(law, kept)| {
            let masses = || gathered.iter().flat_map(|masses| masses.of_law(law)).collect();
            let kept = kept.map_or_else(|| StoredAtoms::Gathered(masses()), StoredAtoms::Kept);
            StoredTail { low, high, kept }
        });
        serializer.collect_seq(stored)
    }
}

impl Tails {
    /// Tails that were read, once each was found sound.
    pub(super) fn of_stored(low: f64, high: f64, stored: Vec<StoredTail>) -> Self {
        let mut tails = Self::new(low, high, stored.len());
        for (law, StoredTail { kept, .. }) in stored.into_iter().enumerate() {
            match kept {
                StoredAtoms::Kept(atoms) => tails.kept[law] = Some(atoms),
                StoredAtoms::Gathered(masses) => {
                    tails.gather(law);
                    if let Some(gathered) = &mut tails.gathered {
                        let masses = masses.into_iter().enumerate().filter(|(_, mass)| *mass > 0);
                        masses.for_each(|(cell, mass)| gathered.add(cell, law, mass));
                    }
                }
            }
        }
        tails
    }
}

impl StoredTail {
    /// Where it begins and ends.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Its total mass; none if it is too large or the tail is none that was written.
    pub(super) fn mass(&self) -> Option<u128> {
        match &self.kept {
            // Written tails are settled, so that more atoms than this, or another number of cells,
            // come from no tail of ours.
            StoredAtoms::Kept(atoms) if atoms.len() <= MOST_TAIL_ATOMS => {
                atoms.iter().try_fold(0u128, |sum, (_, mass)| sum.checked_add(*mass))
            }
            StoredAtoms::Gathered(cells) if cells.len() == CELLS => {
                cells.iter().try_fold(0u128, |sum, mass| sum.checked_add(*mass))
            }
            _ => None,
        }
    }

    /// Whether its atoms increase and lie beyond the largest calibration score and not above `highest`.
    pub(super) fn lies_below(&self, highest: f64) -> bool {
        match &self.kept {
            StoredAtoms::Kept(atoms) => {
                atoms.windows(2).all(|pair| pair[0].0 < pair[1].0)
                    && atoms.iter().all(|(score, _)| *score > self.low && *score <= highest)
            }
            StoredAtoms::Gathered(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn tail(scores: &[f64]) -> Tails {
        let mut tail = Tails::new(0.5, 1.0, 1);
        scores.iter().for_each(|score| tail.add(0, *score, 1 << 62));
        tail
    }

    fn atoms(tail: Tails) -> Vec<Atom> {
        tail.atoms().swap_remove(0)
    }

    #[test]
    fn few_atoms_are_exact_and_many_are_hardly_moved_up() {
        let mut stream = Seed::new(1).stream("tail");
        for count in [100, 4096, 4097, 50_000] {
            let scores: Vec<f64> = (0..count).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
            let found = atoms(tail(&scores));
            let mut sorted = scores.clone();
            sorted.sort_by(f64::total_cmp);
            let mut spread: Vec<f64> = Vec::new();
            for (score, mass) in &found {
                let times = usize::try_from(mass >> 62).unwrap();
                spread.extend(std::iter::repeat_n(*score, times));
            }
            assert_eq!(spread.len(), sorted.len());
            for (rank, (up, exact)) in spread.iter().zip(&sorted).enumerate() {
                let later = sorted[(rank + count / MOST_TAIL_ATOMS + 1).min(count - 1)];
                let slack = (1.0 - exact) / 2048.0;
                assert!(up >= exact && *up <= later + slack, "{up} for {exact}");
            }
            assert_eq!(spread == sorted, count <= MOST_TAIL_ATOMS);
        }
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut stream = Seed::new(2).stream("tail");
        let scores: Vec<f64> = (0..30_000).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
        let mut merged = tail(&scores[20_000..]);
        merged.merge(tail(&scores[..1000]));
        merged.merge(tail(&scores[1000..20_000]));
        assert_eq!(merged.atoms(), tail(&scores).atoms());
    }

    /// A law with many atoms beside one with few: each has the atoms and the bytes that it has by itself, however they were merged.
    #[test]
    fn tails_beside_each_other_are_those_by_themselves() {
        let mut stream = Seed::new(3).stream("tail");
        let scores: Vec<f64> = (0..40_000).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
        for few in [0, 10, 5000, 40_000] {
            let both = |scores: &[f64], first: usize| {
                let mut tails = Tails::new(0.5, 1.0, 2);
                for (index, score) in scores.iter().enumerate() {
                    tails.add(0, *score, 1 << 62);
                    if first + index < few {
                        tails.add(1, *score, 1 << 62);
                    }
                }
                tails
            };
            let mut found = both(&scores[25_000..], 25_000).emptied();
            found.merge(both(&scores[25_000..], 25_000));
            found.merge(both(&scores[..3000], 0));
            found.merge(both(&scores[3000..25_000], 3000));
            let bytes = postcard::to_extend(&found, Vec::new()).unwrap();
            let (one, other) = (tail(&scores), tail(&scores[..few]));
            let alone = |tail: &Tails| postcard::to_extend(tail, Vec::new()).unwrap().split_off(1);
            if few == 40_000 || few < MOST_TAIL_ATOMS {
                assert!(bytes[1..] == [alone(&one), alone(&other)].concat(), "{few}");
            }
            let stored: Vec<StoredTail> = postcard::from_bytes(&bytes).unwrap();
            let again = Tails::of_stored(0.5, 1.0, stored);
            assert!(postcard::to_extend(&again, Vec::new()).unwrap() == bytes, "{few}");
            let expected = [one.atoms(), other.atoms()].concat();
            assert_eq!((found.atoms(), again.atoms()), (expected.clone(), expected), "{few}");
        }
    }

    /// Scores that crowd at one, more than are kept: quantiles are never too small, and hardly too large.
    #[test]
    fn gathered_tails_keep_their_quantiles() {
        let mut tail = Tails::new(0.5, 1.0, 1);
        let count = 50_000_u32;
        let scores: Vec<f64> =
            (0..count).map(|index| 1.0 - 0.5 * (-f64::from(index) / 2000.0).exp()).collect();
        scores.iter().for_each(|score| tail.add(0, *score, 1));
        let atoms = atoms(tail);
        assert!(atoms.len() <= MOST_TAIL_ATOMS + 1, "{}", atoms.len());
        assert_eq!(atoms.iter().map(|(_, mass)| mass).sum::<u128>(), u128::from(count));
        for rank in [1, 10, 1000, 20_000, 30_000, 49_999, 50_000] {
            let mut reached = 0;
            let found = atoms.iter().find(|(_, mass)| {
                reached += mass;
                reached >= rank
            });
            let (found, exact) = (found.map_or(f64::NAN, |atom| atom.0), scores[rank as usize - 1]);
            let later = scores
                [(rank as usize + count as usize / MOST_TAIL_ATOMS + 1).min(scores.len() - 1)];
            assert!(found >= exact, "{found} is too small at {rank}");
            let slack = (1.0 - exact) / 2048.0;
            assert!(
                found <= later.max(exact) + slack,
                "{found} is too large for {exact} at {rank}"
            );
        }
    }
}
