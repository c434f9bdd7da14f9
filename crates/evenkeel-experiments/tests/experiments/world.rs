//! Folders that are removed in the end, and a small world of softmax files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel::rows::Rows;
use evenkeel::score::softmax_rows;
use evenkeel::seed::Seed;
use evenkeel_experiments::draws::standard_normal;
use evenkeel_experiments::images::{DataFolder, SoftmaxTable};

/// A directory that is removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evenkeel-experiments-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Every file of a run but its timing, by path.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    assert!(found.remove(Path::new("timing.csv")).is_some());
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Signal of the clean table, which the classifier was made for.
const CLEAN_SIGNAL: f64 = 2.5;

/// A Bayes classifier of `x = signal e_label + N(0, I)` for the clean signal: less signal, less sure and less right. Rows show
/// the same images in every file, in another order.
pub(crate) fn table(rows: usize, classes: usize, signal: f64, seed: u64) -> SoftmaxTable {
    let mut stream = Seed::new(seed).stream("world");
    let order = evenkeel_experiments::draws::permutation(&mut stream, rows);
    let mut logits = Vec::new();
    for id in &order {
        for class in 0..classes {
            let mean = if class == id % classes { signal } else { 0.0 };
            logits.push(CLEAN_SIGNAL * (mean + standard_normal(&mut stream)));
        }
    }
    let softmax = softmax_rows(Rows::new("logits", &logits, classes).unwrap(), 1.0).unwrap();
    SoftmaxTable {
        probabilities: softmax.into_iter().map(|value| value as f32).collect(),
        classes,
        labels: order.iter().map(|id| id % classes).collect(),
        image_ids: order,
    }
}

/// A data folder of a clean and some shifted tables.
pub(crate) fn data_folder(path: &Path, rows: usize, classes: usize) -> DataFolder {
    fs::create_dir_all(path).unwrap();
    let signals =
        [("clean", 2.5), ("fog_1", 2.1), ("fog_3", 1.5), ("snow_1", 2.0), ("snow_3", 1.4)];
    for (seed, (name, signal)) in signals.into_iter().enumerate() {
        let table = table(rows, classes, signal, seed as u64);
        table.write(&path.join(format!("{name}.npz"))).unwrap();
    }
    DataFolder::open(path).unwrap()
}
