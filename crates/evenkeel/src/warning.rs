//! What a user should know before trusting a result: data first, words second. Every warning of the library stands here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How weights were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightsBy {
    /// Step by step: it could have stopped earlier.
    Descent,
    /// At once, or it is not known: files of earlier versions do not say.
    #[default]
    Other,
}

impl WeightsBy {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// Something that makes a calibration less trustworthy than its numbers look.
///
/// Stored as data, under the names below, and put into words only when shown: better words need no
/// new files.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// Target scores reach beyond every calibration score, so no weighting can match them.
    SupportTooShort {
        /// Largest calibration score, whatever its weight.
        largest_score: f64,
        /// Share of target points beyond it under the most favourable law.
        beyond_at_least: f64,
        /// Share of target points beyond it under the least favourable law.
        beyond_at_most: f64,
        /// Miscoverage rate that this share exceeds, in `(0, 1)`.
        alpha: f64,
    },
    /// Too little calibration mass for the level: the threshold is infinite and every set holds every label.
    AllLabels {
        /// Miscoverage rate asked for, in `(0, 1)`.
        alpha: f64,
        /// The test point's share of the mass; alpha must not be below it.
        test_share: f64,
        /// Number `n` of calibration points.
        points: usize,
    },
    /// Thresholds of their own lie above every score at most points: so few calibration points are near a test point that
    /// its own term decides.
    MostSetsHoldEveryLabel {
        /// Share of the points looked at whose sets hold every label.
        share: f64,
        /// Calibration points looked at, as if they were test points.
        looked_at: usize,
        /// Number of calibration points.
        points: usize,
    },
    /// The weights lean on very few points.
    FewEffectivePoints {
        /// `n_w = 1 / sum_i w_i^2`, in `[1, points]`.
        effective: f64,
        /// Number `n` of calibration points, of any weight.
        points: usize,
        /// How the weights were found, which decides what can be done about them.
        #[serde(default, skip_serializing_if = "WeightsBy::is_other")]
        by: WeightsBy,
    },
    /// The two laws around the target scores are not ordered.
    OrderViolated {
        /// `max_t F_upper(t) - F_lower(t)`, positive.
        largest: f64,
        /// The score at which it is largest.
        at: f64,
    },
    /// Learning raised the bound it should have lowered.
    BoundRose {
        /// The bound of equal weights.
        before: f64,
        /// The bound of the learned weights.
        after: f64,
    },
    /// Learning left all weights equal.
    NothingLearned,
    /// The weights were learned from the extremes over the labels, which are far apart.
    LearnedFromExtremes,
    /// A grid was given to a bound that has none.
    GridNotUsed {
        /// Points of the grid.
        points: usize,
    },
    /// The optimisation ran into something that is not a number.
    Diverged,
    /// The optimisation was stopped by the caller.
    Interrupted,
    /// The predicted classes changed (`tv > tv_expected + 2 tv_deviation`) while confidences within a predicted class did not
    /// (`ks <= 1.36 / sqrt(ks_points)`): the classes themselves may have other frequencies in the target
    /// data.
    LabelShiftSuspected {
        /// Total variation of the histograms of predicted groups, in `[0, 1]`.
        tv: f64,
        /// What noise alone makes of it on average.
        tv_expected: f64,
        /// Kolmogorov-Smirnov distance of the confidences, in `[0, 1]`.
        ks: f64,
    },
    /// The planned law has more than `alpha` of its mass beyond every calibration score.
    SupportExhausted {
        /// The planned law at the largest calibration score, below `1 - alpha`.
        reached: f64,
        /// Miscoverage rate asked for, in `(0, 1)`.
        alpha: f64,
        /// The threshold that was taken from the planned law itself.
        threshold: f64,
    },
    /// Fewer than ten unlabeled points per class.
    FewUnlabeled {
        /// Number `m` of target points.
        points: u64,
        /// Number `C` of classes.
        classes: usize,
        /// Groups the classes were put into.
        groups: usize,
    },
    /// The confidences moved (`ks > 1.36 / sqrt(ks_points)`), but not down: the mean confidence of the target data is
    /// at least that of the calibration data in the same predicted classes.
    ConfidentButShifted {
        /// Kolmogorov-Smirnov distance of the confidences, in `[0, 1]`.
        ks: f64,
        /// Mean confidence of the calibration data, weighted to the predicted classes of the target
        /// data.
        // Both names are those of version 1 of the file; renaming them would leave it unreadable.
        #[serde(rename = "yesterday")]
        labeled: f64,
        /// Mean confidence of the target data.
        #[serde(rename = "today")]
        target: f64,
        /// Mean confidence of the target data on the scale that outputs have in the calibration data, where it fell by ten
        /// points and confidences as they are by less than half of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<f64>,
    },
    /// Calibration points with other class frequencies have the outputs of the target points, so that the classes were taken to
    /// have changed in frequency and in nothing else.
    LabelShiftTaken {
        /// Total variation of the histograms of predicted groups, in `[0, 1]`.
        tv: f64,
        /// Kolmogorov-Smirnov distance of the confidences once calibration points have these frequencies.
        ks: f64,
        /// What it may be by chance.
        ks_noise: f64,
    },
    /// The readings of the target data do not agree on whether coverage was lost, so the threshold is that of a mean law.
    ReadingsDisagree {
        /// Lowest coverage of the calibration threshold among the readings.
        low: f64,
        /// Highest.
        high: f64,
        /// The coverage asked for.
        level: f64,
        /// Labels of target rows that tell coverage to within five points.
        labels: u64,
    },
    /// No temperature gives the model the accuracy it should have on the target data: the matched reading, and the range
    /// that rests on it, are those of the nearest one.
    AccuracyUnreachable {
        /// The accuracy looked for.
        accuracy: f64,
    },
    /// No shift was found, so what was assumed of the target data, or stated of their accuracy, was not used.
    AssumptionNotUsed {
        /// The accuracy that was stated, if one was.
        accuracy: Option<f64>,
    },
    /// The labels make the plan without labels unlikely.
    PlanContradicted {
        /// Its posterior weight.
        trust: f64,
        /// Number of labels.
        labels: usize,
    },
    /// More labels, or fewer, lie beyond the threshold of the posterior's law than chance explains.
    LabelsDisagree {
        /// Labels beyond it.
        misses: u64,
        /// Number of labels.
        labels: usize,
        /// Miscoverage rate asked for.
        alpha: f64,
        /// How likely a count as extreme is.
        probability: f64,
    },
    /// Labels to which the model gives probability zero.
    ImpossibleLabels {
        /// How many.
        found: usize,
        /// Number of labels.
        labels: usize,
    },
    /// The labeled rows do not look like a random draw of the target rows.
    LabelsNotRandom {
        /// Number of labels.
        labels: usize,
        /// How likely a draw at random differs as much, at most 0.01.
        p_value: f64,
        /// Mean confidence of the model on the labeled rows.
        labeled: f64,
        /// The same on the other target rows.
        others: f64,
    },
    /// Fewer labels than the guarantee asked for takes: every set holds every label.
    TooFewLabels {
        /// Number of labels.
        labels: usize,
        /// How many it takes.
        needed: u64,
        /// Miscoverage rate asked for.
        alpha: f64,
    },
    /// One threshold for all classes covers some of them far below the level, by the calibration labels.
    ClassUndercovered {
        /// The worst covered.
        label: usize,
        /// Its calibration points.
        points: u64,
        /// Share of them that are covered.
        coverage: f64,
        /// The level asked for.
        level: f64,
        /// How many classes are covered far below it.
        classes: usize,
    },
}

