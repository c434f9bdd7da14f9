//! Trains the classifier on Fashion-MNIST and writes `data/classifier.safetensors`.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example train_classifier -- \
//!     [--fashion-mnist DIR] [--out FILE] [--epochs N] [--seed N] [--jitter none|light]
//! ```

use std::time::Instant;

use evenkeel::seed::Seed;
use evenkeel_experiments::classifier::{Jitter, TrainingSettings, train};
use evenkeel_experiments::corruption::Condition;
use evenkeel_experiments::fashion_mnist::{LabeledImages, Split};
use evenkeel_experiments::performance::Performance;

mod options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options =
        options::Options::parse(&["--fashion-mnist", "--out", "--epochs", "--seed", "--jitter"])?;
    let directory = options.fashion_mnist();
    let out = options.path("--out", "data/classifier.safetensors");
    let defaults = TrainingSettings::default();
    let jitter = match options.word("--jitter", "none") {
        "none" => Jitter::None,
        "light" => Jitter::Light,
        other => return Err(format!("--jitter {other}: expected none or light").into()),
    };
    let settings = TrainingSettings {
        epochs: options.number("--epochs", defaults.epochs)?,
        jitter,
        ..defaults
    };
    let seed = Seed::new(options.number("--seed", 0)?);

    let training = LabeledImages::read(&directory, Split::Train)?;
    let start = Instant::now();
    let classifier = train(&training, &settings, seed, |report| {
        println!(
            "epoch {:2}  loss {:.4}  training accuracy {:.4}  {:.0} s",
            report.epoch,
            report.loss,
            report.accuracy,
            start.elapsed().as_secs_f64()
        );
    })?;
    let test = LabeledImages::read(&directory, Split::Test)?;
    let ids: Vec<usize> = (0..test.len()).collect();
    let clean = Performance::under(Condition::Clean, &classifier, &test, &ids, seed)?;
    classifier.save(&out)?;
    println!(
        "test accuracy {:.4}, mean confidence {:.4}; wrote {}",
        clean.accuracy,
        clean.confidence,
        out.display()
    );
    Ok(())
}
