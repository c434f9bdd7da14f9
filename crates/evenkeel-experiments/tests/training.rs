//! Training on images that need no data set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use evenkeel::seed::Seed;
use evenkeel_experiments::classifier::{Classifier, EpochReport, TrainingSettings, train};
use evenkeel_experiments::corruption::Condition;
use evenkeel_experiments::performance::Performance;

mod synthetic;
use synthetic::{bars, on_threads};

#[test]
fn the_classifier_learns_and_its_reports_show_it() {
    let training = bars(600, 1);
    let settings = TrainingSettings { epochs: 4, batch: 50, ..TrainingSettings::default() };
    let mut reports: Vec<EpochReport> = Vec::new();
    let classifier =
        train(&training, &settings, Seed::new(3), |report| reports.push(report)).unwrap();
    assert_eq!(reports.iter().map(|report| report.epoch).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(reports[3].loss < reports[0].loss / 4.0, "{reports:?}");

    let fresh = bars(200, 2);
    let ids: Vec<usize> = (0..fresh.len()).collect();
    let performance =
        Performance::under(Condition::Clean, &classifier, &fresh, &ids, Seed::new(0)).unwrap();
    assert!(performance.accuracy > 0.97, "{performance:?}");
}

/// Batches of 100 make chunks of 32, 32, 32 and 4; the last batch of the 250 images is a short one.
#[test]
fn any_number_of_threads_trains_the_same_bytes() {
    let images = bars(250, 3);
    let settings = TrainingSettings { epochs: 1, batch: 100, ..TrainingSettings::default() };
    let trained = |threads: usize, seed: u64| {
        on_threads(threads, || {
            let classifier = train(&images, &settings, Seed::new(seed), |_| ()).unwrap();
            classifier.to_bytes().unwrap()
        })
    };
    let one = trained(1, 5);
    assert_eq!(trained(2, 5), one);
    assert_eq!(trained(5, 5), one);
    assert_ne!(trained(1, 6), one);
}

#[test]
fn settings_out_of_range_are_refused() {
    let images = bars(10, 4);
    let right = TrainingSettings::default();
    for wrong in [
        TrainingSettings { epochs: 0, ..right },
        TrainingSettings { batch: 0, ..right },
        TrainingSettings { learning_rate: 0.0, ..right },
        TrainingSettings { learning_rate: f64::NAN, ..right },
    ] {
        assert!(train(&images, &wrong, Seed::new(0), |_| ()).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_shipped_classifier_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/classifier.safetensors");
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.len() < 500_000);
    let classifier = Classifier::load(path.as_ref()).unwrap();
    assert_eq!(classifier.to_bytes().unwrap(), bytes);
}
