//! `c_i = (F(s_i) + F(s_(i+1))) / 2`: the weights that bring the calibration scores as close to a law `F` as weights
//! can.
//!
//! ```text
//! levels     c_0 = 0,  c_i = (F(s_i) + F(s_(i+1))) / 2,  c_k = 1        s_1 < .. < s_k distinct calibration scores
//! weights    w_i = c_i - c_(i-1)                                        shared equally by tied scores
//! total gap  sum_i int_{c_(i-1)}^{c_i} |F(s_i) - u| du                  what no other weights make smaller
//! ```
//! **Why these.** Weights send the level `u` to the score `s_i` with `c_(i-1) < u <= c_i`, where the threshold promises
//! `u` and the law delivers `F(s_i)`: the total gap is the integral over `u` of `|F(s_i(u)) - u|`. For each `u` alone
//! the best score is the one whose `F(s_i)` is nearest to `u`. Nearest values change half-way between neighbours, at
//! `(F(s_i) + F(s_(i+1))) / 2`, and because `F` increases the choices increase with `u`, so that they are a quantile
//! function: the point-wise minimum is attained by weights. It is the projection of `F` on the measures carried by the
//! calibration scores under the transport cost `int |F(s(u)) - u| du`.
//!
//! **Ties** are one score to every threshold, so they are one atom here: only their total weight enters the gap. It is
//! split equally among them, which leaves the effective sample size largest.

use crate::error::{At, Error, Result, require_increasing, require_same_length};
use crate::measure::Weights;

/// How far a CDF value may lie outside `[0, 1]`: a sum of many masses passes one by rounding, and refusing it would
/// refuse valid laws.
const ROUNDING: f64 = 1e-9;

/// The projection of a law on the calibration scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// Weight of each calibration score, in increasing order of the scores.
    pub weights: Weights,
    /// `c_i`, the levels reached at each score; the last one is 1.
    pub cumulative: Vec<f64>,
    /// The exact total gap to the law, the smallest that weights can reach.
    pub gap: f64,
}

/// Projects the law with CDF values `cdf[i] = F(sorted_scores[i])` on the scores; shapes `(n,)`.
///
/// # Errors
/// `Empty`, `NotFinite` or `NotIncreasing` for scores or CDF values that are not increasing finite numbers,
/// `LengthMismatch` unless there is one value per score, `OutsideRange` for a value outside `[0, 1]` by more than
/// rounding.
pub fn project(sorted_scores: &[f64], cdf: &[f64]) -> Result<Projection> {
    require_increasing("sorted scores", sorted_scores)?;
    require_same_length("CDF values", cdf.len(), "sorted scores", sorted_scores.len())?;
    require_increasing("CDF values", cdf)?;
    if let Some(index) = cdf.iter().position(|f| !(-ROUNDING..=1.0 + ROUNDING).contains(f)) {
        return Err(Error::OutsideRange {
            what: "CDF values",
            at: At::Index(index),
            value: cdf[index],
            low: 0.0,
            high: 1.0,
        });
    }
    let n = sorted_scores.len();
    let mut weights = vec![0.0; n];
    let mut cumulative = vec![1.0; n];
    let (mut start, mut before) = (0, 0.0);
    while start < n {
        let ties =
            sorted_scores[start..].iter().take_while(|s| **s == sorted_scores[start]).count();
        let end = start + ties;
        // The last of tied points knows the whole jump, should a caller's law jump between them.
        let here = cdf[end - 1].clamp(0.0, 1.0);
        // The last score takes all levels that are left: nothing lies beyond it to send them to.
        let reached = cdf.get(end).map_or(1.0, |next| 0.5 * (here + next.clamp(0.0, 1.0)));
        let each = (reached - before) / ties as f64;
        for offset in 0..ties {
            weights[start + offset] = each;
            cumulative[start + offset] = before + each * (offset + 1) as f64;
        }
        // The level itself, not the rounded sum of its shares: the last one must be exactly 1, or the level 1 has no
        // score.
        cumulative[end - 1] = reached;
        (start, before) = (end, reached);
    }
    let gap = total_gap_to(cdf, &cumulative);
    Ok(Projection { weights: Weights::already_normalised(weights)?, cumulative, gap })
}

/// The exact total gap between weights with cumulative sums `c` and a law with values `F(s_i)` at the same scores:
///
/// ```text
/// sum_i int_{c_(i-1)}^{c_i} |F(s_i) - u| du
/// ```
/// Shapes `(n,)`; what the longer of the two has beyond the other is left out.
pub fn total_gap_to(cdf: &[f64], cumulative: &[f64]) -> f64 {
    let mut before = 0.0;
    cdf.iter()
        .zip(cumulative)
        .map(|(f, reached)| {
            let gap = distance_over(*f, before, *reached);
            before = *reached;
            gap
        })
        .sum()
}

