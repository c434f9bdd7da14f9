//! Jobs with coverage for each class or each group.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::conformal::LabelSets;
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::per_group::{SmallGroups, Standing};
use evenkeel::score::{Labels, Score};
use evenkeel::side_inputs::TargetLabels;
use evenkeel_jobs::grouped::{
    AnyCalibration, CalibratedPerGroup, GroupColumn, GroupJob, MemoryGroups, OtherGroups,
    calibrate_per_class, calibrate_per_group, check_classes, check_groups, evaluate_any,
    parse_any_calibration, predict_any, undercovered_classes,
};
use evenkeel_jobs::{
    AnyRows, CheckJob, JobError, LabeledData, MemorySource, Unobserved, calibrate, check,
    parse_calibration,
};

use super::world::{CLASSES, Points, calibrator, methods, seed};

fn names(rows: usize, of: impl Fn(usize) -> String) -> Vec<String> {
    (0..rows).map(of).collect()
}

fn per_group(
    method: Method,
    job: &GroupJob,
    (cal, target): (&[String], &[String]),
    block: usize,
) -> Result<CalibratedPerGroup, JobError> {
    let (calibration, rows) = (Points::calibration(), Points::target());
    let mut source = rows.source("target").in_blocks_of(block);
    calibrate_per_group(
        &calibrator(method),
        job,
        (&calibration.labeled(), &mut MemoryGroups::new("cal groups", cal)),
        (&mut source, &mut MemoryGroups::new("target groups", target)),
        &mut Unobserved,
    )
}

/// The rows of one group.
fn of_group(points: &Points, groups: &[String], name: &str) -> Points {
    let rows = groups.iter().enumerate().filter(|(_, group)| *group == name).map(|(row, _)| row);
    let rows: Vec<usize> = rows.collect();
    Points {
        values: rows
            .iter()
            .flat_map(|row| points.values[row * CLASSES..][..CLASSES].to_vec())
            .collect(),
        labels: rows.iter().map(|row| points.labels[*row]).collect(),
    }
}

/// Every method gives a group what it gives its rows alone, in any blocks.
#[test]
fn a_group_is_calibrated_as_if_there_were_no_others() {
    let cal = names(400, |row| ["north", "south"][row % 2].to_owned());
    let target = names(500, |row| ["south", "north", "north"][row % 3].to_owned());
    for method in methods() {
        let made = per_group(method, &GroupJob::default(), (&cal, &target), 64).unwrap();
        let blocks = per_group(method, &GroupJob::default(), (&cal, &target), 7).unwrap();
        assert_eq!(made.calibration, blocks.calibration, "{method:?}");
        for part in made.calibration.parts() {
            let name = &part.groups[0];
            let calibration = of_group(&Points::calibration(), &cal, name);
            let rows = of_group(&Points::target(), &target, name);
            let alone = calibrate(
                &calibrator(method),
                &calibration.labeled(),
                &mut rows.source("target"),
                &mut Unobserved,
            )
            .unwrap();
            let found = part.calibration.as_ref().unwrap();
            assert_eq!(found.threshold(None), alone.calibration.threshold(None), "{method:?}");
            assert_eq!(found.weights(), alone.calibration.weights(), "{method:?} {name}");
            assert_eq!((part.points, part.rows), (200, rows.labels.len() as u64));
        }
    }
}

/// A thousand groups, most of them tiny: they share one calibration, and the sets are those of each group's part.
#[test]
fn small_groups_share_and_say_so() {
    let cal = names(400, |row| if row < 300 { "big".into() } else { format!("g{row}") });
    let target = names(500, |row| if row < 250 { "big".into() } else { format!("t{row}") });
    let made = per_group(Method::Uncorrected, &GroupJob::default(), (&cal, &target), 100).unwrap();
    let [big, rest] = made.calibration.parts() else {
        panic!("{:?}", made.calibration.parts().len())
    };
    assert_eq!((big.standing, rest.standing), (Standing::Own, Standing::Rest));
    assert_eq!((rest.groups.len(), rest.points, rest.rows), (350, 100, 250));
    let document = serde_json::to_value(made.document()).unwrap();
    assert_eq!(document["per"], "group");
    assert_eq!(document["per_group"].as_array().unwrap().len(), 351);
    assert!(document["warnings"][0].as_str().unwrap().contains("350 of the groups"), "{document}");
    // Refused, with the number they need.
    let refuse = GroupJob { small: SmallGroups::Refuse, ..GroupJob::default() };
    let refused = per_group(Method::Uncorrected, &refuse, (&cal, &target), 100).unwrap_err();
    assert!(refused.to_string().contains("at least 9 calibration points"), "{refused}");
    // Every label.
    let full = GroupJob { small: SmallGroups::AllLabels, ..GroupJob::default() };
    let full = per_group(Method::Uncorrected, &full, (&cal, &target), 100).unwrap();
    assert_eq!(full.calibration.parts().len(), 351);
}

