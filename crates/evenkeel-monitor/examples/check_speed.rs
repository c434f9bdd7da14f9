//! Processor time of a batch of 300 x 10 rows against 2000 calibration rows, prepared once.
//!
//! ```text
//! cargo run --release -p evenkeel-monitor --example check_speed -- [BATCHES [STORE]]       default 200
//! ```
//! First the check alone, on one thread. Then all that happens to a batch: check, sets, alarms and one transaction, into STORE, a file
//! that must not exist; without one this is left out. Every batch is another draw of one law: no shift.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate};
use evenkeel_monitor::{
    Instant, Keep, ModelName, Monitor, NewBatch, NewModel, Reference, bytes_digest,
};

const CLASSES: usize = 10;

fn rows(n: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("speed");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let label = stream.below(CLASSES);
        let weights: Vec<f64> = (0..CLASSES)
            .map(|class| (6.0 * stream.uniform() + if class == label { 4.0 } else { 0.0 }).exp())
            .collect();
        let total: f64 = weights.iter().sum();
        values.extend(weights.iter().map(|weight| weight / total));
        labels.push(label);
    }
    (values, labels)
}

fn calibration() -> String {
    let (values, labels) = rows(2000, 1);
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

/// Processor time of this process so far in seconds; none where the system does not tell.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Does something with every batch and says what it took.
fn timed(what: &str, batches: u64, mut one: impl FnMut(u64, &[f64])) {
    let drawn: Vec<Vec<f64>> = (0..batches).map(|batch| rows(300, 100 + batch).0).collect();
    let (start, before) = (std::time::Instant::now(), processor_seconds());
    for (number, values) in (0..).zip(&drawn) {
        one(number, values);
    }
    let each = 1e3 / batches.max(1) as f64;
    let wall = start.elapsed().as_secs_f64() * each;
    let took = before.zip(processor_seconds()).map(|(before, after)| (after - before) * each);
    let took = took.map_or_else(String::new, |took| format!(", {took:.2} ms of processor time"));
    println!("{what}: {batches} batches, {wall:.2} ms each{took}");
}

fn main() {
    let mut words = std::env::args().skip(1);
    let batches: u64 = words.next().map_or(200, |count| count.parse().unwrap());
    let text = calibration();
    let reference = Reference::new("cal", &text, 0.05).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut detected = 0;
    pool.install(|| {
        timed("check", batches, |_, values| {
            let mut source = MemorySource::new("batch", AnyRows::f64(values, CLASSES).unwrap());
            detected += u64::from(reference.check(&mut source).unwrap().report.shift.detected);
        });
    });
    println!("{detected} of them found a shift");
    let Some(store) = words.next() else { return };
    let monitor = Monitor::open_or_create(store.as_ref()).unwrap();
    let (name, at) = (ModelName::new("speed").unwrap(), Instant::from_seconds(1_790_000_000));
    let new = NewModel {
        name: name.clone(),
        calibration: &text,
        delta: 0.05,
        keep: Keep::Sets,
        who: "check_speed",
        at,
    };
    monitor.add_model(&new, None).unwrap();
    pool.install(|| {
        timed("receive", batches, |number, values| {
            let key = number.to_string();
            let rows = &mut MemorySource::new("batch", AnyRows::f64(values, CLASSES).unwrap());
            let content = bytes_digest(key.as_bytes());
            // Ten batches a day.
            let time = Instant::from_seconds(at.seconds() + i64::try_from(number).unwrap() * 8640);
            let (received, name_of) = (time, "");
            let batch =
                NewBatch { key: &key, content, name: name_of, time, received, ids: None, rows };
            monitor.receive(&name, batch).unwrap();
        });
    });
}
