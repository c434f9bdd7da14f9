//! An interval for the mean coverage of all labels so far, which holds after every label at once and also while coverage changes.
//!
//! ```text
//! x_i     1 if label i lay in its set, else 0;  p_i = P(x_i = 1 | the labels before it);  s = sum x_i;  mean = (p_1 + ... + p_t) / t
//! low     the smallest m with  sum_j w_j exp(l_j s - t ln(1 + m (e^l_j - 1))) < 2/d,   l_j = 4, 4/sqrt(2), 2, ..., 1/64,  w_j = 1/17
//! high    the same of misses: 1 - low with t - s in place of s
//! ```
//! For every `l`, `prod exp(l x_i) / (1 + p_i (e^l - 1))` is a martingale that begins at 1: the factor's mean is 1 whatever `p_i` was. `ln(1 +
//! p (e^l - 1))` is concave in `p`, so its sum over the labels is at most `t ln(1 + mean (e^l - 1))` (Jensen), and what stands in the line of
//! `low` at `m = mean` is at most the mixture of these martingales. By Ville's inequality it ever reaches `2/d` with probability at most
//! `d/2`; both sides together, the interval ever leaves out the mean so far with probability at most `d`. Which `l_j` are mixed was chosen
//! before any label and does not depend on `m`, as it must where the mean moves. (Sub-Bernoulli processes: Howard, Ramdas, McAuliffe & Sekhon,
//! Time-uniform Chernoff bounds via nonnegative supermartingales, Probability Surveys 2020; means that move: the same, Time-uniform,
//! nonparametric, nonasymptotic confidence sequences, Annals of Statistics 2021.)
//!
//! Intervals of earlier times are not intersected. The mean so far is another number at every time: an intersection would be of use only if
//! coverage never changed, and leaves out the share that is observed when it does.

use serde::Serialize;

/// Stakes that are mixed: from `4` down by the root of two.
const STAKES: i32 = 17;
/// Halvings of the interval of a bisection: beyond the last digit that anyone is shown.
const HALVINGS: usize = 40;

/// Mean coverage of the labels so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanCoverage {
    /// Share of the labels that were in their sets; 0 before any.
    pub value: f64,
    /// Lowest mean coverage; it holds at every time, however coverage changes.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// Confidence with which all these intervals hold together.
    pub confidence: f64,
}

impl MeanCoverage {
    /// Of so many labels, of which so many were covered; `delta` is the chance that it is ever wrong.
    pub(crate) fn of(labels: u64, covered: u64, delta: f64) -> Self {
        let (t, s) = (labels as f64, covered as f64);
        Self {
            value: s / t.max(1.0),
            low: lowest(t, s, delta),
            high: 1.0 - lowest(t, t - s, delta),
            confidence: 1.0 - delta,
        }
    }
}

/// The smallest mean that `s` of `t` do not speak against.
fn lowest(t: f64, s: f64, delta: f64) -> f64 {
    let enough = (2.0 / delta).ln();
    if ln_evidence(t, s, 0.0) < enough {
        return 0.0;
    }
    // The evidence falls with the mean, and at the share itself there is none: every exponent is at most 0 there.
    let (mut below, mut above) = (0.0, s / t);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (below + above);
        match ln_evidence(t, s, middle) >= enough {
            true => below = middle,
            false => above = middle,
        }
    }
    below
}

/// `ln` of the mixture, against the mean `m` from above.
fn ln_evidence(t: f64, s: f64, m: f64) -> f64 {
    let stakes = (0..STAKES).map(|j| 2.0_f64.powf(2.0 - 0.5 * f64::from(j)));
    let exponents: Vec<f64> = stakes.map(|l| l * s - t * (m * l.exp_m1()).ln_1p()).collect();
    // Of many labels an exponent may be thousands; taken out of the sum, the largest cannot overflow.
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = exponents.iter().map(|exponent| (exponent - largest).exp()).sum();
    largest + (sum / f64::from(STAKES)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::seed::Seed;

    #[test]
    fn it_holds_the_share_and_shrinks() {
        assert_eq!(MeanCoverage::of(0, 0, 0.05).low, 0.0);
        assert_eq!(MeanCoverage::of(0, 0, 0.05).high, 1.0);
        let mut width = 1.0;
        for labels in [1, 10, 100, 1000, 10_000, 1_000_000, 1_000_000_000_000] {
            for covered in [0, labels / 2, labels - labels / 10, labels] {
                let found = MeanCoverage::of(labels, covered, 0.05);
                assert!(
                    0.0 <= found.low
                        && found.low <= found.value
                        && found.value <= found.high
                        && found.high <= 1.0,
                    "{labels} {covered}: {found:?}"
                );
            }
            let found = MeanCoverage::of(labels, labels - labels / 10, 0.05);
            assert!(found.high - found.low <= width, "{labels}: {found:?}");
            width = found.high - found.low;
        }
        assert!(width < 0.01, "{width}");
        let found = MeanCoverage::of(1000, 900, 0.05);
        assert!(found.low > 0.86 && found.high < 0.935, "{found:?}");
    }

    /// The coverage of the next label, of the time passed and the share so far.
    type World = fn(f64, f64) -> f64;

    /// At all times at once, for coverage that stays, that fades, and that answers to what was seen.
    #[test]
    fn it_holds_the_mean_so_far_at_every_time_while_coverage_changes() {
        const STREAMS: u64 = 300;
        const DELTA: f64 = 0.2;
        let enough = (2.0 / DELTA).ln();
        let worlds: [(&str, World); 3] = [
            ("it stays", |_, _| 0.9),
            ("it fades", |time, _| 0.95 - 0.6 * time),
            ("it answers", |_, share| if share > 0.8 { 0.5 } else { 0.95 }),
        ];
        for (name, coverage) in worlds {
            let mut wrong = 0;
            for seed in 0..STREAMS {
                let mut stream = Seed::new(seed).stream(name);
                let (mut covered, mut total) = (0_u64, 0.0);
                let fails = (1..=200_u64).any(|labels| {
                    let share = covered as f64 / (labels - 1).max(1) as f64;
                    let p = coverage(labels as f64 / 200.0, share);
                    total += p;
                    covered += u64::from(stream.uniform() < p);
                    let (t, s, mean) = (labels as f64, covered as f64, total / labels as f64);
                    // Outside the interval, without the search for its ends.
                    ln_evidence(t, s, mean) >= enough || ln_evidence(t, t - s, 1.0 - mean) >= enough
                });
                wrong += u64::from(fails);
            }
            // The bound is 60 of 300; what is mixed costs some of it.
            assert!(wrong as f64 <= DELTA * STREAMS as f64, "{name}: {wrong} of {STREAMS}");
        }
    }
}
