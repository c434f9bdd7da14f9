//! A classifier whose signal fades, its calibration, and folders that clean up after themselves.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate};
use evenkeel_monitor::{
    Instant, Keep, ModelName, Monitor, MonitorError, NewBatch, NewModel, Received, bytes_digest,
};

pub const CLASSES: usize = 5;

/// Rows of probabilities and their labels; the true class stands out by `signal`.
pub fn rows(n: usize, signal: f64, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("world");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let label = stream.below(CLASSES);
        let weights: Vec<f64> = (0..CLASSES)
            .map(|class| {
                let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
                let noise = radius * (std::f64::consts::TAU * stream.uniform()).cos();
                (2.0 * (noise + if class == label { signal } else { 0.0 })).exp()
            })
            .collect();
        let total: f64 = weights.iter().sum();
        values.extend(weights.iter().map(|weight| weight / total));
        labels.push(label);
    }
    (values, labels)
}

pub const CLEAR: f64 = 2.5;
pub const FADED: f64 = 0.6;

/// A calibration file of split conformal prediction.
pub fn calibration(n: usize) -> String {
    let (values, labels) = rows(n, CLEAR, 1);
    let labeled = LabeledData::new("cal", &values, CLASSES, "labels", labels).unwrap();
    let mut target = MemorySource::new("cal", AnyRows::f64(&values, CLASSES).unwrap());
    let alpha = Miscoverage::new(0.1).unwrap();
    let calibrator = ShiftCalibrator {
        method: Method::Uncorrected,
        score: Score::Lac,
        alpha,
        seed: Seed::new(0),
    };
    let made = calibrate(&calibrator, &labeled, &mut target, &mut Unobserved).unwrap();
    serde_json::to_string(&made.calibration).unwrap()
}

/// A folder that is removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "evenkeel-monitor-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn store(&self) -> PathBuf {
        self.0.join("ek.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn name() -> ModelName {
    ModelName::new("garments").unwrap()
}

pub fn day(day: i64) -> Instant {
    Instant::from_seconds(1_790_000_000 + 86_400 * day)
}

/// A store with one model.
pub fn watched(path: &Path, keep: Keep) -> Monitor {
    let monitor = Monitor::open_or_create(path).unwrap();
    let calibration = calibration(300);
    let new = NewModel {
        name: name(),
        calibration: &calibration,
        delta: 0.05,
        keep,
        who: "tests",
        at: day(0),
    };
    monitor.add_model(&new, None).unwrap();
    monitor
}

/// Sends a batch under a key.
pub fn send(
    monitor: &Monitor,
    key: &str,
    values: &[f64],
    at: Instant,
) -> Result<Received, MonitorError> {
    send_named(monitor, key, values, None, at)
}

/// The same with ids of its rows.
pub fn send_named(
    monitor: &Monitor,
    key: &str,
    values: &[f64],
    ids: Option<&[String]>,
    at: Instant,
) -> Result<Received, MonitorError> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut rows = MemorySource::new("batch", AnyRows::f64(values, CLASSES).unwrap());
    let new = NewBatch {
        ids,
        key,
        content: bytes_digest(&bytes),
        name: key,
        time: at,
        received: at,
        rows: &mut rows,
    };
    monitor.receive(&name(), new)
}
