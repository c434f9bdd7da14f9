//! The one-pass sketch: mergeable bit for bit, and exact where it claims to be.

use crate::generators::{ROUNDING, Table, score, table};
use evenkeel::measure::{Grid, WeightedEmpirical, wasserstein_1};
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::sandwich::{min_max, model_uniform};
use evenkeel::score::{CandidateScores, LabelMask, Score};
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{LawSummary, SandwichSketch, SketchedLaws};
use proptest::prelude::*;
use std::ops::Range;

/// A table with a partition of its rows into blocks, in shuffled order.
fn cut_table() -> impl Strategy<Value = (Table, Vec<Range<usize>>)> {
    table().prop_flat_map(|table| {
        let rows = table.rows();
        let blocks = prop::collection::vec(0..=rows, 0..6).prop_flat_map(move |mut cuts| {
            cuts.extend([0, rows]);
            cuts.sort_unstable();
            cuts.dedup();
            let blocks: Vec<Range<usize>> = cuts.windows(2).map(|c| c[0]..c[1]).collect();
            Just(blocks).prop_shuffle()
        });
        (Just(table), blocks)
    })
}

fn laws() -> impl Strategy<Value = SketchedLaws> {
    let all = [SketchedLaws::Extremes, SketchedLaws::ModelUniform, SketchedLaws::Both];
    prop::sample::select(all.to_vec())
}

fn abscissae(table: &Table, score: &Score, count: usize) -> Abscissae {
    let grid = Grid::new(score.range(table.classes), count).unwrap();
    // The true scores too, so that some candidate scores hit an abscissa exactly.
    let further = table.candidates(score).at_labels(&table.labels).unwrap();
    Abscissae::of_grid_and_points(&grid, &further).unwrap()
}

fn cells<'a, T: Real>(table: &Table, values: &'a [T], rows: &Range<usize>) -> Rows<'a, T> {
    let cells = rows.start * table.classes..rows.end * table.classes;
    Rows::new("a table", &values[cells], table.classes).unwrap()
}

fn mask_of(table: &Table, rows: &Range<usize>) -> LabelMask {
    let cells = rows.start * table.classes..rows.end * table.classes;
    LabelMask::new(table.allowed[cells].to_vec(), table.classes).unwrap()
}

/// Sketches every block on its own with `add` and merges in the given order.
fn merged(
    empty: &SandwichSketch,
    blocks: &[Range<usize>],
    add: impl Fn(SandwichSketch, &Range<usize>) -> SandwichSketch,
) -> SandwichSketch {
    let sketches = blocks.iter().map(|block| add(empty.clone(), block));
    sketches.fold(empty.clone(), |whole, part| whole.merge(&part).unwrap())
}

/// Both ways of assembling a sketch against one pass over the whole.
fn check_assembly(
    empty: &SandwichSketch,
    rows: usize,
    blocks: &[Range<usize>],
    add: impl Fn(SandwichSketch, &Range<usize>) -> SandwichSketch,
) -> Result<SandwichSketch, TestCaseError> {
    let whole = add(empty.clone(), &(0..rows));
    prop_assert_eq!(whole.rows(), rows as u64);
    prop_assert_eq!(&merged(empty, blocks, &add), &whole);
    prop_assert_eq!(&blocks.iter().fold(empty.clone(), &add), &whole);
    Ok(whole)
}

fn check_probabilities<T: Real>(
    table: &Table,
    values: &[T],
    score: &Score,
    empty: &SandwichSketch,
    blocks: &[Range<usize>],
) -> Result<SandwichSketch, TestCaseError> {
    check_assembly(empty, table.rows(), blocks, |sketch, rows| {
        sketch
            .add_probabilities(RowKeys::From(rows.start as u64), cells(table, values, rows), score)
            .unwrap()
    })
}

fn check_law(
    what: &str,
    abscissae: &Abscissae,
    summary: &LawSummary,
    gathered: &WeightedEmpirical,
    exact: &WeightedEmpirical,
) -> Result<(), TestCaseError> {
    let points = abscissae.points();
    let expected = exact.cdf_at_increasing(points);
    for (k, f) in expected.iter().enumerate() {
        prop_assert!((summary.cdf[k] - f).abs() <= ROUNDING, "{what} at {}", points[k]);
        prop_assert!((gathered.cdf(points[k]) - f).abs() <= ROUNDING, "{what} at {}", points[k]);
    }
    prop_assert!((summary.mean - exact.mean()).abs() <= ROUNDING, "{what}");
    prop_assert_eq!(summary.smallest, exact.smallest_atom());
    prop_assert_eq!(summary.largest, exact.largest_atom());
    // Between abscissae mass moved to an end of its bin: at most one bin each, the unbounded bins at both ends included.
    let inner = points.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let outer = (points[0] - summary.smallest).max(summary.largest - points[points.len() - 1]);
    prop_assert!(wasserstein_1(gathered, exact) <= inner.max(outer) + ROUNDING);
    Ok(())
}

