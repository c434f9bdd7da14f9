//! From the list of methods to their rooms. Nothing else does.
//!
//! ```text
//! Method  --begin-->  AnyStage  --pass-->  AnyPass  --empty, add, merge-->  AnyState
//! Rule    --threshold, own_cutoffs-->  where sets are cut
//! ```
//! One macro writes the three enums of the passes, so that a stage added to its list is everywhere
//! at once. The matches below have no catch-all where a new method must be thought about.

use serde::{Deserialize, Serialize};

use super::fit::{Context, Next, Observer, Open, Pass, Scored, Seen, Stage};
use super::{
    About, Concluded, Evidence, FewLabelsSettings, Method, MethodName, Needs, RatioSource, Rule,
    Sorted, TargetScores, auto, basis::Basis, conditional, entropy_scaling, few_labels, fixed,
    label_plan, label_shift, likelihood_ratio, oracle, ot, quantile_transfer, uncorrected,
};
use crate::conformal::{Cutoffs, ThresholdsDifferBy};
use crate::error::{Error, Result, User};
use crate::interval::Interval;
use crate::level::Miscoverage;
use crate::measure::WeightedEmpirical;
use crate::rows::{AnyRows, Real, RowKeys, of_their_type};
use crate::score::Score;
use crate::side_inputs::{SideInputs, TargetLabels};
use crate::sketch::RowMarks;
use crate::threshold::{TestMass, Threshold, conformal_threshold};

