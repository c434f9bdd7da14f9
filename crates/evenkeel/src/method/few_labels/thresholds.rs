//! Thresholds for any level, from a stored value of bounded size.
//!
//! ```text
//! t1      smallest score with F >= 1 - alpha;   x = labeled scores above t1
//! u_c     ~ B(c (1 - alpha) + k - x, c alpha + x) / B(c (1 - alpha), c alpha),   c in {50, 200, 800}
//! a       = sum_c u_c k / (c + k)
//! t       smallest score with (1 - a) F + a k/(k+1) F_k >= 1 - alpha, else +infinity
//! sd^2    = (1 - a)^2 spread(t) + sum_c u_c alpha (1 - alpha) / (c + k + 1)
//! ```
//! With unequal sampling probabilities labels have shares `w`, and `k` is `1 / sum w^2`.

use serde::{Deserialize, Serialize};

use super::settings::Guarantee;
use super::shares::softmax;
use crate::certify::tolerance_rank;
use crate::error::{Error, Result, require_increasing, require_same_length};
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::QUANTILE_TOLERANCE;
use crate::numeric::gamma::ln_beta;
use crate::threshold::Threshold;

/// Worth of the posterior's law, in labels.
pub(super) const WORTHS: [f64; 3] = [50.0, 200.0, 800.0];

/// All that thresholds need: the posterior's law, the labeled scores, and what is to be guaranteed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct LabelThresholds {
    /// Increasing; the labeled scores are among them.
    scores: Vec<f64>,
    /// `F` at each.
    cdf: Vec<f64>,
    /// How far the tables disagree about `F` there.
    spread: Vec<f64>,
    /// Scores of the labels, increasing.
    labeled: Vec<f64>,
    /// Their shares; empty where they are equal.
    shares: Vec<f64>,
    guarantee: Guarantee,
}

/// A threshold and how it came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosteriorThreshold {
    /// The threshold, with what is guaranteed taken into account.
    pub threshold: Threshold,
    /// The posterior's own.
    pub posterior: Threshold,
    /// `t1`, the quantile of the posterior's law before the labels pull it.
    pub before_pull: Threshold,
    /// `x`: labels whose scores lie above `t1`.
    pub misses: f64,
    /// `u_c`.
    pub worths: [f64; 3],
    /// `a`, the share of the labeled scores in the final law.
    pub pull: f64,
    /// Expected distance of the coverage from the level, as a standard deviation: assumed, not guaranteed.
    pub expected_error: f64,
    /// Threshold of split conformal prediction on the labels alone.
    pub split: Threshold,
}

