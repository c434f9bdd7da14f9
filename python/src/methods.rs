//! Names and options as typed in Python -> the core's settings. The only file that knows them by name.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::{AdamSettings, Improvement, StoppingRule};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::MethodName;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::label_shift::EmSettings;
use evenkeel::method::likelihood_ratio::{NetworkSettings, RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, LabelShiftChoice, Method, ObjectiveChoice, PenaltyChoice, RatioChoice,
    SandwichChoice, TransportSettings, WeightsChoice,
};
use evenkeel::score::{Aps, Randomisation, Raps, Score};
use evenkeel::seed::Seed;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::Failure;

/// The options, spelled as on the command line with underscores; `lambda` is a word of Python's own.
const OPTIONS: [&str; 22] = [
    "score",
    "randomised",
    "raps_lambda",
    "raps_k",
    "sandwich",
    "sampling",
    "objective",
    "weights",
    "steps",
    "learning_rate",
    "grid",
    "bound_grid",
    "bandwidth_factor",
    "min_effective",
    "tolerance",
    "shift_level",
    "ratio",
    "ecp_power",
    "qtc_rule",
    "label_shift",
    "gamma",
    "lambda_",
];

/// Failure probability of the finite-sample objective.
const OBJECTIVE_DELTA: f64 = 0.05;
/// Steps over which `tolerance` is measured.
const TOLERANCE_WINDOW: usize = 500;
/// False-alarm rate of the shift test of `auto`.
const SHIFT_LEVEL: f64 = 0.05;
/// Parts that cross-validation of `conditional` leaves out in turn.
const FOLDS: usize = 5;

/// Names of the methods, the default first.
#[pyfunction]
pub(crate) fn method_names() -> Vec<&'static str> {
    let fitted = MethodName::ALL.into_iter().filter(|method| *method != MethodName::Oracle);
    fitted.map(MethodName::as_str).collect()
}

/// Names of the methods that `compare` knows.
pub(crate) fn comparable_methods() -> Vec<&'static str> {
    MethodName::ALL.into_iter().map(MethodName::as_str).collect()
}

/// Names of the options of `calibrate` and `compare`.
#[pyfunction]
pub(crate) fn option_names() -> Vec<&'static str> {
    OPTIONS.to_vec()
}

/// Whether likelihood ratios were given beside the calibration points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ratios {
    /// One for each.
    Given,
    /// None.
    Absent,
}

/// What a comparison fits.
pub(crate) enum Compared {
    /// A method, on calibration labels.
    Method(ShiftCalibrator),
    /// Split conformal prediction, on the labels of the test points.
    Oracle(ShiftCalibrator),
}

/// What every call resolves first.
pub(crate) struct Settings<'a, 'py> {
    pub alpha: Miscoverage,
    pub seed: Seed,
    options: Options<'a, 'py>,
}

impl<'a, 'py> Settings<'a, 'py> {
    pub(crate) fn new(
        alpha: f64,
        seed: u64,
        options: &'a Bound<'py, PyDict>,
    ) -> Result<Self, Failure> {
        let options = Options::new(options)?;
        Ok(Self { alpha: Miscoverage::new(alpha)?, seed: Seed::new(seed), options })
    }

    /// The calibrator of a method; `ratios` says whether likelihood ratios were given.
    pub(crate) fn calibrator(
        &self,
        method: &str,
        ratios: Ratios,
    ) -> Result<ShiftCalibrator, Failure> {
        let method = self.method(self.method_name(method)?, ratios)?;
        Ok(ShiftCalibrator { method, score: self.score()?, alpha: self.alpha, seed: self.seed })
    }

