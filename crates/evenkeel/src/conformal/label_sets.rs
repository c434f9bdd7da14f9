//! `bit y of row x = [y in C(x)]`: prediction sets of many points, one bit per label.

use super::label_cells::{self, BOOLS};
use super::label_lists;
use super::thresholds::Thresholds;
use crate::error::{Error, Result, require_same_length};
use crate::numeric::simd::in_widest_registers;
use crate::score::{CandidateScores, is_allowed};

/// Labels in one word of a row.
pub(crate) const WORD: usize = u64::BITS as usize;

/// How many labels some sets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetSizes {
    /// Labels in all sets together.
    pub labels: u64,
    /// Sets without a label.
    pub empty: u64,
    /// Sets with every label.
    pub full: u64,
}

impl std::ops::Add for SetSizes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            labels: self.labels + other.labels,
            empty: self.empty + other.empty,
            full: self.full + other.full,
        }
    }
}

/// Prediction sets over labels `0..classes`, one per row, packed into bits.
///
/// Rows start at a word, so sets of later rows can be [appended](Self::append) without moving a bit. Bits at and above
/// `classes` are zero: equal sets have equal words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSets {
    /// `ceil(classes / 64)` words a row, row after row; label `y` is bit `y % 64` of word `y / 64`.
    words: Vec<u64>,
    /// Labels a set chooses from, at least 1.
    classes: usize,
}

impl LabelSets {
    /// No rows yet, over `classes` labels; `append` adds some.
    ///
    /// # Errors
    /// `TooFew` for no classes.
    pub fn empty(classes: usize) -> Result<Self> {
        if classes == 0 {
            return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
        }
        Ok(Self { words: Vec::new(), classes })
    }

    /// From row-major membership; shape `(rows, classes)`.
    ///
    /// # Errors
    /// `TooFew` for no classes, `Ragged` unless the entries fill whole rows.
    pub fn from_bools(members: &[bool], classes: usize) -> Result<Self> {
        let mut sets = Self::empty(classes)?;
        if !members.len().is_multiple_of(classes) {
            let (what, values) = ("the label sets", members.len());
            return Err(Error::Ragged { what, values, columns: classes });
        }
        for row in members.chunks_exact(classes) {
            sets.push_row(|label| row[label]);
        }
        Ok(sets)
    }

