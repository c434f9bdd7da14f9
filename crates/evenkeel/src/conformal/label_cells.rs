//! `[y in C(x)]` for every label of every set: a row of booleans, or of zeros and ones.
//!
//! Windows of labels are looked up by their bits, or compared in wide registers: what a set costs does not depend on how many labels
//! it has.

#[cfg(target_arch = "x86_64")]
use super::label_cells_avx2;
use super::label_sets::WORD;

/// Labels written at a time.
pub(super) const WINDOW: usize = 8;

/// The bits of each byte, lowest first.
pub(super) static BOOLS: [[bool; WINDOW]; 256] = {
    let mut bools = [[false; WINDOW]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < WINDOW {
            bools[byte][bit] = byte >> bit & 1 == 1;
            bit += 1;
        }
        byte += 1;
    }
    bools
};

/// The same as numbers 0 and 1.
static BYTES: [[u8; WINDOW]; 256] = {
    let mut bytes = [[0; WINDOW]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < WINDOW {
            bytes[byte][bit] = BOOLS[byte][bit] as u8;
            bit += 1;
        }
        byte += 1;
    }
    bytes
};

/// Zeros and ones of the sets at the start of `words`, as many as `members` has room for.
///
/// # Panics
/// If there are not as many sets.
pub(super) fn write_bytes(words: &[u64], classes: usize, members: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(write) = label_cells_avx2::if_faster(classes) {
        require_sets(words, classes, members);
        return write(words, classes, members);
    }
    write(words, classes, members, &BYTES);
}

/// The same by a table of windows.
///
/// # Panics
/// If there are not as many sets.
pub(super) fn write<T: Copy>(
    words: &[u64],
    classes: usize,
    members: &mut [T],
    windows: &[[T; WINDOW]; 256],
) {
    require_sets(words, classes, members);
    let rows = members.chunks_exact_mut(classes);
    if (WINDOW..=2 * WINDOW).contains(&classes) {
        // Short rows are many: two windows, which may overlap, and no loop for each.
        for (word, row) in words.iter().zip(rows) {
            if let Some(window) = row.first_chunk_mut::<WINDOW>() {
                *window = windows[usize::from(*word as u8)];
            }
            if let Some(window) = row.last_chunk_mut::<WINDOW>() {
                *window = windows[usize::from((*word >> (classes - WINDOW)) as u8)];
            }
        }
        return;
    }
    for (words, row) in words.chunks_exact(classes.div_ceil(WORD)).zip(rows) {
        for (word, labels) in words.iter().zip(row.chunks_mut(WORD)) {
            write_word(*word, labels, windows);
        }
    }
}

fn require_sets<T>(words: &[u64], classes: usize, members: &[T]) {
    let sets = words.len() / classes.div_ceil(WORD);
    assert!(members.len() / classes <= sets, "there are not as many sets");
}

/// The labels of one word, of which there are at most 64, at least 1.
#[inline(always)]
fn write_word<T: Copy>(word: u64, labels: &mut [T], windows: &[[T; WINDOW]; 256]) {
    let count = labels.len();
    let of = |first: usize| windows[usize::from((word >> first) as u8)];
    let Some(last) = count.checked_sub(WINDOW) else {
        labels.copy_from_slice(&of(0)[..count]);
        return;
    };
    for (k, window) in labels.as_chunks_mut::<WINDOW>().0.iter_mut().enumerate() {
        *window = of(k * WINDOW);
    }
    // The window that ends with the last label writes some labels again: copies of a length that is known take one instruction,
    // others a call.
    if let Some(window) = labels.last_chunk_mut::<WINDOW>() {
        *window = of(last);
    }
}
