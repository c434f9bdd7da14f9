//! Class shares of the target data, between those of the calibration data and those of the labels.
//!
//! ```text
//! v_S    ~ Gamma(S) / Gamma(S + k) prod_g Gamma(S pi_g + c_g) / Gamma(S pi_g)        S in {15, 60, 240, 10^6}, equally likely
//! pi'    = sum_S v_S (S pi + c) / (S + k)
//! rho_g  = clip(sum_S v_S (S pi_g + c_g - 1) / (S + k - 1) / pi'_g, 10^-6, 1)        pi' without one label of the group
//! ```
//! `S` says how many labels the calibration's shares are worth; 10^6 keeps them as they are. `rho` takes a label's own weight out of the
//! shares it is judged by: it would foretell itself.

/// Worth of the calibration's shares, in labels.
pub(super) const STRENGTHS: [f64; 4] = [15.0, 60.0, 240.0, 1e6];
const SMALLEST_LEFT_OUT: f64 = 1e-6;

/// Shares of the groups after the labels were seen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UpdatedShares {
    /// `v_S`.
    pub strengths: [f64; 4],
    /// `pi'`, shape `(G,)`.
    pub shares: Vec<f64>,
    /// `rho`, shape `(G,)`.
    pub left_out: Vec<f64>,
}

impl UpdatedShares {
    /// From the calibration's shares and the number of labels in each group.
    pub(super) fn new(prior: &[f64], counts: &[u64]) -> Self {
        let k = counts.iter().sum::<u64>();
        let strengths = softmax(STRENGTHS.map(|strength| {
            let groups = prior.iter().zip(counts);
            let likely: f64 = groups.map(|(pi, count)| ln_rising(strength * pi, *count)).sum();
            likely - ln_rising(strength, k)
        }));
        let mean = |per_strength: &dyn Fn(f64) -> f64| -> f64 {
            STRENGTHS.iter().zip(strengths).map(|(s, v)| v * per_strength(*s)).sum()
        };
        let k = k as f64;
        let groups = || prior.iter().zip(counts.iter().map(|count| *count as f64));
        let shares: Vec<f64> = groups().map(|(pi, c)| mean(&|s| (s * pi + c) / (s + k))).collect();
        let left_out = groups().zip(&shares).map(|((pi, c), share)| {
            let without = mean(&|s| (s * pi + c - 1.0) / (s + k - 1.0));
            (without / share).clamp(SMALLEST_LEFT_OUT, 1.0)
        });
        Self { strengths, left_out: left_out.collect(), shares }
    }
}

/// `ln Gamma(x + count) - ln Gamma(x)`, term by term: a difference of logarithms of a million's factorial has no digits left.
fn ln_rising(x: f64, count: u64) -> f64 {
    (0..count).map(|i| (x + i as f64).ln()).sum()
}

/// Weights in proportion to the exponentials of logarithms.
pub(super) fn softmax<const N: usize>(logs: [f64; N]) -> [f64; N] {
    let largest = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let raw = logs.map(|log| (log - largest).exp());
    let total: f64 = raw.iter().sum();
    raw.map(|weight| weight / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_labels_leave_the_shares_alone() {
        let updated = UpdatedShares::new(&[0.7, 0.2, 0.1], &[0, 0, 0]);
        assert_eq!(updated.strengths, [0.25; 4]);
        for (found, expected) in updated.shares.iter().zip([0.7, 0.2, 0.1]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn many_labels_of_other_shares_take_over() {
        let updated = UpdatedShares::new(&[0.9, 0.1], &[100, 900]);
        assert!(updated.strengths[0] > 0.99, "{updated:?}");
        assert!((updated.shares[1] - 0.9).abs() < 0.02, "{updated:?}");
        assert!((updated.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn labels_of_the_same_shares_leave_them_believed() {
        let updated = UpdatedShares::new(&[0.5, 0.5], &[100, 100]);
        assert!(updated.strengths[3] > updated.strengths[0], "{updated:?}");
    }
}
