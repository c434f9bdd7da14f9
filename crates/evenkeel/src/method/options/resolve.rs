//! Options -> settings, and back: the one place where the two meet.
//!
//! ```text
//! (name, given values) -> Method | Score      what is absent takes its default
//! Method | Score -> (name, value) pairs       everything in effect, defaults included
//! ```
//! The two directions must agree: a job on the wire is named by the second and rebuilt by the
//! first.

use super::{OptionValue, OptionValues, Owners};
use crate::error::{Error, Result, User};
use crate::learning::optimise::{AdamSettings, Improvement, StoppingRule};
use crate::level::FailureProbability;
use crate::method::auto::AutoSettings;
use crate::method::entropy_scaling::EntropyPower;
use crate::method::few_labels::{ChangeBelief, FewLabelsSettings, Guarantee, GuaranteeProbability};
use crate::method::label_plan::{Assumption, KnownAccuracy, LabelPlanSettings, PlanAssumptions};
use crate::method::label_shift::EmSettings;
use crate::method::likelihood_ratio::{NetworkSettings, RatioEstimator, TelescopingSettings};
use crate::method::quantile_transfer::TransferRule;
use crate::method::{
    ConditionalChoice, LabelShiftChoice, Method, MethodName, ObjectiveChoice, PenaltyChoice,
    RatioChoice, SandwichChoice, Search, TransportSettings, WeightsChoice,
};
use crate::score::{Aps, Randomisation, Raps, Score};
use crate::seed::Seed;

/// Whether known likelihood ratios of the calibration points were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownRatios {
    /// They were given, one per calibration point.
    Given,
    /// None: they are to be estimated.
    Absent,
}

impl KnownRatios {
    /// Given if there is something, whatever it is.
    pub fn of<T>(ratios: Option<T>) -> Self {
        ratios.map_or(Self::Absent, |_| Self::Given)
    }
}

