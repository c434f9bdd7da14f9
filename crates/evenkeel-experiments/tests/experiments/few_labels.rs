//! Coverage by the number of labels, on the shipped demo data.

use std::path::Path;

use evenkeel::seed::Seed;
use evenkeel_experiments::images::{LabelsSettings, LabelsStudy};
use evenkeel_experiments::run::{Finished, Unwatched, run};

use crate::images::{alpha, demo_folder, mean};
use crate::world::{Scratch, contents};

fn settings() -> LabelsSettings {
    LabelsSettings { labels: vec![10, 50], seeds: 4, ..LabelsSettings::new(alpha(), Seed::new(0)) }
}

fn ran(folder: &Path, data: &Path, threads: usize) -> Finished {
    let study = LabelsStudy::new(demo_folder(data), settings()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run(&study, folder, &Unwatched)).unwrap()
}

#[test]
fn labels_bring_coverage_to_the_level() {
    let scratch = Scratch::new();
    let finished = ran(&scratch.at("run"), &scratch.at("data"), 2);
    // Clean and fog, without and with label shift, four seeds.
    assert_eq!(finished.cells, 16);
    let table = |name: &str| {
        finished.outputs.tables.iter().find(|table| table.name == name).unwrap().clone()
    };
    let (error, coverage) = (table("error-corrupted"), table("coverage-corrupted"));
    assert_eq!(error.columns[1..], ["k = 0", "k = 10", "k = 50"]);
    assert!(mean(&error, "uncorrected", 1) > 0.2);
    // Without labels few-labels is auto, and auto does not learn from labels.
    let auto = mean(&error, "auto, no labels", 1);
    assert_eq!(mean(&error, "few-labels", 1), auto);
    assert_eq!(mean(&error, "auto, no labels", 3), auto);
    assert!(mean(&error, "few-labels", 3) < 0.05, "{}", mean(&error, "few-labels", 3));
    // The label law as score: smaller sets at about the same error.
    let size = table("size-corrupted");
    let plan = "few-labels, --score plan";
    assert!(mean(&error, plan, 3) < 0.05, "{}", mean(&error, plan, 3));
    assert!(mean(&size, plan, 3) < mean(&size, "few-labels", 3));
    // At least the threshold of split conformal prediction on the labels, on every draw.
    let guaranteed = mean(&coverage, "few-labels, --guarantee average", 3);
    assert!(guaranteed >= mean(&coverage, "split conformal on the labels", 3));
    assert!(guaranteed >= mean(&coverage, "few-labels", 3));
    // Split conformal prediction has no answer without labels.
    let split = &error.rows[2];
    assert_eq!(split[1], evenkeel_experiments::run::Entry::Missing);
    assert_eq!(finished.outputs.figures.len(), 4);
    assert!(finished.outputs.figures[1].svg.contains("few-labels, --guarantee average"));
    let data = &finished.outputs.data[0];
    // Three approaches without labels, four with each number of them.
    assert_eq!(data.rows.len(), 16 * (3 + 4 * 2));
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let scratch = Scratch::new();
    ran(&scratch.at("one"), &scratch.at("data"), 1);
    ran(&scratch.at("three"), &scratch.at("data"), 3);
    assert!(contents(&scratch.at("one")) == contents(&scratch.at("three")));
}