    fn method(&self, name: MethodName, ratios: Ratios) -> Result<Method, Failure> {
        let options = &self.options;
        Ok(match name {
            MethodName::Uncorrected => Method::Uncorrected,
            MethodName::Ot => Method::OptimalTransport(self.transport()?),
            MethodName::Fixed => Method::Fixed,
            MethodName::Auto => {
                let level = options.number("shift_level")?.unwrap_or(SHIFT_LEVEL);
                Method::Auto(AutoSettings::new(FailureProbability::new(level)?, self.seed))
            }
            MethodName::LabelPlan => {
                Method::LabelPlan(LabelPlanSettings::new(FailureProbability::new(OBJECTIVE_DELTA)?))
            }
            MethodName::LikelihoodRatio => Method::LikelihoodRatio(self.ratio(ratios)?),
            MethodName::Ecp => {
                Method::EntropyScaled(match options.count("ecp_power")?.unwrap_or(1) {
                    1 => EntropyPower::One,
                    2 => EntropyPower::Two,
                    other => {
                        return Err(Failure::Setting(format!(
                            "ecp_power is {other}; it must be 1 or 2"
                        )));
                    }
                })
            }
            MethodName::Qtc => {
                let known = ["qtc", "source-coverage", "source-threshold"];
                Method::QuantileTransfer(match options.choice("qtc_rule", &known)? {
                    "source-coverage" => TransferRule::SourceCoverage,
                    "source-threshold" => TransferRule::SourceThreshold,
                    _ => TransferRule::Qtc,
                })
            }
            MethodName::LabelShift => {
                Method::LabelShift(match options.choice("label_shift", &["bbse", "em"])? {
                    "em" => LabelShiftChoice::ExpectationMaximisation(EmSettings::default()),
                    _ => LabelShiftChoice::BlackBox,
                })
            }
            MethodName::Conditional => Method::Conditional(self.conditional()?),
            MethodName::Oracle => {
                return Err(Failure::Setting(
                    "oracle calibrates on the labels of the test points, which only `compare` has; choose another method"
                        .into(),
                ));
            }
        })
    }

    fn ratio(&self, ratios: Ratios) -> Result<RatioChoice, Failure> {
        let default = match ratios {
            Ratios::Given => "known",
            Ratios::Absent => "logistic",
        };
        let known = ["logistic", "network", "telescoping", "known"];
        let chosen = self.options.get("ratio")?.map(|_| self.options.choice("ratio", &known));
        let estimator = match chosen.transpose()?.unwrap_or(default) {
            "known" => return Ok(RatioChoice::Known),
            "network" => RatioEstimator::Network(NetworkSettings::default()),
            "telescoping" => RatioEstimator::Telescoping(TelescopingSettings::default()),
            _ => RatioEstimator::Logistic,
        };
        Ok(RatioChoice::Estimated(estimator))
    }

    fn conditional(&self) -> Result<ConditionalChoice, Failure> {
        let (options, default) = (&self.options, ConditionalChoice::default());
        let given = options.get("lambda_")?;
        let penalty = match given.as_ref().and_then(|value| value.cast::<PyString>().ok()) {
            Some(word) if *word == "cv" => PenaltyChoice::CrossValidated { folds: FOLDS },
            Some(word) => {
                return Err(Failure::Setting(format!(
                    "lambda_ is \"{word}\"; give a positive number, or cv for cross-validation"
                )));
            }
            None => match options.number("lambda_")? {
                Some(lambda) => PenaltyChoice::Fixed(lambda),
                None => default.penalty,
            },
        };
        let gamma = options.number("gamma")?.unwrap_or(default.gamma);
        Ok(ConditionalChoice { gamma, penalty })
    }

    /// A method of a comparison.
    pub(crate) fn compared(&self, method: &str, ratios: Ratios) -> Result<Compared, Failure> {
        if method == MethodName::Oracle.as_str() {
            let split = self.calibrator(MethodName::Uncorrected.as_str(), ratios)?;
            return Ok(Compared::Oracle(split));
        }
        Ok(Compared::Method(self.calibrator(method, ratios)?))
    }

    fn method_name(&self, name: &str) -> Result<MethodName, Failure> {
        MethodName::ALL.into_iter().find(|method| method.as_str() == name).ok_or_else(|| {
            Failure::Setting(format!(
                "method is \"{name}\"; the methods are {}",
                method_names().join(", ")
            ))
        })
    }

    /// The score function.
    pub(crate) fn score(&self) -> Result<Score, Failure> {
        let randomisation = if self.options.flag("randomised")? {
            Randomisation::Uniform(self.seed.child("randomised-scores", 0))
        } else {
            Randomisation::Deterministic
        };
        let name = self.options.choice("score", &["lac", "aps", "raps", "margin"])?;
        Ok(match name {
            "aps" => Score::Aps(Aps { randomisation }),
            "raps" => {
                let lambda = self.options.number("raps_lambda")?.unwrap_or(0.01);
                let k_reg = self.options.count("raps_k")?.unwrap_or(5);
                Score::Raps(Raps::new(lambda, k_reg, randomisation)?)
            }
            "margin" => Score::Margin,
            _ => Score::Lac,
        })
    }

    /// Grid points of the reported bounds.
    pub(crate) fn bound_grid(&self) -> Result<usize, Failure> {
        let default = TransportSettings::default().bound_grid;
        Ok(self.options.count("bound_grid")?.unwrap_or(default))
    }

