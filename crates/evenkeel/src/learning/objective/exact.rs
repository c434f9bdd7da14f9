//! `L(w) = sum_i int_{c_(i-1)}^{c_i} g_i(u) du`: the distance from the level, integrated over the atoms themselves.

use super::Objective;
use crate::bound::level_gap_at;
use crate::error::{Result, require_increasing};
use crate::sandwich::Sandwich;

/// The exact bound as a function of the weights of increasing scores.
///
/// ```text
/// s_1 < .. < s_k distinct scores,  c_i cumulative weight,  U_i = F_up(s_i),  D_i = F_lo(s_i)
/// g_i(u)   = (|u - U_i| + |u - D_i| + D_i - U_i) / 2
/// dL/dw_j  = sum over s_j <= s_i < s_k of g_i(c_i) - g_(i+1)(c_i)      (weights sum to one: c_k is fixed)
/// ```
/// No kernel, no grid, no bandwidth: the levels that a point's weight stands for are integrated in closed form, so mass
/// on one atom pays for every level it jumps over.
#[derive(Debug, Clone)]
pub struct ExactObjective {
    /// Distinct scores, increasing; shape `(k,)`.
    atoms: Vec<f64>,
    /// `ends[i]`: how many scores are at most `atoms[i]`.
    ends: Vec<usize>,
    /// `U` at the atoms.
    upper: Vec<f64>,
    /// `D` at the atoms.
    lower: Vec<f64>,
    /// `c_i` of the present weights.
    cumulative: Vec<f64>,
}

impl ExactObjective {
    /// Builds the objective of increasing scores, shape `(n,)`, and the two laws around the target scores.
    ///
    /// # Errors
    /// `Empty`, `NotFinite` or `NotIncreasing` for scores that are not increasing finite numbers.
    pub fn new(sorted_scores: &[f64], sandwich: &Sandwich) -> Result<Self> {
        require_increasing("sorted scores", sorted_scores)?;
        let mut atoms: Vec<f64> = Vec::with_capacity(sorted_scores.len());
        let mut ends: Vec<usize> = Vec::with_capacity(sorted_scores.len());
        for (index, score) in sorted_scores.iter().enumerate() {
            match ends.last_mut() {
                // Equal scores are one atom: a threshold admits all of them or none.
                Some(end) if atoms.last() == Some(score) => *end = index + 1,
                _ => {
                    atoms.push(*score);
                    ends.push(index + 1);
                }
            }
        }
        let cumulative = vec![0.0; atoms.len()];
        let mut objective = Self { atoms, ends, upper: Vec::new(), lower: Vec::new(), cumulative };
        objective.set_sandwich(sandwich)?;
        Ok(objective)
    }

    /// `(U_i, D_i)`.
    pub(crate) fn laws_at(&self, atom: usize) -> (f64, f64) {
        (self.upper[atom], self.lower[atom])
    }

    /// How many scores are at most the atom; the last of these is the number of scores.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// `g_i(u)`, the largest distance of a law between the two from level `u`, at atom `i`.
    pub(crate) fn gap(&self, atom: usize, u: f64) -> f64 {
        let (upper, lower) = self.laws_at(atom);
        0.5 * ((u - upper).abs() + (u - lower).abs() + (lower - upper))
    }
}

impl Objective for ExactObjective {
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// `O(n)`: one sweep up for the value, one down for the gradient.
    fn value_and_gradient(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let mut reached = 0.0;
        let mut start = 0;
        for (slot, end) in self.cumulative.iter_mut().zip(&self.ends) {
            reached += weights[start..*end].iter().sum::<f64>();
            *slot = reached;
            start = *end;
        }
        let mut slope = 0.0;
        for i in (0..self.ends.len()).rev() {
            if i + 1 < self.ends.len() {
                let level = self.cumulative[i];
                slope += self.gap(i, level) - self.gap(i + 1, level);
            }
            let start = if i == 0 { 0 } else { self.ends[i - 1] };
            gradient[start..self.ends[i]].fill(slope);
        }
        level_gap_at(&self.cumulative, &self.upper, &self.lower)
    }

    /// Looks both CDFs up at the atoms; never fails.
    fn set_sandwich(&mut self, sandwich: &Sandwich) -> Result<()> {
        self.upper = sandwich.upper().cdf_at_increasing(&self.atoms);
        self.lower = sandwich.lower().cdf_at_increasing(&self.atoms);
        Ok(())
    }
}
