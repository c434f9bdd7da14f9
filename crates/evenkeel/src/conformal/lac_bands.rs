//! `1 - p scale <= threshold` settled for stretches of rows without knowing `scale` exactly.
//!
//! ```text
//! p >= high   in the set          high = (1 - t + 1e-15) sum (1 + slack)
//! p <  low    not in the set      low  = (1 - t - 1e-15) sum (1 - slack)
//! between     in doubt: the row is left to the definition
//! ```

use std::any::Any;
use std::ops::Add;

use super::label_sets::WORD;
use crate::numeric::simd::in_widest_registers;
use crate::rows::Real;
use crate::threshold::Threshold;

/// Entries read at a time; a divisor of [`WORD`].
pub(super) const WINDOW: usize = 8;

/// Writes the sets of the rows at the start of a stretch, as many as `words` has room for, up to the first row that it
/// cannot settle.
pub(super) type Settle<T, F> = fn(&Stretch<'_, T, F>, &mut [u64]) -> Stop<F>;

/// Rows to be settled. `F` is the type `T` of the entries, with its arithmetic: generic code cannot
/// add two `T`.
pub(super) struct Stretch<'a, T, F> {
    /// The rows, and what follows them in memory.
    pub(super) onward: &'a [T],
    /// Entries of a row, the number of classes.
    pub(super) columns: usize,
    /// Where entries are in, out or in doubt.
    pub(super) bands: Bands<'a, F>,
    /// Least and largest sum of a row for which the bands hold; a row outside is not settled.
    pub(super) sums: (F, F),
}

/// How far a stretch was settled.
pub(super) struct Stop<F> {
    /// Rows settled, from the start of the stretch.
    pub(super) rows: usize,
    /// Sum of the row after them, if it was found; else NaN.
    pub(super) sum: F,
}

/// Where the smallest entry that passes lies: entries from `high` on are in the set, entries below `low` are not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Band<F> {
    /// Entries below are surely out.
    pub(super) low: F,
    /// Entries from here on are surely in.
    pub(super) high: F,
}

impl<F: Lane> Band<F> {
    /// The band of rows whose sum is `sum` up to a share of `slack`.
    ///
    /// ```text
    /// 1 - p / sum <= t   iff   p >= (1 - t) sum
    /// ```
    /// in real numbers. In the definition `1 / sum`, its product with `p`, the difference and `1 - t` are rounded to
    /// double precision, which moves the two sides by less than 1e-15 together, as both are at most 2 wherever they can
    /// meet.
    pub(super) fn new(threshold: Threshold, sum: f64, slack: f64) -> Self {
        const ROUNDING: f64 = 1e-15;
        let t = threshold.get();
        if t >= 1.0 {
            // No score is larger than one.
            return Self { low: F::nearest(0.0), high: F::nearest(0.0) };
        }
        // Above one for negative thresholds, which admit nothing: no special case.
        let smallest = 1.0 - t;
        Self {
            low: F::nearest((smallest - ROUNDING) * sum * (1.0 - slack)),
            high: F::nearest((smallest + ROUNDING) * sum * (1.0 + slack)),
        }
    }
}

/// One band for all rows of a stretch, or one for each.
pub(super) enum Bands<'a, F> {
    /// One threshold for all rows.
    Shared(Band<F>),
    /// A threshold for each row of the stretch.
    PerRow(&'a [Band<F>]),
}

/// The band of a row. The two forms are two types, so that a loop over rows is compiled for each.
pub(super) trait BandOfRow<F>: Copy {
    /// The band of the stretch's row `row`.
    fn of(self, row: usize) -> Band<F>;
}

impl<F: Lane> BandOfRow<F> for Band<F> {
    #[inline(always)]
    fn of(self, _row: usize) -> Band<F> {
        self
    }
}

impl<F: Lane> BandOfRow<F> for &[Band<F>] {
    #[inline(always)]
    fn of(self, row: usize) -> Band<F> {
        self[row]
    }
}

/// The arithmetic of the entries' own precision.
pub(super) trait Lane: Real + Add<Output = Self> {
    /// Distance from one to the next number of this precision.
    const EPSILON: f64;

    /// The number of this precision nearest to `value`.
    fn nearest(value: f64) -> Self;

    /// Twice the largest share by which a sum of `columns` numbers `>= 0`, added up in eight lanes or more, can miss
    /// theirs. The other half is for rounding the band, and for rows within 1e-12 of one, which the definition does not
    /// rescale.
    fn sum_rounding(columns: usize) -> f64 {
        let additions = columns / WINDOW + 2 * WINDOW;
        additions as f64 * Self::EPSILON + 4e-12
    }
}

impl Lane for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Lane for f64 {
    const EPSILON: f64 = f64::EPSILON;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}

