//! A threshold for each class.

use evenkeel::calibrator::Fitted;
use evenkeel::method::{LabelShiftChoice, Method, TransportSettings};
use evenkeel::per_group::{
    ClassFit, ClassFitOf, ClassRows, ClassRowsEnded, PerClassCalibration, SmallGroups, Standing,
    conformal_rank, per_class,
};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::Labels;
use evenkeel::side_inputs::{SideInputs, TargetLabels};
use evenkeel::threshold::Threshold;
use evenkeel::{Error, level::Miscoverage};

use super::world::{Draws, Points, calibrator, fitted, label_plan};

fn of(labels: &Labels) -> ClassFitOf<'_> {
    ClassFitOf { labels, weights: None, target_labels: None, small: SmallGroups::Merge }
}

/// By the calibration points alone.
fn done(fitted: Fitted, of: &ClassFitOf<'_>) -> PerClassCalibration {
    match per_class(fitted, of).unwrap() {
        ClassFit::Done(made) => *made,
        ClassFit::Rows(_) => panic!("it asks for target rows"),
    }
}

/// By passes over the target rows, cut into blocks of `size`, the last of them first if `turned`.
pub(super) fn read(
    fitted: Fitted,
    of: &ClassFitOf<'_>,
    target: &Points,
    cut: (usize, usize, bool),
) -> PerClassCalibration {
    let (classes, size, turned) = cut;
    let ClassFit::Rows(mut rows) = per_class(fitted, of).unwrap() else {
        panic!("it asks for no target rows");
    };
    loop {
        let mut starts: Vec<usize> = (0..target.labels.len()).step_by(size).collect();
        if turned {
            starts.reverse();
        }
        let add = |rows: ClassRows, start: usize| {
            let end = target.labels.len().min(start + size);
            let values = &target.values[start * classes..end * classes];
            let block = Rows::new("probabilities", values, classes).unwrap();
            rows.add(RowKeys::From(start as u64), block).unwrap()
        };
        match starts.into_iter().fold(*rows, add).end_pass().unwrap() {
            ClassRowsEnded::Again(again) => rows = again,
            ClassRowsEnded::Done(made) => return *made,
        }
    }
}

/// The mean coverage of a class is `ceil((n_y + 1)(1 - alpha)) / (n_y + 1)` exactly: one test point of each class a draw, so
/// that the count is binomial. Four standard deviations.
#[test]
fn simulated_coverage_of_each_class_lies_within_binomial_bands() {
    let (draws, alpha) = (2000, Miscoverage::new(0.1).unwrap());
    // The minority's scores are three times as large: one threshold for all covers it half as often.
    let (counts, spread) = ([120, 15], [0.3, 0.9]);
    let mut random = Draws(11);
    let (mut covered, mut pooled) = ([0_usize; 2], [0_usize; 2]);
    for _ in 0..draws {
        let calibration = Points::binary(counts, spread, &mut random);
        let test = Points::binary([1, 1], spread, &mut random);
        let fitted = fitted(
            &calibrator(Method::Uncorrected),
            &calibration,
            &test,
            (2, SideInputs::default()),
        );
        let (_, labels) = calibration.checked(2);
        let made = done(fitted, &of(&labels));
        let sets = made.predict(0, test.rows(2), None).unwrap();
        let one = made.pooled().predict(0, test.rows(2), None).unwrap();
        for class in 0..2 {
            covered[class] += usize::from(sets.contains(class, class));
            pooled[class] += usize::from(one.contains(class, class));
        }
    }
    for class in 0..2 {
        let n = counts[class];
        let expected = conformal_rank(n, alpha).unwrap() as f64 / (n + 1) as f64;
        let sd = (expected * (1.0 - expected) / draws as f64).sqrt();
        let found = covered[class] as f64 / draws as f64;
        assert!((found - expected).abs() < 4.0 * sd, "class {class}: {found} and {expected}");
    }
    // What nobody was told: one threshold covers the minority far below the level.
    assert!((pooled[1] as f64) < 0.5 * draws as f64, "{pooled:?}");
}

