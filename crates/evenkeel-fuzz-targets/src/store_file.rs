//! A store with damaged bytes: every call is answered or refused, and a batch that was taken is known when it comes again.

use std::cell::OnceCell;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate};
use evenkeel_monitor::{
    AuditQuery, BatchQuery, Instant, Keep, LateLabels, ModelName, Monitor, MonitorError, NewBatch,
    NewModel, Received, bytes_digest, prometheus, trend,
};

use crate::scratch::written;

const CLASSES: usize = 3;

/// Patches of a good store, four bytes each: where, in three bytes, and what.
pub fn store(data: &[u8]) {
    thread_local! {
        static GOOD: OnceCell<Vec<u8>> = const { OnceCell::new() };
    }
    let mut bytes = GOOD.with(|good| good.get_or_init(good_store).clone());
    for patch in data.chunks_exact(4) {
        let at = u32::from_le_bytes([patch[0], patch[1], patch[2], 0]) as usize % bytes.len();
        bytes[at] = patch[3];
    }
    let path = fresh(&bytes);
    // An error at any place ends it; what matters is that it ends in words.
    let _ = looked_through(&path);
}

/// Writes the store where nothing of the one before is left.
fn fresh(bytes: &[u8]) -> String {
    let path = written("store.sqlite", &[]);
    for beside in ["-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{path}{beside}")));
    }
    written("store.sqlite", bytes)
}

fn looked_through(path: &str) -> Result<(), MonitorError> {
    let monitor = Monitor::open(path.as_ref())?;
    // Damage that the database sees is no news to the calls after it.
    let _ = monitor.store().verify();
    let name = ModelName::new("m")?;
    let _ = monitor.models();
    let _ = monitor.history(&name, &BatchQuery::default());
    let _ = monitor.audit(&AuditQuery { model: None, before: None, limit: 10 });
    let _ = monitor.window(&name, &BatchQuery::default());
    let _ = monitor.proposals(&name);
    let _ = prometheus::prometheus(&monitor);
    let _ = trend(&monitor, &name, at(9), &|_| Vec::new());
    let _ = monitor.look_again(&name, 1);
    let _ = monitor.propose(&name, at(9));
    let labels = [(0, 1), (1, 2)];
    let late = LateLabels { batch: 2, labels: &labels, who: "fuzz", at: at(9) };
    let _ = monitor.add_labels(&name, &late);
    let first = send(&monitor, "new", 9)?;
    let again = send(&monitor, "new", 9)?;
    assert!(again.duplicate && again.record.batch == first.record.batch);
    Ok(())
}

fn at(day: u64) -> Instant {
    Instant::from_seconds(1_790_000_000 + 86_400 * day.cast_signed())
}

fn rows(n: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("store");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let label = stream.below(CLASSES);
        let sure = 0.4 + 0.5 * stream.uniform();
        let rest = (1.0 - sure) / (CLASSES - 1) as f64;
        values.extend((0..CLASSES).map(|class| if class == label { sure } else { rest }));
        labels.push(label);
    }
    (values, labels)
}

fn send(monitor: &Monitor, key: &str, day: u64) -> Result<Received, MonitorError> {
    let (values, _) = rows(12, 100 + day);
    let rows = &mut MemorySource::new("batch", AnyRows::f64(&values, CLASSES)?);
    let (content, time) = (bytes_digest(key.as_bytes()), at(day));
    let batch = NewBatch { key, content, name: "", time, received: time, ids: None, rows };
    monitor.receive(&ModelName::new("m")?, batch)
}

/// The bytes of a store with a model, batches whose rows are kept, and labels.
fn good_store() -> Vec<u8> {
    let made = || -> Result<Vec<u8>, MonitorError> {
        let path = fresh(&[]);
        let monitor = Monitor::open_or_create(path.as_ref())?;
        let (values, labels) = rows(30, 1);
        let labeled = LabeledData::new("cal", &values, CLASSES, "labels", labels)?;
        let mut target = MemorySource::new("cal", AnyRows::f64(&values, CLASSES)?);
        let calibrator = ShiftCalibrator {
            method: Method::Uncorrected,
            score: Score::Lac,
            alpha: Miscoverage::new(0.1)?,
            seed: Seed::new(0),
        };
        let made = calibrate(&calibrator, &labeled, &mut target, &mut Unobserved)?.calibration;
        let text = serde_json::to_string(&made).unwrap_or_default();
        let name = ModelName::new("m")?;
        let (delta, keep, who) = (0.05, Keep::Rows, "fuzz");
        let new = NewModel { name: name.clone(), calibration: &text, delta, keep, who, at: at(0) };
        monitor.add_model(&new, None)?;
        for day in 1..=3 {
            send(&monitor, &format!("night {day}"), day)?;
        }
        let late = LateLabels { batch: 1, labels: &[(0, 1), (3, 2)], who, at: at(4) };
        monitor.add_labels(&name, &late)?;
        monitor.propose(&name, at(4))?;
        let copy = format!("{path}.copy");
        drop(std::fs::remove_file(&copy));
        monitor.backup(copy.as_ref())?;
        Ok(std::fs::read(&copy).unwrap_or_default())
    };
    let made = made();
    assert!(made.as_ref().is_ok_and(|bytes| !bytes.is_empty()), "{:?}", made.err());
    made.unwrap_or_default()
}