/// What the posterior believes of a coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosteriorCoverage {
    /// Its mean.
    pub value: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl LabelThresholds {
    pub(crate) fn new(
        (scores, cdf, spread): (Vec<f64>, Vec<f64>, Vec<f64>),
        (labeled, shares): (Vec<f64>, Vec<f64>),
        guarantee: Guarantee,
    ) -> Result<Self> {
        require_increasing("scores of the law", &scores)?;
        require_increasing("levels of the law", &cdf)?;
        require_same_length("levels of the law", cdf.len(), "its scores", scores.len())?;
        require_same_length("spreads of the law", spread.len(), "its scores", scores.len())?;
        let share = |value: &f64| (0.0..=1.0).contains(value);
        if !(cdf.iter().all(share) && spread.iter().all(share)) {
            return Err(Error::Damaged { what: DAMAGED, why: "a level is not between 0 and 1" });
        }
        if !labeled.is_empty() {
            require_increasing("labeled scores", &labeled)?;
        }
        if !shares.is_empty() {
            require_same_length("shares of labels", shares.len(), "labeled scores", labeled.len())?;
            let whole = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
            if !(whole && shares.iter().all(share)) {
                return Err(Error::Damaged {
                    what: DAMAGED,
                    why: "the shares of its labels do not sum to one",
                });
            }
        }
        Ok(Self { scores, cdf, spread, labeled, shares, guarantee })
    }

    /// The threshold at a miscoverage rate, and how it came about.
    pub fn at(&self, alpha: Miscoverage) -> PosteriorThreshold {
        let (rate, level) = (alpha.get(), alpha.level().get());
        let reached = level - QUANTILE_TOLERANCE;
        let k = self.effective_labels();
        let before_pull = self.score_at(self.cdf.partition_point(|cdf| *cdf < reached));
        let misses = k * (1.0 - self.share_covered(before_pull.get()));
        let worths = softmax(WORTHS.map(|c| {
            let (covered, missed) = (c * level, c * rate);
            // Rounding must not take the last hit away.
            ln_beta(covered + (k - misses).max(0.0), missed + misses) - ln_beta(covered, missed)
        }));
        let pull: f64 = WORTHS.iter().zip(worths).map(|(c, weight)| weight * k / (c + k)).sum();
        let mut index = 0;
        let mut count = self.scores.len();
        // The first score that reaches the level, by bisection: both laws increase.
        while count > 0 {
            let half = count / 2;
            if self.pulled(index + half, pull, k) < reached {
                index += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        let posterior = self.score_at(index);
        let spread = self.spread.get(index).copied().unwrap_or(0.0);
        let sampling: f64 = WORTHS
            .iter()
            .zip(worths)
            .map(|(c, weight)| weight * rate * level / (c + k + 1.0))
            .sum();
        let split = self.split(alpha);
        let least = match self.guarantee {
            Guarantee::None => f64::NEG_INFINITY,
            Guarantee::Average => split.get(),
            Guarantee::Probability { probability } => {
                self.tolerance_limit(alpha, probability.get()).get()
            }
        };
        PosteriorThreshold {
            threshold: threshold(posterior.get().max(least)),
            posterior,
            before_pull,
            misses,
            worths,
            pull,
            expected_error: ((1.0 - pull).powi(2) * spread + sampling).sqrt(),
            split,
        }
    }

    /// `F_post` at the scores of the law: `(1 - a) F + a k/(k+1) F_k`.
    pub fn posterior_law(&self, alpha: Miscoverage, score: f64) -> f64 {
        let (k, pull) = (self.effective_labels(), self.at(alpha).pull);
        match self.scores.partition_point(|known| *known <= score) {
            0 => 0.0,
            count => self.pulled(count - 1, pull, k),
        }
    }

    /// What the posterior believes of the coverage at a score: `(1 - a) F + a F_k`, with its standard deviation. Assumed, not
    /// guaranteed.
    pub fn coverage_at(&self, alpha: Miscoverage, score: f64) -> PosteriorCoverage {
        let PosteriorThreshold { worths, pull, .. } = self.at(alpha);
        let k = self.effective_labels();
        let at = self.scores.partition_point(|known| *known <= score).checked_sub(1);
        let law = |values: &[f64]| at.and_then(|at| values.get(at)).copied().unwrap_or(0.0);
        // Without labels nothing pulls.
        let value = if score.is_finite() {
            (1.0 - pull) * law(&self.cdf) + pull * self.share_covered(score)
        } else {
            1.0
        };
        let sampling = WORTHS.iter().zip(worths);
        let sampling: f64 =
            sampling.map(|(c, weight)| weight * value * (1.0 - value) / (c + k + 1.0)).sum();
        let deviation = ((1.0 - pull).powi(2) * law(&self.spread) + sampling.max(0.0)).sqrt();
        PosteriorCoverage { value, deviation }
    }

    /// What is to be guaranteed.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.labeled.len()
    }

    fn pulled(&self, index: usize, pull: f64, k: f64) -> f64 {
        let labeled = self.share_covered(self.scores[index]);
        (1.0 - pull) * self.cdf[index] + pull * k / (k + 1.0) * labeled
    }

    fn score_at(&self, index: usize) -> Threshold {
        self.scores.get(index).map_or(Threshold::AllLabels, |score| Threshold::Finite(*score))
    }

    /// `k`, or what unequal shares amount to.
    fn effective_labels(&self) -> f64 {
        if self.shares.is_empty() {
            return self.labeled.len() as f64;
        }
        1.0 / self.shares.iter().map(|share| share * share).sum::<f64>()
    }

    /// `F_k`: the share of the labels with scores at or below this one.
    fn share_covered(&self, score: f64) -> f64 {
        let count = self.labeled.partition_point(|labeled| *labeled <= score);
        match (self.labeled.len(), self.shares.as_slice()) {
            (0, _) => 0.0,
            (labels, []) => count as f64 / labels as f64,
            (_, shares) => shares[..count].iter().sum(),
        }
    }

    /// Split conformal prediction on the labels: the `ceil((k + 1)(1 - alpha))`-th smallest score.
    fn split(&self, alpha: Miscoverage) -> Threshold {
        let k = self.labeled.len();
        // The slack of a quantile, in ranks.
        let slack = QUANTILE_TOLERANCE * (k + 1) as f64;
        let rank = ((k + 1) as f64 * alpha.level().get() - slack).ceil().max(1.0) as usize;
        self.labeled.get(rank - 1).map_or(Threshold::AllLabels, |score| Threshold::Finite(*score))
    }

    /// The label's score that covers the level with a probability over the labels.
    fn tolerance_limit(&self, alpha: Miscoverage, probability: f64) -> Threshold {
        let rank = FailureProbability::new(1.0 - probability)
            .ok()
            .and_then(|failure| tolerance_rank(self.labeled.len() as u64, alpha, failure));
        let score = rank.and_then(|rank| self.labeled.get(rank as usize - 1));
        score.map_or(Threshold::AllLabels, |score| Threshold::Finite(*score))
    }
}

fn threshold(score: f64) -> Threshold {
    if score.is_finite() { Threshold::Finite(score) } else { Threshold::AllLabels }
}

const DAMAGED: &str = "this calibration";

/// The fields as they stand in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Unchecked {
    scores: Vec<f64>,
    cdf: Vec<f64>,
    spread: Vec<f64>,
    labeled: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<f64>,
    #[serde(default)]
    guarantee: Guarantee,
}

impl TryFrom<Unchecked> for LabelThresholds {
    type Error = Error;

    fn try_from(fields: Unchecked) -> Result<Self> {
        let Unchecked { scores, cdf, spread, labeled, shares, guarantee } = fields;
        Self::new((scores, cdf, spread), (labeled, shares), guarantee)
    }
}

impl From<LabelThresholds> for Unchecked {
    fn from(checked: LabelThresholds) -> Self {
        let LabelThresholds { scores, cdf, spread, labeled, shares, guarantee } = checked;
        Self { scores, cdf, spread, labeled, shares, guarantee }
    }
}