/// The same under label shift: the laws of the classes stay, their shares change, and so does nothing here.
#[test]
fn label_shift_has_the_thresholds_of_the_calibration_points() {
    let mut random = Draws(5);
    let calibration = Points::binary([90, 60], [0.4, 0.6], &mut random);
    let target = Points::binary([20, 130], [0.4, 0.6], &mut random);
    let (_, labels) = calibration.checked(2);
    let by = |method: Method| {
        let fitted = fitted(&calibrator(method), &calibration, &target, (2, SideInputs::default()));
        done(fitted, &of(&labels)).thresholds(None)
    };
    assert_eq!(by(Method::LabelShift(LabelShiftChoice::BlackBox)), by(Method::Uncorrected));
    let ones = vec![1.0; 150];
    let beside = SideInputs { weights: Some(&ones), ..SideInputs::default() };
    let fixed = fitted(&calibrator(Method::Fixed), &calibration, &target, (2, beside));
    let fixed = done(fixed, &ClassFitOf { weights: Some(&ones), ..of(&labels) });
    assert_eq!(fixed.thresholds(None), by(Method::Uncorrected));
    // Half the weight is half the points: 60 of weight a half are 30 and the test point.
    let halves: Vec<f64> =
        labels.as_slice().iter().map(|label| 1.0 - 0.5 * *label as f64).collect();
    let beside = SideInputs { weights: Some(&halves), ..SideInputs::default() };
    let lighter = fitted(&calibrator(Method::Fixed), &calibration, &target, (2, beside));
    let lighter = done(lighter, &ClassFitOf { weights: Some(&halves), ..of(&labels) });
    assert_eq!(lighter.thresholds(None)[0], fixed.thresholds(None)[0]);
    assert!(lighter.thresholds(None)[1].get() > fixed.thresholds(None)[1].get());
}

/// The laws of a plan do not depend on how rows come, and are those of the definition: with one class per part and the score
/// `lac`, the mean of the classes' laws by their expected rows is the plan's own law.
#[test]
fn laws_of_classes_are_the_same_for_any_blocks() {
    let mut random = Draws(7);
    let calibration = Points::several(300, 4, 4.0, &mut random);
    let target = Points::several(700, 4, 1.5, &mut random);
    let (_, labels) = calibration.checked(4);
    let fit =
        || fitted(&calibrator(label_plan()), &calibration, &target, (4, SideInputs::default()));
    let text = |cut| serde_json::to_string(&read(fit(), &of(&labels), &target, cut)).unwrap();
    let whole = text((4, 700, false));
    for cut in [(4, 1, false), (4, 64, true), (4, 333, true)] {
        assert_eq!(text(cut), whole, "{cut:?}");
    }
    let made = read(fit(), &of(&labels), &target, (4, 100, false));
    let rows: f64 = made.parts().iter().map(|part| part.size).sum();
    assert!((rows - 700.0).abs() < 1e-6, "{rows}");
    let read_back: PerClassCalibration = serde_json::from_str(&whole).unwrap();
    assert_eq!(read_back, made);
    assert_eq!(read_back.thresholds(None), made.thresholds(None));
}

/// Labels of one class pull its threshold, and no other's.
#[test]
fn labels_of_a_class_pull_its_own_threshold() {
    let mut random = Draws(9);
    let calibration = Points::several(300, 3, 4.0, &mut random);
    let target = Points::several(400, 3, 2.0, &mut random);
    let (_, labels) = calibration.checked(3);
    let known: Vec<(u64, usize)> =
        (0..60).map(|row| (row * 5, target.labels[row as usize * 5])).collect();
    let target_labels = TargetLabels::new(&known, 3).unwrap();
    let beside = SideInputs::labels(&target_labels);
    let by = |given: Option<&TargetLabels>| {
        let auto = evenkeel::calibrator::ShiftCalibrator::new(0.1).unwrap();
        let fitted = fitted(&auto, &calibration, &target, (3, beside));
        let of = ClassFitOf { target_labels: given, ..of(&labels) };
        read(fitted, &of, &target, (3, 50, false)).thresholds(None)
    };
    let only_class_one: Vec<(u64, usize)> =
        known.iter().copied().filter(|(_, label)| *label == 1).collect();
    let only_class_one = TargetLabels::new(&only_class_one, 3).unwrap();
    let (none, some) = (by(None), by(Some(&only_class_one)));
    assert_eq!((none[0], none[2]), (some[0], some[2]));
    assert_ne!(none[1], some[1]);
}

