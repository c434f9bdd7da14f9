//! Confidences that tie or crowd at one, and many of them.

use evenkeel::method::label_plan::{LabelPlan, LabelPlanner, LabeledLogits, TargetRows};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;

use crate::settings;

fn plan(labeled: &[f64], labels: Vec<usize>, target: &[f64], classes: usize) -> LabelPlan {
    let probabilities = Probabilities::new(labeled, classes).unwrap();
    let labels = Labels::new(labels, classes).unwrap();
    let labeled = LabeledLogits::of_probabilities(&probabilities, &labels, &Score::Lac).unwrap();
    let planner = LabelPlanner::new(labeled, Score::Lac, settings(), Seed::new(0)).unwrap();
    planner
        .plan(&TargetRows::Probabilities(Rows::new("the target data", target, classes).unwrap()))
        .unwrap()
}

/// Votes of 16 neighbours, 9, 4, 2 and 1 in any order: every row is as sure as every other.
#[test]
fn equal_confidences_in_any_order_of_the_classes_are_equal() {
    let votes = [9.0, 4.0, 2.0, 1.0].map(|votes| votes / 16.0);
    let row = |index: usize| {
        let mut row = votes;
        row.rotate_left(index % 4);
        if index % 8 > 3 {
            row.swap(1, 3);
        }
        row
    };
    let labeled: Vec<f64> = (0..200).flat_map(row).collect();
    let target: Vec<f64> = (0..200).flat_map(|index| row(3 * index + index / 7)).collect();
    let labels = (0..200).map(|index| index % 4).collect();
    let statistics = plan(&labeled, labels, &target, 4).evidence().statistics;
    assert_eq!((statistics.ks, statistics.inflation, statistics.mix), (0.0, 1.0, 0.0));
}

/// Beyond a million rows confidences are counted; half of them, within 1e-6 of one at the fitted temperature, must not look like one cell.
#[test]
fn one_row_more_than_are_kept_changes_little() {
    let row = |index: usize, sure: f64| {
        let p = if index.is_multiple_of(2) { 1.0 - sure } else { 0.6 };
        if index.is_multiple_of(3) { [p, 1.0 - p] } else { [1.0 - p, p] }
    };
    let labeled: Vec<f64> = (0..120).flat_map(|index| row(index, 1e-3)).collect();
    let labels: Vec<usize> = (0..120).map(|index| usize::from(index % 3 != 0)).collect();
    let kept = 1 << 20;
    let target: Vec<f64> = (0..=kept).flat_map(|index| row(index, 1e-2)).collect();
    let exact = plan(&labeled, labels.clone(), &target[..2 * kept], 2).evidence().statistics;
    let counted = plan(&labeled, labels, &target, 2).evidence().statistics;
    assert!(exact.ks > 0.4, "{exact:?}");
    assert!((exact.ks - counted.ks).abs() < 1e-4, "{} and {}", exact.ks, counted.ks);
    assert!((exact.mean_confidence_target - counted.mean_confidence_target).abs() < 1e-4);
}