#[test]
fn groups_that_do_not_fit_the_rows_are_refused() {
    let good = (names(400, |_| "a".into()), names(500, |_| "a".into()));
    let one = per_group(Method::Uncorrected, &GroupJob::default(), (&good.0, &good.1), 64).unwrap();
    assert_eq!(one.calibration.parts().len(), 1);
    let words = |cal: &[String], target: &[String]| {
        let found = per_group(Method::Uncorrected, &GroupJob::default(), (cal, target), 64);
        found.unwrap_err().to_string()
    };
    let short = words(&good.0[..399], &good.1);
    assert!(short.contains("cal groups has 399 groups but cal has 400 rows"), "{short}");
    let short = words(&good.0, &good.1[..450]);
    assert!(short.contains("target groups has 450 groups but target has at least"), "{short}");
    let long: Vec<String> = names(501, |_| "a".into());
    let long = words(&good.0, &long);
    assert!(long.contains("target groups has 501 groups but target has 500 rows"), "{long}");
    for cell in ["", " ", "NaN"] {
        let mut cal = good.0.clone();
        cal[7] = cell.to_owned();
        let empty = words(&cal, &good.1);
        assert!(empty.contains("cal groups: row 7 has no group"), "{empty}");
    }
}

/// Stored, read and used: sets by group, unknown groups named or pooled, lines by group.
#[test]
fn a_calibration_per_group_is_stored_and_used() {
    let cal = names(400, |row| ["a", "b"][row % 2].to_owned());
    let target = names(500, |row| ["a", "b"][row % 2].to_owned());
    let made = per_group(Method::Uncorrected, &GroupJob::default(), (&cal, &target), 64).unwrap();
    let text = serde_json::to_string(&made.calibration).unwrap();
    assert!(parse_calibration(&text).is_err());
    let stored = parse_any_calibration(&text).unwrap();
    assert_eq!(stored, AnyCalibration::PerGroup(made.calibration));
    let test = Points::test();
    let labels = test.checked_labels();
    let predicted = |groups: Option<&[String]>, block: usize| {
        let mut sets = LabelSets::empty(CLASSES).unwrap();
        let mut column = groups.map(|groups| MemoryGroups::new("groups", groups));
        let column = column.as_mut().map(|column| column as &mut dyn GroupColumn);
        let mut source = test.source("test").in_blocks_of(block);
        let mut sink = |found: &LabelSets| {
            sets = LabelSets::concatenate(&[sets.clone(), found.clone()])?;
            Ok(())
        };
        predict_any(&stored, None, &mut source, column, &mut sink, &mut Unobserved).map(|_| sets)
    };
    let groups = names(300, |row| ["b", "a", "a"][row % 3].to_owned());
    assert_eq!(predicted(Some(&groups), 300).unwrap(), predicted(Some(&groups), 11).unwrap());
    assert!(matches!(predicted(None, 64), Err(JobError::NoGroups { .. })));
    let mut unknown = groups.clone();
    unknown[70] = "z".to_owned();
    let refused = predicted(Some(&unknown), 64).unwrap_err().to_string();
    assert!(refused.contains("row 70 is of the group \"z\""), "{refused}");
    let mut column = MemoryGroups::new("groups", &groups);
    let mut source = test.source("test").with_labels("labels", &labels).unwrap();
    let evaluated =
        evaluate_any(&stored, None, &mut source, Some(&mut column), &mut Unobserved).unwrap();
    let document = serde_json::to_value(evaluated.document(None)).unwrap();
    let lines = document["per_group"].as_array().unwrap();
    assert_eq!((lines[0]["group"].as_str(), lines[0]["n"].as_u64()), (Some("a"), Some(200)));
    assert!(lines[0]["threshold"].is_number() && lines[1]["standing"] == "own");
    // With a pooled threshold the unknown group has sets.
    let pooled = GroupJob { others: OtherGroups::Pooled, ..GroupJob::default() };
    let pooled = per_group(Method::Uncorrected, &pooled, (&cal, &target), 64).unwrap();
    assert!(pooled.calibration.part_of("z", 0).unwrap().is_none());
    assert!(pooled.document().others_pooled);
}

