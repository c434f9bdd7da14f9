//! Is there a shift, how much coverage is at risk, what to do.

use evenkeel::error::PointSet;
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::OptionValue;
use evenkeel_jobs::{CheckJob, Checked, sentences};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, vector};
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;
use crate::points::{Points, SideArrays};
use crate::spelling::keyword;

/// Atoms and CDF of a law on the line.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The document of a check; what it says before and after the table of bounds, and what to do; and the laws it speaks of:
/// calibration, then lower and upper of min-max and of f-u.
type CheckAnswer<'py> = (String, [Vec<String>; 3], Vec<Curve<'py>>);

/// Looks at labeled probabilities of the calibration data and unlabeled ones of the target data.
#[pyfunction]
#[pyo3(signature = (probs_cal, y_cal, probs_target, alpha, delta, permutations, seed, logits, options))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn check<'py>(
    py: Python<'py>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    alpha: f64,
    delta: f64,
    permutations: Option<usize>,
    seed: u64,
    logits: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<CheckAnswer<'py>> {
    let settings = Settings::new(alpha, seed, options)?;
    let delta = FailureProbability::new(delta).map_err(Failure::from)?;
    // Options of methods mean nothing to a check; ignored in silence they would seem to have
    // counted.
    settings.options.require_used_by_check().map_err(Failure::from)?;
    let mut job = CheckJob::new(settings.score()?, settings.alpha, delta, settings.seed);
    let checked = &mut job.settings;
    checked.permutations = permutations.unwrap_or(checked.permutations);
    checked.bound_grid = settings.options.count("bound-grid").unwrap_or(checked.bound_grid);
    let none = SideArrays::default();
    let cal = Points::new(("probs_cal", PointSet::Calibration), &probs_cal, &none, logits)?;
    let labels = y_cal.whole("y_cal")?;
    let target = Points::new(("probs_target", PointSet::Target), &probs_target, &none, logits)?;
    let (checked, laws) = detached(py, |watcher| {
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax, "y_cal", labels)?;
        let checked = evenkeel_jobs::check(&job, &labeled, &mut target.source()?, watcher)?;
        // While the interpreter is free: the laws of a large table have many atoms.
        let laws = curves(&checked)?;
        Ok((checked, laws))
    })?;
    let mut after = vec![sentences::order(&checked.report)];
    after.extend(sentences::classes(&checked, None));
    let to_do = checked.recommended.as_ref().map_or_else(Vec::new, |recommended| {
        sentences::recommendation(recommended, &recalibrate(&settings, delta, logits))
    });
    let said = [sentences::check_answer(&checked.report).to_vec(), after, to_do];
    let curve = |(atoms, cdf)| (vector(py, atoms), vector(py, cdf));
    Ok((json(&checked.document(None))?, said, laws.into_iter().map(curve).collect()))
}

/// Where a CDF steps, and its values there.
type Steps = (Vec<f64>, Vec<f64>);

/// Atoms and CDF of the laws a check speaks of.
fn curves(checked: &Checked) -> Result<Vec<Steps>, Failure> {
    let calibration = WeightedEmpirical::uniform(&checked.scores)?;
    let (min_max, f_u) = (&checked.laws.min_max, &checked.laws.f_u);
    let laws = [&calibration, min_max.lower(), min_max.upper(), f_u.lower(), f_u.upper()];
    let curve = |law: &WeightedEmpirical| {
        let atoms = law.atoms().to_vec();
        let cdf = atoms.iter().map(|atom| law.cdf(*atom)).collect();
        (atoms, cdf)
    };
    Ok(laws.into_iter().map(curve).collect())
}

/// The call that does what is recommended: the arguments of this check, as far as they are not the defaults.
fn recalibrate(settings: &Settings, delta: FailureProbability, logits: bool) -> String {
    let mut call = "evenkeel.calibrate(probs_cal, y_cal, probs_target".to_owned();
    let mut set = |name: &str, value: String| call += &format!(", {name}={value}");
    let rates = [
        ("alpha", settings.alpha.get(), 0.1),
        ("shift_level", delta.get(), FailureProbability::FIVE_PERCENT.get()),
    ];
    for (name, value, _) in rates.iter().filter(|(_, value, default)| value != default) {
        set(name, value.to_string());
    }
    if settings.seed.get() != 0 {
        set("random_state", settings.seed.get().to_string());
    }
    if logits {
        set("logits", "True".to_owned());
    }
    // The grid is the check's own; `calibrate` would refuse it.
    for (name, value) in settings.options.iter().filter(|(name, _)| *name != "bound-grid") {
        let value = match value {
            OptionValue::Word(word) => format!("\"{word}\""),
            OptionValue::Flag(flag) => if flag { "True" } else { "False" }.to_owned(),
            number => number.to_string(),
        };
        set(&keyword(name), value);
    }
    call + ")"
}