    /// The settings of method `ot`.
    fn transport(&self) -> Result<TransportSettings, Failure> {
        let (options, default) = (&self.options, TransportSettings::default());
        let steps = options.count("steps")?.unwrap_or(default.stopping.max_steps());
        let mut stopping = StoppingRule::after(steps)?;
        if let Some(floor) = options.number("min_effective")? {
            stopping = stopping.with_effective_sample_size_floor(floor)?;
        }
        if let Some(relative) = options.number("tolerance")? {
            let improvement = Improvement { window: TOLERANCE_WINDOW, relative };
            stopping = stopping.with_improvement(improvement)?;
        }
        let sandwich = options.choice("sandwich", &["f-u", "min-max"])?;
        let sampling = options.choice("sampling", &["exact", "sampled"])?;
        let sandwich = match (sandwich, sampling) {
            ("min-max", "sampled") => {
                return Err(Failure::Setting(
                    "sampling sampled draws labels, which sandwich min-max has none of; use sandwich f-u".into(),
                ));
            }
            ("min-max", _) => SandwichChoice::MinMax,
            (_, "sampled") => SandwichChoice::ModelUniformSampled,
            _ => SandwichChoice::ModelUniform,
        };
        let objective =
            options.choice("objective", &["weighted-cdf", "wasserstein", "finite-sample"])?;
        let (objective, finite_sample) = match objective {
            "wasserstein" => (ObjectiveChoice::Wasserstein, None),
            "finite-sample" => {
                (ObjectiveChoice::WeightedCdf, Some(FailureProbability::new(OBJECTIVE_DELTA)?))
            }
            _ => (ObjectiveChoice::WeightedCdf, None),
        };
        let weights = match options.choice("weights", &["free-form", "function"])? {
            "function" => WeightsChoice::Function,
            _ => WeightsChoice::FreeForm,
        };
        let learning_rate =
            options.number("learning_rate")?.unwrap_or(default.adam.learning_rate());
        Ok(TransportSettings {
            sandwich,
            objective,
            finite_sample,
            weights,
            adam: AdamSettings::new(learning_rate)?,
            stopping,
            learning_grid: options.count("grid")?.unwrap_or(default.learning_grid),
            bound_grid: self.bound_grid()?,
            bandwidth_factor: options
                .number("bandwidth_factor")?
                .unwrap_or(default.bandwidth_factor),
            ..default
        })
    }
}

/// Keyword arguments; what is absent or `None` takes its default.
struct Options<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'a, 'py> Options<'a, 'py> {
    fn new(options: &'a Bound<'py, PyDict>) -> Result<Self, Failure> {
        for name in options.keys() {
            let name = name.to_string();
            if name == "lambda" {
                return Err(Failure::Setting(
                    "there is no option \"lambda\"; it is spelled lambda_".into(),
                ));
            }
            if !OPTIONS.contains(&name.as_str()) {
                return Err(Failure::Setting(format!(
                    "there is no option \"{name}\"; the options are {}",
                    OPTIONS.join(", ")
                )));
            }
        }
        Ok(Self(options))
    }

    fn get(&self, name: &str) -> Result<Option<Bound<'py, PyAny>>, Failure> {
        let value = self.0.get_item(name).map_err(Failure::Interrupted)?;
        Ok(value.filter(|value| !value.is_none()))
    }

    /// One of `known`; the first of them by default.
    fn choice(&self, name: &str, known: &[&'static str]) -> Result<&'static str, Failure> {
        let Some(value) = self.get(name)? else { return Ok(known.first().copied().unwrap_or("")) };
        let given = value.cast::<PyString>().ok().map(ToString::to_string);
        let found = known.iter().find(|choice| given.as_deref() == Some(**choice));
        found.copied().ok_or_else(|| {
            Failure::Setting(format!(
                "{name} is {}; it must be one of {}",
                words(&value),
                known.join(", ")
            ))
        })
    }

    fn number(&self, name: &str) -> Result<Option<f64>, Failure> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let number = value.extract().map_err(|_| {
            Failure::Setting(format!("{name} is {}; it must be a number", words(&value)))
        });
        number.map(Some)
    }

    fn count(&self, name: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let count = value.extract().map_err(|_| {
            Failure::Setting(format!(
                "{name} is {}; it must be a whole number from 0",
                words(&value)
            ))
        });
        count.map(Some)
    }

    fn flag(&self, name: &str) -> Result<bool, Failure> {
        let Some(value) = self.get(name)? else { return Ok(false) };
        value.extract().map_err(|_| {
            Failure::Setting(format!("{name} is {}; it must be True or False", words(&value)))
        })
    }
}

/// A value in a message.
fn words(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something unprintable".into(), |repr| repr.to_string())
}
