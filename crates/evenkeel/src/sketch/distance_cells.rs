//! The bin of a score by the high bits of its distance from the end of the range.
//!
//! ```text
//! d = high - s      cell(s) = exponent and 11 bits of the mantissa of d      bin(s) = #{k : t_k < s}
//! cell uncut        no t_k has its cell: bin(s) = #{k : cell(t_k) > cell(s)}, one load
//! cell cut          some t_k has it: the same plus a bisection among those t_k
//! ```
//! Scores of many classes crowd at the end of the range, where cells of equal width would all be cut. These are `1/2048` of the
//! distance wide wherever it lies, so that of rows of probabilities one score in a hundred or fewer falls into a cut cell.

use crate::interval::Interval;

/// Bits of a double below the exponent and the first eleven bits of the mantissa.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - 11;
/// Cells at most: 64 octaves. Scores nearer to the end share the first cell.
const MOST_CELLS: u32 = 64 << 11;
/// Marks a cell that holds a point; the other bits count the points of later cells.
const CUT: u32 = 1 << 31;
/// Points at most: their number and the mark share 32 bits.
const MOST_POINTS: usize = CUT as usize - 1;

/// A table from cells to bins for fixed points.
#[derive(Debug, Clone)]
pub(crate) struct DistanceCells {
    /// The end of the range, from which distances are taken.
    high: f64,
    /// Key of the largest distance in cell 0.
    first: u32,
    /// `#{k : cell(t_k) > cell}`, with [`CUT`] where a point lies in the cell. The last cell holds what is outside the range.
    bins: Vec<u32>,
}

/// Exponent and first mantissa bits, increasing with a distance that is not negative; larger than any of those below zero.
#[inline(always)]
fn key(distance: f64) -> u32 {
    (distance.to_bits() >> SHIFT) as u32
}

impl DistanceCells {
    /// The table of strictly increasing points inside a range; none if they are too many to be counted in it.
    pub(crate) fn new(range: Interval, points: &[f64]) -> Option<Self> {
        if points.len() > MOST_POINTS {
            return None;
        }
        let high = range.high();
        let widest = key(high - range.low());
        // Distances fall as points grow. The last point may be the end of the range itself, at distance 0.
        let nearest =
            points.iter().rev().map(|point| high - point).find(|distance| *distance > 0.0);
        let nearest = nearest.map_or(widest, key).max(widest.saturating_sub(MOST_CELLS));
        let first = nearest.saturating_sub(1);
        let mut cells = Self { high, first, bins: Vec::new() };
        let outside = cells.clamped(widest) as usize + 1;
        cells.bins = vec![0; outside + 1];
        cells.bins[outside] = CUT;
        let mut points_after = points.iter().enumerate().peekable();
        // From the far end: `passed` points lie in later cells than the one being filled.
        for cell in (0..outside).rev() {
            let mut passed = points_after.peek().map_or(points.len(), |(index, _)| *index) as u32;
            let mut is_cut = false;
            while let Some((_, point)) = points_after
                .next_if(|(_, point)| cells.clamped(key(high - **point)) as usize >= cell)
            {
                // What lies at the end itself cuts nothing: every score of the range is at or before it.
                is_cut |= *point < high;
            }
            if is_cut {
                passed |= CUT;
            }
            cells.bins[cell] = passed;
        }
        Some(cells)
    }

    #[inline(always)]
    fn clamped(&self, key: u32) -> u32 {
        key.max(self.first) - self.first
    }

    /// The cell of a score; the last one for scores outside the range.
    #[inline(always)]
    pub(crate) fn cell(&self, score: f64) -> u32 {
        // Not below zero: a length is no surprise to the compiler, and the loop around this becomes vector code.
        let outside = (self.bins.len() - 1) as u32;
        self.clamped(key(self.high - score)).min(outside)
    }

    /// Index of the first of the points at or after a score that lies in this cell.
    #[inline]
    pub(crate) fn bin(&self, cell: u32, score: f64, points: &[f64]) -> usize {
        let entry = self.bins[cell as usize];
        let lowest = (entry & !CUT) as usize;
        if entry & CUT == 0 { lowest } else { past_cut(lowest, score, points) }
    }

    /// Replaces the cells of some scores by their bins. There is a score for each cell.
    pub(crate) fn find_bins(&self, scores: &[f64], points: &[f64], cells: &mut [u32]) {
        for (cells, scores) in cells.chunks_mut(TOGETHER).zip(scores.chunks(TOGETHER)) {
            let (eights, rest) = cells.as_chunks_mut::<GROUP>();
            for eight in eights {
                // Eight without a branch between them.
                for cell in eight {
                    *cell = self.bins[*cell as usize];
                }
            }
            for cell in rest {
                *cell = self.bins[*cell as usize];
            }
            let mut cut = [0; TOGETHER + GROUP];
            let count = unmark(cells, &mut cut);
            for place in &cut[..count] {
                let place = usize::from(*place);
                cells[place] = past_cut(cells[place] as usize, scores[place], points) as u32;
            }
        }
    }
}

