//! Rows may come in any cut, and a calibration may go through a file: no bit changes.

use std::ops::ControlFlow;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Ended, ShiftCalibrator};
use evenkeel::conformal::LabelSets;
use evenkeel::method::{Method, RatioChoice};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities};
use evenkeel::side_inputs::{Labeled, SideInputs};

use crate::world::{CLASSES, Points, alpha, calibrator, methods, points, with_labels};

/// Whether a test should describe points by features or leave that to the scores.
fn beside_for<'a>(points: &'a Points, with_features: &str) -> SideInputs<'a> {
    let all = points.beside();
    if with_features == "features" { all } else { SideInputs { features: None, ..all } }
}

fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &Points,
    target: &Points,
    described: &str,
    block: usize,
) -> evenkeel::Result<Calibration> {
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES)?;
    let mut fit = calibrator.begin(&Labeled {
        probabilities: &probabilities,
        labels: &labeled.labels,
        beside: with_labels(&calibrator.method, beside_for(labeled, described)),
    })?;
    let beside = beside_for(target, described);
    loop {
        for (index, values) in target.probabilities.chunks(block * CLASSES).enumerate() {
            let rows = Rows::new("probabilities", values, CLASSES)?;
            let side = beside.of_rows(index * block..index * block + rows.rows())?;
            fit = fit.add(RowKeys::From((index * block) as u64), rows, side)?;
        }
        match fit.end_pass()? {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                return Ok(ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration);
            }
        }
    }
}

fn sets(calibration: &Calibration, test: &Points, described: &str, block: usize) -> LabelSets {
    let beside = beside_for(test, described);
    let parts: Vec<LabelSets> = test
        .probabilities
        .chunks(block * CLASSES)
        .enumerate()
        .map(|(index, values)| {
            let rows = Rows::new("probabilities", values, CLASSES).unwrap();
            let beside = beside.of_rows(index * block..index * block + rows.rows()).unwrap();
            calibration.predict_beside(index * block, rows, beside, Some(alpha(0.2))).unwrap()
        })
        .collect();
    LabelSets::concatenate(&parts).unwrap()
}

