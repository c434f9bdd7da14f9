//! A calibration file: refused, or a calibration that keeps its promises whatever was changed in it.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel::level::Miscoverage;
use evenkeel::per_group::{PerClassCalibration, PerGroupCalibration};
use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::grouped::{AnyCalibration, parse_any_calibration};
use evenkeel_jobs::sentences;

use crate::set_checks::{Points, round_trips, sets_are_nested, sets_are_what_the_threshold_says};

/// Classes of a file that sets are asked of: tables of more columns would only be slower.
const MOST_CLASSES: usize = 12;

/// Miscoverage rates, falling.
const FALLING: [f64; 3] = [0.999, 0.5, 1e-9];

/// The text of a calibration file of any kind.
pub fn calibration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_any_calibration(text) {
        Ok(AnyCalibration::One(read)) => one(&read),
        Ok(AnyCalibration::PerClass(read)) => per_class(&read),
        Ok(AnyCalibration::PerGroup(read)) => per_group(&read),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}

/// Read again and written again: the same text.
fn is_written_as_read(written: serde_json::Result<String>) {
    let text = written.unwrap_or_default();
    assert!(!text.is_empty(), "a calibration that cannot be written");
    let again = match parse_any_calibration(&text) {
        Ok(AnyCalibration::One(again)) => serde_json::to_string(&again),
        Ok(AnyCalibration::PerClass(again)) => serde_json::to_string(&again),
        Ok(AnyCalibration::PerGroup(again)) => serde_json::to_string(&again),
        Err(refused) => {
            assert_eq!(refused.to_string(), "", "what was written is refused");
            return;
        }
    };
    assert_eq!(again.unwrap_or_default(), text);
}

/// The sets at falling rates, if there are any: none shrinks.
fn sets_grow(predicted: impl Fn(Miscoverage) -> evenkeel::Result<LabelSets>) {
    let mut before: Option<LabelSets> = None;
    for alpha in FALLING.into_iter().filter_map(|alpha| Miscoverage::new(alpha).ok()) {
        let Ok(found) = predicted(alpha) else { return };
        if let Some(narrower) = &before {
            sets_are_nested(&found, narrower);
        }
        before = Some(found);
    }
}

fn per_class(read: &PerClassCalibration) {
    is_written_as_read(serde_json::to_string(read));
    let classes = read.pooled().provenance().classes;
    if classes > MOST_CLASSES {
        return;
    }
    assert_eq!(read.thresholds(None).len(), classes);
    let values = table(classes);
    let Ok(rows) = Rows::new("probabilities", &values, classes) else { return };
    sets_grow(|alpha| read.predict(0, rows, Some(alpha)));
}

fn per_group(read: &PerGroupCalibration) {
    is_written_as_read(serde_json::to_string(read));
    let classes = read.provenance().classes;
    if classes > MOST_CLASSES {
        return;
    }
    let values = table(classes);
    let Ok(rows) = Rows::new("probabilities", &values, classes) else { return };
    let (ratios, features) = ([0.0, 1.0, 1e300], [0.0, 0.5, -1e9, 1e9, 1.0, 1.0]);
    let beside = SideInputs {
        features: Rows::new("features", &features, 2).ok(),
        ratios: Some(&ratios),
        ..SideInputs::default()
    };
    for part in [None, Some(0), read.parts().len().checked_sub(1)] {
        let parts = [part, Some(0), part];
        // Sets of `conditional` grow up to a rate of a half only.
        for alpha in FALLING.into_iter().filter_map(|alpha| Miscoverage::new(alpha).ok()) {
            drop(read.predict(0, rows, beside, &parts, Some(alpha)));
        }
    }
}

fn one(read: &Calibration) {
    round_trips(read);
    // Whatever it says, it is said in words.
    assert!(sentences::calibrated(read, None).iter().all(|said| !said.is_empty()));
    drop((read.warnings(), read.account()));
    let classes = read.provenance().classes;
    if classes > MOST_CLASSES {
        return;
    }
    let values = table(classes);
    let Ok(rows) = Rows::new("probabilities", &values, classes) else { return };
    let (ratios, features) = ([0.0, 1.0, 1e300], [0.0, 0.5, -1e9, 1e9, 1.0, 1.0]);
    for columns in [2, classes] {
        let beside = SideInputs {
            features: features
                .get(..3 * columns)
                .and_then(|f| Rows::new("features", f, columns).ok()),
            ratios: Some(&ratios),
            ..SideInputs::default()
        };
        let points = Points { rows, beside };
        for alpha in [None, Some(0.5), Some(1e-9), Some(0.999)] {
            let alpha = alpha.and_then(|alpha| Miscoverage::new(alpha).ok());
            sets_are_what_the_threshold_says(read, &points, alpha);
        }
    }
}

/// Three rows: sure of the first class, of nothing, and rising from class to class.
fn table(classes: usize) -> Vec<f64> {
    let total: f64 = (1..=classes).map(|rank| rank as f64).sum();
    let mut values: Vec<f64> = (0..classes).map(|class| f64::from(u8::from(class == 0))).collect();
    values.extend((0..classes).map(|_| 1.0 / classes as f64));
    values.extend((1..=classes).map(|rank| rank as f64 / total));
    values
}
