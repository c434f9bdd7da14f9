//! A calibration file: refused, or a calibration that keeps its promises whatever was changed in it.

use evenkeel::level::Miscoverage;
use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{parse_calibration, sentences};

use crate::set_checks::{Points, round_trips, sets_are_what_the_threshold_says};

/// Classes of a file that sets are asked of: tables of more columns would only be slower.
const MOST_CLASSES: usize = 12;

/// The text of a calibration file.
pub fn calibration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(read) = parse_calibration(text) else { return };
    round_trips(&read);
    // Whatever it says, it is said in words.
    assert!(sentences::calibrated(&read, None).iter().all(|said| !said.is_empty()));
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
            sets_are_what_the_threshold_says(&read, &points, alpha);
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
