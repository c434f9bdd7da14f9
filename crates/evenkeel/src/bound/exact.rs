//! Bounds on both coverage gaps that hold whatever the scores are, ties and all.
//!
//! ```text
//! s_1 < .. < s_k   atoms of P, with masses w_i;  c_i = F_P(s_i);  U_i = F_up(s_i);  D_i = F_lo(s_i)
//!
//! total gap        sum_i w_i |c_i - F_Q(s_i)|                     <=  sum_i w_i max(|c_i - U_i|, |c_i - D_i|)
//! gap to the level sum_i int_{c_(i-1)}^{c_i} |F_Q(s_i) - u| du     <=  L = sum_i int_{c_(i-1)}^{c_i} g_i(u) du
//!                  g_i(u) = (|u - U_i| + |u - D_i| + D_i - U_i) / 2
//! ```
//! The first gap compares coverage under `P` and `Q` at the same threshold (Def 3.1 of \[CL25\]); the second compares the
//! coverage under `Q` with the level that was asked for. Without ties they differ by `O(1/n)`. With ties they do not
//! coincide: where all scores are equal the worst `Q` has a total gap of 1 and a gap to the level of 1/2.
//!
//! Both hold for every `Q` with `U <= F_Q <= D` at the atoms, by the triangle inequality at each atom. The paper's form
//! integrates against a kernel density on a grid instead (eq 7); a density cannot hold the mass of an atom, so that form
//! can be exceeded where scores are tied.

use crate::measure::WeightedEmpirical;
use crate::sandwich::Sandwich;

/// `sum_i w_i max(|c_i - U_i|, |c_i - D_i|)`, at most 1: no law between the two has a larger total coverage gap.
pub fn exact_gap_between(p: &WeightedEmpirical, sandwich: &Sandwich) -> f64 {
    let (upper, lower) = at_atoms(p, sandwich);
    let reached = p.cumulative().iter().zip(p.masses());
    let total: f64 = reached
        .zip(upper.iter().zip(&lower))
        .map(|((c, w), (up, low))| w * (c - up).abs().max((c - low).abs()))
        .sum();
    // The masses sum to one up to rounding, and a gap is a difference of probabilities.
    total.min(1.0)
}

/// `L`, at most 1: no law between the two has a coverage further from the level, on average over all levels.
///
/// Where the two laws cross the last term of `g` is negative, and `L` bounds nothing; the sandwich's order says so.
pub fn level_gap_between(p: &WeightedEmpirical, sandwich: &Sandwich) -> f64 {
    let (upper, lower) = at_atoms(p, sandwich);
    level_gap_at(p.cumulative(), &upper, &lower).min(1.0)
}

/// `L` from `c`, `U` and `D` at the atoms.
pub(crate) fn level_gap_at(cumulative: &[f64], upper: &[f64], lower: &[f64]) -> f64 {
    let mut before = 0.0;
    let mut twice = 0.0;
    for (reached, (up, low)) in cumulative.iter().zip(upper.iter().zip(lower)) {
        let distances =
            distance_over(before, *reached, *up) + distance_over(before, *reached, *low);
        twice += distances + (reached - before) * (low - up);
        before = *reached;
    }
    0.5 * twice
}

/// `int_from^to |u - a| du`, from `A(x, a) = (x - a) |x - a| / 2`.
fn distance_over(from: f64, to: f64, a: f64) -> f64 {
    let antiderivative = |x: f64| 0.5 * (x - a) * (x - a).abs();
    antiderivative(to) - antiderivative(from)
}

/// `(U, D)` at the atoms of `P`.
fn at_atoms(p: &WeightedEmpirical, sandwich: &Sandwich) -> (Vec<f64>, Vec<f64>) {
    let cdf = |law: &WeightedEmpirical| law.cdf_at_increasing(p.atoms());
    (cdf(sandwich.upper()), cdf(sandwich.lower()))
}
