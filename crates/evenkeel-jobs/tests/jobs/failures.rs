//! What cannot be done says where it was found; what is stopped ends.

use std::ops::ControlFlow;

use evenkeel::error::Error;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::score::{Labels, Score};
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, CheckJob, CompareJob, Entrant, IfInapplicable, JobError, LabeledData, MemorySource,
    Observer, PerRow, SideNames, Stage, Unobserved, calibrate, check, compare, evaluate,
};

use crate::world::{CLASSES, Points, alpha, calibrator, level, methods, seed};

/// Row 150, in the third block of 64, is not a probability vector.
fn with_a_bad_row() -> Points {
    let mut target = Points::target();
    target.values[150 * CLASSES + 1] = 0.9;
    target
}

#[test]
fn a_bad_row_of_the_target_data_names_its_source_and_row() {
    let (cal, target) = (Points::calibration(), with_a_bad_row());
    for method in methods() {
        let mut source = target.source("target.npy");
        let failed = calibrate(&calibrator(method), &cal.labeled(), &mut source, &mut Unobserved);
        let error = failed.unwrap_err();
        assert_eq!(error.row(), Some(150), "{method:?}: {error}");
        assert!(matches!(&error, JobError::In { input, .. } if input == "target.npy"), "{error}");
    }
    let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    let failed = check(&job, &cal.labeled(), &mut target.source("target.npy"), &mut Unobserved);
    let error = failed.unwrap_err();
    assert_eq!(error.row(), Some(150), "{error}");
    assert!(error.to_string().starts_with("target.npy: probabilities row 150 sums to"), "{error}");
}

#[test]
fn a_bad_row_of_the_calibration_data_names_them() {
    let bad = with_a_bad_row();
    let error = LabeledData::new("cal.npy", &bad.values, CLASSES, "y.npy", bad.labels.clone());
    let error = error.unwrap_err();
    assert!(error.to_string().starts_with("cal.npy: probabilities row 150"), "{error}");
    let cal = Points::calibration();
    let error = LabeledData::new("cal.npy", &cal.values, CLASSES, "y.npy", vec![3; 400]);
    let error = error.unwrap_err();
    assert!(error.to_string().starts_with("y.npy: labels[0] is 3"), "{error}");
}

#[test]
fn what_does_not_fit_says_both_names() {
    let (cal, target) = (Points::calibration(), Points::target());
    let few = Labels::new(vec![0; 5], CLASSES).unwrap();
    let error = target.source("test").with_labels("y", &few).unwrap_err();
    assert_eq!(error.to_string(), "y has 5 labels but test has 500 rows; give one label for each");
    let ratios = vec![1.0; 7];
    let side = SideInputs { ratios: Some(&ratios), ..SideInputs::default() };
    let names = SideNames { ratios: "ratios_cal", ..SideNames::default() };
    let error = cal.labeled().with_side_inputs(names, side).unwrap_err();
    assert!(matches!(error, JobError::Count { what: PerRow::Ratio, found: 7, rows: 400, .. }));
    let calibration = calibrate(
        &calibrator(methods()[2]),
        &cal.labeled(),
        &mut target.source("t"),
        &mut Unobserved,
    )
    .unwrap()
    .calibration;
    let error = evaluate(&calibration, None, &mut target.source("test"), &mut Unobserved);
    assert!(matches!(error.unwrap_err(), JobError::NoLabels { input } if input == "test"));
}

#[test]
fn another_model_is_named() {
    let (cal, target) = (Points::calibration(), Points::target());
    let rows = evenkeel_jobs::AnyRows::f64(&target.values, CLASSES - 1).unwrap();
    let mut source = evenkeel_jobs::MemorySource::new("target", rows);
    let error = calibrate(&calibrator(methods()[2]), &cal.labeled(), &mut source, &mut Unobserved);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("target has 2 columns but the calibration data have 3"), "{error}");
}

/// Counts the stages of a job.
#[derive(Default)]
struct Stages(usize);

impl Observer for Stages {
    fn begin(&mut self, _stage: Stage, _total: Option<u64>) {
        self.0 += 1;
    }
}

#[test]
fn test_rows_of_another_model_are_found_before_anything_is_fitted() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    let labels = Labels::new(vec![0; 450], 2).unwrap();
    let rows = AnyRows::f64(&test.values, 2).unwrap();
    let mut test = MemorySource::new("test", rows).with_labels("labels", &labels).unwrap();
    let entrants = methods().into_iter().map(|method| Entrant::Method(calibrator(method)));
    let job =
        CompareJob { entrants: entrants.collect(), if_inapplicable: IfInapplicable::LeaveOut };
    let mut stages = Stages::default();
    let failed =
        compare(&job, &cal.labeled(), &mut target.source("target"), &mut test, &mut stages);
    let found = JobError::Classes { input: "test".to_owned(), found: 2, classes: CLASSES };
    assert_eq!(failed.unwrap_err().to_string(), found.to_string());
    assert_eq!(stages.0, 0);
}

#[test]
fn a_setting_is_not_the_fault_of_the_rows_it_is_found_with() {
    let (cal, target) = (Points::calibration(), Points::target());
    let mut job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    job.settings.permutations = 5;
    let error = check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved);
    assert!(matches!(
        error.unwrap_err(),
        JobError::Core(Error::TooFewPermutations { found: 5, .. })
    ));
}

/// Ends a job once it has heard so often of a stage.
struct StopsAt(Stage, u64, Option<Stage>);

impl Observer for StopsAt {
    fn begin(&mut self, stage: Stage, _: Option<u64>) {
        self.2 = Some(stage);
    }

    fn reached(&mut self, done: u64) -> ControlFlow<()> {
        if self.2 == Some(self.0) && done >= self.1 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn an_observer_stops_reading_and_learning() {
    let (cal, target) = (Points::calibration(), Points::target());
    for (stage, at) in [(Stage::Reading, 128), (Stage::Learning, 10)] {
        let mut observer = StopsAt(stage, at, None);
        // The paper's descent: the minimiser learns nothing step by step.
        let ot = calibrator(Method::OptimalTransport(TransportSettings::paper()));
        let ended = calibrate(&ot, &cal.labeled(), &mut target.source("target"), &mut observer);
        assert!(matches!(ended.unwrap_err(), JobError::Stopped), "{stage:?}");
    }
}

/// Counts what an observer hears.
#[derive(Default)]
struct Heard(Vec<(Stage, Option<u64>)>, u64, usize);

impl Observer for Heard {
    fn begin(&mut self, stage: Stage, total: Option<u64>) {
        self.0.push((stage, total));
    }

    fn reached(&mut self, done: u64) -> ControlFlow<()> {
        self.1 = self.1.max(done);
        ControlFlow::Continue(())
    }

    fn end(&mut self) {
        self.2 += 1;
    }
}

#[test]
fn an_observer_hears_of_every_stage() {
    let (cal, target) = (Points::calibration(), Points::target());
    let mut heard = Heard::default();
    let auto = calibrator(methods()[0]);
    calibrate(&auto, &cal.labeled(), &mut target.source("target"), &mut heard).unwrap();
    let reading = (Stage::Reading, Some(500));
    assert_eq!(heard.0, [reading, reading, (Stage::Learning, None)]);
    assert_eq!((heard.1, heard.2), (500, 3));
}
