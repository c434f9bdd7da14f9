//! `1/(high - low) sum_i (a_i - a_(i-1)) G(s_i)`: eq 7 over a range of miscoverage rates, in the expectation form of
//! Prop A.9.

use super::{Objective, sign};
use crate::error::{Result, require_increasing};
use crate::level::MiscoverageRange;
use crate::sandwich::Sandwich;

/// The restricted bound as a function of the weights of increasing scores.
///
/// ```text
/// c_i      = w_1 + .. + w_i,     a_i = clip(c_i, low, high),     levels [low, high] = [1 - a_high, 1 - a_low]
/// L(w)     = 1/(high - low) sum_i (a_i - a_(i-1)) G(s_i)
/// dL/dw_j  = 1/(high - low) [ sum_{i >= j, low < c_i < high} (G(s_i) - G(s_(i+1)))
///                             + 1/2 sum over s_i >= s_j of (a_i - a_(i-1)) (sgn(F_w - U) + sgn(F_w - D))(s_i) ]
/// ```
/// On a grid the same bound jumps whenever a quantile passes a grid point, and a descent that does not see the jumps
/// climbs. Here the share of the levels that falls to a score moves continuously with the weights.
#[derive(Debug, Clone)]
pub struct RestrictedObjective {
    /// Calibration scores, increasing; shape `(n,)`.
    scores: Vec<f64>,
    /// `D = F_lower` at the scores.
    lower: Vec<f64>,
    /// `U = F_upper` at the scores.
    upper: Vec<f64>,
    /// Last index of the ties of each score.
    last_tie: Vec<usize>,
    /// First index of the ties of each score.
    first_tie: Vec<usize>,
    /// `low` and `high`: the quantile levels of the range.
    levels: (f64, f64),
    /// `c_i` of the present weights.
    cumulative: Vec<f64>,
    /// `G(s_i)` at the present weights.
    gaps: Vec<f64>,
    /// Half the share of the levels at a score, times the two signs.
    shares: Vec<f64>,
    /// Sums of `shares` from each score on; one longer.
    tails: Vec<f64>,
}

impl RestrictedObjective {
    /// Builds the objective of increasing scores, shape `(n,)`, and the two laws around the target scores.
    ///
    /// # Errors
    /// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers.
    pub fn new(
        sorted_scores: &[f64],
        sandwich: &Sandwich,
        range: MiscoverageRange,
    ) -> Result<Self> {
        require_increasing("sorted scores", sorted_scores)?;
        let scores = sorted_scores.to_vec();
        let n = scores.len();
        let (low, high) = range.levels();
        let ties = |keep: fn(f64, f64) -> bool| -> Vec<usize> {
            scores.iter().map(|s| scores.partition_point(|other| keep(*other, *s))).collect()
        };
        let mut objective = Self {
            last_tie: ties(|other, s| other <= s).into_iter().map(|count| count - 1).collect(),
            first_tie: ties(|other, s| other < s),
            lower: Vec::new(),
            upper: Vec::new(),
            levels: (low.get(), high.get()),
            cumulative: vec![0.0; n],
            gaps: vec![0.0; n],
            shares: vec![0.0; n],
            tails: vec![0.0; n + 1],
            scores,
        };
        objective.set_sandwich(sandwich)?;
        Ok(objective)
    }
}

impl Objective for RestrictedObjective {
    fn len(&self) -> usize {
        self.scores.len()
    }

    /// `O(n)`: one sweep up for the value, two down for the gradient.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let n = self.scores.len();
        let (low, high) = self.levels;
        let scale = 1.0 / (high - low);
        let mut running = 0.0;
        for (slot, weight) in self.cumulative.iter_mut().zip(weights) {
            running += weight;
            *slot = running;
        }
        let mut value = 0.0;
        // The level 0 seen from inside the range: shares below `low` are nobody's.
        let mut before = 0.0_f64.clamp(low, high);
        for i in 0..n {
            // Tied scores share one jump: `F_w` at a score counts all of its ties, wherever they stand in the order.
            let cdf = self.cumulative[self.last_tie[i]];
            let (to_upper, to_lower) = (cdf - self.upper[i], cdf - self.lower[i]);
            self.gaps[i] =
                0.5 * (to_upper.abs() + to_lower.abs() + (self.lower[i] - self.upper[i]));
            let reached = self.cumulative[i].clamp(low, high);
            let share = reached - before;
            before = reached;
            value += share * self.gaps[i];
            // The slope of G at this score, weighted: summed below over the scores at or after each one.
            self.shares[i] = 0.5 * share * (sign(to_upper) + sign(to_lower));
        }
        for i in (0..n).rev() {
            self.tails[i] = self.tails[i + 1] + self.shares[i];
        }
        let mut moved = 0.0;
        for j in (0..n).rev() {
            if self.cumulative[j] > low && self.cumulative[j] < high && j + 1 < n {
                moved += self.gaps[j] - self.gaps[j + 1];
            }
            // G at a tie sees all of the ties' weights, whichever of them comes first.
            gradient[j] = scale * (moved + self.tails[self.first_tie[j]]);
        }
        scale * value
    }

    /// Looks both CDFs up at the scores; never fails.
    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        self.lower = sandwich.lower().cdf_at_increasing(&self.scores);
        self.upper = sandwich.upper().cdf_at_increasing(&self.scores);
        Ok(())
    }
}
