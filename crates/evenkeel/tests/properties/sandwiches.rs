//! What a sandwich promises about the law between its slices.

use crate::generators::{ROUNDING, score, table};
use evenkeel::bound::coverage_interval;
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::sandwich::{Order, min_max, model_uniform, model_uniform_sampled};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use proptest::prelude::*;

/// All points at which one of the laws jumps.
fn jumps(laws: [&WeightedEmpirical; 3]) -> Vec<f64> {
    laws.iter().flat_map(|law| law.atoms()).copied().collect()
}

proptest! {
    /// Eq 9 without assumption: every true score lies between its row's extremes, whatever the score function.
    #[test]
    fn min_max_encloses_the_law_of_the_true_labels(
        table in table(),
        score in score(),
        masked in any::<bool>(),
    ) {
        let pair = min_max(&table.maybe_masked(&score, masked)).unwrap();
        let truth = table.truth(&score);
        prop_assert_eq!(pair.order(), Order::Guaranteed);
        prop_assert!(pair.dominance().holds());
        for t in jumps([pair.lower(), pair.upper(), &truth]) {
            let f = truth.cdf(t);
            prop_assert!(pair.upper().cdf(t) <= f + ROUNDING, "{score:?} at {t}");
            prop_assert!(f <= pair.lower().cdf(t) + ROUNDING, "{score:?} at {t}");
        }
    }

    /// A mask that leaves the true label alone leaves nothing to guess.
    #[test]
    fn min_max_closes_when_only_the_true_label_is_possible(table in table(), score in score()) {
        let mut table = table;
        table.allowed.fill(false);
        for (row, label) in table.labels.iter().enumerate() {
            table.allowed[row * table.classes + label] = true;
        }
        let pair = min_max(&table.maybe_masked(&score, true)).unwrap();
        let truth = table.truth(&score);
        prop_assert_eq!(pair.lower(), &truth);
        prop_assert_eq!(pair.upper(), &truth);
    }

    #[test]
    fn the_coverage_interval_contains_the_measured_coverage(
        table in table(),
        score in score(),
        masked in any::<bool>(),
        cut in -1.1..2.0f64,
        d in 0.01..0.5f64,
    ) {
        let candidates = table.maybe_masked(&score, masked);
        let pair = min_max(&candidates).unwrap();
        let true_scores = candidates.at_labels(&table.labels).unwrap();
        let thresholds = true_scores.iter().copied().chain([cut]).map(Threshold::Finite);
        for threshold in thresholds.chain([Threshold::AllLabels]) {
            let covered = true_scores.iter().filter(|score| threshold.admits(**score)).count();
            let coverage = covered as f64 / table.rows() as f64;
            let found = coverage_interval(&pair, threshold, None).unwrap();
            prop_assert!(found.low <= coverage + ROUNDING && coverage <= found.high + ROUNDING);
            prop_assert_eq!(found.order, Order::Guaranteed);
            let d = FailureProbability::new(d).unwrap();
            let wide = coverage_interval(&pair, threshold, Some(d)).unwrap();
            prop_assert!(0.0 <= wide.low && wide.low <= found.low);
            prop_assert!(found.high <= wide.high && wide.high <= 1.0);
            prop_assert_eq!(wide.confidence, Some(1.0 - d.get()));
        }
    }

    /// Eq 10 in exact expectation, against sums over rows and labels.
    #[test]
    fn model_uniform_is_the_expectation_over_labels(
        table in table(),
        score in score(),
        masked in any::<bool>(),
    ) {
        let candidates = table.maybe_masked(&score, masked);
        let pair = model_uniform(&candidates).unwrap();
        let m = table.rows() as f64;
        for t in pair.upper().atoms() {
            let (mut model, mut uniform) = (0.0, 0.0);
            for j in 0..table.rows() {
                let f = candidates.plausibility_row(j).unwrap();
                let mask = candidates.mask_row(j);
                let possible: Vec<usize> =
                    (0..table.classes).filter(|y| mask.is_none_or(|mask| mask[*y])).collect();
                let below: Vec<usize> =
                    possible.iter().copied().filter(|y| candidates.row(j)[*y] <= *t).collect();
                let mass = |labels: &[usize]| labels.iter().map(|y| f[*y]).sum::<f64>();
                model += mass(&below) / mass(&possible) / m;
                uniform += below.len() as f64 / possible.len() as f64 / m;
            }
            prop_assert!((pair.lower().cdf(*t) - model).abs() <= ROUNDING);
            prop_assert!((pair.upper().cdf(*t) - uniform).abs() <= ROUNDING);
        }
    }

    /// With `1 - p`, labels the model prefers score lower: the pair of eq 10 is always ordered.
    #[test]
    fn model_uniform_of_lac_is_ordered(table in table(), masked in any::<bool>()) {
        let pair = model_uniform(&table.maybe_masked(&Score::Lac, masked)).unwrap();
        prop_assert_eq!(pair.order(), Order::HoldsEmpirically);
    }

    #[test]
    fn sampled_labels_are_possible_ones(
        table in table(),
        score in score(),
        masked in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let candidates = table.maybe_masked(&score, masked);
        let exact = model_uniform(&candidates).unwrap();
        let drawn = model_uniform_sampled(&candidates, Seed::new(seed), 0).unwrap();
        prop_assert!(drawn.lower().atoms().iter().all(|s| exact.lower().atoms().contains(s)));
        prop_assert!(drawn.upper().atoms().iter().all(|s| exact.upper().atoms().contains(s)));
        // Draws are repeatable; which draw it is matters.
        prop_assert_eq!(&drawn, &model_uniform_sampled(&candidates, Seed::new(seed), 0).unwrap());
    }
}

/// The average of many draws approaches the exact expectation: 4000 draws of 3 rows have a standard error below
/// 0.5 / sqrt(12 000) = 0.0046 at every point.
#[test]
fn sampled_laws_average_to_the_exact_expectation() {
    let values = [0.7, 0.2, 0.1, 0.05, 0.9, 0.05, 0.3, 0.3, 0.4];
    let table = evenkeel::score::Probabilities::new(&values, 3).unwrap();
    let candidates = Score::Lac.candidate_scores(&table).unwrap();
    let exact = model_uniform(&candidates).unwrap();
    let draws: Vec<_> = (0..4000)
        .map(|draw| model_uniform_sampled(&candidates, Seed::new(9), draw).unwrap())
        .collect();
    for t in exact.upper().atoms() {
        let lower = draws.iter().map(|pair| pair.lower().cdf(*t)).sum::<f64>() / 4000.0;
        let upper = draws.iter().map(|pair| pair.upper().cdf(*t)).sum::<f64>() / 4000.0;
        assert!((lower - exact.lower().cdf(*t)).abs() < 0.023, "lower at {t}: {lower}");
        assert!((upper - exact.upper().cdf(*t)).abs() < 0.023, "upper at {t}: {upper}");
    }
}
