//! The rows.
//!
//! ```text
//! name | owners | kind with its range | help
//! ```
//! Ranges ask the constructor that will take the number, so that the rule is written once. Rows are
//! shown in this order on the command line, in the stubs and in `docs/options.md`, which are made
//! of them: after a change run the tests of `tests/options`, which say what to write anew.

use super::{Choice, CountRange, NumberRange, OptionKind, OptionSpec, Owners};
use crate::learning::optimise::{AdamSettings, Improvement, StoppingRule};
use crate::level::FailureProbability;
use crate::method::MethodName;
use crate::method::conditional::ConditionalSettings;
use crate::method::few_labels::GuaranteeProbability;
use crate::method::label_plan::KnownAccuracy;
use crate::score::{Randomisation, Raps};

/// The paper's method, which has most of the options.
const OT: Owners = Owners::Methods(&[MethodName::Ot]);
/// The methods that read unlabeled rows.
const PLANS: Owners = Owners::Methods(&[MethodName::Auto, MethodName::LabelPlan]);
/// Kernel quantile regression: its kernel and its penalty.
const CONDITIONAL: Owners = Owners::Methods(&[MethodName::Conditional]);

/// A word and what it stands for.
const fn choice(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

/// Whole numbers from `least` on, without an upper end.
/// With an end, so that a slip of the keyboard is a sentence and not a run without one.
const fn from_to(least: usize, most: usize) -> OptionKind {
    OptionKind::Count(CountRange { least, most: Some(most) })
}

const fn at_least(least: usize) -> OptionKind {
    OptionKind::Count(CountRange { least, most: None })
}

/// Numbers that `contains` takes; `words` say which, after "must be".
const fn number(words: &'static str, contains: fn(f64) -> bool) -> OptionKind {
    OptionKind::Number(NumberRange { words, contains })
}

/// A row whose default is a single value of its owner's settings.
const fn row(
    name: &'static str,
    owners: Owners,
    kind: OptionKind,
    help: &'static str,
) -> OptionSpec {
    OptionSpec { name, kind, help, owners, unset: None }
}

/// The range of `conditional`'s numbers, in words; its settings check it.
const POSITIVE: &str = "a positive number between 1e-100 and 1e100";

/// Every option of a method or a score, in the order they are shown.
///
/// ```text
/// score, randomised, raps-*             the score function
/// shift-level                           auto
/// assume, accuracy                      auto, label-plan
/// sandwich ... tolerance                ot
/// ratio                                 likelihood-ratio
/// ecp-power, qtc-rule, label-shift      the methods they are named after
/// gamma, lambda                         conditional
/// ```
/// A row is added here and resolved in `resolve.rs`; nothing else lists options.
pub const OPTIONS: &[OptionSpec] = &[
    row(
        "score",
        Owners::Everyone,
        OptionKind::Choice(&[
            choice("lac", "one minus the probability of the label"),
            choice("aps", "adaptive prediction sets"),
            choice("raps", "regularised adaptive prediction sets"),
            choice("margin", "probability of the best rival minus that of the label"),
            choice(
                "plan",
                "one minus the probability of the label under the label law that the method fits to the target data",
            ),
        ]),
        "Score function",
    ),
    row(
        "randomised",
        Owners::Scores(&["aps", "raps"]),
        OptionKind::Flag,
        "Randomise aps and raps: exact coverage instead of slight overcoverage",
    ),
    row(
        "raps-lambda",
        Owners::Scores(&["raps"]),
        number("a number from 0 to 1e6", |value| {
            Raps::new(value, 0, Randomisation::Deterministic).is_ok()
        }),
        "raps: penalty per rank",
    ),
    row("raps-k", Owners::Scores(&["raps"]), at_least(0), "raps: number of unpenalised ranks"),
    OptionSpec {
        name: "shift-level",
        kind: number("a number between 0 and 1, both excluded", |value| {
            FailureProbability::new(value).is_ok()
        }),
        help: "False-alarm rate of the shift test, and failure probability of the certificate",
        owners: Owners::Methods(&[MethodName::Auto, MethodName::FewLabels]),
        unset: None,
    },
    OptionSpec {
        name: "assume",
        kind: OptionKind::Choice(&[
            choice("class-shares", "classes are about as frequent as in the calibration data"),
            choice(
                "calibrated",
                "the model's probabilities are as right as on the calibration data",
            ),
            choice(
                "matched",
                "the model is right as often as its outputs, and those of second models, suggest",
            ),
            choice("blend", "as likely class-shares as matched: the mean of both laws"),
        ]),
        help: "What unlabeled rows are taken to mean",
        owners: PLANS,
        unset: Some("class-shares; in auto what the readings together say"),
    },
    OptionSpec {
        name: "accuracy",
        kind: number("a share above 0 and at most 1, such as 0.83", |value| {
            KnownAccuracy::new(value).is_ok()
        }),
        help: "Share of right predictions on the target data, where it is known; it decides the law of labels",
        owners: PLANS,
        unset: Some("estimated"),
    },
    row(
        "guarantee",
        Owners::Methods(&[MethodName::FewLabels, MethodName::Auto]),
        OptionKind::NumberOrWord(
            NumberRange {
                words: "a probability between 0 and 1, both excluded",
                contains: |value| GuaranteeProbability::new(value).is_ok(),
            },
            &[
                choice("none", "the posterior's own threshold"),
                choice(
                    "average",
                    "coverage of at least the level on average over draws of the labeled rows",
                ),
            ],
        ),
        "What labels drawn at random must guarantee; a probability: coverage of at least the level in that share of draws",
    ),
    row(
        "sandwich",
        OT,
        OptionKind::Choice(&[
            choice("f-u", "labels drawn from the model, and labels drawn at random"),
            choice("min-max", "smallest and largest score over the labels"),
        ]),
        "Score distributions put around the unseen one of the target data",
    ),
    row(
        "sampling",
        OT,
        OptionKind::Choice(&[
            choice("exact", "exact expectation over the labels"),
            choice("sampled", "labels drawn anew in each step"),
        ]),
        "How the labels of sandwich f-u enter",
    ),
    row(
        "objective",
        OT,
        OptionKind::Choice(&[
            choice("exact", "Eq 7 of the paper, integrated over the calibration scores themselves"),
            choice("weighted-cdf", "The same by its older name"),
            choice("paper-grid", "Eq 7 as printed: a kernel density on a grid"),
            choice("wasserstein", "Eq 8 of the paper"),
            choice(
                "finite-sample",
                "exact, plus what a weighting pays for leaning on few points; can be run to convergence",
            ),
        ]),
        "Bound that is minimised",
    ),
    row(
        "weights",
        OT,
        OptionKind::Choice(&[
            choice("free-form", "one weight per calibration point"),
            choice(
                "function",
                "a function of the score, fitted on one half of the calibration points",
            ),
        ]),
        "What the weights are made of",
    ),
    row(
        "steps",
        OT,
        from_to(0, 100_000_000),
        "Steps of Adam (the paper: 1000 for mild shift, 5000 for severe); 0: the minimiser in closed form, or 1000 steps where \
         there is none",
    ),
    OptionSpec {
        name: "learning-rate",
        kind: number("a positive, finite number", |value| AdamSettings::new(value).is_ok()),
        help: "Size of a step",
        owners: OT,
        unset: Some("0.001"),
    },
    OptionSpec {
        name: "grid",
        kind: from_to(2, 10_000_000),
        help: "Grid points of paper-grid and wasserstein; the answer depends on it",
        owners: OT,
        unset: Some("spacing of at most half a bandwidth, at most 4000"),
    },
    row("bound-grid", OT, from_to(2, 10_000_000), "Grid points of the bounds in the paper's form"),
    row(
        "bandwidth-factor",
        OT,
        number("a finite number, at least 0", |value| value >= 0.0 && value.is_finite()),
        "Factor of the bandwidth rule",
    ),
    OptionSpec {
        name: "min-effective",
        kind: number("a finite number, at least 1", |value| {
            StoppingRule::default().with_effective_sample_size_floor(value).is_ok()
        }),
        help: "Stop before the effective sample size falls below this",
        owners: OT,
        unset: Some("no floor"),
    },
    OptionSpec {
        name: "tolerance",
        kind: number("a finite number, at least 0", |value| {
            StoppingRule::default().with_improvement(Improvement::of(value)).is_ok()
        }),
        help: "Stop when the objective gains less than this share of itself over 500 steps",
        owners: OT,
        unset: Some("all steps are taken"),
    },
    OptionSpec {
        name: "ratio",
        kind: OptionKind::Choice(&[
            choice("logistic", "logistic regression"),
            choice("network", "a network with one hidden layer of 32"),
            choice(
                "telescoping",
                "ten bridges between calibration and target data (Rhodes et al. 2020)",
            ),
            choice("known", "given for the calibration points and the points to predict"),
        ]),
        help: "Where likelihood ratios come from",
        owners: Owners::Methods(&[MethodName::LikelihoodRatio]),
        unset: Some("known if ratios are given, else logistic"),
    },
    row(
        "ecp-power",
        Owners::Methods(&[MethodName::Ecp]),
        from_to(1, 2),
        "Power of the entropy: 1 as printed, or 2 as in its authors' code",
    ),
    row(
        "qtc-rule",
        Owners::Methods(&[MethodName::Qtc]),
        OptionKind::Choice(&[
            choice("min", "the smaller rate of qtc and source-coverage, as the authors run it"),
            choice(
                "qtc",
                "QTC-T: share of calibration confidences below a quantile of the target confidences",
            ),
            choice(
                "source-coverage",
                "QTC-SC: share of target confidences below a quantile of the calibration confidences",
            ),
            choice("source-threshold", "QTC-ST: the same for the threshold itself"),
        ]),
        "Which quantile is transferred",
    ),
    row(
        "label-shift",
        Owners::Methods(&[MethodName::LabelShift]),
        OptionKind::Choice(&[
            choice("bbse", "by inverting the confusion matrix"),
            choice("em", "by maximum likelihood"),
        ]),
        "How class shares are estimated",
    ),
    row(
        "gamma",
        CONDITIONAL,
        number(POSITIVE, |value| {
            ConditionalSettings { gamma: value, ..ConditionalSettings::default() }.check().is_ok()
        }),
        "Kernel exp(-gamma distance^2)",
    ),
    row(
        "lambda",
        CONDITIONAL,
        OptionKind::NumberOrWord(
            NumberRange {
                words: POSITIVE,
                contains: |value| {
                    let gamma = ConditionalSettings::default().gamma;
                    ConditionalSettings::new(gamma, value).is_ok()
                },
            },
            &[choice("cv", "five-fold cross-validation")],
        ),
        "Penalty on the fitted function",
    ),
];
