//! A table in memory, row after row or column after column.
//!
//! ```text
//! rows      p_11 p_12 ... p_1C p_21 ...        handed on where they lie
//! columns   p_11 p_21 ... , p_12 p_22 ...      a block at a time is turned round, in memory that stays in the cache;
//!                                              sets that follow from comparisons are made without
//! ```

use std::ops::Range;

use evenkeel::Result;
use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel::error::Error;
use evenkeel::level::Miscoverage;
use evenkeel::rows::Real;
use rayon::prelude::*;

use crate::any_rows::AnyRows;
use crate::blocks::BLOCK_BYTES;

/// Columns of one precision, all of the same length.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a, T> {
    columns: &'a [&'a [T]],
    rows: usize,
}

impl<'a, T: Copy + Send + Sync> Columns<'a, T> {
    /// Checks that all columns are of one length.
    ///
    /// # Errors
    /// If there is no column, or one has another number of rows.
    pub fn new(columns: &'a [&'a [T]]) -> Result<Self> {
        let Some(first) = columns.first() else {
            return Err(Error::TooFew { what: "columns", found: 0, least: 1 });
        };
        let rows = first.len();
        match columns.iter().find(|column| column.len() != rows) {
            None => Ok(Self { columns, rows }),
            Some(other) => Err(Error::LengthMismatch {
                what: "a column",
                found: other.len(),
                other: "the first column",
                expected: rows,
            }),
        }
    }

    /// These rows, one after the other, in `turned`.
    fn turn(&self, rows: Range<usize>, turned: &mut Vec<T>) {
        let Some(fill) = self.columns[0].first() else { return };
        let width = self.columns.len();
        // Not cleared before: cells of the block before are written over.
        turned.resize(rows.len() * width, *fill);
        let pieces = turned.par_chunks_mut(PIECE_ROWS * width).enumerate();
        pieces.for_each(|(piece, cells)| {
            let first = rows.start + piece * PIECE_ROWS;
            self.turn_piece(first..first + cells.len() / width, cells);
        });
    }

    /// These rows into their cells, eight columns at a time.
    fn turn_piece(&self, rows: Range<usize>, cells: &mut [T]) {
        let width = self.columns.len();
        let mut first = 0;
        while let Some(columns) = self.columns[first..].first_chunk::<LANES>() {
            turn_lanes(columns.map(|column| &column[rows.clone()]), first, width, cells);
            if first + LANES == width {
                return;
            }
            // The last eight columns may have been among the eight before: writing a cell twice is cheaper than one by one.
            first = (first + LANES).min(width - LANES);
        }
        for (place, column) in self.columns.iter().enumerate() {
            let cells = cells.iter_mut().skip(place).step_by(width);
            cells.zip(&column[rows.clone()]).for_each(|(cell, value)| *cell = *value);
        }
    }
}

impl<T: Real> Columns<'_, T> {
    /// The sets of these rows, made by all threads; none where columns are not the way to make them.
    fn sets(
        &self,
        rows: Range<usize>,
        calibration: &Calibration,
        alpha: Option<Miscoverage>,
    ) -> Option<LabelSets> {
        let step = set_rows(self.columns.len());
        let piece = |first: usize| {
            let piece = first..rows.end.min(first + step);
            let columns: Vec<&[T]> =
                self.columns.iter().map(|column| &column[piece.clone()]).collect();
            calibration.predict_columns(&columns, alpha)
        };
        let firsts: Vec<usize> = rows.clone().step_by(step).collect();
        let pieces: Option<Vec<LabelSets>> = firsts.into_par_iter().map(piece).collect();
        LabelSets::concatenate(&pieces?).ok()
    }
}

/// Rows whose sets a thread makes at a time, straight from `columns` columns: whole words of bits, and what is known of the rows stays
/// in the nearest cache.
fn set_rows(columns: usize) -> usize {
    const MOST: usize = 2048;
    (MOST * 16 / columns).next_multiple_of(64).clamp(PIECE_ROWS, MOST)
}

/// Rows turned by a thread at a time: pieces of columns long enough for the processor to fetch them ahead.
const PIECE_ROWS: usize = 512;
/// Columns turned at a time, whose cells lie beside each other in a row.
const LANES: usize = 8;

/// Eight columns, from `first` on, into rows of `width` cells.
#[inline]
fn turn_lanes<T: Copy>(columns: [&[T]; LANES], first: usize, width: usize, out: &mut [T]) {
    let rows = columns[0].len();
    // Of one length, which the compiler can see: no look at the bounds for every cell.
    let columns = columns.map(|column| &column[..rows]);
    for (row, cells) in out.chunks_exact_mut(width).enumerate().take(rows) {
        if let Some(cells) = cells[first..].first_chunk_mut::<LANES>() {
            *cells = columns.map(|column| column[row]);
        }
    }
}

/// A table of either precision, however it lies.
#[derive(Debug, Clone, Copy)]
pub enum AnyTable<'a> {
    /// Row after row.
    Rows(AnyRows<'a>),
    /// Columns of 32-bit floats.
    F32(Columns<'a, f32>),
    /// Columns of 64-bit floats.
    F64(Columns<'a, f64>),
}

impl<'a> From<AnyRows<'a>> for AnyTable<'a> {
    fn from(rows: AnyRows<'a>) -> Self {
        Self::Rows(rows)
    }
}

/// Memory in which columns are turned into rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turned {
    single: Vec<f32>,
    double: Vec<f64>,
}

/// Bytes of rows that a thread has in its cache.
const CACHED_BYTES: usize = 1 << 19;
/// Most bytes of columns that are turned at a time.
const MOST_TURNED: usize = 1 << 24;