#[test]
fn small_classes_are_merged_refused_or_in_every_set() {
    let mut random = Draws(3);
    let mut calibration = Points::several(120, 5, 6.0, &mut random);
    // Class 3 has one point, class 4 none.
    let mut seen = 0;
    for label in &mut calibration.labels {
        if *label == 4 {
            *label = 0;
        } else if *label == 3 {
            seen += 1;
            *label = if seen == 1 { 3 } else { 1 };
        } else if *label == 2 && seen > 4 {
            *label = 0;
        }
    }
    let (_, labels) = calibration.checked(5);
    let count = |class: usize| labels.as_slice().iter().filter(|label| **label == class).count();
    let target = Points::several(30, 5, 6.0, &mut random);
    let fit = || {
        fitted(&calibrator(Method::Uncorrected), &calibration, &target, (5, SideInputs::default()))
    };
    let refused = per_class(fit(), &ClassFitOf { small: SmallGroups::Refuse, ..of(&labels) });
    assert!(matches!(refused, Err(Error::GroupsTooSmall { least: 9, .. })), "{refused:?}");
    let all = done(fit(), &ClassFitOf { small: SmallGroups::AllLabels, ..of(&labels) });
    assert_eq!(all.thresholds(None)[4], Threshold::AllLabels);
    assert_eq!(all.part_of(4).unwrap().standing, Standing::AllLabels);
    let sets = all.predict(0, target.rows(5), None).unwrap();
    assert!((0..30).all(|row| sets.contains(row, 4)));
    if count(2) < 9 && count(2) + count(3) >= 9 {
        let merged = done(fit(), &of(&labels));
        assert_eq!(merged.thresholds(None)[3], merged.thresholds(None)[4]);
    }
}

#[test]
fn methods_without_thresholds_for_classes_say_so() {
    let mut random = Draws(1);
    let calibration = Points::several(100, 3, 4.0, &mut random);
    let target = Points::several(100, 3, 4.0, &mut random);
    let (_, labels) = calibration.checked(3);
    let ot = Method::OptimalTransport(TransportSettings::default());
    let fitted = fitted(&calibrator(ot), &calibration, &target, (3, SideInputs::default()));
    let refused = per_class(fitted, &of(&labels)).unwrap_err();
    assert!(matches!(refused, Error::NotPerClass { method: "ot", .. }), "{refused}");
}

#[test]
fn damaged_files_are_refused() {
    let mut random = Draws(2);
    let calibration = Points::binary([30, 30], [0.4, 0.6], &mut random);
    let (_, labels) = calibration.checked(2);
    let fitted = fitted(
        &calibrator(Method::Uncorrected),
        &calibration,
        &calibration,
        (2, SideInputs::default()),
    );
    let text = serde_json::to_string(&done(fitted, &of(&labels))).unwrap();
    serde_json::from_str::<PerClassCalibration>(&text).unwrap();
    for (from, to) in [
        ("\"classes\":[1]", "\"classes\":[0]"),
        ("\"classes\":[1]", "\"classes\":[7]"),
        ("\"classes\":[1]", "\"classes\":[]"),
        ("\"version\":1,\"parts\"", "\"version\":2,\"parts\""),
        ("calibration-per-class", "calibration-per-clash"),
    ] {
        assert!(text.contains(from), "{text}");
        let damaged = text.replacen(from, to, 1);
        assert!(serde_json::from_str::<PerClassCalibration>(&damaged).is_err(), "{to}");
    }
}
