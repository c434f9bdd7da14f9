//! `(step, L, n_w, threshold)`: what a run remembers of its way.

use crate::threshold::Threshold;

/// The state of a run after `step` steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// Steps taken before this state; 0 at the start.
    pub step: usize,
    /// Value of the objective, a bound on the total coverage gap.
    pub objective: f64,
    /// `n_w = 1 / sum_i w_i^2` of the weights the objective was evaluated at, in `[1, n]`.
    pub effective_sample_size: f64,
    /// Threshold at the run's alpha that stopping here would give.
    pub threshold: Threshold,
}

/// The recorded states of a run: its start, every so many steps, and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// By increasing step, the start first.
    points: Vec<TracePoint>,
}

impl Trace {
    /// A run of `max_steps` is recorded about this often.
    const POINTS: usize = 100;

    /// Steps between two recorded points of a run of at most `max_steps`.
    pub(crate) fn interval(max_steps: usize) -> usize {
        // Every point costs a threshold; recording all of a million steps would cost more than the steps.
        max_steps.div_ceil(Self::POINTS).max(1)
    }

    /// Records a point; steps must not fall.
    pub(crate) fn push(&mut self, point: TracePoint) {
        self.points.push(point);
    }

    /// Step of the last recorded point; none before the first.
    pub(crate) fn last_step(&self) -> Option<usize> {
        self.points.last().map(|point| point.step)
    }

    /// The recorded points, by increasing step; empty if nothing was optimised.
    pub fn points(&self) -> &[TracePoint] {
        &self.points
    }
}

impl FromIterator<TracePoint> for Trace {
    fn from_iter<I: IntoIterator<Item = TracePoint>>(points: I) -> Self {
        Self { points: points.into_iter().collect() }
    }
}
