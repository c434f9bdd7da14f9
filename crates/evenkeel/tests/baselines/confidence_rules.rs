//! Entropy scaling and quantile transfer: definitions against slow twins, sketches, files.

use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::entropy_scaling::{EntropyPower, EntropyScaling, entropy};
use evenkeel::method::quantile_transfer::{QuantileTransfer, TransferRule};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::seed::{Seed, Stream};
use evenkeel::sketch::MOST_EXACT_VALUES;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};
use proptest::prelude::*;

fn probability_rows(stream: &mut Stream, rows: usize, sharpness: f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(3 * rows);
    for _ in 0..rows {
        let raw = [0; 3].map(|_| (sharpness * stream.uniform()).exp());
        let total: f64 = raw.iter().sum();
        values.extend(raw.map(|value| value / total));
    }
    values
}

fn rows(values: &[f64]) -> Rows<'_, f64> {
    Rows::new("probabilities", values, 3).unwrap()
}

/// Smallest of the values with a share of at least `level` at or below it.
fn slow_quantile(values: &[f64], level: f64) -> f64 {
    let share =
        |point: f64| values.iter().filter(|v| **v <= point).count() as f64 / values.len() as f64;
    let enough = values.iter().copied().filter(|v| share(*v) >= level - 1e-12);
    enough.fold(f64::INFINITY, f64::min)
}

fn share_below(values: &[f64], point: f64) -> f64 {
    values.iter().filter(|v| **v < point).count() as f64 / values.len() as f64
}

proptest! {
    #[test]
    fn transferred_rates_follow_their_definitions(
        labeled in prop::collection::vec(prop_oneof![(0u8..=8).prop_map(|k| f64::from(k) / 8.0), 0.0..=1.0f64], 1..40),
        target in prop::collection::vec(prop_oneof![(0u8..=8).prop_map(|k| f64::from(k) / 8.0), 0.0..=1.0f64], 1..40),
        scores in prop::collection::vec(0.0..=1.0f64, 1..40),
        alpha in 0.01..0.99f64,
    ) {
        let transfer = QuantileTransfer::new(&labeled, &target).unwrap();
        let rate = Miscoverage::new(alpha).unwrap();
        let qtc = share_below(&labeled, slow_quantile(&target, alpha));
        prop_assert_eq!(transfer.rate(rate).unwrap().get(), qtc);
        let coverage = share_below(&target, slow_quantile(&labeled, 1.0 - alpha));
        prop_assert_eq!(transfer.source_coverage_rate(rate).unwrap().get(), 1.0 - coverage);

        let law = WeightedEmpirical::uniform(&scores).unwrap();
        let test = TestMass::exchangeable(scores.len());
        let split = conformal_threshold(&law, test, rate);
        let found = transfer.threshold(TransferRule::SourceThreshold, &law, rate).unwrap();
        match split {
            Threshold::AllLabels => prop_assert_eq!(found, Threshold::AllLabels),
            Threshold::Finite(tau) => {
                let expected = share_below(&target, slow_quantile(&labeled, tau));
                prop_assert_eq!(found, Threshold::Finite(expected));
            }
        }
        let found = transfer.threshold(TransferRule::Qtc, &law, rate).unwrap();
        let expected = match Miscoverage::new(qtc) {
            Ok(adjusted) => conformal_threshold(&law, test, adjusted),
            Err(_) if qtc == 0.0 => Threshold::AllLabels,
            Err(_) => Threshold::Finite(law.smallest_atom()),
        };
        prop_assert_eq!(found, expected, "at the rate {}", qtc);
    }

    /// Sets never shrink under entropy scaling, and the squared scale never gives smaller ones.
    #[test]
    fn entropy_scaling_only_adds_labels(seed in any::<u64>(), alpha in 0.02..0.9f64, sharpness in 0.0..8.0f64) {
        let values = probability_rows(&mut Seed::new(seed).stream("rows"), 40, sharpness);
        let alpha = Miscoverage::new(alpha).unwrap();
        let law = WeightedEmpirical::uniform(&values[..30]).unwrap();
        let split = conformal_threshold(&law, TestMass::exchangeable(30), alpha);
        let cut = |power| {
            let mut scaling = EntropyScaling::new(3, power).unwrap();
            scaling.add(RowKeys::From(0), rows(&values)).unwrap();
            scaling.cut(split, alpha).unwrap()
        };
        let (one, two) = (cut(EntropyPower::One), cut(EntropyPower::Two));
        for p in &values {
            prop_assert!(!split.admits(1.0 - p) || one.admits(*p) || (1.0 - (1.0 - p)) != *p);
            prop_assert!(!one.admits(*p) || two.admits(*p));
            prop_assert!(!one.admits(*p) || one.lac_threshold().admits(1.0 - p));
        }
    }
}

