//! Prints the tables of `docs/images.md`: every corruption's parameters, and the classifier's accuracy and confidence.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example corruption_accuracy -- \
//!     [--fashion-mnist DIR] [--classifier FILE] [--images N] [--seed N]
//! ```

use evenkeel::seed::Seed;
use evenkeel_experiments::classifier::Classifier;
use evenkeel_experiments::corruption::{Condition, Corruption, Severity};
use evenkeel_experiments::fashion_mnist::{LabeledImages, Split};
use evenkeel_experiments::performance::Performance;

mod options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options =
        options::Options::parse(&["--fashion-mnist", "--classifier", "--images", "--seed"])?;
    let images = LabeledImages::read(&options.fashion_mnist(), Split::Test)?;
    let classifier =
        Classifier::load(&options.path("--classifier", "data/classifier.safetensors"))?;
    let count = options.number("--images", images.len())?.min(images.len());
    let seed = Seed::new(options.number("--seed", 0)?);
    let ids: Vec<usize> = (0..count).collect();
    let under = |condition| Performance::under(condition, &classifier, &images, &ids, seed);

    println!("| corruption | its number | 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|---|");
    for corruption in Corruption::ALL {
        let parameters = corruption.parameters();
        let values = parameters.values.map(|value| value.to_string()).join(" | ");
        println!("| {} | {} | {values} |", corruption.name(), parameters.meaning);
    }

    println!("\nAccuracy / mean confidence in percent, {count} images.\n");
    println!("| corruption | 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|");
    let clean = percent(&under(Condition::Clean)?);
    println!("| clean: {clean} | | | | | |");
    let mut sums = [Performance { accuracy: 0.0, confidence: 0.0 }; 5];
    for corruption in Corruption::ALL {
        print!("| {}", corruption.name());
        for (sum, severity) in sums.iter_mut().zip(Severity::SPOILING) {
            let performance = under(Condition::Corrupted(corruption, severity))?;
            print!(" | {}", percent(&performance));
            sum.accuracy += performance.accuracy / Corruption::ALL.len() as f64;
            sum.confidence += performance.confidence / Corruption::ALL.len() as f64;
        }
        println!(" |");
    }
    println!("| **mean** | {} |", sums.map(|mean| percent(&mean)).join(" | "));
    Ok(())
}

fn percent(performance: &Performance) -> String {
    format!("{:.1} / {:.1}", 100.0 * performance.accuracy, 100.0 * performance.confidence)
}