/// The stages of all methods. Each stage has a pass over the target rows; the pass and its state go by the stage's name
/// on the wire, so new ones are added at the end.
///
/// postcard writes a variant as its place in the list: a stage put in between would make the bytes
/// of every later one read as another method's.
macro_rules! stages {
    ($($stage:ident: $room:ident::$type:ident,)*) => {
        /// A method between the calibration data and the end of a pass.
        #[derive(Debug)]
        pub(crate) enum AnyStage {
            $($stage(Open<$room::$type>),)*
        }

        $(impl From<Open<$room::$type>> for AnyStage {
            /// A room's stage as one of all.
            fn from(open: Open<$room::$type>) -> Self {
                Self::$stage(open)
            }
        })*

        /// What a worker needs to read rows for a stage.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        pub(crate) enum AnyPass {
            $($stage(<$room::$type as Stage>::Pass),)*
        }

        /// What rows leave behind in a pass of a stage.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        pub(crate) enum AnyState {
            $($stage(Seen<<<$room::$type as Stage>::Pass as Pass>::State>),)*
        }

        impl AnyPass {
            /// The state before the first row.
            pub(crate) fn empty(&self) -> AnyState {
                match self {
                    $(Self::$stage(pass) => AnyState::$stage(Seen::new(pass.empty())),)*
                }
            }

            /// Number of classes of the rows it reads.
            pub(crate) fn classes(&self) -> usize {
                match self {
                    $(Self::$stage(pass) => pass.classes(),)*
                }
            }

            /// The same for one of several parts that will see so many rows together.
            pub(crate) fn empty_of(&self, rows: u64) -> AnyState {
                match self {
                    $(Self::$stage(pass) => AnyState::$stage(Seen::new(pass.empty_of(rows))),)*
                }
            }

            /// Adds a block of rows.
            pub(crate) fn add(
                &self,
                state: AnyState,
                keys: RowKeys<'_>,
                block: AnyRows<'_>,
                side: &SideInputs<'_>,
            ) -> Result<AnyState> {
                match (self, state) {
                    $((Self::$stage(pass), AnyState::$stage(seen)) => {
                        let seen = of_their_type!(block, rows => seen.add(pass, keys, rows, side))?;
                        Ok(AnyState::$stage(seen))
                    })*
                    _ => Err(OTHER_PASS),
                }
            }

            /// Joins two states; the second is checked first, as it may come from elsewhere.
            ///
            /// # Errors
            /// `Damaged` if either is of another pass; what the stage's own check finds wrong with
            /// the second.
            pub(crate) fn merge(&self, state: AnyState, other: AnyState) -> Result<AnyState> {
                match (self, state, other) {
                    $((Self::$stage(pass), AnyState::$stage(seen), AnyState::$stage(other)) => {
                        Ok(AnyState::$stage(seen.merge(pass, other)?))
                    })*
                    _ => Err(OTHER_PASS),
                }
            }
        }

        impl AnyState {
            /// Number of rows seen, and their marks.
            ///
            /// Marks do not depend on the order: they tell whether two passes saw the same rows
            /// without keeping a list of them.
            pub(crate) fn rows(&self) -> (u64, RowMarks) {
                match self {
                    $(Self::$stage(seen) => (seen.rows, seen.marks),)*
                }
            }
        }

        impl AnyStage {
            /// What a worker needs to read rows.
            pub(crate) fn pass(&self) -> AnyPass {
                match self {
                    $(Self::$stage(open) => AnyPass::$stage(open.pass.clone()),)*
                }
            }

            /// Number of rows seen, and their marks.
            pub(crate) fn rows(&self) -> (u64, RowMarks) {
                match self {
                    $(Self::$stage(open) => (open.seen.rows, open.seen.marks),)*
                }
            }

            /// The same, told that the pass will see so many rows; changes nothing once it has seen one.
            pub(crate) fn expecting(self, rows: u64) -> Self {
                match self {
                    $(Self::$stage(Open { stage, pass, seen }) => {
                        let seen = match seen.rows {
                            0 => Seen::new(pass.empty_of(rows)),
                            _ => seen,
                        };
                        Self::$stage(Open { stage, pass, seen })
                    })*
                }
            }

            /// A state of this pass that has seen nothing, one of several that will see so many rows together, if that was said.
            pub(crate) fn empty_share(&self, rows: Option<u64>) -> AnyState {
                match self {
                    $(Self::$stage(Open { pass, .. }) => {
                        let empty = rows.map_or_else(|| pass.empty(), |rows| pass.empty_of(rows));
                        AnyState::$stage(Seen::new(empty))
                    })*
                }
            }

            /// Adds a block of rows to a state of this pass.
            pub(crate) fn add_to(
                &self,
                state: AnyState,
                keys: RowKeys<'_>,
                block: AnyRows<'_>,
                side: &SideInputs<'_>,
            ) -> Result<AnyState> {
                Ok(match (self, state) {
                    $((Self::$stage(Open { pass, .. }), AnyState::$stage(seen)) => {
                        let seen = of_their_type!(block, rows => seen.add(pass, keys, rows, side))?;
                        AnyState::$stage(seen)
                    })*
                    _ => return Err(OTHER_PASS),
                })
            }

            /// Adds a block of rows.
            pub(crate) fn add(
                self,
                keys: RowKeys<'_>,
                block: AnyRows<'_>,
                side: &SideInputs<'_>,
            ) -> Result<Self> {
                Ok(match self {
                    $(Self::$stage(Open { stage, pass, seen }) => {
                        let seen = of_their_type!(block, rows => seen.add(&pass, keys, rows, side))?;
                        Self::$stage(Open { stage, pass, seen })
                    })*
                })
            }

            /// Joins what other rows left behind.
            ///
            /// # Errors
            /// `Damaged` if the state is of another stage, or does not fit this pass.
            pub(crate) fn absorb(self, state: AnyState) -> Result<Self> {
                Ok(match (self, state) {
                    $((Self::$stage(Open { stage, pass, seen }), AnyState::$stage(other)) => {
                        let seen = seen.merge(&pass, other)?;
                        Self::$stage(Open { stage, pass, seen })
                    })*
                    _ => return Err(OTHER_PASS),
                })
            }

            /// Joins a state that was begun by [`empty_share`](Self::empty_share).
            ///
            /// # Errors
            /// As [`absorb`](Self::absorb).
            pub(crate) fn join(self, state: AnyState) -> Result<Self> {
                match (self, state) {
                    // Nothing was seen so far: it is taken as it is, without a copy of the rows it keeps.
                    $((Self::$stage(Open { stage, pass, seen }), AnyState::$stage(other))
                        if seen.rows == 0 =>
                    {
                        Ok(Self::$stage(Open { stage, pass, seen: other }))
                    })*
                    (stage, state) => stage.absorb(state),
                }
            }

            /// Ends the pass: gives the stage what all rows left behind, and their number.
            pub(crate) fn end_pass(self) -> Result<Next> {
                match self {
                    $(Self::$stage(Open { stage, pass, seen }) => {
                        stage.end_pass(pass, seen.state, seen.rows)
                    })*
                }
            }
        }
    };
}

