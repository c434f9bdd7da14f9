//! The tables and the jobs: the same numbers on the same points, and a cell that no job would estimate ratios for.

use std::fs;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::likelihood_ratio::{RatioEstimator, TelescopingSettings};
use evenkeel::method::{Method, RatioChoice};
use evenkeel::seed::Seed;
use evenkeel_experiments::images::{
    CellOutcome, DataFolder, ImageMethod, ImageSettings, Images, LabelMarginal, RoleSizes,
    SoftmaxTable, Split, Subset,
};
use evenkeel_experiments::run::{Unwatched, run};
use evenkeel_jobs::{
    AnyRows, CompareJob, Comparison, Entrant, IfInapplicable, JobError, LabeledData, MemorySource,
    Unobserved, compare,
};

use crate::world::{Scratch, table};

const POINTS: usize = 100;
const SEED: u64 = 11;

/// One cell of the tables: a clean and a shifted file, no label shift.
fn cell(clean: &SoftmaxTable, shifted: &SoftmaxTable, ids: &[&str]) -> CellOutcome {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    fs::create_dir_all(&data).unwrap();
    clean.write(&data.join("clean.npz")).unwrap();
    shifted.write(&data.join("fog_1.npz")).unwrap();
    let settings = ImageSettings {
        methods: ids.iter().map(|id| ImageMethod::from_id(id).unwrap()).collect(),
        marginals: vec![LabelMarginal::Same],
        seeds: 1,
        calibration: POINTS,
        unlabeled: POINTS,
        ..ImageSettings::new(Miscoverage::new(0.1).unwrap(), Seed::new(SEED))
    };
    let images = Images::new(DataFolder::open(&data).unwrap(), settings).unwrap();
    run(&images, &scratch.at("run"), &Unwatched).unwrap();
    let text = fs::read_to_string(scratch.at("run/cells/fog_1-same-labels-000.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What the job makes of the same points: those that the cell was dealt, in the same order and with the same seed.
fn compared(
    clean: &SoftmaxTable,
    shifted: &SoftmaxTable,
    methods: &[Method],
) -> Result<Comparison, JobError> {
    let seed = Seed::new(SEED).child("fog_1-same-labels", 0);
    let sizes = RoleSizes { calibration: 2 * POINTS, unlabeled: POINTS, test: 30_000 };
    let split = Split::deal(clean, shifted, sizes, LabelMarginal::Same, seed).unwrap();
    let calibration = clean.subset(&split.calibration).unwrap().first(POINTS).unwrap();
    let (target, test) =
        (shifted.subset(&split.unlabeled).unwrap(), shifted.subset(&split.test).unwrap());
    let rows = |points: &Subset| AnyRows::F32(points.table().unwrap()).widened().into_owned();
    let (calibration_rows, target_rows, test_rows) =
        (rows(&calibration), rows(&target), rows(&test));
    let labels = calibration.labels().as_slice().to_vec();
    let labeled =
        LabeledData::new("cal", &calibration_rows, clean.classes, "labels", labels).unwrap();
    let source = |name, values| {
        MemorySource::new(name, AnyRows::f64(values, clean.classes).unwrap()).in_blocks_of(37)
    };
    let mut target = source("target", &target_rows);
    let mut test = source("test", &test_rows).with_labels("labels", test.labels()).unwrap();
    let entrant = |method: &Method| {
        let alpha = Miscoverage::new(0.1).unwrap();
        let calibrator = ShiftCalibrator::new(alpha.get()).unwrap().method(*method);
        Entrant::Method(ShiftCalibrator { seed, ..calibrator })
    };
    let job = CompareJob {
        entrants: methods.iter().map(entrant).collect(),
        if_inapplicable: IfInapplicable::Fail,
    };
    compare(&job, &labeled, &mut target, &mut test, &mut Unobserved)
}

#[test]
fn a_cell_of_the_tables_is_what_a_comparison_of_the_same_points_says() {
    let (clean, shifted) = (table(900, 5, 2.5, 1), table(900, 5, 1.6, 2));
    let found = cell(&clean, &shifted, &["uncorrected", "label-plan", "auto"]);
    let level = FailureProbability::new(0.05).unwrap();
    let methods = [
        Method::Uncorrected,
        Method::LabelPlan(LabelPlanSettings::new(level)),
        Method::Auto(AutoSettings::new(level)),
    ];
    let expected = compared(&clean, &shifted, &methods).unwrap().compared;
    assert_eq!((found.methods.len(), found.test as u64), (3, expected[0].evaluation.n));
    for (row, expected) in found.methods.iter().zip(&expected) {
        let expected = expected.row();
        assert_eq!(row.method, expected.method);
        assert_eq!((row.coverage, row.size), (expected.coverage, expected.mean_size));
        assert_eq!(row.effective, Some(expected.effective_sample_size));
        // The job counts test scores between calibration scores, the tables sum them: the last digit may differ.
        let (gap, expected) = (row.total_gap.unwrap(), expected.total_coverage_gap.unwrap());
        assert!((gap - expected).abs() < 1e-14, "{}: {gap} {expected}", row.method);
    }
    assert_ne!(found.methods[0].coverage, found.methods[1].coverage, "the methods must differ");
}

/// The job refuses to estimate ratios between data that a classifier tells apart; the paper's tables hold such cells.
#[test]
fn worlds_apart_have_a_number_in_the_tables() {
    let clean = table(900, 5, 2.5, 1);
    let mut shifted = table(900, 5, 2.5, 2);
    // No row is sure of anything: far from every calibration row.
    shifted.probabilities.iter_mut().for_each(|value| *value = 0.1 * *value + 0.18);
    let telescoping = RatioEstimator::Telescoping(TelescopingSettings::default());
    let method = Method::LikelihoodRatio(RatioChoice::Estimated(telescoping));
    let refused = compared(&clean, &shifted, &[method]);
    assert!(matches!(refused, Err(JobError::Core(Error::NoOverlap))), "{refused:?}");
    let found = cell(&clean, &shifted, &["uncorrected", "likelihood-ratio"]);
    let row = &found.methods[1];
    assert_eq!(row.method, "likelihood-ratio");
    assert!((0.0..=1.0).contains(&row.coverage) && row.total_gap.is_some(), "{row:?}");
    assert!(row.effective.unwrap() < POINTS as f64 / 2.0, "{row:?}");
}
