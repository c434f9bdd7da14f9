//! A statement with a confidence, drawn again and again.

use rayon::prelude::*;

use crate::Result;

/// A statement, what it promises, and its slack in every draw; no slack where none can be measured, only whether it held.
pub(crate) struct Statement {
    name: &'static str,
    promised: f64,
    slacks: Vec<f64>,
}

impl Statement {
    pub(crate) fn row(&self) -> String {
        let held = self.slacks.iter().filter(|slack| **slack >= 0.0).count() as f64;
        let draws = self.slacks.len() as f64;
        let mean = 100.0 * self.slacks.iter().sum::<f64>() / draws;
        let slack = if mean.is_finite() { format!("{mean:.1}") } else { "-".to_owned() };
        let (promised, held) = (100.0 * self.promised, 100.0 * held / draws);
        format!("| {} | {promised:.0} % | {held:.2} % of {draws} | {slack} |", self.name)
    }
}

/// The statements of one world: `draw` gives the slack of each in one of the draws, NaN where the statement was not made.
pub(crate) fn statements<const K: usize>(
    draws: u64,
    names: [(&'static str, f64); K],
    draw: impl Fn(u64) -> Result<[f64; K]> + Sync + Send,
) -> Result<Vec<Statement>> {
    let draws: Vec<[f64; K]> = (0..draws).into_par_iter().map(draw).collect::<Result<_>>()?;
    let of = |(index, (name, promised))| {
        let slacks = draws.iter().map(|slacks: &[f64; K]| slacks[index]);
        // NaN: the statement was not made.
        Statement { name, promised, slacks: slacks.filter(|slack: &f64| !slack.is_nan()).collect() }
    };
    Ok(names.into_iter().enumerate().map(of).collect())
}

pub(crate) fn room((low, high): (f64, f64), truth: f64) -> f64 {
    (truth - low).min(high - truth)
}
