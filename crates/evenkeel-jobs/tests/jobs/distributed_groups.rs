//! Thresholds for each class and group, from rows in parts: the bytes of one process.

use std::ops::ControlFlow;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::method::Method;
use evenkeel::per_group::SmallGroups;
use evenkeel::rows::RowKeys;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::distributed::{
    DistributedFit, FinishedFit, FitPassEnded, GroupCodes, PartRows, RowsPart, merge_states,
};
use evenkeel_jobs::grouped::{
    GroupJob, MemoryGroups, OtherGroups, calibrate_per_class, calibrate_per_group,
};
use evenkeel_jobs::{AnyRows, JobError, Unobserved};

use crate::world::{CLASSES, Points, calibrator, methods};

/// The state of every `parts`-th row from `part` on.
fn state(
    plan: &[u8],
    points: &Points,
    (part, parts): (usize, usize),
    groups: &[String],
) -> Vec<u8> {
    let keys: Vec<u64> = (part as u64..points.labels.len() as u64).step_by(parts).collect();
    let row = |key: &u64| &points.values[*key as usize * CLASSES..][..CLASSES];
    let values: Vec<f64> = keys.iter().flat_map(row).copied().collect();
    let codes: Vec<u32> = keys.iter().map(|key| *key as u32 % groups.len().max(1) as u32).collect();
    let given = GroupCodes { names: groups, codes: &codes };
    let begun = RowsPart::begin(plan, part as u64).unwrap();
    if begun.reads_groups_only() {
        return begun.add_groups(RowKeys::Each(&keys), given).unwrap().state().unwrap();
    }
    let rows = PartRows {
        name: "part",
        keys: RowKeys::Each(&keys),
        rows: AnyRows::f64(&values, CLASSES).unwrap(),
        side: SideInputs::default(),
        labels: None,
        groups: begun.needs_groups().then_some(given),
    };
    begun.add(rows).unwrap().state().unwrap()
}

/// All passes; the file that the fit came to.
fn finished(mut fit: DistributedFit, target: &Points, groups: &[String]) -> (String, usize) {
    for passes in 1.. {
        let plan = fit.plan().unwrap();
        let states: Vec<Vec<u8>> =
            (0..4).rev().map(|part| state(&plan, target, (part, 4), groups)).collect();
        let merged = merge_states(&plan, &[&states[1], &states[0]]).unwrap();
        for bytes in [&merged, &states[2], &states[3]] {
            fit.require_new(bytes).unwrap();
            fit = fit.merge(bytes).unwrap();
        }
        let twice = fit.require_new(&states[0]);
        assert!(matches!(twice, Err(JobError::Core(Error::PartTwice { part: 3 }))), "{twice:?}");
        assert!(fit.require_new(&states[2][..states[2].len() - 1]).is_err(), "cut");
        assert_eq!(fit.rows(), target.labels.len() as u64);
        match fit.end_pass().unwrap() {
            FitPassEnded::Again(next) => fit = *next,
            FitPassEnded::Done(ready) => {
                let made = ready.finish(&mut |_| ControlFlow::Continue(())).unwrap();
                let FinishedFit::Grouped(made) = made else { panic!("thresholds for each") };
                return (serde_json::to_string(&*made).unwrap(), passes);
            }
        }
    }
    unreachable!()
}

#[test]
fn thresholds_of_classes_are_those_of_one_process() {
    let (cal, target) = (Points::calibration(), Points::target());
    let small = SmallGroups::Merge;
    for method in methods() {
        let calibrator = calibrator(method);
        let mut source = target.source("target");
        let whole =
            calibrate_per_class(&calibrator, &cal.labeled(), &mut source, small, &mut Unobserved);
        let begun =
            |rows| DistributedFit::begin_per_class(&calibrator, &cal.labeled(), small, rows);
        let Ok(whole) = whole else {
            // Found out before any row is read.
            assert!(matches!(begun(None), Err(JobError::Core(Error::NotPerClass { .. }))));
            continue;
        };
        for rows in [None, Some(500)] {
            let (made, _) = finished(begun(rows).unwrap(), &target, &[]);
            assert_eq!(made, serde_json::to_string(&whole.calibration).unwrap(), "{method:?}");
        }
    }
}

