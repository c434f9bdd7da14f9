//! `points -> fewer points that look the same`.

use std::collections::BTreeSet;

use super::Point;

/// A curve keeps at most this many points.
pub(crate) const MOST_POINTS: usize = 1000;
/// Points closer together than this, in user units, share a column.
const COLUMN: f64 = 0.5;

/// A curve with increasing `x`, in user units, of at most `most` points.
///
/// First the first, lowest, highest and last point of every half unit are kept, which paints the same pixels; then
/// those that a straight line between kept neighbours passes within a tenth of a unit (Douglas-Peucker) are dropped,
/// and more only if too many are left.
pub(crate) fn thin_curve(points: &[Point], most: usize) -> Vec<Point> {
    if points.len() <= most {
        return points.to_vec();
    }
    let columns = extremes_of_columns(points);
    let mut tolerance = 0.1;
    loop {
        let kept = simplify(&columns, tolerance);
        if kept.len() <= most.max(2) {
            return kept;
        }
        // Ends: with growing tolerance only the two end points are left.
        tolerance *= 1.5;
    }
}

fn extremes_of_columns(points: &[Point]) -> Vec<Point> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| column_of(*a) == column_of(*b)) {
        let by_height = |&a: &usize, &b: &usize| column[a].1.total_cmp(&column[b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut indices = [0, lowest, highest, column.len() - 1];
        indices.sort_unstable();
        let mut last = None;
        for index in indices {
            if last != Some(index) {
                kept.push(column[index]);
            }
            last = Some(index);
        }
    }
    kept
}

fn column_of(point: Point) -> i64 {
    (point.0 / COLUMN).floor() as i64
}

/// Douglas-Peucker, with a stack in place of recursion: a long curve must not overflow the call stack.
fn simplify(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut stretches = vec![(0, points.len() - 1)];
    while let Some((from, to)) = stretches.pop() {
        let farthest = (from + 1..to)
            .map(|index| (index, distance(points[index], points[from], points[to])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((index, far)) = farthest.filter(|(_, far)| *far > tolerance) {
            keep[index] = true;
            stretches.extend([(from, index), (index, to)]);
            // Callers leave out what is not finite: a NaN would be the farthest and hide the rest.
            debug_assert!(far.is_finite());
        }
    }
    points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect()
}

/// Distance of a point from a line segment.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let squared = dx * dx + dy * dy;
    let along = if squared > 0.0 {
        (((point.0 - from.0) * dx + (point.1 - from.1) * dy) / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - from.0 - along * dx).hypot(point.1 - from.1 - along * dy)
}

/// At most `most` points of a scatter: one per cell of a square grid, as fine as that allows.
pub(crate) fn thin_scatter(points: &[Point], most: usize) -> Vec<Point> {
    // Smaller than a dot: points that share a cell cover each other anyway.
    let mut cell = 0.75;
    let mut kept = points.to_vec();
    while kept.len() > most {
        let mut seen = BTreeSet::new();
        kept.retain(|(x, y)| seen.insert(((x / cell).floor() as i64, (y / cell).floor() as i64)));
        cell *= 1.3;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A staircase of 10^6 uneven jumps, one of them a third of its height.
    fn staircase() -> Vec<Point> {
        let mut points = vec![(50.0, 250.0)];
        let mut height = 250.0;
        for step in 0..1_000_000_u32 {
            let x = 50.0 + 380.0 * (f64::from(step) / 1e6).powi(3);
            points.push((x, height));
            height -= if step == 700_000 { 80.0 } else { 120.0 / 1e6 };
            points.push((x, height));
        }
        points
    }

    #[test]
    fn a_thinned_staircase_stays_within_half_a_unit() {
        let points = staircase();
        let thinned = thin_curve(&points, MOST_POINTS);
        assert!(thinned.len() <= MOST_POINTS, "{}", thinned.len());
        for point in points.iter().step_by(997) {
            let nearest = thinned
                .windows(2)
                .map(|pair| distance(*point, pair[0], pair[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest <= COLUMN, "{point:?}: {nearest}");
        }
    }

    #[test]
    fn the_limit_holds_for_noise_and_for_one_column() {
        let noise: Vec<Point> =
            (0..100_000_u32).map(|i| (f64::from(i) / 300.0, f64::from(i * 7919 % 200))).collect();
        assert!(thin_curve(&noise, MOST_POINTS).len() <= MOST_POINTS);
        let column: Vec<Point> = (0..5000_u32).map(|i| (7.0, f64::from(i % 100))).collect();
        assert!(thin_curve(&column, MOST_POINTS).len() <= 4);
        assert!(thin_scatter(&noise, 1500).len() <= 1500);
        assert_eq!(thin_scatter(&noise[..10], 1500), noise[..10]);
    }
}