/// Labels of target rows go to the groups of their rows; a group without any is fitted without.
#[test]
fn labels_of_target_rows_belong_to_their_groups() {
    let (calibration, rows) = (Points::calibration(), Points::target());
    let cal = names(400, |row| ["a", "b"][row % 2].to_owned());
    let target = names(500, |row| ["a", "b"][row % 2].to_owned());
    // Only rows of b.
    let known: Vec<(u64, usize)> =
        (0..40).map(|row| (row * 2 + 1, rows.labels[row as usize * 2 + 1])).collect();
    let known = TargetLabels::new(&known, CLASSES).unwrap();
    let labeled = calibration.labeled().with_target_labels(&known);
    let calibrator = ShiftCalibrator::new(0.1).unwrap();
    let mut source = rows.source("target");
    let made = calibrate_per_group(
        &calibrator,
        &GroupJob::default(),
        (&labeled, &mut MemoryGroups::new("cal groups", &cal)),
        (&mut source, &mut MemoryGroups::new("target groups", &target)),
        &mut Unobserved,
    )
    .unwrap();
    let by = |part: usize| {
        made.calibration.parts()[part].calibration.as_ref().unwrap().provenance().method.as_str()
    };
    assert_eq!((by(0), by(1)), ("auto", "few-labels"));
}

