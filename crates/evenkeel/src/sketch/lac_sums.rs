//! The `f-u` pair of lac scores, summed over many rows at once.
//!
//! ```text
//! s = 1 - p      unit = 2^-62
//! lower   mass += floor(p / unit)      moment += floor(s p / unit)
//! upper   mass += floor(1 / unit / C)  moment += floor(s (1/C) / unit)       the first from a count
//! ```
//! The same whole numbers as [`SketchedLaw::add`] adds one by one. A few hundred labels wait for each other, so that vector registers
//! are full: each costs one load to find its bin, and two additions (with AVX-512 one) in one cache line of what is made of it
//! (`whole_parts`).

use super::crowded_bins::CrowdedBins;
use super::distance_cells::DistanceCells;
use super::sketched_law::{SketchedLaw, WHOLE};
use super::whole_parts::{PartSums, add_labels};
use crate::numeric::simd::in_widest_registers;
use crate::rows::Real;

/// Labels that are added together: few enough for the first cache.
const TOGETHER: usize = 256;
/// Labels after which the sums are handed on, before their number could overflow.
const MOST_LABELS: u32 = 1 << 30;
/// Probabilities that are widened together.
const ABREAST: usize = 16;

/// Labels before they are summed; each array has room for the same ones. Each begins where a cache line does: registers as wide as a
/// line would otherwise be loaded and stored in two parts.
#[repr(align(64))]
struct Terms {
    /// With room for what is written past the end of a row.
    probabilities: [f64; TOGETHER + ABREAST],
    scores: [f64; TOGETHER],
    /// Cells and then bins.
    bins: [u32; TOGETHER],
}

/// Sums of both laws in every bin.
pub(super) struct LacSums<'a> {
    cells: &'a DistanceCells,
    points: &'a [f64],
    /// `C` of the rows.
    classes: u64,
    terms: Box<Terms>,
    /// Labels waiting in `terms`.
    waiting: usize,
    /// Of each place; shape `(places,)`.
    sums: Vec<PartSums>,
    places: CrowdedBins,
    /// Labels in the bins.
    labels: u32,
}

impl<'a> LacSums<'a> {
    /// No rows yet, of so many classes, over points with these cells.
    pub(super) fn new(cells: &'a DistanceCells, points: &'a [f64], classes: usize) -> Self {
        let terms = Terms {
            probabilities: [0.0; TOGETHER + ABREAST],
            scores: [0.0; TOGETHER],
            bins: [0; TOGETHER],
        };
        let places = CrowdedBins::new(points.len() + 1);
        Self {
            cells,
            points,
            classes: classes as u64,
            terms: Box::new(terms),
            waiting: 0,
            sums: vec![PartSums::default(); places.places()],
            places,
            labels: 0,
        }
    }

    /// Adds rows of probabilities, each multiplied by its scale; the products lie in `[0, 1]`. Sums are handed to the laws where they are
    /// full.
    pub(super) fn add<T: Real>(
        &mut self,
        values: &[T],
        scales: &[f64],
        lower: &mut SketchedLaw,
        upper: &mut SketchedLaw,
    ) {
        let columns = self.classes as usize;
        let rows_at_once = TOGETHER / columns;
        if rows_at_once < 2 {
            for (values, scale) in values.chunks_exact(columns).zip(scales) {
                self.add_long_row(values, *scale);
                if self.labels > MOST_LABELS {
                    self.move_to(lower, upper);
                }
            }
            return;
        }
        for (values, scales) in
            values.chunks(rows_at_once * columns).zip(scales.chunks(rows_at_once))
        {
            if self.waiting + values.len() > TOGETHER {
                self.add_waiting();
            }
            widen_rows(values, scales, &mut self.terms.probabilities[self.waiting..]);
            self.waiting += values.len();
            if self.labels > MOST_LABELS {
                self.move_to(lower, upper);
            }
        }
    }

