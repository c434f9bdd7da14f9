//! Rows in parts: the documents and bytes of one process, and states that do not belong are refused.

use std::ops::ControlFlow;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::method::Method;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::RowKeys;
use evenkeel::score::Score;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::distributed::{
    CheckPassEnded, DistributedCheck, DistributedEvaluation, DistributedFit, FinishedFit,
    FitPassEnded, PartRows, RowsPart, merge_states, pack_states,
};
use evenkeel_jobs::{AnyRows, CheckJob, JobError, Unobserved, calibrate, check, evaluate};

use crate::world::{CLASSES, Points, alpha, calibrator, level, methods, seed};

/// States of a table in `parts` parts: every `parts`-th row, the last part first.
fn states(plan: &[u8], points: &Points, parts: usize, labeled: bool) -> Vec<Vec<u8>> {
    let state = |part: usize| {
        let keys: Vec<u64> =
            (0..points.labels.len() as u64).filter(|key| *key as usize % parts == part).collect();
        let row = |key: &u64| &points.values[*key as usize * CLASSES..][..CLASSES];
        let values: Vec<f64> = keys.iter().flat_map(row).copied().collect();
        let labels: Vec<usize> = keys.iter().map(|key| points.labels[*key as usize]).collect();
        let rows = PartRows {
            name: "part",
            keys: RowKeys::Each(&keys),
            rows: AnyRows::f64(&values, CLASSES).unwrap(),
            side: SideInputs::default(),
            labels: labeled.then_some(&labels),
            groups: None,
        };
        RowsPart::begin(plan, part as u64).unwrap().add(rows).unwrap().state().unwrap()
    };
    (0..parts).rev().map(state).collect()
}

#[test]
fn calibrations_are_those_of_one_process() {
    let (cal, target) = (Points::calibration(), Points::target());
    for (parts, method) in (1..).zip(methods()) {
        let calibrator = calibrator(method);
        let mut source = target.source("target");
        let whole = calibrate(&calibrator, &cal.labeled(), &mut source, &mut Unobserved).unwrap();
        let mut fit = DistributedFit::begin(&calibrator, &cal.labeled(), Some(500)).unwrap();
        let made = loop {
            let plan = fit.plan().unwrap();
            let states = states(&plan, &target, parts, false);
            let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
            // Added up, or only put together: the same.
            let all = match parts % 2 {
                0 => merge_states(&plan, &states).unwrap(),
                _ => pack_states(&states).unwrap(),
            };
            fit.require_new(&all).unwrap();
            fit = fit.merge(&all).unwrap();
            let again = fit.require_new(&all);
            assert!(matches!(again, Err(JobError::Core(Error::PartTwice { .. }))));
            match fit.end_pass().unwrap() {
                FitPassEnded::Again(next) => fit = *next,
                FitPassEnded::Done(ready) => {
                    let made = ready.finish(&mut |_| ControlFlow::Continue(())).unwrap();
                    let FinishedFit::One(made) = made else { panic!("one threshold") };
                    break *made;
                }
            }
        };
        let text = |calibration| serde_json::to_string(calibration).unwrap();
        assert_eq!(text(&made.calibration), text(&whole.calibration), "{method:?}");
        assert_eq!((made.order, made.per_class), (whole.order, whole.per_class));
    }
}

#[test]
fn a_check_is_that_of_one_process() {
    let (cal, target) = (Points::calibration(), Points::target());
    let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    let mut source = target.source("target");
    let whole = check(&job, &cal.labeled(), &mut source, &mut Unobserved).unwrap();
    let mut open = DistributedCheck::begin(job, &cal.labeled(), None).unwrap();
    let found = loop {
        for state in states(open.plan(), &target, 4, false) {
            open = open.merge(&state).unwrap();
        }
        match open.end_pass().unwrap() {
            CheckPassEnded::Again(again) => open = *again,
            CheckPassEnded::Done(found) => break found,
        }
    };
    assert!(found.examples.len() == 3 && found.recommended.is_some());
    let text = |checked: &evenkeel_jobs::Checked| {
        serde_json::to_string(&checked.document(None, &[])).unwrap()
    };
    assert_eq!(text(&found), text(&whole));
}

/// Checks that read the rows again for what they recommend: a fit of `auto` by another test, and one by a law of its own whose sets
/// are then counted.
fn checks_with_repairs(cal: &Points) -> [(CheckJob, usize); 2] {
    let mut anew = CheckJob::new(Score::Lac, alpha(), level(), seed());
    anew.settings.permutations = 1500;
    let plan = Method::LabelPlan(LabelPlanSettings::default());
    let by_plan = ShiftCalibrator { score: Score::Plan, ..calibrator(plan) };
    let other = Points::new(500, 5.0, 9);
    let mut source = other.source("target");
    let in_use = calibrate(&by_plan, &cal.labeled(), &mut source, &mut Unobserved).unwrap();
    let own = CheckJob::of_calibration(&in_use.calibration, "in use", None, level()).unwrap();
    // One pass to look, two of a fit, one for sizes.
    [(anew, 3), (own, 4)]
}