    /// `C(x_j) = {y : S[j][y] <= threshold}` over the labels that are possible for `j`.
    ///
    /// With a threshold per row or label there must be as many thresholds as rows or labels.
    ///
    /// # Errors
    /// `LengthMismatch` unless there are as many thresholds as rows or labels.
    pub fn from_candidate_scores<'a>(
        candidates: &CandidateScores,
        thresholds: impl Into<Thresholds<'a>>,
    ) -> Result<Self> {
        let thresholds = thresholds.into();
        thresholds.require_shape(candidates.rows(), candidates.labels())?;
        let mut sets = Self::with_capacity(candidates.rows(), candidates.labels());
        for row in 0..candidates.rows() {
            let (scores, mask) = (candidates.row(row), candidates.mask_row(row));
            sets.push_row(|label| {
                is_allowed(mask, label) && thresholds.admit(row, label, scores[label])
            });
        }
        Ok(sets)
    }

    /// Room for `rows` sets; `classes` is positive.
    pub(crate) fn with_capacity(rows: usize, classes: usize) -> Self {
        Self { words: Vec::with_capacity(rows * classes.div_ceil(WORD)), classes }
    }

    /// Adds the set of the labels that `contains` says yes to.
    pub(crate) fn push_row(&mut self, contains: impl Fn(usize) -> bool) {
        for first in (0..self.classes).step_by(WORD) {
            // Bits past the last class stay zero: equal sets must have equal words.
            let labels = first..self.classes.min(first + WORD);
            let bits = labels.map(|label| u64::from(contains(label)) << (label - first));
            self.words.push(bits.fold(0, |word, bit| word | bit));
        }
    }

    /// Adds `rows` empty sets and gives their words, row after row, to be filled in; bits above `classes` stay zero.
    pub(crate) fn extend(&mut self, rows: usize) -> &mut [u64] {
        let filled = self.words.len();
        self.words.resize(filled + rows * self.words_per_row(), 0);
        &mut self.words[filled..]
    }

    /// Puts the set of `other`'s row `place` in the place of this `row`'s; both are over the same labels.
    pub(super) fn replace_row(&mut self, row: usize, other: &Self, place: usize) {
        let width = self.words_per_row();
        self.words[row * width..][..width].copy_from_slice(other.row_words(place));
    }

    /// The sets of rows that were predicted in parts: row `k` of a part goes to row `rows[k]` of the whole. Rows of no part
    /// hold every label.
    ///
    /// # Panics
    /// If a part has not as many sets as rows, or a row is not below `rows`.
    pub(crate) fn scattered(rows: usize, classes: usize, parts: &[(&[usize], Self)]) -> Self {
        let mut whole = Self::with_capacity(rows, classes);
        for _ in 0..rows {
            whole.push_row(|_| true);
        }
        let width = whole.words_per_row();
        for (places, sets) in parts {
            for (row, place) in places.iter().enumerate() {
                whole.words[place * width..][..width].copy_from_slice(sets.row_words(row));
            }
        }
        whole
    }

    /// Words of a row, at least 1.
    fn words_per_row(&self) -> usize {
        self.classes.div_ceil(WORD)
    }

    /// The words of the sets from `first` on.
    fn onward(&self, first: usize) -> &[u64] {
        &self.words[first * self.words_per_row()..]
    }

    /// The words of one set.
    fn row_words(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row()..][..self.words_per_row()]
    }

    /// Number of rows, one set per row; may be 0.
    pub fn rows(&self) -> usize {
        self.words.len() / self.words_per_row()
    }

    /// Number of labels a set chooses from.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Whether the set of `row` contains `label`; a label that names no class is in no set.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn contains(&self, row: usize, label: usize) -> bool {
        let word = self.row_words(row).get(label / WORD);
        // A label beyond the classes may still fall into the last word, where its bit is zero.
        word.is_some_and(|word| word >> (label % WORD) & 1 == 1)
    }

    /// Number of labels in the set of `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn size(&self, row: usize) -> usize {
        self.row_words(row).iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The labels in the set of `row`, increasing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn labels(&self, row: usize) -> SetLabels<'_> {
        SetLabels::new(self.row_words(row))
    }

    /// The labels of every set, row after row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SetLabels<'_>> {
        self.words.chunks_exact(self.words_per_row()).map(SetLabels::new)
    }

    /// Row-major membership; shape `(rows, classes)`.
    pub fn to_bools(&self) -> Vec<bool> {
        let mut members = vec![false; self.rows() * self.classes];
        self.write_bools(0, &mut members);
        members
    }

    /// Row-major membership of the sets from `first` on, as many as `members` has room for; every entry of them is written.
    ///
    /// # Panics
    /// If there are not as many sets.
    pub fn write_bools(&self, first: usize, members: &mut [bool]) {
        label_cells::write(self.onward(first), self.classes, members, &BOOLS);
    }

    /// [`write_bools`](Self::write_bools) as numbers 0 and 1.
    ///
    /// # Panics
    /// If there are not as many sets.
    pub fn write_bytes(&self, first: usize, members: &mut [u8]) {
        label_cells::write_bytes(self.onward(first), self.classes, members);
    }

    /// Adds the labels of every set to `labels`, row after row and increasing, and to `ends` where each set ends among them.
    pub fn write_lists(&self, labels: &mut Vec<i32>, ends: &mut Vec<i64>) {
        label_lists::add_lists(&self.words, self.classes, labels, ends);
    }

    /// Labels of all sets, and how many sets have none or all of them.
    pub fn sizes(&self) -> SetSizes {
        sizes(&self.words, self.words_per_row(), self.classes)
    }

    /// Adds the sets of the rows that follow.
    ///
    /// # Errors
    /// `LengthMismatch` unless both choose from the same number of labels.
    pub fn append(&mut self, later: &Self) -> Result<()> {
        require_same_length(
            "classes of the appended sets",
            later.classes,
            "classes of the sets",
            self.classes,
        )?;
        self.words.extend_from_slice(&later.words);
        Ok(())
    }

    /// The sets of consecutive blocks of rows as one.
    ///
    /// # Errors
    /// `Empty` for no blocks, `LengthMismatch` unless all choose from the same number of labels.
    pub fn concatenate(blocks: &[Self]) -> Result<Self> {
        let Some((first, later)) = blocks.split_first() else {
            return Err(Error::Empty { what: "blocks of label sets" });
        };
        let mut sets = first.clone();
        // Sets of a large table are the largest thing in memory; growing by doubling would need
        // twice.
        sets.words.reserve_exact(later.iter().map(|block| block.words.len()).sum());
        later.iter().try_for_each(|block| sets.append(block))?;
        Ok(sets)
    }
}

