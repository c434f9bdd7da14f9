//! What is called guaranteed holds for every labelling of the target rows, with tied scores and without.

use crate::generators::{ROUNDING, law};
use evenkeel::bound::{coverage_interval, exact_gap_between, level_gap_between};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::sandwich::min_max;
use evenkeel::score::{Aps, Probabilities, Randomisation, Raps, Score};
use evenkeel::threshold::{TestMass, conformal_threshold};
use proptest::prelude::*;

/// Labellings tried of a world; all of them where there are no more.
const MOST_LABELLINGS: usize = 4096;

/// Rows of probabilities: quarters make ties within rows, between rows and with the calibration scores common.
fn rows(classes: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let tied = prop::collection::vec(0u8..=4, classes).prop_filter_map("some mass", |parts| {
        let total: f64 = parts.iter().map(|part| f64::from(*part)).sum();
        (total > 0.0).then(|| parts.iter().map(|part| f64::from(*part) / total).collect())
    });
    let smooth = prop::collection::vec(0.01..1.0f64, classes).prop_map(|parts| {
        let total: f64 = parts.iter().sum();
        parts.iter().map(|part| part / total).collect()
    });
    prop_oneof![prop::collection::vec(tied, 1..7), prop::collection::vec(smooth, 1..7)]
}

/// Calibration scores with raw weights, tied among themselves and with candidates of the rows, or not.
fn calibration() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let score = prop_oneof![
        Just(0.5),
        (0u8..=4).prop_map(|k| f64::from(k) / 4.0),
        (0u8..=3).prop_map(|k| f64::from(k) / 3.0),
        0.0..=1.0f64
    ];
    prop::collection::vec((score, 0.05..1.0f64), 1..8)
}

/// Classes, target rows, calibration scores with raw weights, and a miscoverage rate.
type World = (usize, Vec<Vec<f64>>, Vec<(f64, f64)>, f64);

fn world() -> impl Strategy<Value = World> {
    (2usize..=4)
        .prop_flat_map(|classes| (Just(classes), rows(classes), calibration(), 0.02..0.98f64))
}

/// Every score of probabilities whose value is a function of the row: a randomised one is a draw, and has no fixed extremes.
fn scores() -> [Score; 4] {
    let raps = Raps::new(0.1, 1, Randomisation::Deterministic).unwrap();
    let aps = Aps { randomisation: Randomisation::Deterministic };
    [Score::Lac, Score::Margin, Score::Aps(aps), Score::Raps(raps)]
}

/// Both gaps as they are defined, by plain sums over the distinct scores.
fn measured_gaps(p: &WeightedEmpirical, truth: &WeightedEmpirical) -> (f64, f64) {
    let (mut total, mut to_level, mut before) = (0.0, 0.0, 0.0);
    for ((score, mass), reached) in p.atoms().iter().zip(p.masses()).zip(p.cumulative()) {
        let covered = truth.cdf(*score);
        total += mass * (reached - covered).abs();
        // The integral of |covered - u| is that of one or two triangles.
        let triangle = |width: f64| 0.5 * width * width.abs();
        to_level += triangle(reached - covered) - triangle(before - covered);
        before = *reached;
    }
    (total, to_level)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_labelling_exceeds_a_guaranteed_bound((classes, rows, calibration, alpha) in world()) {
        let values: Vec<f64> = rows.concat();
        let probabilities = Probabilities::new(&values, classes).unwrap();
        for score in scores() {
            let candidates = score.candidate_scores(&probabilities).unwrap();
            let p = law(&calibration);
            let sandwich = min_max(&candidates).unwrap();
            let (exact, level) = (exact_gap_between(&p, &sandwich), level_gap_between(&p, &sandwich));
            prop_assert!((0.0..=1.0).contains(&exact) && (-ROUNDING..=1.0).contains(&level));
            let alpha = Miscoverage::new(alpha).unwrap();
            let threshold = conformal_threshold(&p, TestMass::exchangeable(calibration.len()), alpha);
            let interval = coverage_interval(&sandwich, threshold, None).unwrap();
            let (mut largest_total, mut largest_to_level) = (0.0f64, 0.0f64);
            let count = classes.pow(rows.len() as u32);
            for labelling in (0..count).step_by(count.div_ceil(MOST_LABELLINGS)) {
                let mut rest = labelling;
                let scores: Vec<f64> = (0..rows.len())
                    .map(|row| {
                        let label = rest % classes;
                        rest /= classes;
                        candidates.row(row)[label]
                    })
                    .collect();
                let truth = WeightedEmpirical::uniform(&scores).unwrap();
                let (total, to_level) = measured_gaps(&p, &truth);
                prop_assert!(total <= exact + ROUNDING, "total gap {total} above {exact}");
                prop_assert!(to_level <= level + ROUNDING, "gap to the level {to_level} above {level}");
                let covered = truth.cdf(threshold.get());
                prop_assert!((interval.low - ROUNDING..=interval.high + ROUNDING).contains(&covered));
                largest_total = largest_total.max(total);
                largest_to_level = largest_to_level.max(to_level);
            }
            // With one atom the worst labelling reaches the bound: it cannot be made smaller.
            if p.atoms().len() == 1 {
                prop_assert!((largest_total - exact).abs() < 1e-9, "{largest_total} {exact}");
            }
        }
    }
}

/// The case that showed the grid form is no bound: one repeated score.
#[test]
fn one_repeated_score_reaches_both_bounds() {
    let values: Vec<f64> = (0..200).flat_map(|_| [0.9, 0.1]).collect();
    let probabilities = Probabilities::new(&values, 2).unwrap();
    let candidates = Score::Lac.candidate_scores(&probabilities).unwrap();
    let sandwich = min_max(&candidates).unwrap();
    let p = WeightedEmpirical::uniform(&vec![candidates.row(0)[0]; 200]).unwrap();
    // Every label is the unlikely one: none of the target rows is covered where all of the calibration rows are.
    assert_eq!(exact_gap_between(&p, &sandwich), 1.0);
    assert!((level_gap_between(&p, &sandwich) - 1.0).abs() < 1e-12);
    let worst = WeightedEmpirical::uniform(&vec![candidates.row(0)[1]; 200]).unwrap();
    let (total, to_level) = measured_gaps(&p, &worst);
    assert!((total - 1.0).abs() < 1e-12);
    assert!((to_level - 0.5).abs() < 1e-12);
}
