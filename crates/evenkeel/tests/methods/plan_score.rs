//! The label law as score: the same bytes however rows come, sets for every level from one file, and refusals where it has no
//! meaning.

use std::ops::ControlFlow;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::conformal::LabelSets;
use evenkeel::error::Error;
use evenkeel::evaluation::coverage;
use evenkeel::level::FailureProbability;
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::few_labels::{ChangeBelief, FewLabelsSettings};
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Probabilities, Score};
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};

use crate::world::{CLASSES, Points, alpha, calibrator, methods, points};

fn with_plan_score(method: Method) -> ShiftCalibrator {
    calibrator(method).score(Score::Plan)
}

fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &Points,
    target: &Points,
    known: &TargetLabels,
    block: usize,
) -> evenkeel::Result<Calibration> {
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES)?;
    let beside = match calibrator.method {
        Method::FewLabels(_) => SideInputs::labels(known),
        _ => SideInputs::default(),
    };
    let labels = &labeled.labels;
    let mut fit = calibrator.begin(&Labeled { probabilities: &probabilities, labels, beside })?;
    loop {
        for (index, values) in target.probabilities.chunks(block * CLASSES).enumerate() {
            let rows = Rows::new("probabilities", values, CLASSES)?;
            fit = fit.add(RowKeys::From((index * block) as u64), rows, SideInputs::default())?;
        }
        match fit.end_pass()? {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                return Ok(ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration);
            }
        }
    }
}

/// Labels of the first `k` rows.
fn first_labels(target: &Points, k: usize) -> TargetLabels {
    let labels = target.labels.as_slice()[..k].iter().enumerate();
    let pairs: Vec<(u64, usize)> = labels.map(|(row, label)| (row as u64, *label)).collect();
    TargetLabels::new(&pairs, CLASSES).unwrap()
}

fn served() -> Vec<Method> {
    let delta = FailureProbability::new(0.05).unwrap();
    let few = FewLabelsSettings { change: ChangeBelief::Changed, ..FewLabelsSettings::new(delta) };
    vec![
        Method::Auto(AutoSettings::new(delta)),
        Method::LabelPlan(LabelPlanSettings::new(delta)),
        Method::FewLabels(few),
        // So few rows are kept that the law takes a second pass.
        Method::FewLabels(FewLabelsSettings {
            plan: LabelPlanSettings { kept_cells: 75, ..LabelPlanSettings::new(delta) },
            ..few
        }),
        Method::Uncorrected,
    ]
}

fn sets(calibration: &Calibration, test: &Points, block: usize, rate: f64) -> LabelSets {
    let parts: Vec<LabelSets> = test
        .probabilities
        .chunks(block * CLASSES)
        .enumerate()
        .map(|(index, values)| {
            let rows = Rows::new("probabilities", values, CLASSES).unwrap();
            calibration.predict(index * block, rows, Some(alpha(rate))).unwrap()
        })
        .collect();
    LabelSets::concatenate(&parts).unwrap()
}

#[test]
fn blocks_files_and_threads_change_no_bit() {
    let (labeled, target, test) =
        (points(150, 0.0, 0.0, 1), points(140, -1.2, 0.0, 2), points(90, -1.2, 0.0, 3));
    let known = first_labels(&target, 30);
    for method in served() {
        let calibrator = with_plan_score(method);
        let on = |threads: usize, block: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&calibrator, &labeled, &target, &known, block).unwrap())
        };
        let whole = on(1, 140);
        for (threads, block) in [(1, 7), (2, 140), (3, 33)] {
            assert_eq!(on(threads, block), whole, "{method:?}, {threads} threads, {block} rows");
        }
        assert_eq!(whole.is_scored_by_a_fitted_law(), method != Method::Uncorrected, "{method:?}");
        let text = serde_json::to_string(&whole).unwrap();
        let read: Calibration = serde_json::from_str(&text).unwrap();
        assert_eq!(read, whole, "{method:?} through a file");
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let mut smaller = sets(&whole, &test, 90, 0.4);
        for rate in [0.3, 0.2, 0.1, 0.05] {
            let cut = sets(&read, &test, 13, rate);
            assert_eq!(cut, sets(&whole, &test, 90, rate));
            // Scores and sets are of one law: a label is in its row's set where its score is at most the threshold.
            let labels = test.labels.as_slice();
            let scores = whole.label_scores(0, test.rows(), labels).unwrap();
            let threshold = whole.threshold(Some(alpha(rate))).unwrap();
            for (row, (score, label)) in scores.iter().zip(labels).enumerate() {
                assert_eq!(cut.contains(row, *label), threshold.admits(*score));
                assert!((0..CLASSES).all(|y| cut.contains(row, y) || !smaller.contains(row, y)));
            }
            smaller = cut;
        }
    }
}