/// Entries of which is asked at once whether any is cut.
const GROUP: usize = 8;
/// Cells that are looked up before those that are cut are looked at again; a byte numbers them.
const TOGETHER: usize = 256;

/// Takes the marks off some entries, and notes the places of those that had one; gives their number.
fn unmark(entries: &mut [u32], cut: &mut [u8; TOGETHER + GROUP]) -> usize {
    let (groups, rest) = entries.as_chunks_mut::<GROUP>();
    let first = groups.len() * GROUP;
    #[cfg(target_arch = "x86_64")]
    let noted = match crate::numeric::simd::has_avx2() {
        #[expect(unsafe_code, reason = "the processor was asked on the line above")]
        // SAFETY: the function needs these instructions and no others, and this processor has them.
        true => unsafe { in_registers::unmark(groups, cut) },
        false => unmark_each(groups.as_flattened_mut(), 0, cut, 0),
    };
    #[cfg(not(target_arch = "x86_64"))]
    let noted = unmark_each(groups.as_flattened_mut(), 0, cut, 0);
    unmark_each(rest, first, cut, noted)
}

/// The same of entries from the place `first` on, one by one, after so many that are noted.
fn unmark_each(
    entries: &mut [u32],
    first: usize,
    cut: &mut [u8; TOGETHER + GROUP],
    mut noted: usize,
) -> usize {
    for (place, entry) in entries.iter_mut().enumerate() {
        // Noted always and counted where it holds: which of them are cut is nothing a processor could guess.
        cut[noted % TOGETHER] = (first + place) as u8;
        noted += usize::from(*entry & CUT != 0);
        *entry &= !CUT;
    }
    noted
}

#[cfg(target_arch = "x86_64")]
mod in_registers {
    use std::arch::x86_64::*;

    use super::{CUT, GROUP, TOGETHER};

    /// The places of the bits of a byte, one after the other.
    const PLACES: [u64; 256] = {
        let mut places = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut count) = (0, 0);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    places[byte] |= bit << (8 * count);
                    count += 1;
                }
                bit += 1;
            }
            byte += 1;
        }
        places
    };

    /// Eight entries at a time: their marks are their signs, and the places of all that are set are written at once.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn unmark(groups: &mut [[u32; GROUP]], cut: &mut [u8; TOGETHER + GROUP]) -> usize {
        let unmarked = _mm256_set1_epi32((!CUT).cast_signed());
        let mut noted = 0;
        for (group, entries) in groups.iter_mut().enumerate() {
            let place = entries.as_mut_ptr().cast();
            #[expect(unsafe_code, reason = "vector registers are loaded and stored by address")]
            // SAFETY: eight entries are the 32 bytes that are read and written, and they need not be aligned.
            let found = unsafe {
                let found = _mm256_loadu_si256(place);
                _mm256_storeu_si256(place, _mm256_and_si256(found, unmarked));
                found
            };
            let signs = _mm256_movemask_ps(_mm256_castsi256_ps(found)).cast_unsigned() as u8;
            // Each of eight bytes more by the first place of the group.
            let places =
                PLACES[usize::from(signs)] + (group * GROUP) as u64 * 0x0101_0101_0101_0101;
            if let Some(room) = cut[noted..].first_chunk_mut::<GROUP>() {
                *room = places.to_le_bytes();
            }
            noted += signs.count_ones() as usize;
        }
        noted
    }
}

/// Index of the first of the points at or after a score, where the first `lowest` are known to lie before it.
#[inline]
fn past_cut(lowest: usize, score: f64, points: &[f64]) -> usize {
    let is_before = |index: usize| points.get(index).is_some_and(|point| *point < score);
    // Nearly all cut cells hold one point: whether a score is past it is added, not asked.
    let next = lowest + usize::from(is_before(lowest)) + usize::from(is_before(lowest + 1));
    if is_before(next) { past_several(next, score, points) } else { next }
}

