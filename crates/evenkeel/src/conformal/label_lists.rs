//! `{y : y in C(x)}` as lists: the labels of all sets behind each other, and where each set ends among them.
//!
//! Eight labels at a time, looked up by their byte, and written whether they are in the set or not: short rows take no branch.

use super::label_cells::WINDOW;
use super::label_sets::WORD;

/// The numbers of the bits that are set in each byte, lowest first; zeros follow.
static LABELS: [[u8; WINDOW]; 256] = {
    let mut labels = [[0; WINDOW]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < WINDOW {
            if byte >> bit & 1 == 1 {
                labels[byte][found] = bit as u8;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    labels
};

/// Adds the labels of every set to `labels`, row after row and increasing, and to `ends` where each set ends among them.
pub(super) fn add_lists(words: &[u64], classes: usize, labels: &mut Vec<i32>, ends: &mut Vec<i64>) {
    let (width, begun) = (classes.div_ceil(WORD), labels.len());
    let more: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    // The last labels of the last set are written with up to a window of others.
    labels.resize(begun + more + WINDOW, 0);
    let mut lists = Lists { labels, end: begun };
    ends.reserve(words.len() / width);
    if classes <= 2 * WINDOW {
        for word in words {
            lists.add(0, *word as u8);
            lists.add(WINDOW, (*word >> WINDOW) as u8);
            ends.push((lists.end as u64).cast_signed());
        }
    } else {
        for words in words.chunks_exact(width) {
            for (first, word) in words.iter().enumerate() {
                lists.add_word(first * WORD, *word);
            }
            ends.push((lists.end as u64).cast_signed());
        }
    }
    labels.truncate(begun + more);
}

/// Labels that are written one set after the other, with room for a window after the last.
struct Lists<'a> {
    labels: &'a mut [i32],
    end: usize,
}

impl Lists<'_> {
    /// Adds the labels of a byte whose lowest bit is label `first`.
    #[inline(always)]
    fn add(&mut self, first: usize, byte: u8) {
        // A table whose rows have more than 2^31 classes fits into no memory that a row was ever read into.
        let first = (first.min((i32::MAX as usize) - WINDOW) as u32).cast_signed();
        let window = LABELS[usize::from(byte)].map(|label| first + i32::from(label));
        self.labels[self.end..][..WINDOW].copy_from_slice(&window);
        self.end += byte.count_ones() as usize;
    }

    /// Adds the labels of a word; bytes without any are passed over.
    #[inline(always)]
    fn add_word(&mut self, first: usize, mut word: u64) {
        while word != 0 {
            let at = word.trailing_zeros() as usize / WINDOW * WINDOW;
            let byte = (word >> at) as u8;
            self.add(first + at, byte);
            word &= !(u64::from(byte) << at);
        }
    }
}
