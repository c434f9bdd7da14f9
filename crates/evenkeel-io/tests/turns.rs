//! Files that several threads read in turns: the bits of one thread, the error of the first bad row, and no panic where a file changes
//! while it is read.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod corpus;

use std::ops::ControlFlow;

use corpus::Scratch;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::rows::SHARE_CELLS;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::{AnyRows, FileSource, PointFiles, ValueKind};
use evenkeel_jobs::{
    CheckJob, JobError, LabeledData, MemorySource, Observer, RowSource, TargetLabels, Unobserved,
    calibrate, check,
};

const CLASSES: usize = 10;
/// Rows of a block that a thread takes.
const TAKEN: usize = SHARE_CELLS / CLASSES;
/// Four such blocks and a part of one.
const ROWS: usize = 4 * TAKEN + 1234;
const THREADS: [usize; 3] = [1, 2, 7];

/// Rows of single precision and labels, the same everywhere.
fn points(rows: usize, sharpness: f64, mut state: u64) -> (Vec<f32>, Vec<usize>) {
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut values, mut labels) = (Vec::with_capacity(rows * CLASSES), Vec::with_capacity(rows));
    for _ in 0..rows {
        let weights: Vec<f64> = (0..CLASSES).map(|_| (sharpness * draw()).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut left = total * draw();
        let past = |weight: &&f64| {
            left -= **weight;
            left > 0.0
        };
        labels.push(weights.iter().take_while(past).count().min(CLASSES - 1));
        values.extend(weights.iter().map(|weight| (weight / total) as f32));
    }
    (values, labels)
}

fn npy(values: &[f32]) -> Vec<u8> {
    let shape = (values.len() / CLASSES, CLASSES);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape:?}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn level() -> FailureProbability {
    FailureProbability::new(0.05).unwrap()
}

fn check_job(labels: &[(usize, usize)]) -> CheckJob {
    let mut job = CheckJob::new(Score::Lac, Miscoverage::new(0.1).unwrap(), level(), Seed::new(5));
    job.labels = TargetLabels::new("labels", labels.to_vec(), CLASSES).unwrap();
    job
}

fn calibrator() -> ShiftCalibrator {
    let method = Method::Auto(AutoSettings::new(level()));
    let alpha = Miscoverage::new(0.1).unwrap();
    ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(5) }
}

fn labeled((values, labels): &(Vec<f32>, Vec<usize>)) -> LabeledData<'_> {
    let rows = AnyRows::f32(values, CLASSES).unwrap();
    LabeledData::of_rows("cal", rows, "y", labels.clone()).unwrap()
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// What a check and a calibration say, but for seconds.
fn said(labeled: &LabeledData<'_>, target: &mut dyn RowSource) -> [String; 3] {
    let document = |labels: &[(usize, usize)], target: &mut dyn RowSource| {
        let checked = check(&check_job(labels), labeled, target, &mut Unobserved).unwrap();
        serde_json::to_string(&checked.document(None, &[])).unwrap()
    };
    let plain = document(&[], target);
    // Labels at both ends of a block and of the file: each is counted once.
    let rows = [0, 7, TAKEN - 1, TAKEN, 3 * TAKEN + 5, ROWS - 2, ROWS - 1];
    let with_labels = document(&rows.map(|row| (row, row % CLASSES)), target);
    let made = calibrate(&calibrator(), labeled, target, &mut Unobserved).unwrap();
    [plain, with_labels, serde_json::to_string(&made.calibration).unwrap()]
}

#[test]
fn any_number_of_threads_gives_the_bits_of_one() {
    let scratch = Scratch::new();
    let calibration = points(400, 6.0, 1);
    let labeled = labeled(&calibration);
    for sharpness in [6.0, 2.0] {
        let (values, _) = points(ROWS, sharpness, 2);
        let file = scratch.file("target.npy", npy(&values));
        let mut rows = MemorySource::new(&file, AnyRows::f32(&values, CLASSES).unwrap())
            .in_blocks_of(TAKEN / 3);
        let expected = with_threads(1, || said(&labeled, &mut rows));
        for threads in THREADS {
            let mut rows =
                FileSource::open(PointFiles::probs(&file), ValueKind::Probabilities).unwrap();
            let found = with_threads(threads, || said(&labeled, &mut rows));
            assert!(found == expected, "{threads} threads, sharpness {sharpness}");
        }
    }
}

