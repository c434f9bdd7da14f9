//! Where a method cannot apply it says so.

use evenkeel::calibrator::{
    Beside, LabelShiftChoice, Method, RatioChoice, ShiftCalibrator, Yesterday,
};
use evenkeel::conformal::EntropyPower;
use evenkeel::error::Error;
use evenkeel::reweighting::likelihood_ratio::RatioEstimator;
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Probabilities, Score};

use crate::world::{CLASSES, Points, calibrator, points};

fn refused(
    calibrator: &ShiftCalibrator,
    (yesterday, beside): (&Points, Beside<'_>),
    (today, beside_today): (&Points, Beside<'_>),
) -> Error {
    let probabilities = Probabilities::new(&yesterday.probabilities, CLASSES).unwrap();
    let labeled = Yesterday { probabilities: &probabilities, labels: &yesterday.labels, beside };
    let unlabeled = Probabilities::new(&today.probabilities, CLASSES).unwrap();
    calibrator.calibrate_beside(&labeled, &unlabeled, beside_today).unwrap_err()
}

#[test]
fn what_is_missing_is_named() {
    let (yesterday, today) = (points(30, 0.0, 0.0, 1), points(30, 0.0, 0.0, 2));
    let nothing = Beside::default();
    let both = |method, words: &[&str]| {
        let error = refused(&calibrator(method), (&yesterday, nothing), (&today, nothing));
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    both(Method::Fixed, &["fixed", "--weights-file"]);
    both(Method::LikelihoodRatio(RatioChoice::Known), &["likelihood-ratio", "--cal-ratios"]);
    let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
    let features = Beside { ratios: None, weights: None, ..yesterday.beside() };
    let error = refused(&calibrator(logistic), (&yesterday, features), (&today, nothing));
    assert!(error.to_string().contains("features of both"), "{error}");
    let zeros = vec![0.0; 30];
    let error = refused(
        &calibrator(Method::LikelihoodRatio(RatioChoice::Known)),
        (&yesterday, Beside { ratios: Some(&zeros), ..nothing }),
        (&today, nothing),
    );
    assert!(matches!(error, Error::ZeroTotal { .. }), "{error}");
}

#[test]
fn scores_and_classes_a_method_cannot_work_with() {
    let (yesterday, today) = (points(30, 0.0, 0.0, 3), points(30, 0.0, 0.0, 4));
    let nothing = Beside::default();
    let ecp = ShiftCalibrator {
        score: Score::Margin,
        ..calibrator(Method::EntropyScaled(EntropyPower::One))
    };
    let error = refused(&ecp, (&yesterday, nothing), (&today, nothing));
    assert!(error.to_string().contains("--score lac"), "{error}");
    let one_class =
        Points { labels: Labels::new(vec![1; 30], CLASSES).unwrap(), ..points(30, 0.0, 0.0, 3) };
    let shift = calibrator(Method::LabelShift(LabelShiftChoice::BlackBox));
    let error = refused(&shift, (&one_class, nothing), (&today, nothing));
    assert!(matches!(error, Error::UnseenClass { class: 0 }), "{error}");
}

#[test]
fn worlds_that_do_not_overlap() {
    let (yesterday, today) = (points(50, 0.0, 0.0, 5), points(50, 60.0, 0.0, 6));
    let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
    let only = |points: &'static Points| Beside { ratios: None, weights: None, ..points.beside() };
    let (yesterday, today) = (Box::leak(Box::new(yesterday)), Box::leak(Box::new(today)));
    let error = refused(&calibrator(logistic), (yesterday, only(yesterday)), (today, only(today)));
    assert!(matches!(error, Error::NoOverlap), "{error}");
}

/// A row that is no probability vector is named by its place in the whole input, whatever block it came in.
#[test]
fn bad_rows_of_today_are_counted_from_the_start() {
    let yesterday = points(60, 0.0, 0.0, 8);
    let probabilities = Probabilities::new(&yesterday.probabilities, CLASSES).unwrap();
    let mut bad = yesterday.probabilities.clone();
    bad[45 * CLASSES] += 1.0;
    for method in crate::world::methods() {
        let labeled = Yesterday {
            probabilities: &probabilities,
            labels: &yesterday.labels,
            beside: Beside { features: None, ..yesterday.beside() },
        };
        let mut fit = calibrator(method).begin(&labeled).unwrap();
        let mut outcome = Ok(());
        for block in bad.chunks(20 * CLASSES) {
            let rows = Rows::new("probabilities", block, CLASSES).unwrap();
            outcome = outcome.and_then(|()| fit.add(rows, Beside::default()));
        }
        let finished = outcome
            .and_then(|()| fit.end_pass())
            .and_then(|_| fit.finish(&mut |_| std::ops::ControlFlow::Continue(())));
        let error = finished.unwrap_err().to_string();
        assert!(error.contains("45"), "{method:?}: {error}");
    }
}

#[test]
fn what_stands_beside_must_fit() {
    let yesterday = points(30, 0.0, 0.0, 7);
    let wrong = [f64::NAN; 60];
    for (features, columns) in [(&yesterday.features[..58], 2), (&wrong[..], 2)] {
        let beside = Beside::features(Rows::new("features", features, columns).unwrap());
        let logistic = Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic));
        refused(&calibrator(logistic), (&yesterday, beside), (&yesterday, beside));
    }
    let negative = vec![-1.0; 30];
    let beside = Beside { weights: Some(&negative), ..Beside::default() };
    let error =
        refused(&calibrator(Method::Fixed), (&yesterday, beside), (&yesterday, Beside::default()));
    assert!(matches!(error, Error::Negative { .. }), "{error}");
    assert!(beside.of_rows(20..40).is_err());
}
