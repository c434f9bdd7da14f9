//! Writes the files of `data/demo` and prints the table of its README.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example make_demo_data -- \
//!     [--fashion-mnist DIR] [--classifier FILE] [--out DIR] [--seed N]
//! ```

use evenkeel::seed::Seed;
use evenkeel_experiments::Error;
use evenkeel_experiments::classifier::Classifier;
use evenkeel_experiments::corruption::Condition;
use evenkeel_experiments::demo::{CONDITIONS, RoleSizes, Roles, demo_files, write_files};
use evenkeel_experiments::fashion_mnist::{LabeledImages, Split};
use evenkeel_experiments::performance::Performance;

mod options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options::Options::parse(&["--fashion-mnist", "--classifier", "--out", "--seed"])?;
    let images = LabeledImages::read(&options.fashion_mnist(), Split::Test)?;
    let classifier =
        Classifier::load(&options.path("--classifier", "data/classifier.safetensors"))?;
    let out = options.path("--out", "data/demo");
    let seed = Seed::new(options.number("--seed", 0)?);

    let files = demo_files(&images, &classifier, RoleSizes::default(), seed)?;
    write_files(&files, &out)?;

    let roles = Roles::deal(images.len(), RoleSizes::default(), seed)?;
    let print_row = |name: &str, condition: Condition, ids: &[usize]| {
        let Performance { accuracy, confidence } =
            Performance::under(condition, &classifier, &images, ids, seed)?;
        println!("| {name} | {accuracy:.4} | {confidence:.4} |");
        Ok::<_, Error>(())
    };
    println!("| rows | accuracy | mean confidence |\n|---|---|---|");
    print_row("calibration", Condition::Clean, &roles.calibration)?;
    for name in CONDITIONS {
        print_row(name, name.parse()?, &roles.test)?;
    }
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    println!("\nwrote {} files, {bytes} bytes, to {}", files.len(), out.display());
    Ok(())
}
