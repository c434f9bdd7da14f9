//! Where a method cannot apply it says so.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::likelihood_ratio::RatioEstimator;
use evenkeel::method::{LabelShiftChoice, Method, RatioChoice};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::side_inputs::{Labeled, SideInputs};

use crate::world::{CLASSES, Points, calibrator, points, with_labels};

fn refused(
    calibrator: &ShiftCalibrator,
    (labeled, beside): (&Points, SideInputs<'_>),
    (target, beside_target): (&Points, SideInputs<'_>),
) -> Error {
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES).unwrap();
    let labeled = Labeled { probabilities: &probabilities, labels: &labeled.labels, beside };
    let unlabeled = Probabilities::new(&target.probabilities, CLASSES).unwrap();
    calibrator.calibrate_beside(&labeled, &unlabeled, beside_target).unwrap_err()
}

#[test]
fn what_is_missing_is_named() {
    let (labeled, target) = (points(30, 0.0, 0.0, 1), points(30, 0.0, 0.0, 2));
    let nothing = SideInputs::default();
    let both = |method, words: &[&str]| {
        let error = refused(&calibrator(method), (&labeled, nothing), (&target, nothing));
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    both(Method::Fixed, &["method fixed needs calibration weights"]);
    both(
        Method::LikelihoodRatio(RatioChoice::Known),
        &["likelihood-ratio with ratio known needs calibration ratios"],
    );
    let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
    let features = SideInputs { ratios: None, weights: None, ..labeled.beside() };
    let error = refused(&calibrator(logistic), (&labeled, features), (&target, nothing));
    assert!(matches!(error, Error::OneSided { .. }), "{error}");
    let zeros = vec![0.0; 30];
    let error = refused(
        &calibrator(Method::LikelihoodRatio(RatioChoice::Known)),
        (&labeled, SideInputs { ratios: Some(&zeros), ..nothing }),
        (&target, nothing),
    );
    assert!(matches!(error, Error::ZeroTotal { .. }), "{error}");
}

#[test]
fn scores_and_classes_a_method_cannot_work_with() {
    let (labeled, target) = (points(30, 0.0, 0.0, 3), points(30, 0.0, 0.0, 4));
    let nothing = SideInputs::default();
    let ecp = ShiftCalibrator {
        score: Score::Margin,
        ..calibrator(Method::EntropyScaled(EntropyPower::One))
    };
    let error = refused(&ecp, (&labeled, nothing), (&target, nothing));
    assert_eq!(error.to_string(), "ecp works with the score lac only");
    let one_class =
        Points { labels: Labels::new(vec![1; 30], CLASSES).unwrap(), ..points(30, 0.0, 0.0, 3) };
    let shift = calibrator(Method::LabelShift(LabelShiftChoice::BlackBox));
    let error = refused(&shift, (&one_class, nothing), (&target, nothing));
    assert!(matches!(error, Error::UnseenClass { class: 0 }), "{error}");
}

#[test]
fn worlds_that_do_not_overlap() {
    let (labeled, target) = (points(50, 0.0, 0.0, 5), points(50, 60.0, 0.0, 6));
    let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
    let only =
        |points: &'static Points| SideInputs { ratios: None, weights: None, ..points.beside() };
    let (labeled, target) = (Box::leak(Box::new(labeled)), Box::leak(Box::new(target)));
    let error = refused(&calibrator(logistic), (labeled, only(labeled)), (target, only(target)));
    assert!(matches!(error, Error::NoOverlap), "{error}");
}

/// A row that is no probability vector is named by its place in the whole input, whatever block it came in.
#[test]
fn bad_rows_of_target_are_counted_from_the_start() {
    let labeled = points(60, 0.0, 0.0, 8);
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES).unwrap();
    let mut bad = labeled.probabilities.clone();
    bad[45 * CLASSES] += 1.0;
    for method in crate::world::methods() {
        let labeled = Labeled {
            probabilities: &probabilities,
            labels: &labeled.labels,
            beside: with_labels(
                &method,
                SideInputs { features: None, second: None, ..labeled.beside() },
            ),
        };
        let mut fit = Ok(calibrator(method).begin(&labeled).unwrap());
        for (index, block) in bad.chunks(20 * CLASSES).enumerate() {
            // Found when the block is added, by every method.
            assert!(fit.is_ok(), "{method:?}");
            let rows = Rows::new("probabilities", block, CLASSES).unwrap();
            let keys = RowKeys::From(20 * index as u64);
            fit = fit.and_then(|fit| fit.add(keys, rows, SideInputs::default()));
        }
        let error = fit.unwrap_err().to_string();
        assert!(error.contains("45"), "{method:?}: {error}");
    }
}

#[test]
fn what_stands_beside_must_fit() {
    let labeled = points(30, 0.0, 0.0, 7);
    let wrong = [f64::NAN; 60];
    for (features, columns) in [(&labeled.features[..58], 2), (&wrong[..], 2)] {
        let beside = SideInputs::features(Rows::new("features", features, columns).unwrap());
        let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
        refused(&calibrator(logistic), (&labeled, beside), (&labeled, beside));
    }
    let negative = vec![-1.0; 30];
    let beside = SideInputs { weights: Some(&negative), ..SideInputs::default() };
    let error =
        refused(&calibrator(Method::Fixed), (&labeled, beside), (&labeled, SideInputs::default()));
    assert!(matches!(error, Error::Negative { .. }), "{error}");
    assert!(beside.of_rows(20..40).is_err());
}
