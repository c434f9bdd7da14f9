//! A job over files gives the bits of the same job over arrays, and names the file it stumbles over.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::Scratch;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::likelihood_ratio::RatioEstimator;
use evenkeel::method::{Method, RatioChoice, TransportSettings};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::SideInputs;
use evenkeel_io::{AnyRows, FileSource, LabeledFiles, PointFiles, SideFiles, ValueKind};
use evenkeel_jobs::{
    CheckJob, CompareJob, Entrant, IfInapplicable, JobError, LabeledData, MemorySource, RowSource,
    SideNames, Unobserved, calibrate, check, compare, evaluate, predict,
};

const CLASSES: usize = 3;

/// Rows of probabilities, labels and a feature, the same everywhere.
struct Points {
    values: Vec<f64>,
    labels: Vec<usize>,
    features: Vec<f64>,
}

impl Points {
    fn new(rows: usize, sharpness: f64, mut state: u64) -> Self {
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut points = Self { values: Vec::new(), labels: Vec::new(), features: Vec::new() };
        for _ in 0..rows {
            let weights: Vec<f64> = (0..CLASSES).map(|_| (sharpness * draw()).exp()).collect();
            let total: f64 = weights.iter().sum();
            let row: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let drawn = draw();
            points.labels.push(usize::from(drawn > row[0]) + usize::from(drawn > row[0] + row[1]));
            points.features.push(draw() + 0.1 * sharpness);
            points.values.extend(row);
        }
        points
    }

    fn csv(&self, scratch: &Scratch, name: &str) -> String {
        let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = self.values.chunks(CLASSES).map(line).collect();
        scratch.file(name, lines.join("\n"))
    }

    fn labels_csv(&self, scratch: &Scratch, name: &str) -> String {
        let lines: Vec<String> = self.labels.iter().map(ToString::to_string).collect();
        scratch.file(name, lines.join("\n"))
    }

    fn features_csv(&self, scratch: &Scratch, name: &str) -> String {
        let lines: Vec<String> = self.features.iter().map(ToString::to_string).collect();
        scratch.file(name, lines.join("\n"))
    }

    fn rows(&self) -> AnyRows<'_> {
        AnyRows::f64(&self.values, CLASSES).unwrap()
    }

    fn side(&self) -> SideInputs<'_> {
        SideInputs::features(Rows::new("features", &self.features, 1).unwrap())
    }
}

fn calibrator(method: Method) -> ShiftCalibrator {
    let alpha = Miscoverage::new(0.1).unwrap();
    ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(5) }
}

/// Everything the five jobs say, but for seconds.
fn all_jobs(
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    test: &mut dyn RowSource,
) -> Vec<String> {
    let level = FailureProbability::new(0.05).unwrap();
    let alpha = Miscoverage::new(0.1).unwrap();
    let mut said = Vec::new();
    let job = CheckJob::new(Score::Lac, alpha, level, Seed::new(5));
    let checked = check(&job, labeled, target, &mut Unobserved).unwrap();
    said.push(serde_json::to_string(&checked.document(None, &[])).unwrap());
    let methods = [
        Method::Auto(AutoSettings::new(level)),
        Method::OptimalTransport(TransportSettings::default()),
        Method::Uncorrected,
        Method::LikelihoodRatio(RatioChoice::Estimated(RatioEstimator::Logistic)),
    ];
    for method in methods {
        let calibration =
            calibrate(&calibrator(method), labeled, target, &mut Unobserved).unwrap().calibration;
        said.push(serde_json::to_string(&calibration).unwrap());
        let mut sink = |sets: &evenkeel::conformal::LabelSets| {
            said.push(format!("{:?}", sets.to_bools()));
            Ok(())
        };
        predict(&calibration, None, test, &mut sink, &mut Unobserved).unwrap();
        let evaluated = evaluate(&calibration, None, test, &mut Unobserved).unwrap();
        said.push(serde_json::to_string(&evaluated.document(None)).unwrap());
    }
    let entrants = methods.map(|method| Entrant::Method(calibrator(method))).to_vec();
    let job = CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
    let found = compare(&job, labeled, target, test, &mut Unobserved).unwrap();
    said.extend(found.compared.iter().map(|one| format!("{:?}", one.evaluation)));
    said
}