/// Without a fitted law the score is one minus the model's own probability, and so are the sets.
#[test]
fn uncorrected_keeps_the_models_own_law() {
    let (labeled, target, test) =
        (points(150, 0.0, 0.0, 1), points(140, 0.0, 0.0, 2), points(90, 0.0, 0.0, 3));
    let known = first_labels(&target, 1);
    for method in [served()[0], Method::Uncorrected] {
        let plan = fit(&with_plan_score(method), &labeled, &target, &known, 140).unwrap();
        let lac = fit(&calibrator(method), &labeled, &target, &known, 140).unwrap();
        assert_eq!(plan.threshold(None), lac.threshold(None));
        assert_eq!(sets(&plan, &test, 90, 0.2), sets(&lac, &test, 90, 0.2));
    }
}

/// 40 runs of 300 target rows, 100 of them labeled: the standard deviation of one run's coverage is below 0.03, that of the
/// mean below 0.005. The labels bound what a wrong law can do, so the mean is near the level although none is proved.
#[test]
fn coverage_with_labels_is_near_the_level() {
    let delta = FailureProbability::new(0.05).unwrap();
    let runs = 40;
    let total: f64 = (0..runs)
        .map(|run| {
            let labeled = points(300, 0.0, 0.0, 3 * run);
            let target = points(300, -1.0, 0.0, 3 * run + 1);
            let test = points(1000, -1.0, 0.0, 3 * run + 2);
            let calibrator = with_plan_score(Method::FewLabels(FewLabelsSettings::new(delta)));
            let known = first_labels(&target, 100);
            let fitted = fit(&calibrator, &labeled, &target, &known, 300).unwrap();
            let sets = fitted.predict(0, test.rows(), None).unwrap();
            coverage(&sets, &test.labels).unwrap()
        })
        .sum();
    let mean = total / runs as f64;
    assert!((mean - 0.9).abs() < 0.02, "{mean}");
}

#[test]
fn methods_that_fit_no_label_law_refuse_it() {
    let (labeled, target) = (points(60, 0.0, 0.0, 1), points(60, -1.2, 0.0, 2));
    let known = first_labels(&target, 30);
    let serve = |method: &Method| {
        let fits = matches!(method, Method::FewLabels(_) | Method::Auto(_) | Method::LabelPlan(_));
        fits || matches!(method, Method::Uncorrected)
    };
    for method in methods() {
        let calibrator = with_plan_score(method);
        let probabilities = Probabilities::new(&labeled.probabilities, CLASSES).unwrap();
        let beside = match method {
            Method::FewLabels(_) => SideInputs::labels(&known),
            _ => labeled.beside(),
        };
        let labels = &labeled.labels;
        let begun = calibrator.begin(&Labeled { probabilities: &probabilities, labels, beside });
        match begun {
            Ok(_) => assert!(serve(&method), "{method:?}"),
            Err(error) => {
                assert!(matches!(error, Error::WrongScore { .. }), "{method:?}: {error}");
                assert!(!serve(&method), "{method:?}");
            }
        }
    }
}

#[test]
fn a_law_that_does_not_belong_to_the_file_is_damage() {
    let (labeled, target) = (points(100, 0.0, 0.0, 1), points(100, -1.2, 0.0, 2));
    let known = first_labels(&target, 30);
    let fitted = fit(&with_plan_score(served()[1]), &labeled, &target, &known, 100).unwrap();
    let value = serde_json::to_value(&fitted).unwrap();
    assert_eq!((&value["version"], &value["score"]["name"]), (&1.into(), &"plan".into()));
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut damaged = value.clone();
        change(&mut damaged);
        damaged != value && serde_json::from_value::<Calibration>(damaged).is_err()
    };
    assert!(refused(&|file| file["label_law"] = serde_json::Value::Null));
    assert!(refused(&|file| file["score"]["name"] = "lac".into()));
    assert!(refused(&|file| file["label_law"][0]["temperature"] = 0.0.into()));
    assert!(refused(&|file| file["label_law"][0]["own"] = 2.0.into()));
    assert!(refused(&|file| {
        file["label_law"][0]["plans"][0]["scalings"].as_array_mut().unwrap().pop();
    }));
}
