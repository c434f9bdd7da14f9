//! Regression as classification over bins of `y`.

use evenkeel::interval::Interval;
use evenkeel::sandwich::{LabelBins, min_max, model_uniform, residual_candidates};
use evenkeel::score::{absolute_residuals, conformalised_quantile_scores};
use proptest::prelude::*;

fn bins() -> impl Strategy<Value = LabelBins> {
    (-100.0..100.0f64, 0.01..200.0f64, 1usize..80).prop_map(|(low, width, count)| {
        LabelBins::new(Interval::new(low, low + width).unwrap(), count).unwrap()
    })
}

proptest! {
    #[test]
    fn the_centre_of_a_bin_lies_in_it(bins in bins()) {
        for index in 0..bins.count() {
            let centre = bins.centre(index);
            prop_assert_eq!(bins.bin_of(centre), index);
            prop_assert!(bins.edge(index) < centre && centre < bins.edge(index + 1));
        }
    }

    #[test]
    fn what_lies_outside_goes_to_the_edge_bins(bins in bins(), beyond in 0.0..1e6f64) {
        let (range, last) = (bins.range(), bins.count() - 1);
        for low in [range.low(), range.low() - beyond, -1e300, f64::MIN] {
            prop_assert_eq!(bins.bin_of(low), 0);
        }
        for high in [range.high(), range.high() + beyond, 1e300, f64::MAX] {
            prop_assert_eq!(bins.bin_of(high), last);
        }
    }

    #[test]
    fn bins_over_a_sample_cover_it(y in prop::collection::vec(-50.0..50.0f64, 2..40)) {
        prop_assume!(y.iter().any(|value| *value != y[0]));
        let bins = LabelBins::over(&y, LabelBins::DEFAULT_COUNT).unwrap();
        for value in &y {
            prop_assert!(bins.range().contains(*value));
            // Within a rounding of the bin's edges.
            let (index, slack) = (bins.bin_of(*value), 1e-12 * 100.0);
            prop_assert!(bins.edge(index) - slack <= *value);
            prop_assert!(*value <= bins.edge(index + 1) + slack);
        }
    }

    /// The residual model is a histogram of `prediction + residual`, unless rounding puts a value on an edge.
    #[test]
    fn residual_plausibilities_are_histograms(
        bins in bins(),
        predictions in prop::collection::vec(-150.0..350.0f64, 1..8),
        residuals in prop::collection::vec(-60.0..60.0f64, 1..40),
    ) {
        let candidates = residual_candidates(&predictions, &residuals, &bins).unwrap();
        prop_assert_eq!(candidates.labels(), bins.count());
        for (j, prediction) in predictions.iter().enumerate() {
            let mut counts = vec![0.0; bins.count()];
            let mut on_an_edge = false;
            for residual in &residuals {
                let y = prediction + residual;
                counts[bins.bin_of(y)] += 1.0;
                on_an_edge |= (0..=bins.count()).any(|edge| (bins.edge(edge) - y).abs() < 1e-9);
            }
            let f = candidates.plausibility_row(j).unwrap();
            prop_assert!((f.iter().sum::<f64>() - 1.0).abs() <= 1e-12);
            for (bin, mass) in f.iter().enumerate() {
                let expected = counts[bin] / residuals.len() as f64;
                prop_assert!(on_an_edge || (mass - expected).abs() <= 1e-12, "{mass} {expected}");
                let score = (bins.centre(bin) - prediction).abs();
                prop_assert_eq!(candidates.row(j)[bin], score);
            }
        }
        // Such a table is ready for either sandwich.
        prop_assert!(min_max(&candidates).unwrap().dominance().holds());
        prop_assert!(model_uniform(&candidates).is_ok());
    }

    /// The symmetric interval `prediction +- t` is the same set under either regression score.
    #[test]
    fn quantile_scores_of_a_symmetric_interval_are_shifted_residuals(
        pairs in prop::collection::vec((-10.0..10.0f64, -10.0..10.0f64), 1..20),
        half in 0.0..5.0f64,
    ) {
        let (predictions, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let low: Vec<f64> = predictions.iter().map(|p| p - half).collect();
        let high: Vec<f64> = predictions.iter().map(|p| p + half).collect();
        let residuals = absolute_residuals(&predictions, &y).unwrap();
        let scores = conformalised_quantile_scores(&low, &high, &y).unwrap();
        for (residual, score) in residuals.iter().zip(scores) {
            prop_assert!((residual - half - score).abs() <= 1e-12);
        }
    }
}

/// A value exactly on an edge belongs to the bin above it, in the histogram as in `bin_of`.
#[test]
fn a_value_on_an_edge_goes_up() {
    let bins = LabelBins::new(Interval::UNIT, 4).unwrap();
    let candidates = residual_candidates(&[0.25], &[0.0, 0.25, -0.25], &bins).unwrap();
    assert_eq!([0.0, 0.25, 0.5].map(|y| bins.bin_of(y)), [0, 1, 2]);
    let third = 1.0 / 3.0;
    assert_eq!(candidates.plausibility_row(0).unwrap(), [third, third, third, 0.0]);
}
