//! What every corruption must hold to, on images that need no data set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use evenkeel::seed::Seed;
use evenkeel_experiments::corruption::{Condition, Corruption, PARAMETERS, Severity, images_under};
use evenkeel_experiments::image::Image;

mod synthetic;
use synthetic::{bars, on_threads};

const SEED: u64 = 20;

fn every_condition() -> impl Iterator<Item = (Corruption, Severity)> {
    Corruption::ALL
        .into_iter()
        .flat_map(|corruption| Severity::SPOILING.map(|severity| (corruption, severity)))
}

#[test]
fn the_table_has_a_row_for_every_corruption_in_order() {
    for (row, corruption) in PARAMETERS.iter().zip(Corruption::ALL) {
        assert_eq!(row.corruption, corruption);
        assert_eq!(corruption.parameters().corruption, corruption);
        let rising = row.values.is_sorted_by(|a, b| a < b);
        let falling = row.values.is_sorted_by(|a, b| a > b);
        assert!(rising || falling, "{}: {:?}", corruption.name(), row.values);
    }
}

#[test]
fn pixels_stay_between_black_and_white_on_256_levels() {
    let images = bars(4, 1);
    for (corruption, severity) in every_condition() {
        for id in 0..images.len() {
            let image = images.image(id).unwrap();
            let spoilt = corruption.corrupt(&image, id, severity, Seed::new(SEED));
            assert!(spoilt.pixels().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
            assert_eq!(spoilt.rounded_to_bytes(), spoilt);
            assert_ne!(spoilt, image, "{} left the image as it was", corruption.name());
        }
    }
}

#[test]
fn severity_zero_is_the_clean_image() {
    let image = bars(1, 2).image(0).unwrap();
    let none = Severity::new(0).unwrap();
    for corruption in Corruption::ALL {
        assert_eq!(corruption.corrupt(&image, 0, none, Seed::new(SEED)), image);
    }
    assert!(Severity::new(6).is_err());
}

/// The parameter at which nothing should happen, where there is one.
#[test]
fn a_corruption_fades_into_the_clean_image() {
    let image = bars(1, 3).image(0).unwrap();
    for (corruption, nothing) in [
        (Corruption::GaussianNoise, 0.0),
        (Corruption::ShotNoise, 1e5),
        (Corruption::ImpulseNoise, 0.0),
        (Corruption::DefocusBlur, 0.0),
        (Corruption::MotionBlur, 0.0),
        (Corruption::ZoomBlur, 1.0),
        (Corruption::Fog, 0.0),
        (Corruption::Snow, 0.0),
        (Corruption::Brightness, 0.0),
        (Corruption::Contrast, 1.0),
        (Corruption::Pixelate, 28.0),
        (Corruption::BlockQuantisation, 1e-3),
        (Corruption::Rotate, 0.0),
        (Corruption::Shear, 0.0),
        (Corruption::Elastic, 0.0),
    ] {
        let distance = corruption.corrupt_by(&image, 0, nothing, Seed::new(SEED)).distance(&image);
        assert!(distance < 0.004, "{}: {distance}", corruption.name());
    }
}

#[test]
fn every_severity_is_further_from_the_clean_image_on_average() {
    let images = bars(60, 4);
    let clean: Vec<Image> = (0..images.len()).map(|id| images.image(id).unwrap()).collect();
    for corruption in Corruption::ALL {
        let distances = Severity::SPOILING.map(|severity| {
            let spoilt = |(id, image): (usize, &Image)| {
                corruption.corrupt(image, id, severity, Seed::new(SEED)).distance(image)
            };
            clean.iter().enumerate().map(spoilt).sum::<f64>()
        });
        assert!(distances.is_sorted_by(|a, b| a < b), "{}: {distances:?}", corruption.name());
    }
}

#[test]
fn an_image_is_spoilt_the_same_way_in_any_order_and_on_any_number_of_threads() {
    let images = bars(12, 5);
    let ids: Vec<usize> = (0..images.len()).collect();
    let backwards: Vec<usize> = ids.iter().rev().copied().collect();
    for corruption in Corruption::ALL {
        let condition = Condition::Corrupted(corruption, Severity::SPOILING[2]);
        let spoil = |ids: &[usize], seed: u64| {
            images_under(condition, &images, ids, Seed::new(seed)).unwrap()
        };
        let one = on_threads(1, || spoil(&ids, SEED));
        assert_eq!(on_threads(3, || spoil(&ids, SEED)), one);
        let mut turned = spoil(&backwards, SEED);
        turned.reverse();
        assert_eq!(turned, one);
    }
}

#[test]
fn random_corruptions_follow_the_seed_and_the_image_id() {
    let image = bars(1, 6).image(0).unwrap();
    let strong = Severity::SPOILING[4];
    for corruption in [
        Corruption::GaussianNoise,
        Corruption::ShotNoise,
        Corruption::ImpulseNoise,
        Corruption::MotionBlur,
        Corruption::Fog,
        Corruption::Snow,
        Corruption::Elastic,
    ] {
        let here = corruption.corrupt(&image, 7, strong, Seed::new(1));
        assert_eq!(here, corruption.corrupt(&image, 7, strong, Seed::new(1)));
        assert_ne!(here, corruption.corrupt(&image, 8, strong, Seed::new(1)));
        assert_ne!(here, corruption.corrupt(&image, 7, strong, Seed::new(2)));
    }
}

#[test]
fn an_image_beyond_the_data_set_is_an_error() {
    let error = images_under(Condition::Clean, &bars(3, 7), &[0, 3], Seed::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "image 3 was asked for, but the data set ends at image 2");
}

#[test]
fn the_documented_parameters_are_the_ones_used() {
    let page = include_str!("../../../docs/images.md");
    for row in &PARAMETERS {
        let values = row.values.map(|value| value.to_string()).join(" | ");
        let line = format!("| {} | {} | {values} |", row.corruption.name(), row.meaning);
        assert!(page.contains(&line), "docs/images.md lacks: {line}");
    }
}
