//! No result depends on how a source cuts its rows into blocks, or on their precision's path.

use evenkeel::evaluation::Evaluation;
use evenkeel::score::Score;
use evenkeel_jobs::{
    AnyRows, CheckJob, CompareJob, Entrant, IfInapplicable, LabeledData, MemorySource, RowSource,
    Unobserved, calibrate, check, compare, evaluate, predict,
};

use crate::world::{CLASSES, Points, alpha, calibrator, level, methods, seed};

const BLOCKS: [usize; 3] = [7, 64, 1000];

/// What `of` makes of every cut of the target data must be the same.
fn same_for_any_cut(of: impl Fn(usize) -> String) {
    let all: Vec<String> = BLOCKS.into_iter().map(of).collect();
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
}

#[test]
fn calibrations() {
    let (cal, target) = (Points::calibration(), Points::target());
    for method in methods() {
        same_for_any_cut(|rows| {
            let mut source = target.source("target").in_blocks_of(rows);
            let done = calibrate(&calibrator(method), &cal.labeled(), &mut source, &mut Unobserved);
            serde_json::to_string(&done.unwrap().calibration).unwrap()
        });
    }
}

#[test]
fn calibration_data_of_either_precision() {
    let (cal, target) = (Points::calibration(), Points::target());
    #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
    let single: Vec<f32> = cal.values.iter().map(|value| *value as f32).collect();
    let double: Vec<f64> = single.iter().copied().map(f64::from).collect();
    let rows = [AnyRows::f32(&single, CLASSES).unwrap(), AnyRows::f64(&double, CLASSES).unwrap()];
    for method in methods() {
        let [one, other] = rows.map(|rows| {
            let labeled = LabeledData::of_rows("cal", rows, "labels", cal.labels.clone()).unwrap();
            let mut source = target.source("target");
            let done = calibrate(&calibrator(method), &labeled, &mut source, &mut Unobserved);
            serde_json::to_string(&done.unwrap().calibration).unwrap()
        });
        assert_eq!(one, other);
    }
}

#[test]
fn checks() {
    let (cal, target) = (Points::calibration(), Points::target());
    same_for_any_cut(|rows| {
        let mut source = target.source("target").in_blocks_of(rows);
        let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
        let checked = check(&job, &cal.labeled(), &mut source, &mut Unobserved).unwrap();
        serde_json::to_string(&checked.document(None, &[])).unwrap()
    });
}

#[test]
fn sets_and_evaluations() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    let labels = test.checked_labels();
    for method in methods() {
        let mut source = target.source("target");
        let calibration =
            calibrate(&calibrator(method), &cal.labeled(), &mut source, &mut Unobserved)
                .unwrap()
                .calibration;
        same_for_any_cut(|rows| {
            let mut source =
                test.source("test").in_blocks_of(rows).with_labels("labels", &labels).unwrap();
            let mut members = Vec::new();
            let mut sink = |sets: &evenkeel::conformal::LabelSets| {
                members.extend(sets.to_bools());
                Ok(())
            };
            let predicted =
                predict(&calibration, None, &mut source, &mut sink, &mut Unobserved).unwrap();
            let evaluated = evaluate(&calibration, None, &mut source, &mut Unobserved).unwrap();
            let covered =
                test.labels.iter().enumerate().filter(|(row, y)| members[row * CLASSES + **y]);
            let coverage = covered.count() as f64 / test.labels.len() as f64;
            assert_eq!(evaluated.evaluation.coverage.to_bits(), coverage.to_bits());
            assert_eq!(predicted.document().mean_size, evaluated.evaluation.mean_size);
            format!("{members:?} {}", serde_json::to_string(&evaluated.document(None)).unwrap())
        });
    }
}

#[test]
fn comparisons_repeat_what_the_jobs_say_one_by_one() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    let labels = test.checked_labels();
    let mut entrants: Vec<Entrant> =
        methods().into_iter().map(|method| Entrant::Method(calibrator(method))).collect();
    entrants.push(Entrant::Oracle(calibrator(methods()[2])));
    let job = CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
    let mut test = test.source("test").with_labels("labels", &labels).unwrap();
    let found =
        compare(&job, &cal.labeled(), &mut target.source("target"), &mut test, &mut Unobserved)
            .unwrap();
    assert_eq!(found.compared.len(), methods().len() + 1);
    for one in found.compared.iter().filter(|one| one.row().method != "oracle") {
        let alone = evaluate(&one.calibration, None, &mut test, &mut Unobserved).unwrap();
        assert_eq!(alone.evaluation, one.evaluation);
        assert_eq!(one.row().coverage, one.evaluation.coverage);
    }
    assert_eq!(found.compared.last().unwrap().row().method, "oracle");
}