#[test]
fn without_shift_the_rate_stays_and_with_less_confidence_it_falls() {
    let mut stream = Seed::new(51).stream("confidence");
    let mut draws =
        |power: f64| -> Vec<f64> { (0..20_000).map(|_| stream.uniform().powf(power)).collect() };
    let (labeled, same, less) = (draws(0.5), draws(0.5), draws(1.0));
    let alpha = Miscoverage::new(0.1).unwrap();
    // Four standard errors of a share of 0.1 among 20 000, on both sides.
    let rate =
        |target: &[f64]| QuantileTransfer::new(&labeled, target).unwrap().rate(alpha).unwrap();
    assert!((rate(&same).get() - 0.1).abs() < 0.012);
    // P(U^(1/2) < 0.1) = 0.01, where 0.1 is the tenth percentile of U.
    assert!((rate(&less).get() - 0.01).abs() < 0.004);
}

#[test]
fn a_rate_of_zero_admits_every_label_and_a_rate_of_one_the_smallest_score() {
    let law = WeightedEmpirical::uniform(&[0.2, 0.4, 0.6]).unwrap();
    let alpha = Miscoverage::new(0.5).unwrap();
    let surer = QuantileTransfer::new(&[0.1, 0.2], &[0.9, 0.9]).unwrap();
    let rate = surer.rate(alpha).unwrap();
    assert_eq!(rate.get(), 1.0);
    assert_eq!(rate.threshold(&law).unwrap(), Threshold::Finite(0.2));
    let less_sure = QuantileTransfer::new(&[0.9, 0.9], &[0.1, 0.2]).unwrap();
    let rate = less_sure.rate(alpha).unwrap();
    assert_eq!(rate.get(), 0.0);
    assert_eq!(rate.threshold(&law).unwrap(), Threshold::AllLabels);
}

/// Beyond the exact capacity, `u` is rounded up by less than `ln 3 / 2^16` and rates toward larger sets.
#[test]
fn large_samples_are_sketched_toward_larger_sets_in_any_order() {
    let mut stream = Seed::new(52).stream("large");
    let values = probability_rows(&mut stream, MOST_EXACT_VALUES + 4000, 4.0);
    let alpha = Miscoverage::new(0.1).unwrap();
    let scaling = |from: usize, to: usize, block: usize| {
        let mut scaling = EntropyScaling::new(3, EntropyPower::One).unwrap();
        for block in values[3 * from..3 * to].chunks(3 * block) {
            scaling.add(RowKeys::From(from as u64), rows(block)).unwrap();
        }
        scaling
    };
    let m = values.len() / 3;
    let whole = scaling(0, m, m);
    let mut merged = scaling(1000, m, 5000);
    merged.merge(&scaling(0, 1000, 10)).unwrap();
    assert_eq!(whole, merged);
    assert_eq!(whole.rows(), m as u64);
    let mut entropies: Vec<f64> = values.chunks_exact(3).map(entropy).collect();
    entropies.sort_by(f64::total_cmp);
    let exact = entropies[(0.9 * m as f64 - 1e-6).ceil() as usize - 1];
    let sketched = whole.entropy_quantile(alpha).unwrap();
    assert!(sketched >= exact && sketched - exact <= 3.0f64.ln() / 65_536.0 * 1.000_001);

    let (labeled, target) = values.split_at(3 * 500);
    let mut transfer = QuantileTransfer::default();
    transfer.add_labeled(0, rows(labeled)).unwrap();
    for block in target.chunks(3 * 999) {
        transfer.add_target(RowKeys::From(0), rows(block)).unwrap();
    }
    let largest = |row: &[f64]| row.iter().copied().fold(0.0, f64::max);
    let confidences = |rows: &[f64]| -> Vec<f64> { rows.chunks_exact(3).map(largest).collect() };
    let mut target = confidences(target);
    target.sort_by(f64::total_cmp);
    let q = target[(0.1 * target.len() as f64 - 1e-6).ceil() as usize - 1];
    let exact = share_below(&confidences(labeled), q);
    let found = transfer.rate(alpha).unwrap().get();
    assert!(found <= exact && exact - found < 0.01, "{found} against {exact}");
}

#[test]
fn they_are_the_same_after_a_file() {
    let values = probability_rows(&mut Seed::new(53).stream("file"), 50, 3.0);
    let mut scaling = EntropyScaling::new(3, EntropyPower::Two).unwrap();
    scaling.add(RowKeys::From(0), rows(&values)).unwrap();
    let text = serde_json::to_string(&scaling).unwrap();
    assert_eq!(serde_json::from_str::<EntropyScaling>(&text).unwrap(), scaling);
    let mut transfer = QuantileTransfer::default();
    transfer.add_labeled(0, rows(&values[..60])).unwrap();
    transfer.add_target(RowKeys::From(0), rows(&values)).unwrap();
    let text = serde_json::to_string(&transfer).unwrap();
    assert_eq!(serde_json::from_str::<QuantileTransfer>(&text).unwrap(), transfer);
}
