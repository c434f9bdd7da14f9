//! Interruptions, threads and foreign folders.

use std::fs;

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel_experiments::images::{ImageMethod, ImageSettings, Images};
use evenkeel_experiments::regression::Regression;
use evenkeel_experiments::run::{Unwatched, run};

use crate::world::{Scratch, contents, data_folder};

fn regression() -> Regression {
    Regression {
        simulations: 6,
        samples: 60,
        epochs: vec![1, 2],
        ..Regression::new(Miscoverage::new(0.1).unwrap(), Seed::new(3))
    }
}

/// A run of which some cells are missing, one is cut short and one is garbage ends in the same bytes.
#[test]
fn an_interrupted_run_ends_in_the_same_bytes() {
    let scratch = Scratch::new();
    let (whole, broken) = (scratch.at("whole"), scratch.at("broken"));
    run(&regression(), &whole, &Unwatched).unwrap();
    run(&regression(), &broken, &Unwatched).unwrap();
    let cell = |number: usize| broken.join(format!("cells/simulation-{number:05}.json"));
    fs::remove_file(cell(1)).unwrap();
    let text = fs::read(cell(2)).unwrap();
    fs::write(cell(2), &text[..text.len() / 2]).unwrap();
    fs::write(cell(4), b"").unwrap();
    fs::remove_dir_all(broken.join("tables")).unwrap();
    fs::remove_file(broken.join("report.html")).unwrap();
    let resumed = run(&regression(), &broken, &Unwatched).unwrap();
    assert_eq!((resumed.cells, resumed.resumed), (6, 3));
    assert_eq!(contents(&whole), contents(&broken));
}

#[test]
fn threads_do_not_change_a_byte() {
    let scratch = Scratch::new();
    let data = data_folder(&scratch.at("data"), 700, 4);
    let ids = ["uncorrected", "likelihood-ratio", "ff-f-u-1000", "wf-min-max", "auto"];
    let settings = ImageSettings {
        methods: ids.into_iter().map(|id| ImageMethod::from_id(id).unwrap()).collect(),
        seeds: 2,
        calibration: 60,
        unlabeled: 60,
        ..ImageSettings::new(Miscoverage::new(0.1).unwrap(), Seed::new(3))
    };
    let images = Images::new(data.with_severities(&[1]).unwrap(), settings).unwrap();
    let on = |threads: usize, name: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let folder = scratch.at(name);
        pool.install(|| run(&images, &folder, &Unwatched)).unwrap();
        contents(&folder)
    };
    assert_eq!(on(1, "one"), on(3, "three"));
}

#[test]
fn a_folder_of_another_run_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let folder = scratch.at("run");
    run(&regression(), &folder, &Unwatched).unwrap();
    let before = contents(&folder);
    let other = Regression { samples: 61, seed: Seed::new(4), ..regression() };
    let error = run(&other, &folder, &Unwatched).unwrap_err().to_string();
    for part in ["samples is 60 there and 61 now", "seed is 3 there and 4 now", "--out"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(contents(&folder), before);
}
