//! Inputs at the edge of what numbers can hold: an answer that is right, or an error, never a panic.

use evenkeel::bound::{Integrator, coverage_interval, wasserstein_gap};
use evenkeel::conformal::predict_rows;
use evenkeel::error::Category;
use evenkeel::interval::Interval;
use evenkeel::level::Miscoverage;
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical, Weights};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::sandwich::{LabelBins, min_max, model_uniform};
use evenkeel::score::{Aps, CandidateScores, LabelMask, Probabilities, Raps, RowScratch, Score};
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{SandwichSketch, SketchedLaws};
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};

fn grid(points: usize) -> Grid {
    Grid::new(Interval::UNIT, points).unwrap()
}

fn empty(laws: SketchedLaws) -> SandwichSketch {
    SandwichSketch::new(Abscissae::of_grid(&grid(11)), laws)
}

#[test]
fn a_score_buffer_that_is_too_short_is_filled_as_far_as_it_goes() {
    for score in
        [Score::Lac, Score::Aps(Aps::default()), Score::Raps(Raps::default()), Score::Margin]
    {
        let mut scores = [f64::NAN; 2];
        score.score_row(0, &[0.2, 0.3, 0.5], &mut RowScratch::default(), &mut scores);
        assert!(scores.iter().all(|score| score.is_finite()), "{score:?}");
    }
}

/// The allowed labels are all but impossible: their plausibility is subnormal, and one over it is infinite.
#[test]
fn a_mask_on_labels_that_are_all_but_impossible() {
    let (scores, plausibility) = ([0.1, 0.5, 0.9], [1.0, 2e-310, 1e-310]);
    let mask = LabelMask::from_subsets(&[vec![1, 2]], 3).unwrap();
    let sketch = empty(SketchedLaws::Both)
        .add_scores(
            0,
            Rows::new("scores", &scores, 3).unwrap(),
            Some(Rows::new("plausibility", &plausibility, 3).unwrap()),
            Some(&mask),
        )
        .unwrap();
    let candidates = CandidateScores::new(scores.to_vec(), 3)
        .and_then(|table| table.with_plausibility(plausibility.to_vec()))
        .and_then(|table| table.with_mask(mask))
        .unwrap();
    let exact = model_uniform(&candidates).unwrap().lower().mean();
    let (lower, _) = sketch.model_uniform_summary().unwrap();
    assert!((lower.mean - exact).abs() < 1e-9, "{} against {exact}", lower.mean);
}

#[test]
fn rows_numbered_to_the_end_of_all_numbers() {
    let values = [0.5, 0.5, 0.25, 0.75];
    let rows = Rows::new("probabilities", &values, 2).unwrap();
    for score in [Score::Lac, Score::Margin] {
        let sketch =
            empty(SketchedLaws::Both).add_probabilities(RowKeys::From(u64::MAX), rows, &score);
        assert_eq!(sketch.unwrap().rows(), 2);
        let sets = predict_rows(usize::MAX, rows, &score, Threshold::Finite(0.5));
        assert_eq!(sets.unwrap().rows(), 2);
    }
}

#[test]
fn a_mask_over_more_labels_than_there_can_be() {
    let error = LabelMask::from_subsets(&[vec![0]], usize::MAX).unwrap_err();
    assert_eq!(error.category(), Category::InvalidParameter);
}

#[test]
fn a_sketch_merged_with_itself_until_its_rows_cannot_be_counted() {
    let values = [0.5, 0.5];
    let rows = Rows::new("probabilities", &values, 2).unwrap();
    let mut sketch =
        empty(SketchedLaws::Both).add_probabilities(RowKeys::From(0), rows, &Score::Lac).unwrap();
    let mut merges = 0;
    let error = loop {
        match sketch.clone().merge(&sketch) {
            Ok(merged) => sketch = merged,
            Err(error) => break error,
        }
        merges += 1;
        assert!(merges < 200, "no end");
    };
    assert!(error.to_string().contains("too many"), "{error}");
    assert!(sketch.rows() >= 1 << 60);
}

#[test]
fn blocks_with_different_labels_are_not_one_table() {
    let (two, three) = ([0.5, 0.5], [0.5, 0.25, 0.25]);
    let sketch = empty(SketchedLaws::Extremes)
        .add_probabilities(
            RowKeys::From(0),
            Rows::new("probabilities", &two, 2).unwrap(),
            &Score::Lac,
        )
        .unwrap();
    let block = Rows::new("probabilities", &three, 3).unwrap();
    let error = sketch.add_probabilities(RowKeys::From(1), block, &Score::Lac).unwrap_err();
    assert!(error.to_string().contains("number of labels"), "{error}");
}

