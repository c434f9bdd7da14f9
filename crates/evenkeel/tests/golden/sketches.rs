//! The one-pass sketch against the same numbers, however the rows are cut into blocks.

use crate::case::{Case, SKETCH_TOLERANCE, TOLERANCE, assert_close, for_every_case, numbers};
use evenkeel::bound::{Integrator, integrated_gap_between};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::Score;
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{SandwichSketch, SketchedLaws};

/// The sketch of the case's rows in blocks of `size` rows.
fn sketch(case: &Case, size: usize) -> SandwichSketch {
    let abscissae = Abscissae::of_grid_and_points(&case.grid, &case.scores).unwrap();
    let mut sketch = SandwichSketch::new(abscissae, SketchedLaws::Both);
    for (block, values) in case.probabilities.chunks(size * case.classes).enumerate() {
        let rows = Rows::new("probabilities", values, case.classes).unwrap();
        sketch = sketch
            .add_probabilities(RowKeys::From((block * size) as u64), rows, &Score::Lac)
            .unwrap();
    }
    sketch
}

fn for_every_chunking(check: impl Fn(&Case, &SandwichSketch)) {
    for_every_case(|case| {
        let m = case.candidates.rows();
        let whole = sketch(case, m);
        assert_eq!(whole.rows(), m as u64);
        for size in [1, 3, 7, m.div_ceil(2), m] {
            let sketch = sketch(case, size);
            assert_eq!(sketch, whole, "{} in blocks of {size}", case.name);
            check(case, &sketch);
        }
    });
}

#[test]
fn cdfs_on_the_grid_and_means_are_exact_in_every_chunking() {
    for_every_chunking(|case, sketch| {
        for (pair, summaries) in [
            ("minmax", sketch.min_max_summary().unwrap()),
            ("fu_exact", sketch.model_uniform_summary().unwrap()),
        ] {
            let (lower, upper) = summaries;
            for (law, cdf, mean) in
                [(lower, "F_down_grid", "mean_down"), (upper, "F_up_grid", "mean_up")]
            {
                let points = sketch.abscissae().points();
                let at = |t: &f64| {
                    let index = points.partition_point(|point| point < t);
                    assert_eq!(points[index], *t, "grid points are abscissae");
                    law.cdf[index]
                };
                let found: Vec<f64> = case.grid.points().iter().map(at).collect();
                let what = format!("{} {pair}", case.name);
                let expected = |key: &str| numbers(case.expected(&["aux", pair, key]));
                assert_close(&what, &found, &expected(cdf), SKETCH_TOLERANCE);
                assert_close(&what, &[law.mean], &expected(mean), SKETCH_TOLERANCE);
            }
        }
    });
}

/// Both integrated forms look at the laws only at grid points and calibration scores, all of them abscissae.
#[test]
fn bounds_from_a_sketch_are_the_bounds_from_the_table() {
    for_every_chunking(|case, sketch| {
        for (pair, sandwich) in
            [("minmax", sketch.min_max().unwrap()), ("fu_exact", sketch.model_uniform().unwrap())]
        {
            let (lower, upper) = sandwich.cdfs_on_grid(&case.grid);
            let what = format!("{} {pair}", case.name);
            for (key, cdf) in [("F_down_grid", lower), ("F_up_grid", upper)] {
                let expected = numbers(case.expected(&["aux", pair, key]));
                assert_close(&what, &cdf, &expected, SKETCH_TOLERANCE);
            }
            for (key, integrator) in [
                ("wcdf_grid", Integrator::density(&case.p, &case.grid).unwrap()),
                ("expectation", Integrator::atoms(case.p.law())),
            ] {
                let found = integrated_gap_between(case.p.law(), &sandwich, &integrator).value;
                let expected = numbers(case.expected(&["aux", pair, key]));
                assert_close(&what, &[found], &expected, TOLERANCE);
            }
            assert_eq!(sandwich.sample_size(), case.candidates.rows());
        }
    });
}

/// With only the extremes kept, `lac` rows take a fast path that never scores every label.
#[test]
fn the_fast_path_for_extremes_gives_the_same_sandwich() {
    for_every_case(|case| {
        let abscissae = Abscissae::of_grid_and_points(&case.grid, &case.scores).unwrap();
        let rows = Rows::new("probabilities", &case.probabilities, case.classes).unwrap();
        let fast = SandwichSketch::new(abscissae, SketchedLaws::Extremes);
        let fast = fast.add_probabilities(RowKeys::From(0), rows, &Score::Lac).unwrap();
        let both = sketch(case, case.candidates.rows());
        assert_eq!(fast.min_max().unwrap(), both.min_max().unwrap(), "{}", case.name);
    });
}