in_widest_registers! {
    /// [`LabelSets::sizes`], in registers that count bits.
    fn sizes[](words: &[u64], width: usize, classes: usize) -> SetSizes {
        let labels = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let last_full = u64::MAX >> (width * WORD - classes);
        let (mut empty, mut full) = (0, 0);
        if width == 1 {
            for word in words {
                empty += u64::from(*word == 0);
                full += u64::from(*word == last_full);
            }
            return SetSizes { labels, empty, full };
        }
        for row in words.chunks_exact(width) {
            let (last, others) = (row[width - 1], &row[..width - 1]);
            // Most rows are decided by their first words.
            empty += u64::from(last == 0 && others.iter().all(|word| *word == 0));
            full += u64::from(last == last_full && others.iter().all(|word| *word == u64::MAX));
        }
        SetSizes { labels, empty, full }
    }
}

/// The labels in one set, increasing.
#[derive(Debug, Clone)]
pub struct SetLabels<'a> {
    /// What is left of the current word.
    word: u64,
    /// Label of its lowest bit.
    first: usize,
    /// Words after it.
    later: std::slice::Iter<'a, u64>,
}

impl<'a> SetLabels<'a> {
    /// A walk that stands before the first label of a row's words.
    fn new(words: &'a [u64]) -> Self {
        let mut later = words.iter();
        Self { word: later.next().copied().unwrap_or(0), first: 0, later }
    }
}

impl Iterator for SetLabels<'_> {
    type Item = usize;

    /// The next larger label of the set; none after the last.
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.later.next()?;
            self.first += WORD;
        }
        let label = self.first + self.word.trailing_zeros() as usize;
        // Clears the lowest bit, so that walking a set takes its size in steps, not the number of classes.
        self.word &= self.word - 1;
        Some(label)
    }

    /// Exact: the bits that are left.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let later = self.later.clone().map(|word| word.count_ones() as usize).sum::<usize>();
        let left = self.word.count_ones() as usize + later;
        (left, Some(left))
    }
}

impl ExactSizeIterator for SetLabels<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Of sets that are empty, full, sparse and dense, after labels that were there before.
    #[test]
    fn lists_are_the_labels_of_every_set() {
        let mut stream = Seed::new(5).stream("lists");
        for classes in [1, 2, 7, 8, 9, 10, 15, 16, 17, 40, 63, 64, 65, 128, 200] {
            let members: Vec<bool> = (0..60)
                .flat_map(|row| vec![[0.0, 0.05, 0.5, 1.1][row % 4]; classes])
                .map(|share| stream.uniform() < share)
                .collect();
            let sets = LabelSets::from_bools(&members, classes).expect("whole rows");
            let (mut labels, mut ends) = (vec![-1, -2], vec![2]);
            sets.write_lists(&mut labels, &mut ends);
            sets.write_lists(&mut labels, &mut ends);
            let (mut all, mut each) = (vec![-1, -2], vec![2]);
            for set in sets.iter().chain(sets.iter()) {
                all.extend(set.map(|label| i32::try_from(label).expect("few classes")));
                each.push(i64::try_from(all.len()).expect("few labels"));
            }
            assert_eq!((labels, ends), (all, each), "{classes} classes");
        }
    }
}