impl<'a> AnyTable<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.rows(),
            Self::F32(columns) => columns.rows,
            Self::F64(columns) => columns.rows,
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.columns(),
            Self::F32(columns) => columns.columns.len(),
            Self::F64(columns) => columns.columns.len(),
        }
    }

    /// Rows that are read at a time unless told otherwise.
    pub(crate) fn block_rows(&self) -> usize {
        match self {
            Self::Rows(rows) => (BLOCK_BYTES / (rows.columns() * rows.number_bytes())).max(1),
            Self::F32(_) | Self::F64(_) => self.cached_rows(),
        }
    }

    /// Rows that stay in the caches of all threads while something is made of them; of columns as many as are worth turning round.
    pub fn cached_rows(&self) -> usize {
        let (number, fewest) = match self {
            Self::Rows(rows) => (rows.number_bytes(), 1),
            Self::F32(_) => (size_of::<f32>(), PIECE_ROWS),
            Self::F64(_) => (size_of::<f64>(), PIECE_ROWS),
        };
        let (row, threads) = (self.columns() * number, rayon::current_num_threads());
        let most = (MOST_TURNED / row).max(1);
        (threads * CACHED_BYTES / row).max(threads * fewest).min(most)
    }

    /// Whether it lies column after column.
    pub(crate) fn lies_apart(&self) -> bool {
        !matches!(self, Self::Rows(_))
    }

    /// Rows of which sets are made at a time, straight from the columns.
    pub(crate) fn set_rows(&self) -> usize {
        // Several shares for each thread: one may be held up.
        4 * rayon::current_num_threads() * set_rows(self.columns())
    }

    /// The sets of these of the rows, straight from their columns; none where there is another way to make them, or something is wrong
    /// with a row.
    pub(crate) fn sets(
        &self,
        rows: Range<usize>,
        calibration: &Calibration,
        alpha: Option<Miscoverage>,
    ) -> Option<LabelSets> {
        match self {
            Self::Rows(_) => None,
            Self::F32(columns) => columns.sets(rows, calibration, alpha),
            Self::F64(columns) => columns.sets(rows, calibration, alpha),
        }
    }

    /// These of the rows, row after row.
    ///
    /// # Errors
    /// If there are none of them.
    pub(crate) fn part<'b>(&self, rows: Range<usize>, turned: &'b mut Turned) -> Result<AnyRows<'b>>
    where
        'a: 'b,
    {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        match self {
            Self::Rows(all) => all.part(rows),
            Self::F32(columns) => {
                columns.turn(rows, &mut turned.single);
                AnyRows::f32(&turned.single, columns.columns.len())
            }
            Self::F64(columns) => {
                columns.turn(rows, &mut turned.double);
                AnyRows::f64(&turned.double, columns.columns.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use evenkeel::calibrator::ShiftCalibrator;
    use evenkeel::method::Method;
    use evenkeel::score::{Labels, Probabilities, Score};
    use evenkeel::seed::Seed;

    use super::*;

    #[test]
    fn columns_turned_round_are_the_rows() -> Result<()> {
        for width in [1, 2, 7, 8, 9, 16, 37] {
            for height in [1, 5, 64, 511, 512, 513, 1500] {
                let rows: Vec<f32> = (0..width * height).map(|cell| cell as f32).collect();
                let columns: Vec<Vec<f32>> = (0..width)
                    .map(|place| rows.iter().skip(place).step_by(width).copied().collect())
                    .collect();
                let columns: Vec<&[f32]> = columns.iter().map(Vec::as_slice).collect();
                let table = AnyTable::F32(Columns::new(&columns)?);
                assert_eq!((table.rows(), table.columns()), (height, width));
                let mut turned = Turned::default();
                for part in [0..height, height / 2..height, height / 3..height.div_ceil(2)] {
                    if part.is_empty() {
                        continue;
                    }
                    let found = table.part(part.clone(), &mut turned)?.widened();
                    let expected = rows[part.start * width..part.end * width].iter();
                    assert!(found.iter().copied().eq(expected.copied().map(f64::from)));
                }
            }
        }
        Ok(())
    }

    /// However few rows the last piece has, the sets of a table are made of its columns.
    #[test]
    fn sets_are_made_of_columns_of_any_length() -> Result<()> {
        let classes = 100;
        let mut stream = Seed::new(6).stream("sets");
        let mut columns = vec![Vec::new(); classes];
        for _ in 0..1100 {
            let row: Vec<f64> = (0..classes).map(|_| stream.uniform()).collect();
            let total: f64 = row.iter().sum();
            columns.iter_mut().zip(row).for_each(|(column, p)| column.push(p / total));
        }
        let values: Vec<f64> =
            (0..200).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        let labels = Labels::new((0..200).map(|row| row % classes).collect(), classes)?;
        let rows = Probabilities::new(&values, classes)?;
        let calibrator = ShiftCalibrator {
            method: Method::Uncorrected,
            score: Score::Lac,
            alpha: Miscoverage::new(0.1)?,
            seed: Seed::new(0),
        };
        let calibration = calibrator.calibrate(&rows, &labels, &rows)?;
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        // Pieces have 512 rows.
        for length in [1, 40, 512, 513, 1024, 1030, 1087, 1088, 1100] {
            let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..length]).collect();
            let table = AnyTable::F64(Columns::new(&columns)?);
            let sets = table.sets(0..length, &calibration, None);
            assert_eq!(sets.map(|sets| sets.rows()), is_wide.then_some(length));
        }
        Ok(())
    }

    #[test]
    fn columns_of_two_lengths_are_refused() {
        assert!(Columns::new(&[&[0.5, 0.5][..], &[0.5][..]]).is_err());
        assert!(Columns::<f64>::new(&[]).is_err());
    }
}
