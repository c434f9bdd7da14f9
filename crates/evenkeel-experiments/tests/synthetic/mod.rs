//! Small images that need no data set: a bright bar per class on a dark, slightly noisy ground.

use evenkeel::seed::Seed;
use evenkeel_experiments::fashion_mnist::{CLASSES, LabeledImages};
use evenkeel_experiments::image::{PIXELS, SIDE};

/// `count` images; class `c` has a bar in rows `2c + 4` and `2c + 5`, of random length.
pub(crate) fn bars(count: usize, seed: u64) -> LabeledImages {
    let mut stream = Seed::new(seed).stream("bars");
    let labels: Vec<usize> = (0..count).map(|id| id % CLASSES).collect();
    let bytes = labels
        .iter()
        .map(|label| {
            let length = 12 + stream.below(12);
            let mut bytes = [0_u8; PIXELS];
            for (index, byte) in bytes.iter_mut().enumerate() {
                let (x, y) = (index % SIDE, index / SIDE);
                let lit = y / 2 == label + 2 && (3..3 + length).contains(&x);
                *byte = if lit { 200 } else { stream.below(30) as u8 };
            }
            bytes
        })
        .collect();
    LabeledImages::new(bytes, labels).expect("as many labels as images, all in range")
}

/// Runs `work` on a pool of its own.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a few threads").install(work)
}
