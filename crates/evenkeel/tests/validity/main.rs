//! The guarantees themselves: ranks in exact arithmetic, coverage, bounds and statements with a confidence in simulation.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod assumed;
mod corrected;
mod order_on_grids;
mod populations;
mod ranks;
mod statements;
#[path = "../../examples/world/mod.rs"]
mod world;

use evenkeel::seed::Stream;

/// Times that a statement with a confidence is made.
const DRAWS: u64 = 2000;

/// Scores `u^power` of a uniform `u`: the CDF is `t^(1 / power)`.
fn power_scores(stream: &mut Stream, count: usize, power: f64) -> Vec<f64> {
    (0..count).map(|_| stream.uniform().powf(power)).collect()
}
