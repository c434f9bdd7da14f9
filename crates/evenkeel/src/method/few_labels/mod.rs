//! `few-labels`: a Bayes average of label laws, weighed by the labels of a few target rows.
//!
//! ```text
//! tables      h0: the label-free plan; f_a = softmax(z / T_a), g_a = f_a moved to the calibration's class shares, g'_a = moved to
//!             updated shares; T_a = T inflation r_a, r_a = 2^(-2, -1.5, ..., 2)                                     28 of them
//! shares      pi' = sum_S v_S (S pi + c) / (S + k), S in {15, 60, 240, 10^6} weighed by how well they foretell the counts c
//! posterior   weights of the tables by the likelihood of the labels; h = their mean, F = law of the scores under h
//! pull        F_post = (1 - a) F + a k/(k+1) F_k, F_k the law of the k labeled scores; the rest of the mass at +infinity
//!             a = sum_c u_c k/(c + k), c in {50, 200, 800} weighed by how well F's quantile foretells the misses
//! threshold   smallest atom with F_post >= 1 - alpha
//! ```
//! Closed form and deterministic; one fit serves every level. Without labels it is the quantile of the label-free plan's law.
//!
//! One pass over the target rows while they hold at most 2^21 probabilities (`kept_cells` of the plan's settings): all of them are kept and every number is exact. Beyond
//! that the plans and the places of the laws come from a uniform sample of the rows, and a second pass adds up the law over all of
//! them, in whole numbers, at up to 16 384 scores of the sample and at all labeled scores. A threshold is then the first of these
//! at which the law reaches the level: never too small, and too large by 1/16 384 of coverage, give or take the sample's noise.

mod evidence;
mod fit;
mod law;
mod posterior;
mod second_pass;
mod settings;
mod shares;
mod tables;
mod thresholds;

pub use evidence::{FewLabelsEvidence, GuaranteeHeld, TemperatureBelief};
pub use fit::row_marks;
pub(crate) use fit::{ABOUT, FewLabelsFirst, FewLabelsSecond, begin};
pub use settings::{ChangeBelief, FewLabelsSettings, Guarantee, GuaranteeProbability};
pub use thresholds::{LabelThresholds, PosteriorCoverage, PosteriorThreshold};