/// Ties are summed with compensation too: with two distinct scores the rank is still exact.
#[test]
fn no_rank_is_lost_among_a_million_ties() {
    for n in [799_999usize, 1_999_999] {
        for (alpha, tenths) in [(0.1, 9), (0.2, 8)] {
            let rank = ((n + 1) * tenths).div_ceil(10);
            let mut scores = vec![0.0; rank];
            scores.resize(n, 1.0);
            let law = WeightedEmpirical::new(&scores, &Weights::uniform(n).unwrap()).unwrap();
            let threshold = conformal_threshold(
                &law,
                TestMass::exchangeable(n),
                Miscoverage::new(alpha).unwrap(),
            );
            assert_eq!(threshold, Threshold::Finite(0.0), "n = {n}, alpha = {alpha}");
        }
    }
}

#[test]
fn the_bin_of_an_edge_is_the_bin_that_starts_there() {
    for (low, high, count) in [(0.0, 1.0, 50), (-0.3, 0.1, 49), (1.0, 7.7, 33), (-1e6, 3.0, 1000)] {
        let bins = LabelBins::new(Interval::new(low, high).unwrap(), count).unwrap();
        for index in 0..count {
            assert_eq!(bins.bin_of(bins.edge(index)), index, "[{low}, {high}] in {count}");
            assert_eq!(bins.bin_of(bins.edge(index).next_down()), index.saturating_sub(1));
        }
        assert_eq!(bins.edge(count), high);
    }
}

#[test]
fn a_grid_that_cannot_see_the_law_says_so() {
    let law = WeightedEmpirical::uniform(&[2.0, 3.0, 4.0]).unwrap();
    let p = SmoothedLaw::new(law.clone(), Bandwidth::new(0.1).unwrap(), Support::Line).unwrap();
    let error = Integrator::density(&p, &grid(100)).unwrap_err();
    assert!(error.to_string().contains("outside the score range"), "{error}");
    assert!(wasserstein_gap(&p, &law, &grid(100)).is_err());
    // Kernels far narrower than a cell fall between the points: the mass of the result tells.
    let narrow = WeightedEmpirical::uniform(&[400.5 / 999.0, 500.5 / 999.0]).unwrap();
    let p = SmoothedLaw::new(narrow, Bandwidth::new(1e-5).unwrap(), Support::Line).unwrap();
    assert!(Integrator::density(&p, &grid(1000)).unwrap().mass() < 0.01);
    let wide = WeightedEmpirical::uniform(&[400.5 / 999.0, 500.5 / 999.0]).unwrap();
    let p = SmoothedLaw::new(wide, Bandwidth::new(0.01).unwrap(), Support::Line).unwrap();
    assert!((Integrator::density(&p, &grid(1000)).unwrap().mass() - 1.0).abs() < 0.01);
}

/// Thresholds between the abscissae of a coarse sketch: the guaranteed interval still holds what is measured.
#[test]
fn a_coarse_sketch_guarantees_coverage_between_its_abscissae() {
    let mut values = Vec::new();
    let mut scores = Vec::new();
    for row in 0..2000 {
        let rest = 0.01 * f64::from(row) / 2000.0;
        values.extend([1.0 - rest, 0.3 * rest, 0.7 * rest]);
        scores.push(1.0 - (1.0 - rest));
    }
    let rows = Rows::new("probabilities", &values, 3).unwrap();
    let sketch = empty(SketchedLaws::Extremes)
        .add_probabilities(RowKeys::From(0), rows, &Score::Lac)
        .unwrap();
    let rounded = sketch.min_max().unwrap();
    let table = Probabilities::new(&values, 3).unwrap();
    let exact = min_max(&Score::Lac.candidate_scores(&table).unwrap()).unwrap();
    let measured = WeightedEmpirical::uniform(&scores).unwrap();
    for t in &scores {
        for pair in [&rounded, &exact] {
            let interval = coverage_interval(pair, Threshold::Finite(*t), None).unwrap();
            let coverage = measured.cdf(*t);
            assert!(interval.low <= coverage + 1e-12 && coverage <= interval.high + 1e-12);
        }
    }
}