/// Passes of a check until it ends; `rows_of` gives the rows of each pass, from 1.
fn check_passes<'a>(
    job: CheckJob,
    cal: &Points,
    rows_of: impl Fn(usize) -> &'a Points,
) -> Result<usize, JobError> {
    let mut open = DistributedCheck::begin(job, &cal.labeled(), None)?;
    for pass in 1.. {
        for state in states(open.plan(), rows_of(pass), 4, false) {
            open = open.merge(&state)?;
        }
        assert_eq!(open.rows(), rows_of(pass).labels.len() as u64);
        match open.end_pass()? {
            CheckPassEnded::Again(again) => open = *again,
            CheckPassEnded::Done(_) => return Ok(pass),
        }
    }
    unreachable!()
}

#[test]
fn rows_that_change_before_any_pass_of_a_check_are_an_error() {
    let (cal, target) = (Points::calibration(), Points::target());
    let changed = |change: fn(&mut Vec<f64>)| {
        let Points { mut values, labels } = Points::target();
        change(&mut values);
        Points { values, labels }
    };
    let others = [
        changed(|values| values.swap(17 * CLASSES, 17 * CLASSES + 1)),
        // The same rows under other keys.
        changed(|values| values.rotate_left(CLASSES)),
    ];
    for (job, passes) in checks_with_repairs(&cal) {
        assert_eq!(check_passes(job.clone(), &cal, |_| &target).unwrap(), passes);
        for (pass, other) in (2..=passes).flat_map(|pass| others.iter().map(move |o| (pass, o))) {
            let found = check_passes(job.clone(), &cal, |now| match now == pass {
                true => other,
                false => &target,
            });
            let expected = JobError::Core(Error::OtherRows { before: 500, now: 500 });
            assert_eq!(found.unwrap_err().to_string(), expected.to_string(), "pass {pass}");
        }
    }
}

#[test]
fn a_bundle_with_two_states_of_one_part_leaves_the_job_as_it_was() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    let fit = DistributedFit::begin(&calibrator(methods()[0]), &cal.labeled(), None).unwrap();
    let plan = fit.plan().unwrap();
    // Part 0 of a table that was read twice while it changed.
    let (first, again) =
        (states(&plan, &target, 1, false).remove(0), states(&plan, &test, 1, false).remove(0));
    let both = pack_states(&[&first, &again]).unwrap();
    let found = fit.require_new(&both);
    assert!(matches!(found, Err(JobError::Core(Error::PartTwice { part: 0 }))), "{found:?}");
    let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    let check = DistributedCheck::begin(job, &cal.labeled(), None).unwrap();
    let (first, again) = (
        states(check.plan(), &target, 1, false).remove(0),
        states(check.plan(), &test, 1, false).remove(0),
    );
    let found = check.require_new(&pack_states(&[&first, &again]).unwrap());
    assert!(matches!(found, Err(JobError::Core(Error::PartTwice { part: 0 }))), "{found:?}");
}

#[test]
fn an_evaluation_is_that_of_one_process() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    for method in methods() {
        let mut source = target.source("target");
        let made = calibrate(&calibrator(method), &cal.labeled(), &mut source, &mut Unobserved);
        let calibration = made.unwrap().calibration;
        let labels = test.checked_labels();
        let mut source = test.source("test").with_labels("labels", &labels).unwrap();
        let whole = evaluate(&calibration, None, &mut source, &mut Unobserved).unwrap();
        let mut job = DistributedEvaluation::begin(&calibration, None).unwrap();
        assert!(matches!(job.finish(), Err(JobError::NoRows { .. })));
        let plan = job.plan().to_vec();
        for state in states(&plan, &test, 5, true) {
            job.merge(&state).unwrap();
            let again = job.merge(&state);
            assert!(matches!(again, Err(JobError::Core(Error::PartTwice { .. }))));
            assert!(job.merge(&state[..state.len() - 1]).is_err());
        }
        let found = job.finish().unwrap();
        assert_eq!((found.evaluation, found.label_law), (whole.evaluation, whole.label_law));
    }
}

#[test]
fn rows_that_a_part_cannot_take_are_named_by_their_place() {
    let (cal, target) = (Points::calibration(), Points::target());
    let fit = DistributedFit::begin(&calibrator(methods()[0]), &cal.labeled(), None).unwrap();
    let plan = fit.plan().unwrap();
    let mut values = target.values[..4 * CLASSES].to_vec();
    values[2 * CLASSES] = f64::NAN;
    let rows = |values, columns, labels| PartRows {
        name: "batch",
        keys: RowKeys::Each(&[9, 8, 7, 6]),
        rows: AnyRows::f64(values, columns).unwrap(),
        side: SideInputs::default(),
        labels,
        groups: None,
    };
    let part = || RowsPart::begin(&plan, 0).unwrap();
    let error = part().add(rows(&values, CLASSES, None)).unwrap_err();
    assert_eq!(error.row(), Some(2), "{error}");
    assert!(error.to_string().starts_with("batch: "), "{error}");
    let good = &target.values[..4 * CLASSES];
    assert!(part().add(rows(good, CLASSES, Some(&[0, 1, 2, 0]))).is_err());
    assert!(matches!(
        part().add(rows(&good[..8], 2, None)),
        Err(JobError::Classes { found: 2, classes: CLASSES, .. })
    ));
    assert!(RowsPart::begin(&plan[..plan.len() / 2], 0).is_err());
}
