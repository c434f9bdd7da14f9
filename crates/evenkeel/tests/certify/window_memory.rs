//! What a window test holds in memory, measured by the system: windows grow as long as a reference lives.

use evenkeel::shift::Prediction;
use evenkeel::stream::{PredictionCounts, window_test};

/// Peak of this process's memory, in kilobytes; none where the system does not say.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// `count` rows, doubled so often.
fn many(said: &[Prediction], doublings: u32) -> PredictionCounts {
    let mut counts = PredictionCounts::of(said);
    for _ in 0..doublings {
        let half = counts.clone();
        counts.merge(&half);
    }
    counts
}

/// A number for each of these 21 million rows would be 168 MB; other tests run beside this one.
#[test]
fn a_window_of_millions_of_rows_takes_no_memory_of_its_size() {
    let said = |confidence: f64| Prediction { confidence, class: 0 };
    let reference = PredictionCounts::of(&[0.1, 0.3, 0.5, 0.7, 0.9].map(said));
    let window = many(&[0.2, 0.4, 0.55, 0.6, 0.8].map(said), 22);
    assert_eq!(window.rows(), 5 << 22);
    let before = peak_memory();
    let found = window_test(&reference, &window).unwrap();
    assert!(found.p_value > 0.5, "{found:?}");
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < 60_000, "{before} -> {after} kB");
    }
}