#[test]
fn blocks_files_and_threads_change_no_bit() {
    let (labeled, target, test) =
        (points(150, 0.0, 0.8, 1), points(140, 0.8, 0.8, 2), points(90, 0.8, 0.8, 3));
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for method in methods() {
        for described in ["scores", "features"] {
            let calibrator = calibrator(method);
            let on = |threads: usize, block: usize| {
                pool(threads).install(|| {
                    let fitted = fit(&calibrator, &labeled, &target, described, block).unwrap();
                    let sets = sets(&fitted, &test, described, block);
                    (fitted, sets)
                })
            };
            let (whole, sets_of_whole) = on(1, 140);
            for (threads, block) in [(1, 7), (2, 140), (3, 33)] {
                let (fitted, sets) = on(threads, block);
                assert_eq!(
                    fitted, whole,
                    "{method:?} by {described}, {threads} threads, {block} rows"
                );
                assert_eq!(sets, sets_of_whole);
            }
            let text = serde_json::to_string(&whole).unwrap();
            let read: Calibration = serde_json::from_str(&text).unwrap();
            assert_eq!(read, whole, "{method:?} through a file");
            assert_eq!(sets(&read, &test, described, 90), sets_of_whole);
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }
}

/// One fit serves every alpha, and sets grow with the level, except where a quantile function is fitted at each.
#[test]
fn sets_grow_with_the_level() {
    let (labeled, target, test) =
        (points(200, 0.0, 0.5, 4), points(200, 0.5, 0.5, 5), points(60, 0.5, 0.5, 6));
    for method in methods() {
        if matches!(method, Method::Conditional(_)) {
            continue;
        }
        let fitted = fit(&calibrator(method), &labeled, &target, "scores", 200).unwrap();
        let beside = beside_for(&test, "scores");
        let sizes = |rate: f64| {
            let sets = fitted.predict_beside(0, test.rows(), beside, Some(alpha(rate))).unwrap();
            (0..sets.rows()).map(|row| sets.size(row)).collect::<Vec<usize>>()
        };
        let mut last = sizes(0.5);
        for rate in [0.4, 0.3, 0.2, 0.1, 0.05, 0.01] {
            let next = sizes(rate);
            assert!(
                next.iter().zip(&last).all(|(next, last)| next >= last),
                "{method:?} at {rate}"
            );
            last = next;
        }
    }
}

#[test]
fn damaged_rules_are_refused() {
    let (labeled, target) = (points(40, 0.0, 0.5, 7), points(40, 0.5, 0.5, 8));
    for method in methods() {
        let fitted = fit(&calibrator(method), &labeled, &target, "scores", 40).unwrap();
        let value = serde_json::to_value(&fitted).unwrap();
        let refused = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut damaged = value.clone();
            change(&mut damaged);
            damaged != value && serde_json::from_value::<Calibration>(damaged).is_err()
        };
        if value["rule"]["name"] != "quantile" {
            assert!(refused(&|file| file["rule"]["name"] = "other".into()), "{method:?}");
        }
        match method {
            Method::LikelihoodRatio(_) | Method::LabelShift(_) => {
                assert!(refused(&|file| file["rule"]["ratios"][0] = (-1.0).into()), "{method:?}");
                assert!(refused(&|file| {
                    file["rule"]["sorted_scores"].as_array_mut().unwrap().pop();
                }));
                assert!(refused(&|file| file["rule"]["sorted_scores"][0] = (-3.0).into()));
            }
            Method::Conditional(_) => {
                assert!(refused(&|file| file["rule"]["model"]["gamma"] = (-1.0).into()));
                assert!(refused(&|file| file["rule"]["model"]["columns"] = 2.into()));
            }
            Method::LabelPlan(_) => {
                assert!(refused(&|file| file["rule"]["thresholds"]["reached"] = 2.0.into()));
                assert!(refused(&|file| file["rule"]["thresholds"]["scores"][0] = (-3.0).into()));
            }
            Method::FewLabels(_) => {
                let law = |file: &mut serde_json::Value, key: &str, value: f64| {
                    file["rule"]["thresholds"][key][0] = value.into();
                };
                assert!(refused(&|file| law(file, "cdf", -0.1)));
                assert!(refused(&|file| law(file, "scores", 3.0)));
                assert!(refused(&|file| law(file, "spread", 2.0)));
                assert!(refused(&|file| law(file, "labeled", 3.0)));
            }
            Method::EntropyScaled(_) => {
                assert!(refused(&|file| file["rule"]["scaling"]["classes"] = 1.into()));
            }
            _ => {}
        }
    }
    let known = Method::LikelihoodRatio(RatioChoice::Known);
    let fitted = fit(&calibrator(known), &labeled, &target, "scores", 40).unwrap();
    assert!(fitted.threshold(None).is_none());
}

/// A common factor of all ratios says nothing, however large: their plain sum would be infinite.
#[test]
fn known_ratios_may_be_near_the_largest_number() {
    let probabilities = [0.7, 0.3, 0.4, 0.6, 0.2, 0.8, 0.5, 0.5];
    let probabilities = Probabilities::new(&probabilities, 2).unwrap();
    let labels = Labels::new(vec![0, 1, 1, 0], 2).unwrap();
    let weights_at = |factor: f64| {
        let ratios = [1.0, 0.5, 0.25, 0.125].map(|ratio| ratio * factor);
        let beside = SideInputs { ratios: Some(&ratios), ..SideInputs::default() };
        let labeled = Labeled { probabilities: &probabilities, labels: &labels, beside };
        let known = calibrator(Method::LikelihoodRatio(RatioChoice::Known));
        let fit = known.begin(&labeled).unwrap();
        let rows = Rows::new("probabilities", &[0.6, 0.4], 2).unwrap();
        let fit = fit.add(RowKeys::From(0), rows, SideInputs::default()).unwrap();
        let Ended::Done(ready) = fit.end_pass().unwrap() else { panic!("one pass") };
        let calibration = ready.finish(&mut |_| ControlFlow::Continue(())).unwrap().calibration;
        calibration.weights().as_slice().to_vec()
    };
    assert_eq!(weights_at(1.0), weights_at(2f64.powi(1023)));
}