impl Warning {
    /// A word for files and filters: the same that serde writes as its tag.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SupportTooShort { .. } => "support-too-short",
            Self::AllLabels { .. } => "all-labels",
            Self::MostSetsHoldEveryLabel { .. } => "most-sets-hold-every-label",
            Self::FewEffectivePoints { .. } => "few-effective-points",
            Self::OrderViolated { .. } => "order-violated",
            Self::BoundRose { .. } => "bound-rose",
            Self::NothingLearned => "nothing-learned",
            Self::LearnedFromExtremes => "learned-from-extremes",
            Self::GridNotUsed { .. } => "grid-not-used",
            Self::Diverged => "diverged",
            Self::Interrupted => "interrupted",
            Self::LabelShiftSuspected { .. } => "label-shift-suspected",
            Self::SupportExhausted { .. } => "support-exhausted",
            Self::FewUnlabeled { .. } => "few-unlabeled",
            Self::ConfidentButShifted { .. } => "confident-but-shifted",
            Self::LabelShiftTaken { .. } => "label-shift-taken",
            Self::ReadingsDisagree { .. } => "readings-disagree",
            Self::AccuracyUnreachable { .. } => "accuracy-unreachable",
            Self::AssumptionNotUsed { .. } => "assumption-not-used",
            Self::PlanContradicted { .. } => "plan-contradicted",
            Self::LabelsDisagree { .. } => "labels-disagree",
            Self::ImpossibleLabels { .. } => "impossible-labels",
            Self::LabelsNotRandom { .. } => "labels-not-random",
            Self::TooFewLabels { .. } => "too-few-labels",
            Self::ClassUndercovered { .. } => "class-undercovered",
        }
    }
}

