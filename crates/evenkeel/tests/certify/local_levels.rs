//! The table of local levels is what the exact computation gives; `scripts/make-local-levels` writes it.

use std::fmt::Write as _;
use std::fs;

use evenkeel::certify::{exact_local_level, same_labels_level};
use evenkeel::level::FailureProbability;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/certify/local_level_table.rs");
const LABELS: [usize; 32] = [
    1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400,
    500, 700, 1000, 1500, 2000, 3000, 5000, 10_000,
];
const FAILURES: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25];

fn written() -> String {
    let mut text = String::from(
        "//! Local levels of equal-local-level bands, written by `scripts/make-local-levels`; do not edit.\n\n\
         /// Numbers of labels, one a column.\n",
    );
    let list = |values: &[String]| values.join(", ");
    let labels: Vec<String> = LABELS.iter().map(|k| format!("{k}.0")).collect();
    writeln!(text, "pub(super) const LABELS: [f64; {}] = [{}];", LABELS.len(), list(&labels))
        .unwrap();
    let failures: Vec<String> = FAILURES.iter().map(|d| format!("{d:?}")).collect();
    text += "/// Failure probabilities, one a row.\n";
    writeln!(text, "pub(super) const FAILURES: [f64; {}] = [{}];", FAILURES.len(), list(&failures))
        .unwrap();
    text += "/// `eta` by failure probability and number of labels.\n";
    writeln!(
        text,
        "pub(super) const LOCAL_LEVELS: [[f64; {}]; {}] = [",
        LABELS.len(),
        FAILURES.len()
    )
    .unwrap();
    let rows: Vec<String> = std::thread::scope(|scope| {
        let row = |d: f64| {
            let levels: Vec<String> =
                LABELS.iter().map(|k| format!("{:.6e}", exact_local_level(*k, d))).collect();
            format!("    [{}],\n", levels.join(", "))
        };
        let threads: Vec<_> = FAILURES.map(|d| scope.spawn(move || row(d))).into();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    text += &rows.concat();
    text + "];\n"
}

#[test]
fn the_table_is_what_the_exact_computation_gives() {
    if std::env::var_os("EVENKEEL_REWRITE").is_some() {
        fs::write(TABLE, written()).unwrap();
        return;
    }
    for k in LABELS.into_iter().filter(|k| *k <= 60) {
        for d in FAILURES {
            let found = same_labels_level(k as u64, FailureProbability::new(d).unwrap());
            let exact = exact_local_level(k, d);
            assert!((found - exact).abs() < 1e-5 * exact, "k {k} d {d}: {found} {exact}");
        }
    }
    // One of the large entries, which take longer.
    let (found, exact) =
        (same_labels_level(1000, FailureProbability::FIVE_PERCENT), exact_local_level(1000, 0.05));
    assert!((found - exact).abs() < 1e-5 * exact, "{found} {exact}");
}
