//! How often a check reads the target rows, and what it says where it did not read all of them twice.

use crate::settings;
use crate::world::{CLASSES, Sample, sample};
use evenkeel::check::{Check, CheckEnded, CheckSettings, Checked};
use evenkeel::level::FailureProbability;
use evenkeel::method::label_plan::{
    Aiming, LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PlanQuestion, TargetRows,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::Score;
use evenkeel::seed::Seed;

/// Rows that a first pass keeps with all their probabilities.
const KEPT: u64 = (1 << 21) / CLASSES as u64;

fn rows(target: &Sample) -> Rows<'_, f64> {
    Rows::new("probabilities", &target.probabilities, CLASSES).unwrap()
}

/// What a check says, and how often it read the rows; with the number of rows told before or not.
fn passes(labeled: &Sample, target: &Sample, told: Option<u64>) -> (usize, Checked) {
    let settings: CheckSettings = settings();
    let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
    let mut open = Check::begin(&probabilities, &labels, &Score::Lac, &settings).unwrap();
    if let Some(count) = told {
        open = open.expecting(count);
    }
    for passes in 1.. {
        let half = rows(target).rows() / 2 * CLASSES;
        let block = |values| Rows::new("probabilities", values, CLASSES).unwrap();
        let (front, back) = target.probabilities.split_at(half);
        let read = open.add(RowKeys::From(0), block(front)).unwrap();
        let read = read.add(RowKeys::From((half / CLASSES) as u64), block(back)).unwrap();
        match read.end_pass().unwrap() {
            CheckEnded::Again(again) => open = again,
            CheckEnded::Done(checked) => return (passes, *checked),
        }
    }
    unreachable!()
}

/// The plan of the same rows, read twice whatever the test says.
fn read_twice(labeled: &Sample, target: &Sample, checked: &Checked) -> LabelPlan {
    let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
    let logits = LabeledLogits::of_probabilities(&probabilities, &labels, &Score::Lac).unwrap();
    let plan = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
    let planner = LabelPlanner::new(logits, Score::Lac, plan, Seed::new(0)).unwrap();
    let block = TargetRows::Probabilities(rows(target));
    let thresholds = checked.report.threshold.into_iter().collect();
    let question = PlanQuestion { aiming: Aiming::Policy, thresholds };
    let first = planner.first_pass().add(RowKeys::From(0), &block).unwrap();
    let prepared = planner.prepare_for(&first, &question).unwrap();
    let second = prepared.second_pass().add(&prepared, RowKeys::From(0), &block).unwrap();
    planner.finish(&prepared, second).unwrap()
}

/// Rows that are all kept are read once, shifted or not, to the bits of reading them twice.
#[test]
fn few_rows_are_read_once_to_the_same_bits() {
    let labeled = sample(200, 1.0, 1);
    for (strength, seed) in [(1.0, 2), (0.5, 3)] {
        let target = sample(1500, strength, seed);
        let (read, checked) = passes(&labeled, &target, None);
        assert_eq!((read, checked.report.shift.detected), (1, strength < 1.0));
        assert_eq!(checked.plan, read_twice(&labeled, &target, &checked));
        assert_eq!(passes(&labeled, &target, Some(1500)).1.report, checked.report);
    }
}

/// More rows than are kept: once where no shift is found, and the readings then are those of a sample that says so.
#[test]
fn many_rows_are_read_once_where_nothing_changed() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(KEPT as usize + 30_000, 1.0, 2));
    let (read, checked) = passes(&labeled, &target, None);
    assert_eq!((read, checked.report.shift.detected), (1, false));
    assert_eq!(checked.report.m, KEPT + 30_000);
    let told = passes(&labeled, &target, Some(KEPT + 30_000)).1;
    assert_eq!((&told.report, &told.plan), (&checked.report, &checked.plan));
    let all = read_twice(&labeled, &target, &checked);
    let threshold = checked.report.threshold.unwrap();
    for reading in &checked.report.readings {
        assert_eq!(checked.plan.laws().rows_of(reading.name), KEPT);
        let exact = all.laws().cdf(reading.name, threshold);
        let off = (reading.coverage - exact).abs();
        assert!(off < reading.sampling_error && reading.sampling_error < 0.002, "{reading:?}");
    }
}

/// Where a shift is found, thresholds are made of laws of all rows; those that none is made of are of the sample.
#[test]
fn many_rows_are_read_twice_where_something_changed() {
    let (labeled, target) = (sample(300, 1.0, 1), sample(KEPT as usize + 30_000, 0.6, 2));
    let (read, checked) = passes(&labeled, &target, Some(KEPT + 30_000));
    assert_eq!((read, checked.report.shift.detected), (2, true));
    let laws = checked.plan.laws();
    for (reading, expected) in [
        (ReadingName::Calibrated, KEPT + 30_000),
        (ReadingName::ClassShares, KEPT + 30_000),
        (ReadingName::Mean, KEPT + 30_000),
        (ReadingName::Matched, KEPT),
        (ReadingName::BandLow, KEPT),
        (ReadingName::Blend, KEPT),
    ] {
        assert_eq!(laws.rows_of(reading), expected, "{reading:?}");
    }
    assert_eq!(checked.plan, read_twice(&labeled, &target, &checked));
}