impl fmt::Display for Warning {
    /// A sentence without capital and full stop: what was seen, what it means, what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SupportTooShort { largest_score, beyond_at_least, beyond_at_most, alpha } => {
                write!(
                    f,
                    "between {:.1} % and {:.1} % of the target points may score above {largest_score:.4}, the largest calibration \
                     score. That is more than the {:.1} % that may be missed, so no weighting can reach the level; collect labeled \
                     points that are as hard as the target points",
                    100.0 * beyond_at_least,
                    100.0 * beyond_at_most,
                    100.0 * alpha,
                )
            }
            Self::AllLabels { alpha, test_share, points } => write!(
                f,
                "every set holds every label: with {points} calibration points the test point's own share of the \
                 mass is {test_share:.4}, so alpha = {alpha} cannot be met; use more calibration points or a larger \
                 alpha (with equal weights at least {} points)",
                (1.0 / alpha - QUARTER_RANK).ceil() as usize,
            ),
            Self::MostSetsHoldEveryLabel { share, looked_at, points } => write!(
                f,
                "{:.0} % of the sets hold every label (at {looked_at} calibration points taken for test points): {points} \
                 calibration points are too few for a threshold at each point; use more calibration points, a larger lambda, or \
                 one threshold for all (uncorrected)",
                100.0 * share,
            ),
            Self::FewEffectivePoints { effective, points, by } => write!(
                f,
                "the weights amount to {effective:.1} points out of {points}: thresholds are as uncertain as with \
                 that many; collect labeled points that look like the target points, or label some target rows{}",
                match by {
                    WeightsBy::Descent => {
                        ", or give the descent a floor on the effective sample size (min-effective)"
                    }
                    WeightsBy::Other => "",
                }
            ),
            Self::OrderViolated { largest, at } => write!(
                f,
                "the two laws around the target scores cross (by {largest:.4} at score {at:.4}), so they cannot bracket the true \
                 law: bounds and coverage intervals from them do not hold; use min-max",
            ),
            Self::BoundRose { before, after } => write!(
                f,
                "learning raised what it should have lowered, from {before:.4} to {after:.4}: do not use these weights; use a \
                 smaller learning rate, or leave the threshold uncorrected",
            ),
            Self::NothingLearned => write!(
                f,
                "all weights are equal after learning: nothing was learned; use a smaller learning rate",
            ),
            Self::LearnedFromExtremes => write!(
                f,
                "weights that minimise the min-max bound lower coverage: its laws are the best and the worst case over all labels, \
                 and lie too far apart to learn from; use f-u for weights, and min-max for bounds and intervals",
            ),
            Self::GridNotUsed { points } => write!(
                f,
                "the exact bound has no grid, so the {points} grid points asked for were not used; the paper's form on a grid is \
                 the objective paper-grid",
            ),
            Self::Diverged => write!(
                f,
                "the optimisation diverged and the last good weights were kept; use a smaller learning rate",
            ),
            Self::Interrupted => {
                write!(f, "the optimisation was interrupted; the weights of that moment were kept")
            }
            Self::LabelShiftSuspected { tv, tv_expected, ks } => write!(
                f,
                "the classes the model predicts changed (distance {tv:.3}, noise alone {tv_expected:.3}) and its confidence \
                 did not ({ks:.3}): classes may be more or less frequent than in the calibration data, and this method assumes \
                 that they are not; compare with the label-shift method, or label a sample of the target points"
            ),
            Self::SupportExhausted { reached, alpha, threshold } => write!(
                f,
                "{:.1} % of the expected target scores lie above every calibration score, more than the {:.1} % that may be missed, so \
                 the threshold {threshold:.4} comes from the plan alone; collect labeled points that are as hard as the target points",
                100.0 * (1.0 - reached),
                100.0 * alpha
            ),
            Self::FewUnlabeled { points, classes, groups } => write!(
                f,
                "{points} unlabeled points are fewer than ten for each of {classes} classes, which were put into {groups} \
                 groups: collect more unlabeled points"
            ),
            Self::ConfidentButShifted { labeled, target, carried: Some(carried), .. } => write!(
                f,
                "the model's confidence hardly fell (mean {target:.3}; {labeled:.3} in the calibration data, in the same predicted \
                 classes), but its outputs, brought to the scale they have there, say {carried:.3}: a model that is confident and \
                 wrong cannot be found out without labels; label a sample of the target points before relying on the sets"
            ),
            Self::LabelShiftTaken { tv, ks, ks_noise } => write!(
                f,
                "the classes the model predicts changed (distance {tv:.3}), and calibration points weighted to other class \
                 frequencies have the confidences of the target points (distance {ks:.3}, noise alone up to {ks_noise:.3}): the \
                 threshold takes the classes to be more or less frequent than in the calibration data and otherwise the same; label \
                 a sample of the target points to be sure"
            ),
            Self::ReadingsDisagree { low, high, level, labels } => write!(
                f,
                "the readings of the target data do not agree: the threshold of the calibration data covers between {:.0} % and \
                 {:.0} % of them, asked for {:.0} %, so the threshold is that of the mean law of calibrated and class-shares; \
                 label {labels} target points drawn at random to know coverage within 5 points",
                100.0 * low,
                100.0 * high,
                100.0 * level,
            ),
            Self::ConfidentButShifted { ks, labeled, target, carried: None } => write!(
                f,
                "the model's confidence moved (distance {ks:.3}) but did not fall (mean {target:.3}; {labeled:.3} in the calibration \
                 data, in the same predicted classes): a model that is confident and wrong cannot be found out without labels; label \
                 a sample of the target points before relying on the sets"
            ),
            Self::AccuracyUnreachable { accuracy } => write!(
                f,
                "the model should be right on {:.1} % of the target points, and no softening or sharpening of its probabilities says \
                 so: the range of coverage rests on the nearest that does; label a sample of the target points",
                100.0 * accuracy,
            ),
            Self::AssumptionNotUsed { accuracy: Some(accuracy) } => write!(
                f,
                "the accuracy of {} % that was stated is not used: no change of the model's outputs was found, so the threshold of the \
                 calibration data is kept; if accuracy fell, coverage fell with it unseen, and the method label-plan follows the \
                 stated accuracy whatever the outputs say",
                crate::level::percentage(*accuracy)
            ),
            Self::AssumptionNotUsed { accuracy: None } => write!(
                f,
                "what was assumed of the target data is not used: no change of the model's outputs was found, so the threshold of the \
                 calibration data is kept; the method label-plan follows the assumption whatever the outputs say"
            ),
            Self::PlanContradicted { trust, labels } => write!(
                f,
                "{labels} labels contradict the plan made without labels (it keeps {:.1} % of the trust): the threshold rests on \
                 the labels and on what they say of the model; thresholds without labels would be wrong here",
                100.0 * trust
            ),
            Self::LabelsDisagree { misses, labels, alpha, probability } => write!(
                f,
                "{misses} of {labels} labels lie beyond the threshold that follows from them, where {:.1} are expected (a count as \
                 extreme has probability {probability:.4}): no label law at hand fits, so check that labels and rows belong \
                 together, and use more labels or ask for a guarantee",
                alpha * *labels as f64
            ),
            Self::ImpossibleLabels { found, labels } => write!(
                f,
                "the model gives probability zero to {found} of {labels} labels, which were taken as very unlikely instead: \
                 check that labels belong to their rows"
            ),
            Self::LabelsNotRandom { labels, p_value, labeled, others } => write!(
                f,
                "the {labels} labeled rows do not look like a random draw of the target rows (a draw differs as much with probability \
                 {p_value:.3}; mean confidence {labeled:.3} on them and {others:.3} on the others): what labels measure, guarantee and \
                 correct holds for rows such as these only; draw the rows to label at random"
            ),
            Self::TooFewLabels { labels, needed, alpha } => write!(
                f,
                "every set holds every label: the guarantee takes {needed} labels at alpha = {alpha}, and there are {labels}; label \
                 more rows, use a larger alpha or ask for less"
            ),
            Self::ClassUndercovered { label, points, coverage, level, classes } => {
                write!(
                    f,
                    "class {label} is covered {:.1} % of the time at a level of {} % (its {points} calibration points at one \
                     threshold for all classes)",
                    100.0 * coverage,
                    (1000.0 * level).round() / 10.0,
                )?;
                match classes.saturating_sub(1) {
                    0 => {}
                    1 => write!(f, ", and 1 other class is far below it too")?,
                    more => write!(f, ", and {more} other classes are far below it too")?,
                }
                write!(
                    f,
                    "; the level holds on average over classes: calibrate per class to hold it for each"
                )
            }
        }
    }
}

/// `n + 1 >= 1 / alpha` points are needed; a quarter of a rank less absorbs the rounding of `1 / alpha`.
const QUARTER_RANK: f64 = 1.25;