// In the order of the wire, not of the method list: new stages go to the end.
stages! {
    AutoFirst: auto::AutoFirst,
    AutoSecond: auto::AutoSecond,
    PlanFirst: label_plan::PlanFirst,
    PlanSecond: label_plan::PlanSecond,
    Transport: ot::TransportFit,
    Uncorrected: uncorrected::UncorrectedFit,
    Fixed: fixed::FixedFit,
    KnownRatio: likelihood_ratio::KnownRatioFit,
    EstimatedRatio: likelihood_ratio::EstimatedRatioFit,
    BlackBox: label_shift::BlackBoxFit,
    ExpectationMaximisation: label_shift::EmFit,
    EntropyScaled: entropy_scaling::EntropyScaledFit,
    QuantileTransfer: quantile_transfer::QuantileTransferFit,
    Conditional: conditional::ConditionalFit,
    FewLabelsFirst: few_labels::FewLabelsFirst,
    FewLabelsSecond: few_labels::FewLabelsSecond,
}

/// A state says which pass it is of; this one is of another.
const OTHER_PASS: Error =
    Error::Damaged { what: "the state", why: "it is of another pass or method" };

impl Method {
    /// An error if the score is `plan` and the method fits no label law, nor keeps the model's own.
    ///
    /// # Errors
    /// `WrongScore`.
    pub(crate) fn require_score(&self, score: &Score) -> Result<()> {
        match self {
            Self::Auto(_) | Self::LabelPlan(_) | Self::FewLabels(_) | Self::Uncorrected => Ok(()),
            // It says itself that it works with lac only.
            Self::EntropyScaled(_) => Ok(()),
            Self::OptimalTransport(_)
            | Self::LikelihoodRatio(_)
            | Self::LabelShift(_)
            | Self::QuantileTransfer(_)
            | Self::Conditional(_)
            | Self::Fixed => match score {
                Score::Plan => Err(Error::WrongScore {
                    whose: User::Method(self.name().as_str()),
                    scores: Score::OF_PROBABILITIES,
                }),
                _ => Ok(()),
            },
        }
    }