/// Settings in effect, by the names of the table.
type Settings = Vec<(&'static str, OptionValue)>;

impl Method {
    /// A method with these options; what is absent takes its default. Options of the score are not looked at.
    ///
    /// # Errors
    /// If an option was given that the method does not use, or two options exclude each other; and for `oracle`, which
    /// calibrates on labels that only a comparison has.
    pub fn from_options(
        name: MethodName,
        given: &OptionValues,
        ratios: KnownRatios,
    ) -> Result<Self> {
        given.refuse(User::Method(name.as_str()), |spec| {
            spec.is_of_scores() || spec.is_of_method(name)
        })?;
        Ok(match name {
            MethodName::Auto => {
                let level = given.number("shift-level").map(FailureProbability::new).transpose()?;
                let level = level.unwrap_or(FailureProbability::FIVE_PERCENT);
                // One option for both: the test's false-alarm rate is the certificate's failure
                // probability.
                let mut settings = AutoSettings::new(level);
                settings.plan.assumptions = PlanAssumptions::from_options(given)?;
                settings.guarantee = guarantee(given)?.unwrap_or(settings.guarantee);
                Self::Auto(settings)
            }
            MethodName::LabelPlan => {
                let assumptions = PlanAssumptions::from_options(given)?;
                Self::LabelPlan(LabelPlanSettings { assumptions, ..LabelPlanSettings::default() })
            }
            MethodName::FewLabels => {
                let level = given.number("shift-level").map(FailureProbability::new).transpose()?;
                let settings =
                    level.map_or_else(FewLabelsSettings::default, FewLabelsSettings::new);
                let guarantee = guarantee(given)?.unwrap_or(settings.guarantee);
                Self::FewLabels(FewLabelsSettings { guarantee, ..settings })
            }
            MethodName::Ot => Self::OptimalTransport(transport(given)?),
            MethodName::Uncorrected => Self::Uncorrected,
            MethodName::LikelihoodRatio => Self::LikelihoodRatio(ratio(given, ratios)),
            MethodName::LabelShift => Self::LabelShift(match given.word("label-shift") {
                Some("em") => LabelShiftChoice::ExpectationMaximisation(EmSettings::default()),
                Some(_) => LabelShiftChoice::BlackBox,
                None => LabelShiftChoice::default(),
            }),
            MethodName::Ecp => Self::EntropyScaled(match given.count("ecp-power") {
                Some(2) => EntropyPower::Two,
                Some(_) => EntropyPower::One,
                None => EntropyPower::default(),
            }),
            MethodName::Qtc => Self::QuantileTransfer(match given.word("qtc-rule") {
                Some("source-coverage") => TransferRule::SourceCoverage,
                Some("source-threshold") => TransferRule::SourceThreshold,
                Some("qtc") => TransferRule::Qtc,
                Some(_) => TransferRule::Min,
                None => TransferRule::default(),
            }),
            MethodName::Conditional => {
                let default = ConditionalChoice::default();
                let penalty = match given.get("lambda") {
                    Some(OptionValue::Number(lambda)) => PenaltyChoice::Fixed(lambda),
                    Some(_) => PenaltyChoice::cross_validated(),
                    None => default.penalty,
                };
                let gamma = given.number("gamma").unwrap_or(default.gamma);
                Self::Conditional(ConditionalChoice { gamma, penalty })
            }
            MethodName::Fixed => Self::Fixed,
            MethodName::Oracle => {
                return Err(Error::Unsupported {
                    what: "oracle outside a comparison",
                    instead: "it calibrates on the labels of the test points, which only a comparison has; choose another method",
                });
            }
        })
    }

    /// Every setting in effect, defaults included, by the names of the table and as text that
    /// [`OptionValues::from_pairs`] reads back: for provenance, and for jobs that must agree.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        as_text(self.settings())
    }

    /// Whether [`options`](Self::options) says everything about it: a method made by hand may have settings that no
    /// option stands for.
    pub fn is_made_of_options(&self) -> bool {
        let again = OptionValues::from_pairs(self.options())
            .and_then(|given| Self::from_options(self.name(), &given, KnownRatios::Absent));
        again.as_ref() == Ok(self)
    }

    /// Every setting that an option stands for, with its value in effect.
    ///
    /// Defaults are written out: a file or job must not change its meaning when a default does.
    fn settings(&self) -> Settings {
        use OptionValue::{Count, Number, Word};
        match self {
            Self::Auto(settings) => {
                let mut found = vec![("shift-level", Number(settings.level.get()))];
                // Without labels there is none, and a file says nothing of what was not asked for.
                if settings.guarantee != Guarantee::None {
                    found.push(("guarantee", guarantee_value(settings.guarantee)));
                }
                found.extend(assumption_settings(settings.plan.assumptions));
                found
            }
            Self::LabelPlan(settings) => assumption_settings(settings.assumptions),
            Self::FewLabels(settings) => {
                let guarantee = guarantee_value(settings.guarantee);
                let mut found = Vec::new();
                if let ChangeBelief::Tested { level, .. } = settings.change {
                    found.push(("shift-level", Number(level.get())));
                }
                found.push(("guarantee", guarantee));
                found
            }
            Self::OptimalTransport(settings) => transport_settings(settings),
            Self::LikelihoodRatio(choice) => vec![("ratio", Word(choice.name()))],
            Self::LabelShift(choice) => vec![(
                "label-shift",
                Word(match choice {
                    LabelShiftChoice::BlackBox => "bbse",
                    LabelShiftChoice::ExpectationMaximisation(_) => "em",
                }),
            )],
            Self::EntropyScaled(power) => vec![(
                "ecp-power",
                Count(match power {
                    EntropyPower::One => 1,
                    EntropyPower::Two => 2,
                }),
            )],
            Self::QuantileTransfer(rule) => vec![(
                "qtc-rule",
                Word(match rule {
                    TransferRule::Min => "min",
                    TransferRule::Qtc => "qtc",
                    TransferRule::SourceCoverage => "source-coverage",
                    TransferRule::SourceThreshold => "source-threshold",
                }),
            )],
            Self::Conditional(ConditionalChoice { gamma, penalty }) => vec![
                ("gamma", Number(*gamma)),
                (
                    "lambda",
                    match penalty {
                        PenaltyChoice::Fixed(lambda) => Number(*lambda),
                        PenaltyChoice::CrossValidated { .. } => Word("cv"),
                    },
                ),
            ],
            Self::Uncorrected | Self::Fixed => Vec::new(),
        }
    }
}

