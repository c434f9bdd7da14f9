//! Input that cannot be used is refused with the reason; nothing panics.

use crate::draws::table;
use evenkeel::error::{At, Error};
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::entropy_scaling::{EntropyPower, EntropyScaling};
use evenkeel::method::label_shift::{
    EmSettings, LabelWeights, black_box_shift, expectation_maximisation,
};
use evenkeel::method::likelihood_ratio::{
    KnownRatios, LOG_RATIO_LIMIT, NetworkSettings, RatioEstimator, RatioModel, RatioThresholds,
    TelescopingSettings,
};
use evenkeel::method::quantile_transfer::{QuantileTransfer, TransferRule};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities};
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;

fn alpha() -> Miscoverage {
    Miscoverage::new(0.1).unwrap()
}

fn estimators() -> [RatioEstimator; 3] {
    [
        RatioEstimator::Logistic,
        RatioEstimator::Network(NetworkSettings::default()),
        RatioEstimator::Telescoping(TelescopingSettings::default()),
    ]
}

#[test]
fn ratios_must_be_finite_not_negative_and_not_all_zero() {
    assert!(matches!(KnownRatios::new(vec![]), Err(Error::Empty { .. })));
    assert!(matches!(KnownRatios::new(vec![0.0, 0.0]), Err(Error::ZeroTotal { .. })));
    assert!(matches!(
        KnownRatios::new(vec![1.0, f64::NAN]),
        Err(Error::NotFinite { at: At::Index(1), .. })
    ));
    assert!(matches!(
        KnownRatios::new(vec![1.0, -1.0]),
        Err(Error::Negative { at: At::Index(1), .. })
    ));
    let prepared = RatioThresholds::new(&[0.5], &KnownRatios::new(vec![1.0]).unwrap()).unwrap();
    assert!(matches!(
        prepared.thresholds(&[1.0, f64::INFINITY], alpha()),
        Err(Error::NotFinite { at: At::Index(1), .. })
    ));
    assert!(matches!(
        prepared.thresholds(&[1.0, 1.0, -0.5], alpha()),
        Err(Error::Negative { at: At::Index(2), .. })
    ));
    let two = KnownRatios::new(vec![1.0, 2.0]).unwrap();
    assert!(matches!(RatioThresholds::new(&[0.5], &two), Err(Error::LengthMismatch { .. })));
    assert!(RatioThresholds::new(&[0.5, f64::NAN], &two).is_err());
}

#[test]
fn features_must_fit_each_other_and_be_finite() {
    let (good, bad) = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, f64::NAN, 3.0]);
    for estimator in estimators() {
        let fit = |old: &[f64], new: &[f64], columns: (usize, usize)| {
            estimator.fit(table(old, columns.0), table(new, columns.1), Seed::new(1))
        };
        assert!(matches!(fit(&good, &good, (2, 1)), Err(Error::LengthMismatch { .. })));
        assert!(matches!(fit(&good, &good, (4, 4)), Err(Error::TooFew { .. })));
        assert!(matches!(
            fit(&good, &bad, (2, 2)),
            Err(Error::NotFinite { at: At::Cell { row: 1, column: 0 }, .. })
        ));
        assert!(matches!(fit(&bad, &good, (2, 2)), Err(Error::NotFinite { .. })));
        let model = fit(&good, &good, (2, 2)).unwrap().model;
        assert!(model.log_ratios(table(&good, 1)).is_err());
        assert!(model.log_ratios(table(&bad, 2)).is_err());
    }
    let none = RatioEstimator::Telescoping(TelescopingSettings { bridges: 0 });
    assert!(matches!(
        none.fit(table(&good, 2), table(&good, 2), Seed::new(1)),
        Err(Error::TooFew { .. })
    ));
}

#[test]
fn extreme_features_give_finite_ratios_within_the_limit() {
    let huge = [1e308, -1e308, 5e-324, 0.0, 1e-300, 1.0, -1.0, 1e300];
    let other = [-1e308, 1e308, 0.0, 5e-324, 1e300, 1.0, 3.0, 1e-300];
    for estimator in estimators() {
        for columns in [1, 2, 4] {
            let fit = estimator.fit(table(&huge, columns), table(&other, columns), Seed::new(1));
            let model = fit.unwrap().model;
            for rows in [huge, other] {
                let found = model.log_ratios(table(&rows, columns)).unwrap();
                assert!(found.iter().all(|value| value.abs() <= LOG_RATIO_LIMIT), "{found:?}");
                let ratios = model.ratios(table(&rows, columns)).unwrap();
                assert!(ratios.iter().all(|ratio| ratio.is_finite() && *ratio >= 0.0));
            }
        }
    }
}

