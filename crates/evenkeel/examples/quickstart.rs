//! The ten lines of `docs/quickstart.md`, compiled; a test of the command line compares the two.
#![allow(clippy::disallowed_macros)]

use evenkeel::prelude::*;

fn main() -> evenkeel::Result<()> {
    let rows = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2];
    let calibration = Probabilities::new(&rows, 3)?;
    let target = Probabilities::new(&[0.4, 0.3, 0.3, 0.2, 0.5, 0.3], 3)?;
    let labels = Labels::new(vec![0, 1, 2, 1], 3)?;

    let fitted = ShiftCalibrator::new(0.3)?.calibrate(&calibration, &labels, &target)?;
    let sets = fitted.predict_set(&target)?;
    for row in 0..sets.rows() {
        println!("{:?}", sets.labels(row).collect::<Vec<usize>>());
    }
    Ok(())
}