/// The oracle by hand: halves by the keys of the rows, each calibrated alone and measured on the other.
#[test]
fn the_oracle_is_measured_on_the_half_that_did_not_choose_it() {
    let (cal, target, points) = (Points::calibration(), Points::target(), Points::new(301, 2.0, 3));
    let labels = points.checked_labels();
    let calibrator = calibrator(methods()[2]);
    let entrants = vec![Entrant::Oracle(calibrator)];
    let job = CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
    let compared = |block: usize| {
        let mut test =
            points.source("test").in_blocks_of(block).with_labels("labels", &labels).unwrap();
        let mut target = target.source("target");
        compare(&job, &cal.labeled(), &mut target, &mut test, &mut Unobserved).unwrap().compared
    };
    let found = compared(64).remove(0);
    let mut order: Vec<usize> = (0..301).collect();
    order.sort_by_key(|row| (calibrator.seed.child("oracle-halves", *row as u64).get(), *row));
    let (first, second) = order.split_at(150);
    let of = |rows: &[usize]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        Points {
            values: rows
                .iter()
                .flat_map(|row| points.values[row * CLASSES..][..CLASSES].to_vec())
                .collect(),
            labels: rows.iter().map(|row| points.labels[*row]).collect(),
        }
    };
    let measured = |fitted_on: &Points, on: &Points| {
        let scores: Vec<f64> = (fitted_on.labels.iter().enumerate())
            .map(|(row, label)| 1.0 - fitted_on.values[row * CLASSES + label])
            .collect();
        let calibration = calibrator.fit_oracle(&scores, CLASSES).unwrap().calibration;
        let labels = on.checked_labels();
        let mut test = on.source("test").with_labels("labels", &labels).unwrap();
        evaluate(&calibration, None, &mut test, &mut Unobserved).unwrap().evaluation
    };
    let (first, second) = (of(first), of(second));
    let (one, two) = (measured(&second, &first), measured(&first, &second));
    let covered = |part: &Evaluation| part.coverage * part.n as f64;
    let mean = |of: fn(&Evaluation) -> f64| (150.0 * of(&one) + 151.0 * of(&two)) / 301.0;
    let evaluation = &found.evaluation;
    assert_eq!((evaluation.n, one.n, two.n), (301, 150, 151));
    assert!((evaluation.coverage * 301.0 - covered(&one) - covered(&two)).abs() < 1e-9);
    assert!((evaluation.mean_size - mean(|part| part.mean_size)).abs() < 1e-12);
    let gap = mean(|part| part.total_coverage_gap.unwrap());
    assert!((evaluation.total_coverage_gap.unwrap() - gap).abs() < 1e-12);
    let at_ten = &found.gap_curve[9];
    assert!((at_ten.coverage - evaluation.coverage).abs() < 1e-12, "{at_ten:?}");
    // Not what the rows that chose a threshold would say of it.
    assert_ne!(evaluation.coverage, (302.0_f64 * 0.9).ceil() / 301.0);
    for block in [1, 7, 301] {
        assert_eq!(&compared(block).remove(0).evaluation, evaluation, "blocks of {block}");
    }
    // One row has no halves.
    let alone = Points::new(1, 2.0, 3);
    let labels = alone.checked_labels();
    let mut test = alone.source("test").with_labels("labels", &labels).unwrap();
    let mut target = target.source("target");
    let refused = compare(&job, &cal.labeled(), &mut target, &mut test, &mut Unobserved);
    assert!(refused.unwrap_err().to_string().contains("one half calibrates the oracle"));
}

#[test]
fn single_precision_is_widened_not_copied_first() {
    let target = Points::target();
    let single: Vec<f32> = target.values.iter().map(|value| *value as f32).collect();
    let widened: Vec<f64> = single.iter().copied().map(f64::from).collect();
    let cal = Points::calibration();
    let of = |rows: AnyRows<'_>| {
        let mut source = MemorySource::new("target", rows);
        assert_eq!((source.columns(), source.rows()), (CLASSES, Some(500)));
        let done =
            calibrate(&calibrator(methods()[0]), &cal.labeled(), &mut source, &mut Unobserved);
        serde_json::to_string(&done.unwrap().calibration).unwrap()
    };
    assert_eq!(
        of(AnyRows::f32(&single, CLASSES).unwrap()),
        of(AnyRows::f64(&widened, CLASSES).unwrap())
    );
}
