//! Scores of one class, and the threshold they give at any level.
//!
//! ```text
//! points     t = the ceil((n + 1)(1 - alpha))-th smallest score
//! weighted   t = smallest s with sum_{i: s_i <= s} v_i / (sum_i v_i + 1) >= 1 - alpha
//! fitted     t = smallest place with F(t) >= 1 - alpha, pulled by the labels of the class where there are any
//! ```

use serde::{Deserialize, Serialize};

use super::rank::conformal_rank;
use crate::error::{Error, Result, require_increasing, require_same_length};
use crate::level::Miscoverage;
use crate::method::few_labels::LabelThresholds;
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};

/// What thresholds of a class follow from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GroupLaw {
    /// Calibration points that count alike, one of which the test point could be.
    Points {
        /// Their scores, increasing.
        scores: Vec<f64>,
    },
    /// Calibration points with weights of the user's own; the test point has weight 1.
    Weighted {
        /// Their scores, increasing.
        scores: Vec<f64>,
        /// Their weights, not normalised.
        weights: Vec<f64>,
    },
    /// The scores of the class on the target rows, each as likely as the label law makes it.
    Fitted {
        /// The law, and the labels of the class.
        thresholds: LabelThresholds,
    },
}

impl GroupLaw {
    /// The threshold at a miscoverage rate.
    pub fn threshold(&self, alpha: Miscoverage) -> Threshold {
        match self {
            Self::Points { scores } => conformal_rank(scores.len(), alpha)
                .map_or(Threshold::AllLabels, |rank| Threshold::Finite(scores[rank - 1])),
            Self::Weighted { scores, weights } => {
                let total: f64 = weights.iter().sum();
                // No weight at all leaves the test point alone, at infinity.
                match TestMass::from_unnormalised(1.0, total) {
                    Ok(test) if total > 0.0 => threshold_of_sorted(scores, weights, test, alpha),
                    _ => Threshold::AllLabels,
                }
            }
            Self::Fitted { thresholds } => thresholds.at(alpha).threshold,
        }
    }

    /// An error unless scores increase and weights are weights: files are user input.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Points { scores } => increasing(scores),
            Self::Weighted { scores, weights } => {
                require_same_length("weights", weights.len(), "scores", scores.len())?;
                let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
                if !weights.iter().all(sound) {
                    let why = "a weight is negative or not finite";
                    return Err(Error::Damaged { what: "this calibration", why });
                }
                increasing(scores)
            }
            // Checked when it was read.
            Self::Fitted { .. } => Ok(()),
        }
    }
}

/// Of classes without a calibration point there are none.
fn increasing(scores: &[f64]) -> Result<()> {
    if scores.is_empty() { Ok(()) } else { require_increasing("scores of a class", scores) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::WeightedEmpirical;
    use crate::threshold::conformal_threshold;

    /// The rank of a list is the quantile of its law, for every number of points.
    #[test]
    fn points_have_the_threshold_of_split_conformal_prediction() {
        for alpha in [0.01, 0.05, 0.1, 0.2, 0.5] {
            let alpha = Miscoverage::new(alpha).unwrap();
            for n in 1..=500_usize {
                let scores: Vec<f64> = (1..=n).map(|i| i as f64 / 512.0).collect();
                let law = WeightedEmpirical::uniform(&scores).unwrap();
                let expected = conformal_threshold(&law, TestMass::exchangeable(n), alpha);
                let found = GroupLaw::Points { scores: scores.clone() }.threshold(alpha);
                assert_eq!(found, expected, "n = {n}");
                // Equal weights of one are n + 1 exchangeable points.
                let weights = vec![1.0; n];
                assert_eq!(GroupLaw::Weighted { scores, weights }.threshold(alpha), expected);
            }
        }
    }

    #[test]
    fn nothing_reaches_no_level() {
        let alpha = Miscoverage::new(0.1).unwrap();
        for law in [
            GroupLaw::Points { scores: vec![] },
            GroupLaw::Weighted { scores: vec![], weights: vec![] },
            GroupLaw::Weighted { scores: vec![0.5; 20], weights: vec![0.0; 20] },
        ] {
            law.check().unwrap();
            assert_eq!(law.threshold(alpha), Threshold::AllLabels);
        }
        assert!(GroupLaw::Points { scores: vec![0.5, 0.1] }.check().is_err());
        assert!(GroupLaw::Points { scores: vec![f64::NAN] }.check().is_err());
        let weights = vec![-1.0];
        assert!(GroupLaw::Weighted { scores: vec![0.5], weights }.check().is_err());
    }
}