impl PlanAssumptions {
    /// What is assumed of the target data, and known of them; all other options are not looked at.
    ///
    /// # Errors
    /// If the accuracy is no share.
    // Hidden: for the check of our shells, which is no method.
    #[doc(hidden)]
    pub fn from_options(given: &OptionValues) -> Result<Self> {
        let assume = given.word("assume").and_then(Assumption::named);
        let accuracy = given.number("accuracy").map(KnownAccuracy::new).transpose()?;
        Ok(Self { assume, accuracy })
    }

    /// Every setting in effect, as [`Method::options`] has them.
    #[doc(hidden)]
    pub fn options(self) -> Vec<(&'static str, String)> {
        as_text(assumption_settings(self))
    }
}

fn assumption_settings(assumptions: PlanAssumptions) -> Settings {
    let PlanAssumptions { assume, accuracy } = assumptions;
    // What was not chosen is not listed: a method made of the list would follow it as a choice.
    let mut found: Settings =
        assume.iter().map(|chosen| ("assume", OptionValue::Word(chosen.as_str()))).collect();
    found.extend(accuracy.map(|share| ("accuracy", OptionValue::Number(share.get()))));
    found
}

/// Where ratios come from. Given ratios are meant to be used, so they decide where nothing is said.
///
/// ```text
/// ratio given as a word         that form
/// no word, ratios given         known
/// no word, no ratios            logistic
/// ```
fn ratio(given: &OptionValues, ratios: KnownRatios) -> RatioChoice {
    let estimator = match (given.word("ratio"), ratios) {
        (Some("known"), _) | (None, KnownRatios::Given) => return RatioChoice::Known,
        (Some("network"), _) => RatioEstimator::Network(NetworkSettings::default()),
        (Some("telescoping"), _) => RatioEstimator::Telescoping(TelescopingSettings::default()),
        // The table has let no other word through: what is left is "logistic".
        (Some(_), _) | (None, KnownRatios::Absent) => RatioEstimator::Logistic,
    };
    RatioChoice::Estimated(estimator)
}

/// The guarantee that was asked for; none where the option was not given.
fn guarantee(given: &OptionValues) -> Result<Option<Guarantee>> {
    Ok(match given.get("guarantee") {
        Some(OptionValue::Number(probability)) => {
            Some(Guarantee::Probability { probability: GuaranteeProbability::new(probability)? })
        }
        Some(OptionValue::Word("average")) => Some(Guarantee::Average),
        Some(_) => Some(Guarantee::None),
        None => None,
    })
}

/// As the option is given.
fn guarantee_value(guarantee: Guarantee) -> OptionValue {
    match guarantee {
        Guarantee::None => OptionValue::Word("none"),
        Guarantee::Average => OptionValue::Word("average"),
        Guarantee::Probability { probability } => OptionValue::Number(probability.get()),
    }
}