/// Of several bad rows the first is named, whichever thread meets one first; and a row that no file has says where it was looked for.
#[test]
fn the_first_bad_row_is_named() {
    let scratch = Scratch::new();
    let calibration = points(400, 6.0, 1);
    let labeled = labeled(&calibration);
    let (good, _) = points(ROWS, 6.0, 2);
    for bad in [vec![3 * TAKEN + 1, 2 * TAKEN + 77, 4 * TAKEN], vec![ROWS - 1], vec![TAKEN, 0]] {
        let mut values = good.clone();
        bad.iter().for_each(|row| values[row * CLASSES + 3] += 0.25);
        let file = scratch.file("target.npy", npy(&values));
        for threads in THREADS {
            for _ in 0..3 {
                let mut rows =
                    FileSource::open(PointFiles::probs(&file), ValueKind::Probabilities).unwrap();
                let failed = with_threads(threads, || {
                    check(&check_job(&[]), &labeled, &mut rows, &mut Unobserved)
                });
                let error = failed.unwrap_err();
                assert_eq!(error.row(), bad.iter().min().copied(), "{threads} threads");
                assert!(error.to_string().starts_with(&format!("{file}: ")), "{error}");
                // The source can be read again after an error.
                let failed = with_threads(threads, || {
                    calibrate(&calibrator(), &labeled, &mut rows, &mut Unobserved)
                });
                assert_eq!(failed.unwrap_err().to_string(), error.to_string());
            }
        }
    }
}

/// A file that is cut off after it was opened, in a row or between two, is an error; a bad row in a block before the cut comes first.
#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let scratch = Scratch::new();
    let calibration = points(400, 6.0, 1);
    let labeled = labeled(&calibration);
    let (values, _) = points(ROWS, 6.0, 2);
    let mut with_a_bad_row = values.clone();
    with_a_bad_row[(TAKEN + 9) * CLASSES] = f32::NAN;
    let end_of_its_block = 2 * TAKEN * CLASSES * size_of::<f32>() + 128;
    for threads in THREADS {
        for (values, row) in [(&values, None), (&with_a_bad_row, Some(TAKEN + 9))] {
            let bytes = npy(values);
            for left in [bytes.len() / 2, 4 * (values.len() * 3 / 4), 200] {
                let file = scratch.file("target.npy", &bytes);
                let mut rows =
                    FileSource::open(PointFiles::probs(&file), ValueKind::Probabilities).unwrap();
                let shrunk = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
                shrunk.set_len(left as u64).unwrap();
                let failed = with_threads(threads, || {
                    check(&check_job(&[]), &labeled, &mut rows, &mut Unobserved)
                });
                let error = failed.unwrap_err();
                match row.filter(|_| left > end_of_its_block) {
                    Some(row) => assert_eq!(error.row(), Some(row), "{threads} threads: {error}"),
                    None => assert!(error.to_string().contains("ends early"), "{error}"),
                }
            }
        }
    }
}

/// Whoever watches hears of more and more rows, of all of them in the end, and may stop.
#[test]
fn the_observer_hears_of_all_rows_and_may_stop() {
    struct Watching {
        heard: Vec<u64>,
        stop_after: usize,
    }
    impl Observer for Watching {
        fn reached(&mut self, done: u64) -> ControlFlow<()> {
            self.heard.push(done);
            match self.heard.len() < self.stop_after {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        }
    }
    let scratch = Scratch::new();
    let calibration = points(400, 6.0, 1);
    let labeled = labeled(&calibration);
    let (values, _) = points(ROWS, 6.0, 2);
    let file = scratch.file("target.npy", npy(&values));
    for threads in THREADS {
        let mut rows =
            FileSource::open(PointFiles::probs(&file), ValueKind::Probabilities).unwrap();
        let mut checked = |stop_after| {
            let mut watching = Watching { heard: Vec::new(), stop_after };
            let found = with_threads(threads, || {
                check(&check_job(&[]), &labeled, &mut rows, &mut watching).map(drop)
            });
            (found, watching.heard)
        };
        let (found, heard) = checked(usize::MAX);
        found.unwrap();
        assert!(heard.is_sorted() && heard.last() == Some(&(ROWS as u64)), "{heard:?}");
        let (found, heard) = checked(1);
        assert!(matches!(found, Err(JobError::Stopped)), "{threads} threads");
        assert_eq!(heard.len(), 1);
    }
}