#[test]
fn separated_laws_are_no_panic_but_evidence() {
    let old: Vec<f64> = (0..50).map(f64::from).collect();
    let new: Vec<f64> = (1000..1050).map(f64::from).collect();
    for estimator in estimators() {
        let fit = estimator.fit(table(&old, 1), table(&new, 1), Seed::new(1)).unwrap();
        let error = fit.evidence.require_overlap().unwrap_err();
        assert_eq!(error, Error::NoOverlap);
        assert!(error.to_string().contains("do not overlap"));
        assert_eq!(fit.evidence.area_under_curve, 1.0);
    }
}

/// Every way to break a stored model is an error when it is read.
#[test]
fn broken_models_are_refused() {
    let (old, new) = ([0.0, 1.0, 2.0, 3.0], [0.5, 1.5, 2.5, 3.5]);
    for estimator in estimators() {
        let fit = estimator.fit(table(&old, 1), table(&new, 1), Seed::new(1)).unwrap();
        let text = serde_json::to_string(&fit.model).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut broken = 0;
        for path in leaves(&value, String::new()) {
            for wrong in [serde_json::json!(null), serde_json::json!([]), serde_json::json!("x")] {
                let mut copy = value.clone();
                *copy.pointer_mut(&path).unwrap() = wrong;
                assert!(serde_json::from_value::<RatioModel>(copy).is_err(), "{path}");
                broken += 1;
            }
        }
        assert!(broken > 3);
        for array in arrays(&value, "") {
            let mut copy = value.clone();
            copy.pointer_mut(&array).unwrap().as_array_mut().unwrap().pop();
            let shorter = serde_json::from_value::<RatioModel>(copy);
            // One bridge less is a telescope of its own.
            assert!(shorter.is_err() || array.ends_with("bridges"), "{array}");
        }
    }
    let no_features = r#"{"standardisation":{"means":[],"inverse_deviations":[]},
        "form":{"logistic":{"coefficients":[],"intercept":0.0}}}"#;
    assert!(serde_json::from_str::<RatioModel>(no_features).is_err());
}

/// Pointers to all numbers.
fn leaves(value: &serde_json::Value, path: String) -> Vec<String> {
    match value {
        serde_json::Value::Array(list) => {
            list.iter().enumerate().flat_map(|(i, v)| leaves(v, format!("{path}/{i}"))).collect()
        }
        serde_json::Value::Object(map) => {
            map.iter().flat_map(|(key, v)| leaves(v, format!("{path}/{key}"))).collect()
        }
        _ => vec![path],
    }
}