/// Settings of `ot`; what is absent takes the paper's default.
///
/// ```text
/// sandwich, sampling                f-u exact | f-u sampled | min-max
/// objective                         exact (weighted-cdf) | paper-grid | wasserstein | finite-sample
/// weights                           free-form | function
/// steps, min-effective, tolerance   when the descent ends; no steps: the minimiser
/// learning-rate                     how far a step goes
/// grid, bound-grid                  points of the objective, points where a sketch is exact
/// bandwidth-factor                  how wide the kernels of the density are
/// ```
///
/// # Errors
/// If two options exclude each other, or a value is out of the range its setting allows.
fn transport(given: &OptionValues) -> Result<TransportSettings> {
    let default = TransportSettings::default();
    let mut stopping = match given.count("steps") {
        Some(0) | None => default.stopping,
        Some(steps) => StoppingRule::after(steps)?,
    };
    if let Some(floor) = given.number("min-effective") {
        stopping = stopping.with_effective_sample_size_floor(floor)?;
    }
    if let Some(relative) = given.number("tolerance") {
        stopping = stopping.with_improvement(Improvement::of(relative))?;
    }
    let sandwich = match (given.word("sandwich"), given.word("sampling")) {
        // Refused, not ignored: who asks for samples and gets extremes would compare the wrong
        // thing.
        (Some("min-max"), Some("sampled")) => {
            return Err(Error::OptionConflict {
                option: ("sampling", "sampled"),
                other: ("sandwich", "min-max"),
                why: "which draws no labels",
            });
        }
        (Some("min-max"), _) => SandwichChoice::MinMax,
        (_, Some("sampled")) => SandwichChoice::ModelUniformSampled,
        (None, None) => default.sandwich,
        _ => SandwichChoice::ModelUniform,
    };
    let (objective, finite_sample) = match given.word("objective") {
        Some("wasserstein") => (ObjectiveChoice::Wasserstein, None),
        Some("finite-sample") => (ObjectiveChoice::Exact, Some(FailureProbability::FIVE_PERCENT)),
        Some("paper-grid") => (ObjectiveChoice::PaperGrid, None),
        Some(_) => (ObjectiveChoice::Exact, None),
        None => (default.objective, default.finite_sample),
    };
    let mut settings = TransportSettings {
        sandwich,
        objective,
        finite_sample,
        weights: match given.word("weights") {
            Some("function") => WeightsChoice::Function,
            Some(_) => WeightsChoice::FreeForm,
            None => default.weights,
        },
        adam: match given.number("learning-rate") {
            Some(rate) => AdamSettings::new(rate)?,
            None => default.adam,
        },
        stopping,
        learning_grid: given.count("grid").or(default.learning_grid),
        bound_grid: given.count("bound-grid").unwrap_or(default.bound_grid),
        bandwidth_factor: given.number("bandwidth-factor").unwrap_or(default.bandwidth_factor),
        ..default
    };
    settings.search = search(given, &settings)?;
    Ok(settings)
}

/// The minimiser where there is one, unless a descent was asked for.
///
/// # Errors
/// If no steps were asked for where there is no minimiser, or together with an option that only steps have.
fn search(given: &OptionValues, settings: &TransportSettings) -> Result<Search> {
    let of_steps = ["learning-rate", "min-effective", "tolerance"]
        .into_iter()
        .find(|name| given.number(name).is_some());
    match (given.count("steps"), settings.has_minimiser(), of_steps) {
        (Some(0), false, _) => Err(Error::Unsupported {
            what: "a minimiser in closed form of anything but the exact bound over free-form weights",
            instead: "give a number of steps",
        }),
        (Some(0), true, Some(option)) => Err(Error::Unsupported {
            what: match option {
                "learning-rate" => "a learning rate without steps",
                "min-effective" => "a floor on the effective sample size without steps",
                _ => "a tolerance without steps",
            },
            instead: "give a number of steps, or leave it out",
        }),
        // Who names a step size asks for steps.
        (None, true, None) | (Some(0), true, None) => Ok(Search::Minimiser),
        _ => Ok(Search::Descent),
    }
}