/// `int_low^high |f - u| du` for `low <= high`.
#[inline]
pub(crate) fn distance_over(f: f64, low: f64, high: f64) -> f64 {
    // One trapezoid outside the interval, two triangles inside: a single formula with `abs` would
    // be wrong where the sign changes within.
    if f <= low || f >= high {
        (high - low) * (f - 0.5 * (low + high)).abs()
    } else {
        0.5 * ((f - low) * (f - low) + (high - f) * (high - f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cumulative sums of weights on the simplex.
    fn cumulative(raw: &[f64]) -> Vec<f64> {
        let total: f64 = raw.iter().sum();
        let mut sum = 0.0;
        let mut sums: Vec<f64> = raw
            .iter()
            .map(|weight| {
                sum += weight / total;
                sum
            })
            .collect();
        if let Some(last) = sums.last_mut() {
            *last = 1.0;
        }
        sums
    }

    /// Increasing scores, possibly tied, and the values of an increasing function at them.
    fn scores_and_law() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        (1usize..9).prop_flat_map(|n| {
            let steps = prop::collection::vec((0u8..3, 0.0..1.0f64), n);
            (steps, 0.1..1.0f64).prop_map(|(steps, top)| {
                let (mut score, mut f) = (0.0, 0.0);
                let total: f64 = steps.iter().map(|(_, rise)| rise).sum::<f64>() + 1e-9;
                let (mut scores, mut law): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
                for (index, (gap, rise)) in steps.iter().enumerate() {
                    if *gap > 0 || index == 0 {
                        score += f64::from(*gap) + 0.5;
                        f += top * rise / total;
                    }
                    scores.push(score);
                    law.push(f);
                }
                (scores, law)
            })
        })
    }

    proptest! {
        #[test]
        fn no_other_weights_have_a_smaller_gap(
            (scores, law) in scores_and_law(),
            raw in prop::collection::vec(1e-6..1.0f64, 9),
            moves in prop::collection::vec((0usize..9, -0.2..0.2f64), 30),
        ) {
            let best = project(&scores, &law).unwrap();
            let n = scores.len();
            prop_assert!((best.weights.as_slice().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(best.gap <= total_gap_to(&law, &cumulative(&raw[..n])) + 1e-12);
            // Perturbations of the answer.
            let mut moved = best.weights.as_slice().to_vec();
            for (index, by) in &moves {
                moved[index % n] = (moved[index % n] + by).max(0.0);
                if moved.iter().sum::<f64>() > 1e-3 {
                    prop_assert!(best.gap <= total_gap_to(&law, &cumulative(&moved)) + 1e-12);
                }
            }
        }

        /// Coordinate descent over the levels, from a random start: each level is moved to the best of many places.
        #[test]
        fn descent_does_not_get_below_it(
            (scores, law) in scores_and_law(),
            raw in prop::collection::vec(1e-6..1.0f64, 9),
        ) {
            let best = project(&scores, &law).unwrap();
            let n = scores.len();
            let mut levels = cumulative(&raw[..n]);
            for _ in 0..40 {
                for index in 0..n - 1 {
                    let low = if index == 0 { 0.0 } else { levels[index - 1] };
                    let high = levels[index + 1];
                    let mut tried = levels.clone();
                    for step in 0..=40 {
                        tried[index] = low + (high - low) * f64::from(step) / 40.0;
                        if total_gap_to(&law, &tried) < total_gap_to(&law, &levels) {
                            levels[index] = tried[index];
                        }
                    }
                }
            }
            let reached = total_gap_to(&law, &levels);
            prop_assert!(best.gap <= reached + 1e-12, "{} above {reached}", best.gap);
            prop_assert!(reached - best.gap < 0.2, "descent got nowhere near");
        }

        #[test]
        fn the_gap_is_the_integral(f in -0.2..1.2f64, low in 0.0..1.0f64, width in 0.0..1.0f64) {
            let cells = 20_000;
            let sum: f64 = (0..cells)
                .map(|k| (f - (low + width * (f64::from(k) + 0.5) / f64::from(cells))).abs())
                .sum();
            let expected = sum * width / f64::from(cells);
            prop_assert!((distance_over(f, low, low + width) - expected).abs() < 1e-7);
        }
    }

    #[test]
    fn the_uniform_law_gives_equal_weights_inside() {
        let found = project(&[1.0, 2.0, 3.0], &[1.0 / 6.0, 0.5, 5.0 / 6.0]).unwrap();
        assert!(found.weights.as_slice().iter().all(|w| (w - 1.0 / 3.0).abs() < 1e-15));
        assert!((found.gap - 1.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn ties_share_one_jump() {
        let tied = project(&[1.0, 2.0, 2.0, 3.0], &[0.2, 0.6, 0.6, 0.9]).unwrap();
        let once = project(&[1.0, 2.0, 3.0], &[0.2, 0.6, 0.9]).unwrap();
        assert_eq!(tied.weights.as_slice()[1], tied.weights.as_slice()[2]);
        assert!((tied.gap - once.gap).abs() < 1e-15);
        assert_eq!((tied.cumulative[2], tied.cumulative[3]), (once.cumulative[1], 1.0));
    }

    #[test]
    fn laws_that_are_no_laws_are_refused() {
        assert!(project(&[1.0, 2.0], &[0.5, 0.2]).is_err());
        assert!(project(&[1.0, 2.0], &[0.5, 1.2]).is_err());
        assert!(project(&[1.0], &[f64::NAN]).is_err());
        assert!(project(&[], &[]).is_err());
    }
}
