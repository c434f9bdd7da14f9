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
    #[inline(always)]
    pub(crate) fn bin(&self, cell: u32, score: f64, points: &[f64]) -> usize {
        let entry = self.bins[cell as usize];
        if entry & CUT == 0 { entry as usize } else { self.bin_in_cut_cell(cell, score, points) }
    }

    fn bin_in_cut_cell(&self, cell: u32, score: f64, points: &[f64]) -> usize {
        let lowest = (self.bins[cell as usize] & !CUT) as usize;
        let is_outside = cell as usize + 1 == self.bins.len();
        let before = (cell as usize).checked_sub(1).filter(|_| !is_outside);
        let end = before.map_or(points.len(), |before| (self.bins[before] & !CUT) as usize);
        lowest + points[lowest..end].partition_point(|point| *point < score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn agrees(range: Interval, points: &[f64], scores: impl Iterator<Item = f64>) {
        let cells = DistanceCells::new(range, points).unwrap();
        for score in scores {
            let expected = points.partition_point(|point| *point < score);
            let found = cells.bin(cells.cell(score), score, points);
            assert_eq!(found, expected, "{score:e} among {} points", points.len());
        }
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
                agrees(range, &points, beside.into_iter());
                let drawn = (0..2000).map(|_| high - width * stream.uniform().powi(9));
                agrees(range, &points, drawn.collect::<Vec<f64>>().into_iter());
                let far = [low - width, high + width, f64::MAX, f64::MIN, high, low, 0.0, -0.0];
                agrees(range, &points, far.into_iter());
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
        let cut = scores.filter(|score| cells.bins[cells.cell(*score) as usize] & CUT != 0).count();
        assert!(cut < 400, "{cut} of 10 000");
    }
}