/// The window in its own arithmetic; none if `F` is not `T`, which the compiler knows.
#[inline(always)]
pub(super) fn in_lanes<T: Real, F: Lane>(window: &[T; WINDOW]) -> Option<&[F; WINDOW]> {
    (window as &dyn Any).downcast_ref()
}

/// [`Settle`] for every processor.
pub(super) fn settle<T: Real, F: Lane>(stretch: &Stretch<'_, T, F>, words: &mut [u64]) -> Stop<F> {
    match stretch.bands {
        Bands::Shared(band) => settle_with(stretch, band, words),
        Bands::PerRow(each) => settle_with(stretch, each, words),
    }
}

in_widest_registers! {
    /// [`settle`] in the widest registers there are: the same sums in the same lanes, and so the same sets.
    pub(super) fn settle_in_widest_registers[T: Real, F: Lane](
        stretch: &Stretch<'_, T, F>,
        words: &mut [u64],
    ) -> Stop<F> {
        match stretch.bands {
            Bands::Shared(band) => settle_with(stretch, band, words),
            Bands::PerRow(each) => settle_with(stretch, each, words),
        }
    }
}

/// [`settle`], compiled for either form of bands.
#[inline(always)]
fn settle_with<T: Real, F: Lane>(
    stretch: &Stretch<'_, T, F>,
    bands: impl BandOfRow<F>,
    words: &mut [u64],
) -> Stop<F> {
    let columns = stretch.columns;
    let rows = stretch.onward.chunks_exact(columns);
    let sets = words.chunks_exact_mut(columns.div_ceil(WORD));
    let mut settled = 0;
    for (row, set) in rows.zip(sets) {
        let mut tally = Tally::new(bands.of(settled));
        for (entries, word) in row.chunks(WORD).zip(set) {
            let (windows, rest) = entries.as_chunks::<WINDOW>();
            *word = 0;
            for (k, window) in windows.iter().enumerate() {
                *word |= in_lanes(window).map_or(0, |window| tally.add(window)) << (k * WINDOW);
            }
            if !rest.is_empty() {
                // Any value of type `T` will do: the lanes past the row are set to zero in `F`
                // below.
                let mut window = [row[0]; WINDOW];
                window[..rest.len()].copy_from_slice(rest);
                if let Some(window) = in_lanes::<T, F>(&window) {
                    let mut window = *window;
                    window[rest.len()..].fill(F::nearest(0.0));
                    let inside = (1 << rest.len()) - 1;
                    *word |= (tally.add(&window) & inside) << (windows.len() * WINDOW);
                }
            }
        }
        let sum = tally.sums.into_iter().fold(F::nearest(0.0), |sum, lane| sum + lane);
        // Written so that a NaN sum is not fair: a row with a NaN must reach the definition, which refuses it by name.
        let fair = stretch.sums.0 <= sum && sum <= stretch.sums.1;
        if !fair || tally.doubts != [F::nearest(0.0); WINDOW] {
            return Stop { rows: settled, sum };
        }
        // Only now: the words of a row in doubt are written too, and then written again.
        settled += 1;
    }
    Stop { rows: settled, sum: F::nearest(f64::NAN) }
}

/// What is known of a row so far.
struct Tally<F> {
    /// The row's own, or the one it shares.
    band: Band<F>,
    /// Sum of every eighth entry.
    sums: [F; WINDOW],
    /// Not zero where an entry was negative or fell into the band. (In the entries' type: masks of one width
    /// vectorise.)
    doubts: [F; WINDOW],
}

impl<F: Lane> Tally<F> {
    /// A row of which nothing is known yet.
    fn new(band: Band<F>) -> Self {
        Self { band, sums: [F::nearest(0.0); WINDOW], doubts: [F::nearest(0.0); WINDOW] }
    }

    /// Takes a window in; bit `k` of the result says whether its entry `k` is in the set.
    #[inline(always)]
    fn add(&mut self, window: &[F; WINDOW]) -> u64 {
        // Multiplied with this, byte k of a word moves to bit 56 + k if it is 0 or 1, and no two of them meet.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let Band { low, high } = self.band;
        let (zero, one) = (F::nearest(0.0), F::nearest(1.0));
        // One thing at a time: loops over lanes that do two compile to scalar code.
        for (sum, value) in self.sums.iter_mut().zip(window) {
            *sum = *sum + *value;
        }
        for (doubt, value) in self.doubts.iter_mut().zip(window) {
            let here = ((*value >= low) != (*value >= high)) | (*value < zero);
            *doubt = if here { one } else { *doubt };
        }
        let members = window.map(|value| u8::from(value >= high));
        u64::from_le_bytes(members).wrapping_mul(GATHER) >> 56
    }
}