/// Pointers to all arrays that are not empty.
fn arrays(value: &serde_json::Value, path: &str) -> Vec<String> {
    match value {
        serde_json::Value::Array(list) => {
            let inner = list.iter().enumerate();
            let inner = inner.flat_map(|(i, v)| arrays(v, &format!("{path}/{i}"))).collect();
            if list.is_empty() { inner } else { [vec![path.to_owned()], inner].concat() }
        }
        serde_json::Value::Object(map) => {
            map.iter().flat_map(|(key, v)| arrays(v, &format!("{path}/{key}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn label_shift_refuses_what_it_cannot_know() {
    let truth = Labels::new(vec![0, 1, 0, 1], 3).unwrap();
    let error = black_box_shift(&[0, 1, 0, 1], &truth, &[0, 1], 3).unwrap_err();
    assert_eq!(error, Error::UnseenClass { class: 2 });
    assert!(error.to_string().contains("class 2 never occurs"));
    let rows = [0.2, 0.3, 0.5];
    let target = Probabilities::new(&rows, 3).unwrap();
    let em = expectation_maximisation(&truth, &target, EmSettings::default());
    assert_eq!(em, Err(Error::UnseenClass { class: 2 }));

    let two = Labels::new(vec![0, 1], 2).unwrap();
    assert!(matches!(black_box_shift(&[0], &two, &[0], 2), Err(Error::LengthMismatch { .. })));
    assert!(matches!(black_box_shift(&[0, 1], &two, &[], 2), Err(Error::Empty { .. })));
    assert!(matches!(
        black_box_shift(&[0, 2], &two, &[0], 2),
        Err(Error::LabelOutOfRange { index: 1, .. })
    ));
    assert!(matches!(
        black_box_shift(&[0, 1], &two, &[0, 5], 2),
        Err(Error::LabelOutOfRange { index: 1, .. })
    ));
    let one = Labels::new(vec![0, 0], 1).unwrap();
    assert!(matches!(black_box_shift(&[0, 0], &one, &[0], 1), Err(Error::TooFew { .. })));
    // Labels of more classes than the table has.
    let rows = [0.5, 0.5];
    let target = Probabilities::new(&rows, 2).unwrap();
    let three = Labels::new(vec![0, 1, 2], 3).unwrap();
    let em = expectation_maximisation(&three, &target, EmSettings::default());
    assert!(matches!(em, Err(Error::LabelOutOfRange { .. })));
    for tolerance in [f64::NAN, -1.0, f64::INFINITY] {
        let settings = EmSettings { tolerance, ..EmSettings::default() };
        let em = expectation_maximisation(&two, &target, settings);
        assert!(matches!(em, Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn label_weights_must_be_shares() {
    let given = |p: &[f64], q: &[f64]| LabelWeights::given(p.to_vec(), q.to_vec());
    assert!(given(&[0.5, 0.5], &[0.1, 0.9]).is_ok());
    assert!(matches!(given(&[1.0], &[1.0]), Err(Error::TooFew { .. })));
    assert!(matches!(given(&[0.5, 0.5], &[1.0]), Err(Error::LengthMismatch { .. })));
    assert!(matches!(given(&[0.5, 0.6], &[0.5, 0.5]), Err(Error::OutOfRange { .. })));
    assert!(matches!(given(&[1.5, -0.5], &[0.5, 0.5]), Err(Error::Negative { .. })));
    assert!(matches!(given(&[0.5, 0.5], &[f64::NAN, 1.0]), Err(Error::NotFinite { .. })));
    assert!(matches!(given(&[1.0, 0.0], &[0.5, 0.5]), Err(Error::UnseenClass { class: 1 })));
    // All calibration labels of classes that are gone the target data: nothing is left to calibrate on.
    let weights = given(&[0.5, 0.5], &[0.0, 1.0]).unwrap();
    let truth = Labels::new(vec![0, 0], 2).unwrap();
    assert!(matches!(weights.weigh(&[0.1, 0.2], &truth), Err(Error::ZeroTotal { .. })));
    assert!(weights.weigh(&[0.1], &truth).is_err());
    for text in [
        r#"{"method":"given","calibration_shares":[0.5,0.5],"todays_shares":[2.0,-1.0],"clipped":[]}"#,
        r#"{"method":"given","calibration_shares":[0.5,0.5],"todays_shares":[0.5,0.5],"clipped":[7]}"#,
        r#"{"method":"other","calibration_shares":[0.5,0.5],"todays_shares":[0.5,0.5],"clipped":[]}"#,
    ] {
        assert!(serde_json::from_str::<LabelWeights>(text).is_err(), "{text}");
    }
}

#[test]
fn confidence_rules_refuse_missing_and_broken_rows() {
    assert!(matches!(EntropyScaling::new(1, EntropyPower::One), Err(Error::TooFew { .. })));
    let mut scaling = EntropyScaling::new(3, EntropyPower::One).unwrap();
    assert!(matches!(scaling.entropy_quantile(alpha()), Err(Error::Empty { .. })));
    let rows = [0.5, 0.6, 0.2, 0.5, 0.25, 0.25];
    let rows = Rows::new("probabilities", &rows, 3).unwrap();
    assert!(matches!(
        scaling.add(RowKeys::From(10), rows),
        Err(Error::NotNormalised { row: 10, .. })
    ));
    assert_eq!(scaling.rows(), 0, "a refused block leaves no trace");
    let two = [0.5, 0.5];
    assert!(scaling.add(RowKeys::From(0), Rows::new("probabilities", &two, 2).unwrap()).is_err());
    let other = EntropyScaling::new(4, EntropyPower::One).unwrap();
    assert!(matches!(scaling.merge(&other), Err(Error::IncompatibleSketches { .. })));
    let other = EntropyScaling::new(3, EntropyPower::Two).unwrap();
    assert!(matches!(scaling.merge(&other), Err(Error::IncompatibleSketches { .. })));
    // A uniform row's entropy may round past ln C.
    let uniform = [1.0 / 3.0; 3];
    scaling.add(RowKeys::From(0), Rows::new("probabilities", &uniform, 3).unwrap()).unwrap();

    let law = WeightedEmpirical::uniform(&[0.5]).unwrap();
    let empty = QuantileTransfer::default();
    for rule in [TransferRule::Qtc, TransferRule::SourceCoverage] {
        assert!(matches!(empty.threshold(rule, &law, alpha()), Err(Error::Empty { .. })));
    }
    let half = QuantileTransfer::new(&[0.5], &[]).unwrap();
    assert!(matches!(half.source_coverage_rate(alpha()), Err(Error::Empty { .. })));
    assert!(matches!(half.source_threshold(Threshold::Finite(0.5)), Err(Error::Empty { .. })));
    assert!(matches!(QuantileTransfer::new(&[1.5], &[0.5]), Err(Error::OutsideRange { .. })));
    assert!(matches!(QuantileTransfer::new(&[0.5], &[f64::NAN]), Err(Error::NotFinite { .. })));
    let transfer = QuantileTransfer::new(&[0.5], &[0.5]).unwrap();
    for tau in [-0.5, 1.5] {
        let found = transfer.source_threshold(Threshold::Finite(tau));
        assert!(matches!(found, Err(Error::Unsupported { .. })));
    }
}