    fn add_long_row<T: Real>(&mut self, values: &[T], scale: f64) {
        let mut rest = values;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(TOGETHER - self.waiting));
            widen_rows(now, &[scale], &mut self.terms.probabilities[self.waiting..]);
            self.waiting += now.len();
            rest = later;
            if self.waiting == TOGETHER {
                self.add_waiting();
            }
        }
    }

    /// Sums the labels that wait.
    fn add_waiting(&mut self) {
        let Self { cells, points, classes, terms, waiting, sums, places, labels } = self;
        let uniform = 1.0 / *classes as f64;
        find_cells(terms, cells);
        // A loop by itself: beside the sums, a wrong guess about a cut cell would throw away their work.
        let found = &mut terms.bins[..*waiting];
        cells.find_bins(&terms.scores, points, found);
        places.find_places(found);
        add_labels(&terms.probabilities, uniform, found, sums);
        *labels += *waiting as u32;
        *waiting = 0;
    }

    /// Whether sums that are not full have room for another row of so many classes: its labels may all lie in one bin.
    pub(super) fn hold(classes: usize) -> bool {
        classes <= MOST_LABELS as usize
    }

    /// Moves the sums to the laws of a pair.
    pub(super) fn move_to(&mut self, lower: &mut SketchedLaw, upper: &mut SketchedLaw) {
        self.add_waiting();
        self.labels = 0;
        // Whole units divide with a remainder, for each label alike.
        let uniform_mass = u128::from(WHOLE / self.classes);
        for (place, sums) in self.sums.iter_mut().enumerate() {
            let bin = self.places.bin_of(place);
            let (count, [mass, moment, uniform]) = std::mem::take(sums).wholes();
            lower.add_whole(bin, mass, moment);
            upper.add_whole(bin, u128::from(count) * uniform_mass, uniform);
        }
    }
}

in_widest_registers! {
    /// Rows of equal length, each multiplied by its scale, one after the other. What is behind them in `out` may change.
    fn widen_rows[T: Real](values: &[T], scales: &[f64], out: &mut [f64]) -> () {
        let columns = values.len() / scales.len().max(1);
        for (row, scale) in scales.iter().enumerate() {
            let (end, mut first) = ((row + 1) * columns, row * columns);
            // A few at a time, past the end of the row too: the next one writes over them.
            while first < end
                && let Some(now) = values[first..].first_chunk::<ABREAST>()
                && let Some(out) = out[first..].first_chunk_mut::<ABREAST>()
            {
                for lane in 0..ABREAST {
                    let wide: f64 = now[lane].into();
                    out[lane] = wide * scale;
                }
                first += ABREAST;
            }
            for place in first..end {
                let wide: f64 = values[place].into();
                out[place] = wide * scale;
            }
        }
    }
}

in_widest_registers! {
    /// Scores and cells of all places; those where no label waits hold what an earlier one left.
    fn find_cells[](terms: &mut Terms, cells: &DistanceCells) -> () {
        let Terms { probabilities, scores, bins } = terms;
        for place in 0..TOGETHER {
            scores[place] = 1.0 - probabilities[place];
            bins[place] = cells.cell(scores[place]);
        }
    }
}

