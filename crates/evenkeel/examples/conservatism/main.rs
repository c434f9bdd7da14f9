//! Every statement with a confidence, 2000 times or more in worlds whose truth is known: how often it holds, and with how much room.
//!
//! ```sh
//! cargo run --release -p evenkeel --example conservatism
//! ```
//! ```text
//! held    share of the draws in which the statement is true
//! slack   bound - truth, or the distance of the truth from the nearer end of an interval, in percentage points; its mean
//! ```
//! A slack is negative where a statement fails. The worlds are those of `tests/validity`, `tests/certify` and `tests/check`.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, clippy::expect_used)]
#![allow(unreachable_pub)]

mod assumed;
mod bounds;
mod checks;
mod guarantees;
mod labels;
mod statement;
#[path = "../world/mod.rs"]
mod world;

use std::error::Error;
use std::io::Write;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Failure probability of every statement.
const DELTA: f64 = 0.05;
const DRAWS: u64 = 2000;
/// For statements that are exact or nearly so: chance moves the share of 2000 draws by one point, which is all that is left.
const MANY_DRAWS: u64 = 1_000_000;

fn main() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| statement | promised | held, of draws | mean slack, points |\n|---|---|---|---|"
    )?;
    let worlds = [
        bounds::labeled_bounds,
        bounds::min_max_bounds,
        assumed::model_order_bounds,
        labels::label_statements,
        labels::running_statements,
        guarantees::few_labels,
        guarantees::for_each_class,
        guarantees::of_a_regressor,
        checks::of_a_check,
        checks::of_auto,
        assumed::model_as_given,
        assumed::temperature_fitted,
    ];
    for world in worlds {
        for statement in world()? {
            writeln!(out, "{}", statement.row())?;
        }
    }
    Ok(())
}
