//! The library's calibration of raw arrays as JSON, for comparing it bit for bit with other doors to it.
//!
//! ```sh
//! cargo run --example calibration_bits -- probs_cal.f64 y_cal.u64 probs_target.f64 10 > cal.json
//! ```
//! Files hold little-endian numbers, row after row; the last argument is the number of classes.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods)]

use std::error::Error;
use std::io::Write;

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;

fn words(path: &str) -> Result<Vec<[u8; 8]>, Box<dyn Error>> {
    Ok(std::fs::read(path)?.as_chunks::<8>().0.to_vec())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [calibration, labels, target, classes] = arguments.as_slice() else {
        return Err("give probs_cal.f64 y_cal.u64 probs_target.f64 CLASSES".into());
    };
    let classes: usize = classes.parse()?;
    let numbers = |path: &str| -> Result<Vec<f64>, Box<dyn Error>> {
        Ok(words(path)?.into_iter().map(f64::from_le_bytes).collect())
    };
    let (calibration, target) = (numbers(calibration)?, numbers(target)?);
    let labels = words(labels)?.into_iter().map(|word| usize::try_from(u64::from_le_bytes(word)));
    let labels = Labels::new(labels.collect::<Result<_, _>>()?, classes)?;
    let calibrator = ShiftCalibrator {
        method: Method::OptimalTransport(TransportSettings::default()),
        score: Score::Lac,
        alpha: Miscoverage::new(0.1)?,
        seed: Seed::new(0),
    };
    let fitted = calibrator.calibrate(
        &Probabilities::new(&calibration, classes)?,
        &labels,
        &Probabilities::new(&target, classes)?,
    )?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&fitted)?)?;
    Ok(())
}