/// The whole part of a number in `[0, 2^62]`.
#[inline(always)]
pub(super) fn whole(number: f64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cvttsd_si64, _mm_set_sd};
        #[expect(unsafe_code, reason = "every x86-64 processor has SSE2")]
        // One instruction, where `as` takes six to treat numbers that do not fit.
        // SAFETY: these instructions are part of SSE2, and a number that does not fit gives a number too.
        unsafe {
            _mm_cvttsd_si64(_mm_set_sd(number)).cast_unsigned()
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        number as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::interval::Interval;
    use crate::measure::Grid;
    use crate::rows::{Real, RowKeys, Rows};
    use crate::score::Score;
    use crate::seed::{Seed, Stream};
    use crate::sketch::{Abscissae, SandwichSketch, SketchedLaws};

    /// A row of one of several kinds: many near-zeros, one certain class, exact zeros of both signs, subnormal numbers, ties,
    /// probabilities at abscissae, and sums that are off by what is allowed.
    fn hostile_row(kind: usize, classes: usize, stream: &mut Stream) -> Vec<f64> {
        let mut row: Vec<f64> = (0..classes)
            .map(|class| match kind % 8 {
                0 => stream.uniform().powi(6),
                1 => f64::from(u8::from(class == kind % classes)),
                2 => [0.0, -0.0, 1.0, 3.0][stream.below(4)] + f64::from(u8::from(class == 0)),
                3 => (60.0 * (stream.uniform() - 1.0)).exp(),
                4 => 1.0,
                5 if class > 0 => [1e-310, 1e-45, 1e-17, 0.001, 0.5][stream.below(5)],
                6 => stream.below(1001) as f64 / 1000.0 + f64::from(u8::from(class == 0)),
                _ => -stream.uniform().ln(),
            })
            .collect();
        let total: f64 = row.iter().sum();
        let off = 1.0
            + 9e-4 * (2.0 * stream.uniform() - 1.0) * f64::from(u8::from(kind.is_multiple_of(3)));
        row.iter_mut().for_each(|value| *value *= off / total);
        row
    }

    fn compare<T: Real + PartialEq>(values: &[T], classes: usize, points: &Abscissae) {
        let rows = Rows::new("probabilities", values, classes).unwrap();
        for laws in [SketchedLaws::ModelUniform, SketchedLaws::Both, SketchedLaws::Extremes] {
            let empty = SandwichSketch::new(points.clone(), laws);
            let keys = RowKeys::From(3);
            // Merged with one of a row of as many columns, because only the common path notes how many they are.
            let first = Rows::new("probabilities", &values[..classes], classes).unwrap();
            let noted = empty.clone().add_probabilities(keys, first, &Score::Lac).unwrap();
            let slow = empty.clone().add_one_by_one(keys, rows, &Score::Lac).unwrap();
            let fast = empty.clone().add_probabilities(keys, rows, &Score::Lac).unwrap();
            let shared = empty.of_block(keys, rows, &Score::Lac).unwrap();
            assert_eq!(shared, fast);
            let (slow, fast) = (slow.merge(&noted).unwrap(), fast.merge(&noted).unwrap());
            assert_eq!(fast, slow, "{laws:?} of {classes} classes");
        }
    }

    /// Every sum and both extremes, to the bit, beside the path that adds label by label.
    #[test]
    fn the_sums_are_those_of_one_label_after_the_other() {
        let mut stream = Seed::new(11).stream("lac-sums");
        for (classes, calibration) in [
            (1, 5),
            (2, 300),
            (3, 0),
            (10, 1000),
            (37, 100),
            (97, 3000),
            // Around half of what waits together, and all of it.
            (127, 50),
            (128, 50),
            (129, 50),
            (255, 50),
            (256, 50),
            (257, 50),
            (1000, 40),
        ] {
            let grid = Grid::new(Interval::UNIT, 1000).unwrap();
            let further: Vec<f64> =
                (0..calibration).map(|_| 1.0 - stream.uniform().powi(8)).collect();
            let points = Abscissae::of_grid_and_points(&grid, &further).unwrap();
            let rows = 70_000 / classes + 3;
            let values: Vec<f64> =
                (0..rows).flat_map(|row| hostile_row(row, classes, &mut stream)).collect();
            compare(&values, classes, &points);
            let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            compare(&narrow, classes, &points);
        }
    }

    /// Ranges other than that of lac scores go the general way.
    #[test]
    fn other_ranges_are_sketched_all_the_same() {
        let mut stream = Seed::new(12).stream("lac-sums");
        let grid = Grid::new(Interval::new(-1.0, 2.0).unwrap(), 50).unwrap();
        let values: Vec<f64> =
            (0..7000).flat_map(|row| hostile_row(row, 10, &mut stream)).collect();
        compare(&values, 10, &Abscissae::of_grid(&grid));
    }
}
