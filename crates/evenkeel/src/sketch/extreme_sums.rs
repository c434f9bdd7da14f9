//! The `min-max` pair of lac scores, summed over many rows at once.
//!
//! ```text
//! s_low = 1 - max p      s_high = 1 - min p      unit = 2^-62
//! each law   mass += 1 / unit      moment += floor(s / unit)       the first from a count
//! ```
//! The same whole numbers as [`SketchedLaw::add`] adds one by one. A score costs one load to find its bin and one addition there: the number
//! of scores of a bin stands above the sum of their moments.

use super::crowded_bins::CrowdedBins;
use super::distance_cells::DistanceCells;
use super::lac_sums::whole;
use super::sketched_law::{SketchedLaw, UNIT, WHOLE};
use crate::numeric::simd::in_widest_registers;

/// Rows whose scores are added together: enough for vector registers, few enough for the first cache.
const TOGETHER: usize = 128;
/// Where the number of scores stands. Moments of `2^32` scores, each at most `2^62`, stay below it.
const COUNT: u32 = 96;
/// Rows after which the sums are handed on, before their number could overflow.
const MOST_ROWS: u32 = 1 << 30;

/// Scores of one law that wait, and what is made of them; each array begins where a cache line does.
#[repr(align(64))]
struct Terms {
    scores: [f64; TOGETHER],
    moments: [f64; TOGETHER],
    cells: [u32; TOGETHER],
}

/// Sums of both laws in every bin.
pub(super) struct ExtremeSums<'a> {
    cells: &'a DistanceCells,
    points: &'a [f64],
    terms: Box<[Terms; 2]>,
    /// Rows waiting in `terms`.
    waiting: usize,
    /// Moments and numbers of each law; shape `(places,)`.
    sums: [Vec<u128>; 2],
    places: CrowdedBins,
    /// Rows in the bins.
    rows: u32,
}

impl<'a> ExtremeSums<'a> {
    /// No rows yet, over points of the unit interval with these cells.
    pub(super) fn new(cells: &'a DistanceCells, points: &'a [f64]) -> Self {
        let none =
            || Terms { scores: [0.0; TOGETHER], moments: [0.0; TOGETHER], cells: [0; TOGETHER] };
        let places = CrowdedBins::new(points.len() + 1);
        let sums = vec![0; places.places()];
        let (terms, sums) = (Box::new([none(), none()]), [sums.clone(), sums]);
        Self { cells, points, terms, waiting: 0, sums, places, rows: 0 }
    }

    /// Adds the smallest and the largest scores of some rows, in `[0, 1]`. Sums are handed to the laws where they are full.
    pub(super) fn add(
        &mut self,
        lowest: &[f64],
        highest: &[f64],
        [lower, upper]: [&mut SketchedLaw; 2],
    ) {
        let (mut lowest, mut highest) = (lowest, highest);
        while !lowest.is_empty() {
            let count = lowest.len().min(TOGETHER - self.waiting);
            let room = self.waiting..self.waiting + count;
            let (low, high) = (lowest.split_at(count), highest.split_at(count));
            self.terms[0].scores[room.clone()].copy_from_slice(low.0);
            self.terms[1].scores[room].copy_from_slice(high.0);
            (lowest, highest) = (low.1, high.1);
            self.waiting += count;
            if self.waiting == TOGETHER {
                self.add_waiting([&mut *lower, &mut *upper]);
            }
        }
    }

    /// Adds the rows that wait.
    fn add_waiting(&mut self, laws: [&mut SketchedLaw; 2]) {
        let Self { cells, points, terms, waiting, sums, places, rows } = self;
        for ((terms, sums), law) in terms.iter_mut().zip(&mut *sums).zip(laws) {
            let (smallest, largest) = make_terms(terms, *waiting, cells);
            law.saw(smallest);
            law.saw(largest);
            let Terms { scores, moments, cells: found } = terms;
            let found = &mut found[..(*waiting).min(TOGETHER)];
            cells.find_bins(scores, points, found);
            places.find_places(found);
            for (place, moment) in found.iter().zip(moments) {
                sums[*place as usize] += u128::from(whole(*moment)) + (1 << COUNT);
            }
            if *rows > MOST_ROWS {
                hand_on(sums, places, law);
            }
        }
        *rows = if *rows > MOST_ROWS { 0 } else { *rows + *waiting as u32 };
        *waiting = 0;
    }

    /// Moves the sums to the laws.
    pub(super) fn move_to(&mut self, [lower, upper]: [&mut SketchedLaw; 2]) {
        if self.waiting > 0 {
            self.add_waiting([&mut *lower, &mut *upper]);
        }
        for (sums, law) in self.sums.iter_mut().zip([lower, upper]) {
            hand_on(sums, &self.places, law);
        }
    }
}

/// Moves the sums of a law to it.
fn hand_on(sums: &mut [u128], places: &CrowdedBins, law: &mut SketchedLaw) {
    for (place, sum) in sums.iter_mut().enumerate() {
        let bin = places.bin_of(place);
        let sum = std::mem::take(sum);
        let count = sum >> COUNT;
        law.add_whole(bin, count * u128::from(WHOLE), sum - (count << COUNT));
    }
}

in_widest_registers! {
    /// Cells and moments of all places, and the extremes of the first of them: those where no score waits hold what an earlier one left.
    fn make_terms[](terms: &mut Terms, waiting: usize, cells: &DistanceCells) -> (f64, f64) {
        let Terms { scores, moments, cells: found } = terms;
        for place in 0..TOGETHER {
            found[place] = cells.cell(scores[place]);
            moments[place] = scores[place] * UNIT;
        }
        let (mut smallest, mut largest) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
        let (eights, rest) = scores[..waiting.min(TOGETHER)].as_chunks::<8>();
        for scores in eights {
            for lane in 0..8 {
                let score = scores[lane];
                smallest[lane] = if score < smallest[lane] { score } else { smallest[lane] };
                largest[lane] = if score > largest[lane] { score } else { largest[lane] };
            }
        }
        let all = |lanes: [f64; 8], pick: fn(f64, f64) -> f64| {
            lanes.iter().chain(rest).copied().fold(lanes[0], pick)
        };
        (all(smallest, f64::min), all(largest, f64::max))
    }
}
