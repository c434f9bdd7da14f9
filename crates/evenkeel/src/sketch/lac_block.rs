//! A block of rows of probabilities, scored by `1 - p`, for both pairs of laws.
//!
//! ```text
//! 64 rows    smallest and largest entry, sum, scale    then the min-max pair from the two, and the f-u pair from all entries
//! ```
//! One look at a row gives both extremes and the check that it holds probabilities.

use super::abscissae::Abscissae;
use super::distance_cells::DistanceCells;
use super::extreme_sums::ExtremeSums;
use super::lac_sums::LacSums;
use super::sandwich_sketch::position;
use super::sketched_law::{SketchedLaw, WHOLE};
use crate::error::Result;
use crate::interval::Interval;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{ExtremesOfRows, ROWS_TOGETHER};

/// Whether a path took a block of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Yes,
    No,
}

/// The lower and the upper law of each pair that is kept.
pub(super) struct LawsOfLac<'a> {
    pub(super) abscissae: &'a Abscissae,
    pub(super) extremes: Option<[&'a mut SketchedLaw; 2]>,
    pub(super) model_uniform: Option<[&'a mut SketchedLaw; 2]>,
}

impl LawsOfLac<'_> {
    /// Adds a block. Nothing was added where the block or the range does not suit this path.
    ///
    /// # Errors
    /// If a row does not hold probabilities.
    pub(super) fn add<T: Real>(self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Added> {
        let Self { abscissae, mut extremes, mut model_uniform } = self;
        // Many rows are looked at before any is added: where scores may be refused, another row than the first might be named.
        if [0.0, 1.0].iter().any(|end| position(abscissae, 0, *end).is_err()) {
            return Ok(Added::No);
        }
        // One pair needs two lookups a row, the other one for every label.
        let lookups = match model_uniform {
            Some(_) => block.values().len(),
            None => 2 * block.rows(),
        };
        let (cells, points) = (abscissae.cells_for(lookups), abscissae.points());
        // In other ranges positions are not the scores themselves.
        let cells_of_unit = cells.filter(|_| abscissae.range() == Interval::UNIT);
        let mut sums = match (&model_uniform, cells_of_unit) {
            (None, _) => None,
            (Some(_), Some(cells)) if LacSums::hold(block.columns()) => {
                Some(LacSums::new(cells, points, block.columns()))
            }
            (Some(_), _) => return Ok(Added::No),
        };
        let mut counts = match (&extremes, cells_of_unit) {
            // Fewer rows than bins cost more to move on than to add one by one.
            (Some(_), Some(cells)) if block.rows() > points.len() => {
                Some(ExtremeSums::new(cells, points))
            }
            _ => None,
        };
        let columns = block.columns();
        let mut rows = ExtremesOfRows::new();
        for (group, values) in block.values().chunks(ROWS_TOGETHER * columns).enumerate() {
            let key = |row| keys.key(group * ROWS_TOGETHER + row);
            rows.read(block.what(), key, values, columns)?;
            match (&mut extremes, &mut counts) {
                (Some([lower, upper]), Some(counts)) => {
                    counts.add(rows.lowest(), rows.highest(), [&mut **lower, &mut **upper]);
                }
                (Some([lower, upper]), None) => {
                    add_each(rows.lowest(), (abscissae, cells), key, lower)?;
                    add_each(rows.highest(), (abscissae, cells), key, upper)?;
                }
                (None, _) => {}
            }
            if let (Some([lower, upper]), Some(sums)) = (&mut model_uniform, &mut sums) {
                sums.add(values, rows.scales(), lower, upper);
                widen_extremes(&rows, values, columns, [&mut **lower, &mut **upper]);
            }
        }
        if let (Some(pair), Some(mut counts)) = (extremes, counts) {
            counts.move_to(pair);
        }
        if let (Some([lower, upper]), Some(mut sums)) = (model_uniform, sums) {
            sums.move_to(lower, upper);
        }
        Ok(Added::Yes)
    }
}

/// Adds a score of each row to a law, one by one.
fn add_each(
    scores: &[f64],
    (abscissae, cells): (&Abscissae, Option<&DistanceCells>),
    key: impl Fn(usize) -> u64,
    law: &mut SketchedLaw,
) -> Result<()> {
    let points = abscissae.points();
    for (row, score) in scores.iter().copied().enumerate() {
        let bin = match cells {
            Some(cells) => cells.bin(cells.cell(score), score, points),
            None => abscissae.locate(score),
        };
        // Scores 1 - p lie in [0, 1]; the abscissae may cover another range.
        law.add(bin, position(abscissae, key(row), score)?, 1.0, WHOLE);
        law.saw(score);
    }
    Ok(())
}

/// The extremes of both laws of the f-u pair over these rows too.
fn widen_extremes<T: Real>(
    rows: &ExtremesOfRows,
    values: &[T],
    columns: usize,
    [lower, upper]: [&mut SketchedLaw; 2],
) {
    for (low, high) in rows.lowest().iter().zip(rows.highest()) {
        upper.saw(*low);
        upper.saw(*high);
        lower.saw(*low);
    }
    let rows = rows.highest().iter().zip(rows.scales()).zip(rows.are_positive());
    for (((high, scale), is_positive), values) in rows.zip(values.chunks_exact(columns)) {
        if is_positive {
            lower.saw(*high);
        } else if lower.extremes().1 < 1.0 {
            // A label without mass is no atom of the lower law and must not widen its extremes. No score is above one, so that rows
            // need not be searched once a label was as unlikely as that.
            lower.saw(1.0 - smallest_positive(values) * scale);
        }
    }
}

/// The smallest entry above zero of a row that has one.
fn smallest_positive<T: Real>(values: &[T]) -> f64 {
    let smallest = values.iter().map(|value| -> f64 { (*value).into() });
    smallest.fold(
        f64::INFINITY,
        |least, value| if value > 0.0 && value < least { value } else { least },
    )
}

#[cfg(test)]
mod tests {
    use crate::error::Result;
    use crate::interval::Interval;
    use crate::measure::Grid;
    use crate::rows::{RowKeys, Rows};
    use crate::score::Score;
    use crate::sketch::{Abscissae, SandwichSketch, SketchedLaws};

    /// What becomes of rows, or the error, where a path is given so many rows at a time.
    fn added(
        empty: &SandwichSketch,
        values: &[f64],
        rows: usize,
        add: impl Fn(SandwichSketch, RowKeys<'_>, Rows<'_, f64>) -> Result<SandwichSketch>,
    ) -> std::result::Result<SandwichSketch, String> {
        let blocks = values.chunks(2 * rows).enumerate();
        let added = blocks.into_iter().try_fold(empty.clone(), |sketch, (block, values)| {
            add(sketch, RowKeys::From((block * rows) as u64), Rows::new("table", values, 2)?)
        });
        added.map_err(|error| error.to_string())
    }

    /// Rows and scores that are refused, in ranges of any width: the first is named, however the rows are cut.
    #[test]
    fn the_first_bad_row_is_named_in_any_block() {
        let good = [[0.5, 0.5], [0.3, 0.7], [0.0, 1.0]];
        let tables: [&[[f64; 2]]; 5] = [
            &[[1.0, 0.0], [0.5, 0.5]],
            &[[0.5, 0.5], [1.0, 0.0], [0.5, -0.5]],
            &[[0.9, 0.2]],
            &good,
            &[],
        ];
        for (low, high) in
            [(0.0, 1e-7), (1.0 - 1e-7, 1.0), (0.0, 1.0), (-1.0, 2.0), (1e7, 1e7 + 1.0)]
        {
            let grid = Grid::new(Interval::new(low, high).unwrap(), 50).unwrap();
            let empty = SandwichSketch::new(Abscissae::of_grid(&grid), SketchedLaws::Extremes);
            for (start, end) in [(0, 0), (1, 3), (70, 0), (63, 140)] {
                for rows in tables {
                    let values: Vec<f64> = good
                        .iter()
                        .cycle()
                        .take(start)
                        .chain(rows)
                        .chain(good.iter().cycle().take(end))
                        .flatten()
                        .copied()
                        .collect();
                    let expected = added(&empty, &values, 1, |sketch, keys, rows| {
                        sketch.add_one_by_one(keys, rows, &Score::Lac)
                    });
                    for cut in [1, 2, 63, 64, 65, 1000] {
                        let found = added(&empty, &values, cut, |sketch, keys, rows| {
                            sketch.add_probabilities(keys, rows, &Score::Lac)
                        });
                        match (&found, &expected) {
                            (Ok(found), Ok(expected)) => assert_eq!(
                                found.min_max_summary().ok(),
                                expected.min_max_summary().ok()
                            ),
                            _ => assert_eq!(
                                found.as_ref().err(),
                                expected.as_ref().err(),
                                "blocks of {cut} in {low}..{high}"
                            ),
                        }
                    }
                }
            }
        }
    }
}
