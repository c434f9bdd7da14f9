//! Keyword arguments -> the core's settings, by the core's option table.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::error::Error;
use evenkeel::level::Miscoverage;
use evenkeel::method::{
    GivenValue, KnownRatios, Method, MethodName, OPTIONS, OptionKind, OptionSpec, OptionValues,
};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::Entrant;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::Failure;
use crate::spelling::{keyword, option_of};

/// Names of the methods, the default first.
#[pyfunction]
pub(crate) fn method_names() -> Vec<&'static str> {
    let fitted = MethodName::ALL.into_iter().filter(|method| *method != MethodName::Oracle);
    fitted.map(MethodName::as_str).collect()
}

/// Names of the options of `calibrate` and `compare`.
#[pyfunction]
pub(crate) fn option_names() -> Vec<String> {
    OPTIONS.iter().map(|spec| keyword(spec.name)).collect()
}

/// Names of those that a method uses.
#[pyfunction]
pub(crate) fn options_of_method(method: &str) -> PyResult<Vec<String>> {
    let method: MethodName = method.parse().map_err(Failure::from)?;
    Ok(method.options().map(|spec| keyword(spec.name)).collect())
}

/// What every call resolves first.
pub(crate) struct Settings {
    pub alpha: Miscoverage,
    pub seed: Seed,
    pub options: OptionValues,
}

impl Settings {
    pub(crate) fn new(alpha: f64, seed: u64, options: &Bound<'_, PyDict>) -> Result<Self, Failure> {
        let options = given(options)?;
        Ok(Self { alpha: Miscoverage::new(alpha)?, seed: Seed::new(seed), options })
    }

    /// The calibrator of a method; every option given must be one it uses.
    pub(crate) fn calibrator(
        &self,
        method: &str,
        ratios: KnownRatios,
    ) -> Result<ShiftCalibrator, Failure> {
        let name = method.parse()?;
        self.with(Method::from_options(name, &self.options, ratios)?)
    }

    /// A method of a comparison, with those of the options that it uses.
    pub(crate) fn entrant(
        &self,
        name: MethodName,
        ratios: KnownRatios,
    ) -> Result<Entrant, Failure> {
        if name == MethodName::Oracle {
            return Ok(Entrant::Oracle(self.with(Method::Uncorrected)?));
        }
        let own = self.options.of_method(name);
        Ok(Entrant::Method(self.with(Method::from_options(name, &own, ratios)?)?))
    }

    fn with(&self, method: Method) -> Result<ShiftCalibrator, Failure> {
        Ok(ShiftCalibrator { method, score: self.score()?, alpha: self.alpha, seed: self.seed })
    }

    /// An error for an option of scores, where the score is that of a calibration.
    pub(crate) fn require_no_score(&self) -> Result<(), Failure> {
        let given =
            |spec: &&OptionSpec| spec.is_of_scores() && self.options.get(spec.name).is_some();
        match OPTIONS.iter().find(given) {
            None => Ok(()),
            Some(spec) => Err(Failure::Setting(format!(
                "{} has no use with calibration: the score is that of the calibration; leave it out",
                keyword(spec.name)
            ))),
        }
    }

    /// The score function.
    pub(crate) fn score(&self) -> Result<Score, Failure> {
        Ok(Score::from_options(&self.options, self.seed)?)
    }
}

/// Keyword arguments by their rows of the table; what is `None` counts as absent.
fn given(keywords: &Bound<'_, PyDict>) -> Result<OptionValues, Failure> {
    let mut values = OptionValues::default();
    for (name, value) in keywords {
        let name = name.to_string();
        let spec = option_of(&name).ok_or_else(|| OptionSpec::unknown(&name))?;
        // None is "not given", as in every Python signature, and so never refused.
        if value.is_none() {
            continue;
        }
        let typed = typed(spec, &value);
        values.set(spec.name, typed.as_given()).map_err(|error| match error {
            // Numbers out of range are shown as on the command line, anything else as Python shows it.
            Error::OptionValue { option, found, expected } => Error::OptionValue {
                option,
                found: match typed {
                    Typed::Number(_) | Typed::Whole(_) => found,
                    _ => words(&value),
                },
                expected: expected.replace("true or false", "True or False"),
            },
            other => other,
        })?;
    }
    Ok(values)
}

/// A value with the type its row asks for, as far as it has it.
enum Typed {
    Word(String),
    Number(f64),
    Whole(i128),
    Flag(bool),
    Other,
}

impl Typed {
    fn as_given(&self) -> GivenValue<'_> {
        match self {
            Self::Word(text) => GivenValue::Word(text),
            Self::Number(number) => GivenValue::Number(*number),
            Self::Whole(whole) => GivenValue::Whole(*whole),
            Self::Flag(flag) => GivenValue::Flag(*flag),
            Self::Other => GivenValue::Other(""),
        }
    }
}

fn typed(spec: &OptionSpec, value: &Bound<'_, PyAny>) -> Typed {
    if let Ok(text) = value.cast::<PyString>() {
        return Typed::Word(text.to_string());
    }
    let found = match spec.kind {
        OptionKind::Number(_) | OptionKind::NumberOrWord(..) => {
            value.extract().ok().map(Typed::Number)
        }
        // Whole numbers only: 2.5 steps must be refused, not cut to 2.
        OptionKind::Count(_) => value.extract().ok().map(|count: i64| Typed::Whole(count.into())),
        OptionKind::Flag => value.extract().ok().map(Typed::Flag),
        _ => None,
    };
    found.unwrap_or(Typed::Other)
}

/// A value in a message.
fn words(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something unprintable".into(), |repr| repr.to_string())
}
