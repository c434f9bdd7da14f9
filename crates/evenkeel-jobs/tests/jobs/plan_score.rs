//! Checks of calibrations whose score is the label law that they fitted.

use evenkeel::calibration::{Calibration, Evidence, Rule};
use evenkeel::certify::rows_to_label;
use evenkeel::method::few_labels::FewLabelsSettings;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::{Method, auto::AutoSettings};
use evenkeel::reading::Verdict;
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel_jobs::{
    CheckJob, Checked, TargetLabels, Unobserved, calibrate, check, check_classes, sentences,
};

use crate::world::{CLASSES, Points, calibrator, level, seed};

fn labels(target: &Points, k: u64) -> TargetLabels {
    let rows = rows_to_label(500, k, seed()).unwrap();
    let pairs = rows.iter().map(|row| (*row as usize, target.labels[*row as usize])).collect();
    TargetLabels::new("labels", pairs, CLASSES).unwrap()
}

fn fitted(method: Method, target: &Points, labeled: &TargetLabels) -> Calibration {
    let (cal, labels) = (Points::calibration(), labeled.of_rows(CLASSES).unwrap());
    let data = match labeled.is_empty() {
        true => cal.labeled(),
        false => cal.labeled().with_target_labels(&labels),
    };
    let calibrator = calibrator(method).score(Score::Plan);
    let mut source = target.source("target");
    calibrate(&calibrator, &data, &mut source, &mut Unobserved).unwrap().calibration
}

fn checked(calibration: &Calibration, target: &Points, labels: TargetLabels) -> Checked {
    let cal = Points::calibration();
    let mut job = CheckJob::of_calibration(calibration, "cal", None, level()).unwrap();
    assert_eq!(job.score, Score::Plan);
    job.labels = labels;
    check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap()
}

fn coverage(calibration: &Calibration, target: &Points) -> f64 {
    let rows = Rows::new("probabilities", &target.values, CLASSES).unwrap();
    let sets = calibration.predict(0, rows, None).unwrap();
    let inside =
        target.labels.iter().enumerate().filter(|(row, label)| sets.contains(*row, **label));
    inside.count() as f64 / target.labels.len() as f64
}

fn none() -> TargetLabels {
    TargetLabels::default()
}

/// On the rows it was made for, a check sees what the calibration itself expected; all it counts is counted by its sets.
#[test]
fn a_check_scores_as_the_calibration_does() {
    let (cal, target) = (Points::calibration(), Points::target());
    let found = fitted(Method::LabelPlan(LabelPlanSettings::new(level())), &target, &none());
    assert!(found.is_scored_by_a_fitted_law());
    let checked = checked(&found, &target, none());
    let Some(Evidence::LabelPlan { plan, .. }) = &found.learned().evidence else { panic!() };
    let expected = plan.corrected.as_ref().unwrap();
    assert_eq!(checked.report.threshold, Some(found.threshold(None).unwrap().get()));
    for (seen, expected) in checked.report.readings.iter().zip(&expected.readings) {
        assert_eq!(seen.name, expected.name);
        assert!((seen.coverage - expected.coverage).abs() < 1e-9, "{seen:?} {expected:?}");
    }
    // Scores of the calibration points are those the file keeps.
    let mut scores = checked.scores.clone();
    scores.sort_by(f64::total_cmp);
    assert_eq!(scores, found.scores());
    let rows = Rows::new("probabilities", &target.values, CLASSES).unwrap();
    let sets = found.predict(0, rows, None).unwrap();
    let size = (0..500).map(|row| sets.size(row)).sum::<usize>() as f64 / 500.0;
    assert!((checked.mean_size - size).abs() < 1e-9, "{} {size}", checked.mean_size);
    let [low, high] = checked.report.coverage_interval.guaranteed;
    assert!((low..=high).contains(&coverage(&found, &target)));
    let by_class: f64 = checked.per_class.iter().map(|class| class.coverage * class.n as f64).sum();
    assert!((by_class / 400.0 - coverage(&found, &cal)).abs() < 1e-12);
    // Coverage of the classes, weighed by their rows, is that of the reading.
    let classes =
        check_classes(&checked, Score::Plan, &mut target.source("target"), &mut Unobserved)
            .unwrap();
    let mean: f64 = classes.iter().map(|(rows, share)| rows * share).sum::<f64>() / 500.0;
    assert!((mean - checked.report.coverage_estimate.value).abs() < 1e-6, "{mean}");
}

/// A shift that came after the calibration is found, and the repair is the one that `calibrate` makes.
#[test]
fn a_later_loss_is_found_and_repaired() {
    let target = Points::target();
    let found = fitted(Method::LabelPlan(LabelPlanSettings::new(level())), &target, &none());
    // The outputs of the target data, and labels that the model does not know.
    let mut later = Points::target();
    later.labels.iter_mut().for_each(|label| *label = (*label + 1) % CLASSES);
    let labels = labels(&later, 80);
    let checked = checked(&found, &later, labels.clone());
    assert_eq!(checked.verdict, Verdict::Loss);
    let measured = checked.measured.unwrap();
    assert_eq!(measured.k, 80);
    assert!((measured.value - coverage(&found, &later)).abs() < 0.15, "{measured:?}");
    // The posterior speaks of the threshold in question, scored as it is: it lies where the labels count.
    let moved = checked.with_labels.as_ref().unwrap();
    assert!((moved.posterior.value - measured.value).abs() < 0.1, "{moved:?}");
    let promised = checked.repair().unwrap();
    let delivered = fitted(Method::Auto(AutoSettings::new(level())), &later, &labels);
    assert!(matches!(delivered.rule(), Rule::FewLabels { .. }));
    assert_eq!(promised.threshold, Some(delivered.threshold(None).unwrap().get()));
    assert!(promised.mean_size.after > promised.mean_size.before);
    assert!(sentences::check::advice(&checked).contains("Calibrate anew with these labels"));
    // A calibration from labels is checked too, and knows the labels that chose it.
    let few = fitted(Method::FewLabels(FewLabelsSettings::default()), &later, &labels);
    let again = super::plan_score::checked(&few, &later, labels);
    assert!(again.measured.unwrap().chosen_with_labels);
    assert_ne!(again.verdict, Verdict::Loss);
}
