//! A few labels of the target data: the law without them, pulled toward theirs.
//!
//! ```text
//! t1      threshold without the labels,   x = #{labels with a score above t1}
//! u_c     ~ B(c (1 - alpha) + k - x, c alpha + x) / B(c (1 - alpha), c alpha)      c = 2, 10, 50, 200, 800
//! a       sum_c u_c k / (c + k)
//! F_post  (1 - a) F + a k/(k + 1) F_k                                              missing mass at infinity
//! ```
//! The pull of `few-labels` without its label laws, which there adapt to the labels first. So the law without labels may be worth as little as
//! two labels here: labels that agree with the level pull a little, labels that contradict it take over.

use crate::certify::tolerance_rank;
use crate::error::{Result, require_finite, require_same_length, require_some};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::Weights;
use crate::method::Guarantee;
use crate::method::Sorted;
use crate::numeric::gamma::ln_beta;
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};

/// How many labels the law without labels may be worth.
const WORTH: [f64; 5] = [2.0, 10.0, 50.0, 200.0, 800.0];

/// Weights on calibration scores and on the scores of labeled target points.
#[derive(Debug, Clone, PartialEq)]
pub struct WithLabels {
    /// Scores of the calibration points, then of the labeled target points; shape `(n + k,)`.
    pub scores: Vec<f64>,
    /// One for each.
    pub weights: Weights,
    /// The test point's share of the mass.
    pub test_mass: TestMass,
    /// How far the labels pull, in `[0, 1)`.
    pub pull: f64,
    /// Threshold without the labels.
    pub before: Threshold,
}

/// Pulls weighted scores `(n,)` toward the scores of `k` labeled target points.
///
/// # Errors
/// If either list is empty or holds a number that is not finite, or there is not one weight for each score.
pub fn with_labels(
    scores: &[f64],
    (weights, test_mass): (&Weights, TestMass),
    labeled: &[f64],
    alpha: Miscoverage,
) -> Result<WithLabels> {
    require_some("calibration scores", scores)?;
    require_finite("calibration scores", scores)?;
    require_some("scores of labeled target points", labeled)?;
    require_finite("scores of labeled target points", labeled)?;
    require_same_length("weights", weights.len(), "calibration scores", scores.len())?;
    let sorted = Sorted::new(scores);
    let arranged = sorted.arrange(weights.as_slice());
    let before = threshold_of_sorted(&sorted.scores, &arranged, test_mass, alpha);
    let misses = labeled.iter().filter(|score| !before.admits(**score)).count() as f64;
    let k = labeled.len() as f64;
    let evidence = WORTH.map(|worth| {
        let (hit, missed) = (worth * (1.0 - alpha.get()), worth * alpha.get());
        ln_beta(hit + k - misses, missed + misses) - ln_beta(hit, missed)
    });
    let largest = evidence.iter().fold(f64::NEG_INFINITY, |largest, value| largest.max(*value));
    let likely = evidence.map(|value| (value - largest).exp());
    let total: f64 = likely.iter().sum();
    let pull = WORTH.iter().zip(likely).map(|(worth, u)| u / total * k / (worth + k)).sum::<f64>();
    let own = (1.0 - pull) * (1.0 - test_mass.get());
    let each = pull / (k + 1.0);
    let mut all: Vec<f64> = weights.as_slice().iter().map(|weight| own * weight).collect();
    all.extend(labeled.iter().map(|_| each));
    Ok(WithLabels {
        scores: scores.iter().chain(labeled).copied().collect(),
        weights: Weights::normalised(all)?,
        test_mass: TestMass::new(
            ((1.0 - pull) * test_mass.get() + pull / (k + 1.0)).clamp(0.0, 1.0),
        )?,
        pull,
        before,
    })
}

/// The smallest threshold that labels drawn at random from the target points guarantee: that of split conformal prediction on them, or
/// Wilks' tolerance limit. None where nothing is to be guaranteed.
///
/// # Errors
/// If there are no labels, or a score is not finite.
pub fn guaranteed_threshold(
    labeled: &[f64],
    alpha: Miscoverage,
    guarantee: Guarantee,
) -> Result<Option<Threshold>> {
    require_some("scores of labeled target points", labeled)?;
    require_finite("scores of labeled target points", labeled)?;
    let sorted = Sorted::new(labeled).scores;
    let k = sorted.len();
    Ok(match guarantee {
        Guarantee::None => None,
        Guarantee::Average => {
            let equal = vec![1.0 / k as f64; k];
            Some(threshold_of_sorted(&sorted, &equal, TestMass::exchangeable(k), alpha))
        }
        Guarantee::Probability { probability } => {
            let failure = FailureProbability::new(1.0 - probability.get())?;
            let rank = tolerance_rank(k as u64, alpha, failure);
            let score = rank.and_then(|rank| sorted.get(rank as usize - 1));
            Some(score.map_or(Threshold::AllLabels, |score| Threshold::Finite(*score)))
        }
    })
}
