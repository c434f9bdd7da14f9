//! No result depends on how a source cuts its rows into blocks, or on their precision's path.

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
    for one in &found.compared {
        let alone = evaluate(&one.calibration, None, &mut test, &mut Unobserved).unwrap();
        assert_eq!(alone.evaluation, one.evaluation);
        assert_eq!(one.row().coverage, one.evaluation.coverage);
    }
    assert_eq!(found.compared.last().unwrap().row().method, "oracle");
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