    /// The name used on the command line and in files.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Auto(_) => MethodName::Auto,
            Self::LabelPlan(_) => MethodName::LabelPlan,
            Self::FewLabels(_) => MethodName::FewLabels,
            Self::OptimalTransport(_) => MethodName::Ot,
            Self::Uncorrected => MethodName::Uncorrected,
            Self::LikelihoodRatio(_) => MethodName::LikelihoodRatio,
            Self::LabelShift(_) => MethodName::LabelShift,
            Self::EntropyScaled(_) => MethodName::Ecp,
            Self::QuantileTransfer(_) => MethodName::Qtc,
            Self::Conditional(_) => MethodName::Conditional,
            Self::Fixed => MethodName::Fixed,
        }
    }

    /// An error if something is assumed of the target data, or known, where labels of them decide: it would not be used.
    ///
    /// # Errors
    /// `Unsupported`.
    pub(crate) fn require_no_choice_beside(&self, labels: Option<&TargetLabels>) -> Result<()> {
        match self {
            Self::Auto(settings) if settings.plan.assumptions.are_chosen() => {
                match labels.is_some_and(|labels| !labels.is_empty()) {
                    true => Err(Error::Unsupported {
                        what: "an assumption or an accuracy beside labels of target rows",
                        instead: "the labels decide; leave out the one or the other",
                    }),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// What it becomes when target rows have labels: `auto` with labels is `few-labels`.
    #[must_use]
    pub fn with_labels(self, labels: Option<&TargetLabels>) -> Self {
        match (self, labels) {
            (Self::Auto(settings), Some(labels)) if !labels.is_empty() => {
                Self::FewLabels(FewLabelsSettings::of_auto(settings))
            }
            _ => self,
        }
    }

    /// Steps of its optimisation at most; 0 where there is none.
    ///
    /// An upper end for progress bars; a stopping rule may end the descent earlier.
    pub fn most_steps(&self) -> usize {
        // Other methods iterate too (EM, Newton, duals), but not in steps that a user sets or
        // watches.
        match self {
            Self::OptimalTransport(settings) => settings.stopping.max_steps(),
            _ => 0,
        }
    }

    /// What it takes of the calibration points beside their probabilities, with the options it has.
    pub fn needs(&self) -> Needs {
        // `likelihood-ratio` alone takes different things at different options.
        match self {
            Self::LikelihoodRatio(choice) => choice.needs(),
            _ => self.name().needs(),
        }
    }

    /// How errors call it: with the option that decides what it takes, if there is one.
    ///
    /// "likelihood-ratio needs ratios" would puzzle who estimates them; "with ratio known" does
    /// not.
    pub(crate) fn user(&self) -> User {
        let method = self.name().as_str();
        match self {
            Self::LikelihoodRatio(choice) => {
                User::MethodWith { method, option: "ratio", value: choice.name() }
            }
            _ => User::Method(method),
        }
    }

    /// Looks at the calibration data, in the method's room, and says what to keep of the target
    /// rows.
    ///
    /// # Errors
    /// If the method cannot work with the score, the classes or the settings it was given.
    pub(crate) fn begin<T: Real>(&self, calibration: &Scored<'_, T>) -> Result<AnyStage> {
        Ok(match *self {
            Self::Auto(settings) => auto::begin(calibration, settings)?.into(),
            Self::LabelPlan(settings) => label_plan::begin(calibration, settings)?.into(),
            Self::FewLabels(settings) => few_labels::begin(calibration, settings)?.into(),
            Self::OptimalTransport(settings) => ot::begin(calibration, settings)?.into(),
            Self::Uncorrected => uncorrected::begin(calibration)?.into(),
            Self::Fixed => fixed::begin(calibration)?.into(),
            Self::LikelihoodRatio(choice) => likelihood_ratio::begin(calibration, choice)?,
            Self::LabelShift(choice) => label_shift::begin(calibration, choice)?,
            Self::EntropyScaled(power) => entropy_scaling::begin(calibration, power)?.into(),
            Self::QuantileTransfer(rule) => quantile_transfer::begin(calibration, rule)?.into(),
            Self::Conditional(choice) => conditional::begin(calibration, choice)?.into(),
        })
    }

    /// From scores alone, for the methods that need no more.
    ///
    /// # Errors
    /// `Unsupported` for every other method: labels, features and probabilities cannot be had from
    /// scores.
    pub(crate) fn conclude_scores(
        &self,
        context: Context,
        sorted: Sorted,
        target: TargetScores<'_>,
        range: Interval,
        observer: &mut Observer<'_>,
    ) -> Result<Concluded> {
        match *self {
            Self::Uncorrected => uncorrected::from_scores(sorted, target),
            Self::OptimalTransport(settings) => {
                ot::from_scores(context, settings, range, sorted, target, observer)
            }
            _ => Err(Error::Unsupported {
                what: "this method from scores alone",
                instead: "give the probabilities of the calibration and the target data",
            }),
        }
    }
}

impl MethodName {
    /// What the method's room says of it: name, summary, assumption, needs.
    pub(crate) fn about(self) -> About {
        match self {
            Self::Auto => auto::ABOUT,
            Self::LabelPlan => label_plan::ABOUT,
            Self::FewLabels => few_labels::ABOUT,
            Self::Ot => ot::ABOUT,
            Self::Uncorrected => uncorrected::ABOUT,
            Self::Oracle => oracle::ABOUT,
            Self::LikelihoodRatio => likelihood_ratio::ABOUT,
            Self::Ecp => entropy_scaling::ABOUT,
            Self::Qtc => quantile_transfer::ABOUT,
            Self::Conditional => conditional::ABOUT,
            Self::LabelShift => label_shift::ABOUT,
            Self::Fixed => fixed::ABOUT,
        }
    }

    /// Whether the method's calibrations may follow this rule; a file may hold any pair of the two.
    fn follows(self, rule: &Rule) -> bool {
        match rule {
            Rule::EntropyScaled { .. } => self == Self::Ecp,
            Rule::Transferred { .. } => self == Self::Qtc,
            Rule::ByRatio(_) => matches!(self, Self::LikelihoodRatio | Self::LabelShift),
            Rule::Conditional(_) => self == Self::Conditional,
            // `auto` is in two lines: it ends as the plan or as split conformal prediction.
            Rule::Planned { .. } => matches!(self, Self::LabelPlan | Self::Auto),
            Rule::FewLabels { .. } => self == Self::FewLabels,
            Rule::Quantile => matches!(
                self,
                Self::Ot | Self::Uncorrected | Self::Oracle | Self::Fixed | Self::Auto
            ),
        }
    }
}

/// What the coverage of a calibration follows from, and so how its total gap can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoverageForm {
    /// The law of the weighted scores: the gap is a sum over its atoms, exact.
    Law,
    /// A threshold for each level: the gap is a mean over many levels.
    Levels,
    /// A threshold for each point: no law of scores gives a gap.
    Points,
}

impl Rule {
    /// The threshold of all points; none where points or labels have their own.
    ///
    /// ```text
    /// quantile        t = smallest s with (1 - test mass) F_w(s) >= 1 - alpha
    /// entropy-scaled  1 - (1 - t) / max(1, u)^f,    u an entropy of the target rows
    /// transferred     the quantile at alpha', from the confidences of both data sets
    /// planned         smallest s_i with c_i >= 1 - alpha, or the plan's own quantile beyond
    /// ```
    /// No rule fails here: what could was checked when the rule was made or read.
    pub(crate) fn threshold(
        &self,
        law: &WeightedEmpirical,
        test_mass: TestMass,
        alpha: Miscoverage,
    ) -> Option<Threshold> {
        let split = || conformal_threshold(law, test_mass, alpha);
        match self {
            Self::Quantile => Some(split()),
            Self::EntropyScaled { scaling } => Some(scaling.threshold(split(), alpha)),
            Self::Transferred { rule, confidences } => {
                // Both samples have rows, which is all that can go wrong; no label is left out if they had not.
                Some(confidences.threshold(*rule, law, alpha).unwrap_or(Threshold::AllLabels))
            }
            Self::Planned { thresholds } => {
                Some(Threshold::Finite(thresholds.threshold(alpha).score))
            }
            Self::FewLabels { thresholds } => Some(thresholds.at(alpha).threshold),
            Self::ByRatio(_) | Self::Conditional(_) => None,
        }
    }

    /// Thresholds of a block where they differ from point to point or label to label; none where they do not.
    ///
    /// `score` must draw for test rows: see [`Score::with_draws_for`].
    ///
    /// # Errors
    /// If a side input that the rule needs is missing, or a row does not hold probabilities.
    pub(crate) fn own_cutoffs(
        &self,
        keys: RowKeys<'_>,
        block: AnyRows<'_>,
        side: &SideInputs<'_>,
        score: &Score,
        alpha: Miscoverage,
    ) -> Result<Option<Cutoffs>> {
        match self {
            Self::ByRatio(rule) => {
                of_their_type!(block, rows => rule.cutoffs(keys, rows, side, score, alpha))
                    .map(Some)
            }
            Self::Conditional(rule) => {
                of_their_type!(block, rows => rule.cutoffs(keys, rows, side, score, alpha))
                    .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What thresholds differ by: nothing, the label or the point.
    pub(crate) fn thresholds_differ_by(&self) -> ThresholdsDifferBy {
        match self {
            Self::ByRatio(rule) if matches!(rule.source(), RatioSource::Labels { .. }) => {
                ThresholdsDifferBy::Label
            }
            Self::ByRatio(_) | Self::Conditional(_) => ThresholdsDifferBy::Point,
            _ => ThresholdsDifferBy::Nothing,
        }
    }

    /// Whether features must be given with the points to predict: where the rule was fitted on
    /// features.
    pub(crate) fn needs_features(&self) -> bool {
        match self {
            Self::ByRatio(rule) => {
                matches!(rule.source(), RatioSource::Model { basis: Basis::Features, .. })
            }
            Self::Conditional(rule) => rule.basis() == Basis::Features,
            _ => false,
        }
    }

    /// Whether likelihood ratios must be given with the points to predict: where they are known,
    /// not fitted.
    pub(crate) fn needs_ratios(&self) -> bool {
        matches!(self, Self::ByRatio(rule) if *rule.source() == RatioSource::Known)
    }

    /// Whether its gap is a sum over scores, a mean over levels, or cannot be had.
    pub(crate) fn coverage_form(&self) -> CoverageForm {
        match self {
            // By ratio: the weighted law without a test point stands for all of them, as the share
            // of one point is of the order of 1 / n.
            Self::Quantile | Self::ByRatio(_) => CoverageForm::Law,
            Self::EntropyScaled { .. }
            | Self::Transferred { .. }
            | Self::Planned { .. }
            | Self::FewLabels { .. } => CoverageForm::Levels,
            Self::Conditional(_) => CoverageForm::Points,
        }
    }

    /// An error unless the rule fits the method, the weighted scores and the number of classes.
    ///
    /// # Errors
    /// `Damaged` where a file was put together from parts of different calibrations.
    pub(crate) fn check(
        &self,
        method: MethodName,
        scores: &[f64],
        weights: &[f64],
        classes: usize,
    ) -> Result<()> {
        const WHAT: &str = "this calibration";
        // Each part of a file may be valid and the whole not: the rule of one method on the scores
        // of another would cut sets that no method stands for.
        if !method.follows(self) {
            return Err(Error::Damaged {
                what: WHAT,
                why: "its rule does not belong to its method",
            });
        }
        match self {
            Self::ByRatio(rule) => rule.check(scores, weights, classes),
            Self::Conditional(rule) => rule.check(classes),
            Self::Planned { thresholds } if thresholds.scores() != scores => Err(Error::Damaged {
                what: WHAT,
                why: "the scores of its rule are not its calibration scores",
            }),
            _ => Ok(()),
        }
    }
}

impl Evidence {
    /// What a user should know, in words; empty where the evidence gives no reason to worry.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let plan = match self {
            Self::LabelPlan { warnings, .. } => warnings,
            Self::Auto(decision) => &decision.warnings,
            Self::FewLabels(evidence) => &evidence.warnings,
            Self::LabelShift(evidence) => return evidence.warnings(),
            Self::LikelihoodRatio(_) => return Vec::new(),
        };
        plan.iter().map(ToString::to_string).collect()
    }

    /// What was done and why, in a paragraph, for the methods that decide something themselves.
    pub(crate) fn account(&self) -> Option<String> {
        match self {
            Self::Auto(decision) => Some(decision.to_string()),
            Self::LabelPlan { plan, .. } => Some(plan.to_string()),
            Self::FewLabels(evidence) => Some(evidence.to_string()),
            Self::LikelihoodRatio(_) | Self::LabelShift(_) => None,
        }
    }
}