/// The mean coverage of a group is `ceil((n_g + 1)(1 - alpha)) / (n_g + 1)` exactly, of groups merged that of all their points: one test
/// point of each a draw, so that the counts are binomial. Four standard deviations.
#[test]
fn simulated_coverage_of_each_group_lies_within_binomial_bands() {
    const DRAWS: usize = 1500;
    // The model is less sure of one than of another; the last two have too few points and share a threshold.
    let groups = [("wide", 60, 1.0), ("narrow", 24, 7.0), ("few", 6, 3.0), ("fewer", 5, 3.0)];
    let named = |counts: &[usize]| -> Vec<String> {
        let names = groups.iter().zip(counts);
        names.flat_map(|((name, ..), count)| vec![(*name).to_owned(); *count]).collect()
    };
    let (cal_groups, test_groups) = (named(&groups.map(|group| group.1)), named(&[1; 4]));
    let drawn = |counts: &[usize], seed: u64| {
        let mut points = Points { values: Vec::new(), labels: Vec::new() };
        for (place, ((_, _, sharpness), count)) in groups.iter().zip(counts).enumerate() {
            let seed = (seed * 4 + place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let more = Points::new(*count, *sharpness, seed);
            points.values.extend(more.values);
            points.labels.extend(more.labels);
        }
        points
    };
    let mut covered = [0_usize; 4];
    for draw in 0..DRAWS as u64 {
        let calibration = drawn(&groups.map(|group| group.1), 2 * draw);
        let test = drawn(&[1; 4], 2 * draw + 1);
        let made = calibrate_per_group(
            &calibrator(Method::Uncorrected),
            &GroupJob::default(),
            (&calibration.labeled(), &mut MemoryGroups::new("cal", &cal_groups)),
            (&mut test.source("test"), &mut MemoryGroups::new("test", &test_groups)),
            &mut Unobserved,
        )
        .unwrap();
        let made = AnyCalibration::PerGroup(made.calibration);
        let mut column = MemoryGroups::new("test", &test_groups);
        let mut sink = |sets: &LabelSets| {
            for (place, label) in test.labels.iter().enumerate() {
                covered[place] += usize::from(sets.contains(place, *label));
            }
            Ok(())
        };
        let mut source = test.source("test");
        predict_any(&made, None, &mut source, Some(&mut column), &mut sink, &mut Unobserved)
            .unwrap();
    }
    for (place, points) in [(0, 60), (1, 24), (2, 11), (3, 11)] {
        let expected = (0.9_f64 * f64::from(points + 1)).ceil() / f64::from(points + 1);
        let sd = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
        let found = covered[place] as f64 / DRAWS as f64;
        assert!((found - expected).abs() < 4.0 * sd, "group {place}: {found} and {expected}");
    }
}

/// The imbalanced case: the minority is covered far below the level, which is said, and held by a threshold for each class.
#[test]
fn a_minority_is_warned_about_and_covered_per_class() {
    let (calibration, test) = (imbalanced(1000, 1), imbalanced(4000, 2));
    let labeled =
        LabeledData::new("cal", &calibration.0, 2, "labels", calibration.1.clone()).unwrap();
    let source = || MemorySource::new("target", AnyRows::f64(&test.0, 2).unwrap());
    let uncorrected = calibrator(Method::Uncorrected);
    let one = calibrate(&uncorrected, &labeled, &mut source(), &mut Unobserved).unwrap();
    let document = serde_json::to_value(one.document(None)).unwrap();
    let warned = document["warnings"].as_array().unwrap().iter().any(|warning| {
        let said = warning.as_str().unwrap();
        said.contains("class 1") && said.contains("evenkeel calibrate --per class")
    });
    assert!(warned, "{document}");
    // Not part of the file.
    assert!(!serde_json::to_string(&one.calibration).unwrap().contains("undercovered"));
    let per_class = calibrate_per_class(
        &uncorrected,
        &labeled,
        &mut source(),
        SmallGroups::Merge,
        &mut Unobserved,
    )
    .unwrap();
    let labels = Labels::new(test.1.clone(), 2).unwrap();
    let coverage = |made: AnyCalibration| -> Vec<ClassCoverage> {
        let mut rows = source().with_labels("labels", &labels).unwrap();
        evaluate_any(&made, None, &mut rows, None, &mut Unobserved).unwrap().evaluation.per_class
    };
    let before = coverage(AnyCalibration::One(one.calibration));
    let after = coverage(AnyCalibration::PerClass(per_class.calibration));
    assert!(before[1].coverage < 0.6, "{before:?}");
    assert!(after.iter().all(|class| class.coverage > 0.86), "{after:?}");
    assert!(undercovered_classes(&before, uncorrected.alpha, None).is_some());
}

/// A tenth of the points are of class 1, which the model sees badly.
fn imbalanced(rows: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let points = Points::new(rows, 3.0, seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let draw = points.values[row * CLASSES];
        let minority = row % 10 == 0;
        // The model says class 1 is unlikely, even where it is there.
        let p = if minority { 0.5 * draw } else { 0.25 * draw };
        values.extend([1.0 - p, p]);
        labels.push(usize::from(minority));
    }
    (values, labels)
}

/// A check with classes and groups: an estimate for each, in any blocks.
#[test]
fn a_check_has_a_line_for_each_class_and_group() {
    let (calibration, rows) = (Points::calibration(), Points::target());
    let labeled = calibration.labeled();
    let delta = FailureProbability::FIVE_PERCENT;
    let job = CheckJob::new(Score::Lac, Miscoverage::new(0.1).unwrap(), delta, seed());
    let mut source = rows.source("target");
    let checked = check(&job, &labeled, &mut source, &mut Unobserved).unwrap();
    let classes = check_classes(&checked, Score::Lac, &mut source, &mut Unobserved).unwrap();
    let expected: f64 = classes.iter().map(|(rows, _)| rows).sum();
    assert!((expected - 500.0).abs() < 1e-6, "{expected}");
    // The estimate is the mean over classes by their expected rows.
    let mean: f64 = classes.iter().map(|(rows, share)| rows * share).sum::<f64>() / expected;
    let estimate = checked.report.coverage_estimate.value;
    assert!((mean - estimate).abs() < 1e-9, "{mean} {estimate}");
    let cal = names(400, |row| ["a", "b", "b"][row % 3].to_owned());
    let target =
        names(500, |row| if row == 3 { "tiny".into() } else { ["a", "b"][row % 2].to_owned() });
    let found = |block: usize| {
        let mut source = rows.source("target").in_blocks_of(block);
        check_groups(
            &job,
            checked.threshold(),
            (&labeled, &mut MemoryGroups::new("cal groups", &cal)),
            (&mut source, &mut MemoryGroups::new("target groups", &target)),
            &mut Unobserved,
        )
        .unwrap()
    };
    let lines = found(64);
    assert_eq!(lines.len(), 3);
    assert_eq!((lines[0].n, lines[0].m), (134, 250));
    assert!(lines[0].estimate.is_some() && lines[0].verdict.is_some());
    // Too small alone, and nothing to merge it with.
    assert_eq!(
        (lines[2].standing, lines[2].m, lines[2].estimate.is_none()),
        (Standing::AllLabels, 1, true)
    );
    let values = |lines: Vec<evenkeel_jobs::grouped::CheckedGroup>| -> Vec<Option<f64>> {
        lines.into_iter().map(|line| line.estimate.map(|found| found.value)).collect()
    };
    assert_eq!(values(found(7)), values(lines));
}