#[test]
fn files_and_arrays_give_the_same_bits() {
    let scratch = Scratch::new();
    let (cal, target, test) =
        (Points::new(300, 6.0, 1), Points::new(400, 2.0, 2), Points::new(200, 2.0, 3));
    let of = |name: &str| (format!("{name}.csv"), format!("{name}-y.csv"), format!("{name}-x.csv"));
    let write = |points: &Points, name: &str| {
        let (probs, labels, features) = of(name);
        (
            points.csv(&scratch, &probs),
            points.labels_csv(&scratch, &labels),
            points.features_csv(&scratch, &features),
        )
    };
    let cal_files = write(&cal, "cal");
    let target_files = write(&target, "target");
    let test_files = write(&test, "test");
    let kind = ValueKind::Probabilities;
    let read = LabeledFiles::read(&cal_files.0, &cal_files.1, kind)
        .unwrap()
        .with_side_files(SideFiles { features: Some(&cal_files.2), ..SideFiles::default() })
        .unwrap();
    let open = |files: PointFiles<'_>| FileSource::open(files, kind).unwrap();
    let mut target_rows =
        open(PointFiles { features: Some(&target_files.2), ..PointFiles::probs(&target_files.0) });
    let mut test_rows = open(PointFiles {
        labels: Some(&test_files.1),
        features: Some(&test_files.2),
        ..PointFiles::probs(&test_files.0)
    });
    let from_files = all_jobs(&read.data().unwrap(), &mut target_rows, &mut test_rows);

    let names = SideNames::default();
    let labeled = LabeledData::new("cal", &cal.values, CLASSES, "y", cal.labels.clone())
        .unwrap()
        .with_side_inputs(names, cal.side())
        .unwrap();
    let memory = |points| MemorySource::new("rows", points);
    let mut target_rows =
        memory(target.rows()).with_side_inputs(names, target.side()).unwrap().in_blocks_of(33);
    let labels = Labels::new(test.labels.clone(), CLASSES).unwrap();
    let mut test_rows = memory(test.rows())
        .with_side_inputs(names, test.side())
        .unwrap()
        .with_labels("y", &labels)
        .unwrap();
    let from_arrays = all_jobs(&labeled, &mut target_rows, &mut test_rows);
    assert_eq!(from_files, from_arrays);
}

#[test]
fn a_bad_row_and_a_file_too_short_are_named() {
    let scratch = Scratch::new();
    let (cal, mut target) = (Points::new(300, 6.0, 1), Points::new(400, 2.0, 2));
    target.values[250 * CLASSES] += 0.5;
    let (probs, labels) = (cal.csv(&scratch, "cal.csv"), cal.labels_csv(&scratch, "y.csv"));
    let kind = ValueKind::Probabilities;
    let read = LabeledFiles::read(&probs, &labels, kind).unwrap();
    let bad = target.csv(&scratch, "target.csv");
    for method in [Method::Uncorrected, Method::OptimalTransport(TransportSettings::default())] {
        let mut rows = FileSource::open(PointFiles::probs(&bad), kind).unwrap();
        let failed =
            calibrate(&calibrator(method), &read.data().unwrap(), &mut rows, &mut Unobserved);
        let error = failed.unwrap_err();
        assert_eq!(error.row(), Some(250));
        assert!(error.to_string().contains("target.csv: probabilities row 250"), "{error}");
    }
    let mut calibration_rows = FileSource::open(PointFiles::probs(&probs), kind).unwrap();
    let data = read.data().unwrap();
    let done =
        calibrate(&calibrator(Method::Uncorrected), &data, &mut calibration_rows, &mut Unobserved);
    let calibration = done.unwrap().calibration;
    let files = PointFiles { labels: Some(&labels), ..PointFiles::probs(&bad) };
    let mut rows = FileSource::open(files, kind).unwrap();
    let error = evaluate(&calibration, None, &mut rows, &mut Unobserved).unwrap_err();
    assert!(matches!(error, JobError::Count { found: 300, rows: 400, more: true, .. }), "{error}");
    let error =
        FileSource::open(PointFiles { labels: Some(&probs), ..PointFiles::probs(&labels) }, kind);
    assert!(error.unwrap_err().to_string().contains("swapped?"));
}
