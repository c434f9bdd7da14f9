//! The airfoil experiment of Tibshirani et al. (2019); see `docs/methods/airfoil.md`.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example airfoil -- \
//!     --data airfoil_self_noise.dat [--repetitions N] [--seed N]
//! ```

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel_experiments::airfoil::{Airfoil, PUBLISHED, repeat};

#[allow(dead_code, reason = "shared by all examples; this one reads no images")]
mod options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options::Options::parse(&["--data", "--repetitions", "--seed"])?;
    let data = Airfoil::read(&options.path("--data", "airfoil_self_noise.dat"))?;
    let repetitions = options.number("--repetitions", 1000)?;
    let seed = Seed::new(options.number("--seed", 0)?);
    println!("{} rows, {repetitions} repetitions, nominal coverage 0.9\n", data.rows());
    println!(
        "| method | mean coverage | standard error | 5 % to 95 % of repetitions | published |"
    );
    println!("|---|---|---|---|---|");
    let results = repeat(&data, repetitions, Miscoverage::new(0.1)?, seed)?;
    for (result, published) in results.iter().zip(PUBLISHED) {
        let ((low, high), name) = (result.spread(), result.method.name());
        let (mean, error) = (result.mean(), result.standard_error());
        println!("| {name} | {mean:.3} | {error:.4} | {low:.3} to {high:.3} | {published:.3} |");
    }
    Ok(())
}