fn check_against_table(
    sketch: &SandwichSketch,
    candidates: &CandidateScores,
) -> Result<(), TestCaseError> {
    for (what, summary, gathered, exact) in [
        ("min-max", sketch.min_max_summary(), sketch.min_max(), min_max(candidates)),
        ("f-u", sketch.model_uniform_summary(), sketch.model_uniform(), model_uniform(candidates)),
    ] {
        let ((lower, upper), gathered, exact) =
            (summary.unwrap(), gathered.unwrap(), exact.unwrap());
        check_law(what, sketch.abscissae(), &lower, gathered.lower(), exact.lower())?;
        check_law(what, sketch.abscissae(), &upper, gathered.upper(), exact.upper())?;
        prop_assert_eq!(gathered.sample_size(), exact.sample_size());
        // Rounded outward: at every score, abscissa or not, the pair encloses what the exact one does.
        for law in [exact.lower(), exact.upper()] {
            let between = law.atoms().windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
            for t in law.atoms().iter().copied().chain(between) {
                prop_assert!(
                    gathered.lower().cdf(t) >= exact.lower().cdf(t) - ROUNDING,
                    "{what} at {t}"
                );
                prop_assert!(
                    gathered.upper().cdf(t) <= exact.upper().cdf(t) + ROUNDING,
                    "{what} at {t}"
                );
            }
        }
        prop_assert_eq!(gathered.construction(), exact.construction());
    }
    Ok(())
}

proptest! {
    /// Blocks in any order, randomised scores included: draws are addressed by row, sums are of whole numbers.
    #[test]
    fn merging_sketches_of_blocks_is_sketching_the_whole(
        (table, blocks) in cut_table(),
        score in score(),
        laws in laws(),
        count in 2usize..60,
    ) {
        let empty = SandwichSketch::new(abscissae(&table, &score, count), laws);
        check_probabilities(&table, &table.values, &score, &empty, &blocks)?;
        let narrow: Vec<f32> = table.values.iter().map(|value| *value as f32).collect();
        let from_narrow = check_probabilities(&table, &narrow, &score, &empty, &blocks)?;
        let widened: Vec<f64> = narrow.iter().map(|value| f64::from(*value)).collect();
        let from_wide = check_probabilities(&table, &widened, &score, &empty, &blocks)?;
        prop_assert_eq!(from_narrow, from_wide);
    }

    #[test]
    fn merging_sketches_of_score_blocks_is_sketching_the_whole(
        (table, blocks) in cut_table(),
        score in score(),
        laws in laws(),
        masked in any::<bool>(),
    ) {
        let candidates = table.candidates(&score);
        let scores: Vec<f64> = (0..table.rows()).flat_map(|j| candidates.row(j).to_vec()).collect();
        let narrow: Vec<f32> = scores.iter().map(|value| *value as f32).collect();
        let narrow_f: Vec<f32> = table.values.iter().map(|value| *value as f32).collect();
        let empty = SandwichSketch::new(abscissae(&table, &score, 30), laws);
        check_assembly(&empty, table.rows(), &blocks, |sketch, rows| {
            let mask = masked.then(|| mask_of(&table, rows));
            let f = Some(cells(&table, &table.values, rows));
            sketch.add_scores(rows.start, cells(&table, &scores, rows), f, mask.as_ref()).unwrap()
        })?;
        check_assembly(&empty, table.rows(), &blocks, |sketch, rows| {
            let mask = masked.then(|| mask_of(&table, rows));
            let f = Some(cells(&table, &narrow_f, rows));
            sketch.add_scores(rows.start, cells(&table, &narrow, rows), f, mask.as_ref()).unwrap()
        })?;
    }

    #[test]
    fn a_sketch_of_probabilities_knows_the_exact_sandwich(
        table in table(),
        score in score(),
        count in 2usize..60,
    ) {
        let empty = SandwichSketch::new(abscissae(&table, &score, count), SketchedLaws::Both);
        let rows = cells(&table, &table.values, &(0..table.rows()));
        let sketch = empty.add_probabilities(RowKeys::From(0), rows, &score).unwrap();
        check_against_table(&sketch, &table.candidates(&score))?;
    }

    #[test]
    fn a_sketch_of_masked_scores_knows_the_exact_sandwich(
        table in table(),
        score in score(),
        masked in any::<bool>(),
    ) {
        let candidates = table.maybe_masked(&score, masked);
        let scores: Vec<f64> = (0..table.rows()).flat_map(|j| candidates.row(j).to_vec()).collect();
        let all = 0..table.rows();
        let empty = SandwichSketch::new(abscissae(&table, &score, 25), SketchedLaws::Both);
        let mask = masked.then(|| table.mask());
        let f = Some(cells(&table, &table.values, &all));
        let sketch = empty.add_scores(0, cells(&table, &scores, &all), f, mask.as_ref()).unwrap();
        check_against_table(&sketch, &candidates)?;
    }
}