/// The options that give these settings back.
///
/// A restriction to some miscoverage rates and another failure probability have no option: for them
/// [`Method::is_made_of_options`] says no.
fn transport_settings(settings: &TransportSettings) -> Settings {
    use OptionValue::{Count, Number, Word};
    let (sandwich, sampling) = match settings.sandwich {
        SandwichChoice::ModelUniform => ("f-u", "exact"),
        SandwichChoice::ModelUniformSampled => ("f-u", "sampled"),
        SandwichChoice::MinMax => ("min-max", "exact"),
    };
    // Two settings, one option: the finite-sample term exists for the exact bound alone among the options.
    let objective = match (settings.objective, settings.finite_sample) {
        (ObjectiveChoice::Exact, None) => "exact",
        (ObjectiveChoice::Exact, Some(_)) => "finite-sample",
        (ObjectiveChoice::PaperGrid, _) => "paper-grid",
        (ObjectiveChoice::Wasserstein, _) => "wasserstein",
    };
    let weights = match settings.weights {
        WeightsChoice::FreeForm => "free-form",
        WeightsChoice::Function => "function",
    };
    let stopping = &settings.stopping;
    let mut found = vec![
        ("sandwich", Word(sandwich)),
        ("sampling", Word(sampling)),
        ("objective", Word(objective)),
        ("weights", Word(weights)),
        ("bound-grid", Count(settings.bound_grid)),
        ("bandwidth-factor", Number(settings.bandwidth_factor)),
    ];
    match settings.search {
        Search::Minimiser => found.push(("steps", Count(0))),
        Search::Descent => {
            found.push(("steps", Count(stopping.max_steps())));
            found.push(("learning-rate", Number(settings.adam.learning_rate())));
        }
    }
    found.extend(settings.learning_grid.map(|points| ("grid", Count(points))));
    // Left out where it is not set: "no floor" is no value that the option could take.
    let floor = stopping.effective_sample_size_floor();
    found.extend(floor.map(|floor| ("min-effective", Number(floor))));
    let improvement = stopping.improvement();
    found.extend(improvement.map(|improvement| ("tolerance", Number(improvement.relative))));
    found
}

impl Score {
    /// A score function with these options, its draws from `seed`; options of methods are not looked at.
    ///
    /// # Errors
    /// If an option was given that the score does not use.
    pub fn from_options(given: &OptionValues, seed: Seed) -> Result<Self> {
        // The name first: which options may be given depends on it.
        let name = given.word("score").unwrap_or(Self::default().name());
        given.refuse(User::Score(name), |spec| match spec.owners {
            Owners::Scores(scores) => scores.contains(&name),
            Owners::Methods(_) | Owners::Everyone => true,
        })?;
        let randomisation = if given.flag("randomised") {
            // A child of the run's seed. Its name is part of the draws, and so of every stored
            // score.
            Randomisation::Uniform(seed.child("randomised-scores", 0))
        } else {
            Randomisation::Deterministic
        };
        Ok(match name {
            "aps" => Self::Aps(Aps { randomisation }),
            "raps" => {
                let default = Raps::default();
                let lambda = given.number("raps-lambda").unwrap_or(default.lambda());
                let k_reg = given.count("raps-k").unwrap_or(default.k_reg());
                Self::Raps(Raps::new(lambda, k_reg, randomisation)?)
            }
            "margin" => Self::Margin,
            "plan" => Self::Plan,
            _ => Self::Lac,
        })
    }

    /// Every setting in effect, by the names of the table; the seed of its draws is not one of them.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        use OptionValue::{Count, Flag, Number, Word};
        // The flag, not the seed: the seed is that of the run and stands beside the options.
        let drawn = |randomisation| {
            ("randomised", Flag(matches!(randomisation, Randomisation::Uniform(_))))
        };
        let mut found = vec![("score", Word(self.name()))];
        match self {
            Self::Lac | Self::Margin | Self::Plan => {}
            Self::Aps(aps) => found.push(drawn(aps.randomisation)),
            Self::Raps(raps) => found.extend([
                drawn(raps.randomisation()),
                ("raps-lambda", Number(raps.lambda())),
                ("raps-k", Count(raps.k_reg())),
            ]),
        }
        as_text(found)
    }
}

/// The same with values as text that reads back to the same bits.
fn as_text(settings: Settings) -> Vec<(&'static str, String)> {
    settings.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}
