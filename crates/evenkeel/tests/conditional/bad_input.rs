//! Input that is refused, and what the error says.

use evenkeel::Error;
use evenkeel::error::At;
use evenkeel::level::Miscoverage;
use evenkeel::method::conditional::{
    ConditionalModel, ConditionalRecord, ConditionalSettings, LARGEST_CALIBRATION, LambdaChoice,
};
use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

fn fit(features: &[f64], columns: usize, scores: &[f64]) -> evenkeel::Result<ConditionalModel> {
    let features = Rows::new("features", features, columns)?;
    ConditionalModel::fit(features, scores, &ConditionalSettings::default())
}

fn model() -> ConditionalModel {
    let features: Vec<f64> = (0..60).map(f64::from).collect();
    fit(&features, 3, &[0.5; 20]).unwrap()
}

fn alpha() -> Miscoverage {
    Miscoverage::new(0.1).unwrap()
}

#[test]
fn features_and_scores() {
    let error = fit(&[0.0, 1.0, f64::NAN, 2.0], 2, &[0.1, 0.2]).unwrap_err();
    assert!(
        matches!(error, Error::NotFinite { at: At::Cell { row: 1, column: 0 }, .. }),
        "{error}"
    );
    let error = fit(&[0.0, f64::INFINITY], 1, &[0.1, 0.2]).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    let error = fit(&[0.0, 1.0], 1, &[0.1, f64::NAN]).unwrap_err();
    assert!(matches!(error, Error::NotFinite { what: "scores", at: At::Index(1), .. }), "{error}");
    let error = fit(&[0.0, 1.0], 1, &[0.1]).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { found: 1, expected: 2, .. }), "{error}");
    let error = fit(&[0.0, 1.0], 1, &[0.1, 1e200]).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    assert!(matches!(fit(&[], 1, &[]).unwrap_err(), Error::Empty { .. }));
    assert!(matches!(fit(&[1.0], 0, &[1.0]).unwrap_err(), Error::TooFew { .. }));
    assert!(matches!(fit(&[1.0, 2.0, 3.0], 2, &[1.0]).unwrap_err(), Error::Ragged { .. }));
}

#[test]
fn test_points() {
    let model = model();
    let test = Rows::new("test features", &[1.0, 2.0], 2).unwrap();
    let error = model.cutoffs(test, alpha()).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { found: 2, expected: 3, .. }), "{error}");
    let test = Rows::new("test features", &[1.0, 2.0, f64::NAN], 3).unwrap();
    let error = model.cutoffs(test, alpha()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { what: "test features", .. }), "{error}");
    assert!(matches!(model.solution(&[1.0], alpha()).unwrap_err(), Error::Ragged { .. }));
    assert!(matches!(
        model.solution(&[1.0; 6], alpha()).unwrap_err(),
        Error::LengthMismatch { .. }
    ));
    assert!(matches!(model.solution(&[], alpha()).unwrap_err(), Error::Empty { .. }));
}

#[test]
fn settings() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, -0.0] {
        let error = ConditionalSettings::new(bad, 0.005).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { what: "gamma", .. }), "{error}");
        let error = ConditionalSettings::new(12.5, bad).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { what: "lambda", .. }), "{error}");
        // The fields are open, so fitting checks again.
        let settings = ConditionalSettings { gamma: bad, ..ConditionalSettings::default() };
        let features = Rows::new("features", &[1.0, 2.0], 1).unwrap();
        assert!(ConditionalModel::fit(features, &[0.1, 0.2], &settings).is_err());
    }
    let validated = |folds: usize, candidates: Vec<f64>| {
        let (alpha, seed) = (alpha(), Seed::new(0));
        let lambda = LambdaChoice::CrossValidated { folds, candidates, alpha, seed };
        let settings = ConditionalSettings { lambda, ..ConditionalSettings::default() };
        let features = Rows::new("features", &[1.0, 2.0], 1).unwrap();
        ConditionalModel::fit(features, &[0.1, 0.2], &settings)
    };
    assert!(matches!(validated(1, vec![0.1]).unwrap_err(), Error::TooFew { what: "folds", .. }));
    assert!(matches!(validated(3, vec![0.1]).unwrap_err(), Error::TooFew { found: 2, .. }));
    assert!(matches!(validated(2, vec![]).unwrap_err(), Error::Empty { .. }));
    assert!(matches!(validated(2, vec![0.1, 0.0]).unwrap_err(), Error::OutOfRange { .. }));
}

#[test]
fn more_points_than_memory_is_meant_for() {
    let n = LARGEST_CALIBRATION + 1;
    let error = fit(&vec![0.0; n], 1, &vec![0.0; n]).unwrap_err();
    assert!(matches!(error, Error::TooMany { found, .. } if found == n), "{error}");
    assert!(error.to_string().contains("subset"), "{error}");
}

#[test]
fn records_are_checked_when_read() {
    let good = ConditionalRecord::from(&model());
    let text = serde_json::to_string(&good).unwrap();
    let read: ConditionalRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(ConditionalModel::try_from(read).unwrap(), model());
    let refused = |change: &dyn Fn(&mut ConditionalRecord)| {
        let mut record = good.clone();
        change(&mut record);
        ConditionalModel::try_from(record).unwrap_err()
    };
    assert!(matches!(refused(&|r| r.gamma = -1.0), Error::OutOfRange { .. }));
    assert!(matches!(refused(&|r| r.lambda = f64::NAN), Error::OutOfRange { .. }));
    assert!(matches!(refused(&|r| r.columns = 7), Error::Ragged { .. }));
    assert!(matches!(refused(&|r| r.columns = 0), Error::TooFew { .. }));
    assert!(matches!(refused(&|r| r.scores.truncate(3)), Error::LengthMismatch { .. }));
    assert!(matches!(refused(&|r| r.scores[0] = f64::NAN), Error::NotFinite { .. }));
    assert!(matches!(refused(&|r| r.features[0] = f64::INFINITY), Error::NotFinite { .. }));
    assert!(matches!(refused(&|r| r.features.clear()), Error::Empty { .. }));
}
