//! The points at which a sketch knows its CDFs exactly.
//!
//! ```text
//! bucket(v) = floor((v - low) K / (high - low))        locate(v) = min { k : t_k >= v }
//! ```
//! A lookup starts at the first point of the value's bucket. On a grid that is the answer or the
//! point before it, so that no search is needed; every candidate score of every row is looked up.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::distance_cells::DistanceCells;
use super::row_count::contradiction;
use crate::error::{At, Error, Result, require_finite};
use crate::interval::Interval;
use crate::measure::Grid;

/// Strictly increasing points with a fast lookup of the first one at or after a value.
///
/// Thresholds and grid points are put among them, because a sketch is exact at its abscissae and
/// rounded outward between.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Abscissae(Arc<Points>);

/// The points and their lookup tables, shared: every thread sketches with a copy of its own.
#[derive(Debug)]
struct Points {
    /// Contains every point.
    range: Interval,
    /// Strictly increasing, at least one.
    points: Vec<f64>,
    /// `first[b]`: index of the first point whose bucket is at least `b`.
    first: Vec<usize>,
    /// Buckets per unit of score: as many buckets as points over the range.
    density: f64,
    /// A faster lookup for many scores, made when they come.
    cells: OnceLock<Option<DistanceCells>>,
}

/// The same points over the same range; which lookups were made so far does not count.
impl PartialEq for Abscissae {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0)
            || (mine.range == theirs.range && mine.points == theirs.points)
    }
}

/// As they are stored, 8 bytes per point; checked when read back. The lookup table is made anew:
/// from bytes it could lead outside the points.
#[derive(Serialize, Deserialize)]
struct Stored {
    range: Interval,
    points: Vec<f64>,
}

impl From<Abscissae> for Stored {
    fn from(Abscissae(shared): Abscissae) -> Self {
        Self { range: shared.range, points: shared.points.clone() }
    }
}

impl TryFrom<Stored> for Abscissae {
    type Error = Error;

    fn try_from(Stored { range, points }: Stored) -> Result<Self> {
        let increase = points.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = points.iter().all(|point| range.contains(*point));
        if points.is_empty() || !increase || !inside {
            return Err(contradiction("its points do not increase inside their range"));
        }
        Ok(Self::from_increasing(range, points))
    }
}

/// Past this many points in one bucket, bisection beats walking.
const WALK: usize = 8;

/// Scores that are looked up at once from which on the cells pay.
const SCORES_WORTH_CELLS: usize = 1 << 16;

impl Abscissae {
    /// The points of a grid, over its range.
    pub fn of_grid(grid: &Grid) -> Self {
        Self::from_increasing(grid.range(), grid.points().to_vec())
    }

    /// The points of a grid and further ones inside its range, such as calibration scores and thresholds.
    ///
    /// # Errors
    /// If a further point is not finite or outside the range of the grid.
    pub fn of_grid_and_points(grid: &Grid, further: &[f64]) -> Result<Self> {
        require_finite("abscissae", further)?;
        let range = grid.range();
        if let Some(index) = further.iter().position(|point| !range.contains(*point)) {
            return Err(Error::OutsideRange {
                what: "abscissae",
                at: At::Index(index),
                value: further[index],
                low: range.low(),
                high: range.high(),
            });
        }
        // Calibration scores are abscissae themselves: CDFs are then exact wherever a threshold can fall.
        let mut points: Vec<f64> = grid.points().iter().chain(further).copied().collect();
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        Ok(Self::from_increasing(range, points))
    }

    /// Strictly increasing points alone, over a range that contains them.
    pub(crate) fn of_points(range: Interval, points: Vec<f64>) -> Self {
        Self::from_increasing(range, points)
    }

    /// Makes the lookup table of strictly increasing points inside `range`.
    fn from_increasing(range: Interval, points: Vec<f64>) -> Self {
        let buckets = points.len();
        let density = buckets as f64 / range.width();
        // Buckets of points are found by the same `bucket` as those of values: they then round
        // alike, and no value is sent past its point.
        let first = Vec::with_capacity(buckets + 1);
        let mut made = Points { range, points, first, density, cells: OnceLock::new() };
        let mut next = 0;
        for bucket in 0..=buckets {
            while next < made.points.len() && made.bucket(made.points[next]) < bucket {
                next += 1;
            }
            made.first.push(next);
        }
        Self(Arc::new(made))
    }

    /// The points, strictly increasing.
    pub fn points(&self) -> &[f64] {
        &self.0.points
    }

    /// The range that the points lie in; scores beyond it fall into the first or last bin.
    pub(crate) fn range(&self) -> Interval {
        self.0.range
    }

    /// The lookup for as many scores as make up for its making, a tenth of a millisecond; none for fewer, or where the points
    /// are too many for it.
    pub(crate) fn cells_for(&self, scores: usize) -> Option<&DistanceCells> {
        if scores < SCORES_WORTH_CELLS {
            return None;
        }
        let Points { range, points, cells, .. } = &*self.0;
        cells.get_or_init(|| DistanceCells::new(*range, points)).as_ref()
    }

    /// Index of the first point `>= value`; `len` if there is none.
    ///
    /// Scores below the range go to 0 and scores above it to `len`; the value must not be a NaN.
    #[inline]
    pub(crate) fn locate(&self, value: f64) -> usize {
        self.0.locate(value)
    }
}

impl Points {
    /// Increasing in `value`, which is all the lookup relies on.
    #[inline]
    fn bucket(&self, value: f64) -> usize {
        // A saturating cast: what lies below the range goes to bucket 0.
        (((value - self.range.low()) * self.density) as usize).min(self.points.len())
    }

    /// See [`Abscissae::locate`].
    #[inline]
    fn locate(&self, value: f64) -> usize {
        let bucket = self.bucket(value);
        // Points of lower buckets are smaller than value, because `bucket` is increasing.
        let mut index = self.first[bucket];
        let end = self.first.get(bucket + 1).copied().unwrap_or(self.points.len());
        if end - index > WALK {
            return index + self.points[index..end].partition_point(|point| *point < value);
        }
        while index < self.points.len() && self.points[index] < value {
            index += 1;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn locate_finds_the_first_point_at_or_after(
            count in 2usize..300,
            low in -3.0..3.0f64,
            width in 0.01..5.0f64,
            crowd in prop::collection::vec(0.0..=0.01f64, 0..60),
            shares in prop::collection::vec(-0.2..1.2f64, 1..60),
        ) {
            let grid = Grid::new(Interval::new(low, low + width).unwrap(), count).unwrap();
            let high = grid.range().high();
            let further: Vec<f64> = crowd.iter().map(|c| (low + c * width).min(high)).collect();
            let abscissae = Abscissae::of_grid_and_points(&grid, &further).unwrap();
            let values = shares.iter().map(|share| low + share * width);
            for value in values.chain(abscissae.points().to_vec()) {
                let expected = abscissae.points().partition_point(|point| *point < value);
                prop_assert_eq!(abscissae.locate(value), expected);
            }
        }
    }
}