#[cold]
fn past_several(lowest: usize, score: f64, points: &[f64]) -> usize {
    lowest + points[lowest..].partition_point(|point| *point < score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn agrees(range: Interval, points: &[f64], scores: &[f64]) {
        let cells = DistanceCells::new(range, points).unwrap();
        for score in scores.iter().copied() {
            let expected = points.partition_point(|point| *point < score);
            let found = cells.bin(cells.cell(score), score, points);
            assert_eq!(found, expected, "{score:e} among {} points", points.len());
        }
        let mut found: Vec<u32> = scores.iter().map(|score| cells.cell(*score)).collect();
        cells.find_bins(scores, points, &mut found);
        let one_by_one = scores.iter().map(|score| cells.bin(cells.cell(*score), *score, points));
        assert!(found.iter().map(|bin| *bin as usize).eq(one_by_one));
    }

    /// Grids with crowds of points, at both ends and in one cell; scores at, beside and between points, and outside the range.
    #[test]
    fn bins_are_those_of_a_search() {
        let mut stream = Seed::new(5).stream("cells");
        for (low, high) in [(0.0, 1.0), (-1.0, 1.0), (0.0, 3.7), (-1e-3, 2e-3), (1e6, 1e6 + 1.0)] {
            let range = Interval::new(low, high).unwrap();
            let width = high - low;
            for count in [1, 2, 10, 1000, 5000] {
                let mut points: Vec<f64> = (0..count)
                    .map(|index| match index % 4 {
                        0 => low + width * f64::from(index) / f64::from(count),
                        1 => high - width * stream.uniform().powi(12),
                        2 => high - width * 0.25 * (1.0 + 1e-6 * stream.uniform()),
                        _ => low + width * stream.uniform(),
                    })
                    .map(|point| point.clamp(low, high))
                    .collect();
                if count > 5 {
                    points.extend([low, high, high.next_down(), high - 1e-300 * width]);
                }
                points.sort_by(f64::total_cmp);
                points.dedup();
                let beside = points
                    .iter()
                    .flat_map(|point| [point.next_down(), *point, point.next_up()])
                    .collect::<Vec<f64>>();
                agrees(range, &points, &beside);
                let drawn = (0..2000).map(|_| high - width * stream.uniform().powi(9));
                agrees(range, &points, &drawn.collect::<Vec<f64>>());
                let far = [low - width, high + width, f64::MAX, f64::MIN, high, low, 0.0, -0.0];
                agrees(range, &points, &far);
            }
        }
    }

    /// Entries of which none, some and all are marked, as many as are looked at together and fewer.
    #[test]
    fn marks_are_taken_off_and_noted() {
        let mut stream = Seed::new(7).stream("marks");
        for count in [0, 1, 7, 8, 9, 64, 250, 255, TOGETHER] {
            for marked in [0.0, 0.1, 0.5, 1.0] {
                let entries: Vec<u32> = (0..count)
                    .map(|_| {
                        let mark = if stream.uniform() < marked { CUT } else { 0 };
                        stream.below(1 << 30) as u32 | mark
                    })
                    .collect();
                let places = (0..count).filter(|place| entries[*place] & CUT != 0);
                let places: Vec<u8> = places.map(|place| place as u8).collect();
                let unmarked: Vec<u32> = entries.iter().map(|entry| entry & !CUT).collect();
                let holds = |found: &[u32], cut: &[u8], noted: usize, way: &str| {
                    assert_eq!(cut[..noted], places, "{way}, {count} entries");
                    assert!(found == unmarked, "{way}, {count} entries");
                };
                let (mut found, mut cut) = (entries.clone(), [0; TOGETHER + GROUP]);
                let noted = unmark_each(&mut found, 0, &mut cut, 0);
                holds(&found, &cut, noted, "one by one");
                let (mut found, mut cut) = (entries.clone(), [0; TOGETHER + GROUP]);
                let noted = unmark(&mut found, &mut cut);
                holds(&found, &cut, noted, "as they are");
                #[cfg(target_arch = "x86_64")]
                if crate::numeric::simd::has_avx2() {
                    let (mut found, mut cut) = (entries.clone(), [0; TOGETHER + GROUP]);
                    let (groups, rest) = found.as_chunks_mut::<GROUP>();
                    let first = groups.len() * GROUP;
                    #[expect(unsafe_code, reason = "the processor was asked above")]
                    // SAFETY: the function needs these instructions and no others.
                    let noted = unsafe { in_registers::unmark(groups, &mut cut) };
                    let noted = unmark_each(rest, first, &mut cut, noted);
                    holds(&found, &cut, noted, "in registers");
                }
            }
        }
    }

    #[test]
    fn few_scores_of_wide_rows_fall_into_cut_cells() {
        let grid = (0..=1000).map(|index| f64::from(index) / 1000.0);
        let mut stream = Seed::new(6).stream("cells");
        let mut points: Vec<f64> =
            grid.chain((0..1000).map(|_| 1.0 - stream.uniform().powi(4))).collect();
        points.sort_by(f64::total_cmp);
        points.dedup();
        let cells = DistanceCells::new(Interval::UNIT, &points).unwrap();
        let scores = (0..10_000).map(|_| 1.0 - 0.02 * stream.uniform());
        let is_cut = |score: &f64| cells.bins[cells.cell(*score) as usize] & CUT != 0;
        let cut = scores.filter(is_cut).count();
        assert!(cut < 400, "{cut} of 10 000");
    }
}