#[test]
fn calibrations_of_groups_are_those_of_one_process() {
    let (cal, target) = (Points::calibration(), Points::target());
    let names = ["north", "south", "west"].map(str::to_owned);
    let of = |rows: usize| -> Vec<String> { (0..rows).map(|row| names[row % 3].clone()).collect() };
    let (of_cal, of_target) = (of(400), of(500));
    let job = || GroupJob {
        by: Some("region".to_owned()),
        others: OtherGroups::Pooled,
        ..GroupJob::default()
    };
    let begun = |calibrator: &ShiftCalibrator, rows| {
        let mut groups = MemoryGroups::new("cal groups", &of_cal);
        let cal = cal.labeled();
        DistributedFit::begin_per_group(calibrator, job(), (&cal, &mut groups), rows)
    };
    for method in methods() {
        let calibrator = calibrator(method);
        let mut source = target.source("target");
        let whole = calibrate_per_group(
            &calibrator,
            &job(),
            (&cal.labeled(), &mut MemoryGroups::new("cal groups", &of_cal)),
            (&mut source, &mut MemoryGroups::new("target groups", &of_target)),
            &mut Unobserved,
        );
        let whole = serde_json::to_string(&whole.unwrap().calibration).unwrap();
        for rows in [None, Some(500)] {
            let (made, passes) = finished(begun(&calibrator, rows).unwrap(), &target, &names);
            assert_eq!(made, whole, "{method:?}");
            assert!((2..=3).contains(&passes), "{passes}");
        }
    }
    let fewer = begun(&calibrator(Method::Uncorrected), Some(501)).unwrap();
    let plan = fewer.plan().unwrap();
    let all = state(&plan, &target, (0, 1), &names);
    // A pass that counts groups takes rows with their probabilities too, and none without their groups.
    let (keys, codes): (Vec<u64>, Vec<u32>) = (0..500).map(|row| (row, row as u32 % 3)).unzip();
    let rows = |groups| PartRows {
        name: "part",
        keys: RowKeys::Each(&keys),
        rows: AnyRows::f64(&target.values, CLASSES).unwrap(),
        side: SideInputs::default(),
        labels: None,
        groups,
    };
    let part = || RowsPart::begin(&plan, 0).unwrap();
    let given = part().add(rows(Some(GroupCodes { names: &names, codes: &codes }))).unwrap();
    assert_eq!(given.state().unwrap(), all);
    assert!(matches!(part().add(rows(None)), Err(JobError::NoGroups { .. })));
    let ended = fewer.merge(&all).unwrap().end_pass();
    assert!(matches!(ended, Err(JobError::Core(Error::OtherNumberOfRows { expected: 501, .. }))));
}

#[test]
fn rows_of_a_group_that_had_none_when_groups_were_counted_are_an_error() {
    let (cal, target) = (Points::calibration(), Points::target());
    let names = ["north", "south", "west"].map(str::to_owned);
    let of_cal: Vec<String> = (0..400).map(|row| names[row % 3].clone()).collect();
    let mut groups = MemoryGroups::new("cal groups", &of_cal);
    let calibrator = calibrator(Method::Uncorrected);
    let data = (&cal.labeled(), &mut groups as _);
    let fit = DistributedFit::begin_per_group(&calibrator, GroupJob::default(), data, None);
    let fit = fit.unwrap();
    // Counted without the west, whose own rows then stand in for its target rows; read with some of it.
    let without = |points: &Points, rows: usize| Points {
        values: points.values[..rows * CLASSES].to_vec(),
        labels: points.labels[..rows].to_vec(),
    };
    let counted = state(&fit.plan().unwrap(), &without(&target, 400), (0, 1), &names[..2]);
    let FitPassEnded::Again(fit) = fit.merge(&counted).unwrap().end_pass().unwrap() else {
        panic!("groups are fitted after they are counted")
    };
    let plan = fit.plan().unwrap();
    let read = state(&plan, &without(&target, 400), (0, 1), &names[..2]);
    let keys: Vec<u64> = (400..500).collect();
    let more = PartRows {
        name: "part",
        keys: RowKeys::Each(&keys),
        rows: AnyRows::f64(&target.values[400 * CLASSES..], CLASSES).unwrap(),
        side: SideInputs::default(),
        labels: None,
        groups: Some(GroupCodes { names: &names[2..], codes: &[0; 100] }),
    };
    let west = RowsPart::begin(&plan, 1).unwrap().add(more).unwrap().state().unwrap();
    let ended = fit.merge(&read).unwrap().merge(&west).unwrap().end_pass();
    assert!(
        matches!(ended, Err(JobError::Core(Error::OtherRows { before: 400, now: 500 }))),
        "{ended:?}"
    );
}
