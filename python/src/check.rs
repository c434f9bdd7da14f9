//! Is there a shift, how much coverage is at risk, what to do.

use evenkeel::calibration::Calibration;
use evenkeel::check::CheckSettings;
use evenkeel::error::PointSet;
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::OptionValue;
use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel::score::Score;
use evenkeel_jobs::sentences::check::NextStep;
use evenkeel_jobs::{
    CheckJob, Checked, JobError, LabeledData, SeenRows, TargetLabels, ValueKind, sentences,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, kind, vector};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;
use crate::pages::{Found, Page};
use crate::points::{Points, SideArrays, seen};
use crate::spelling::{in_python, keyword};

/// Atoms and CDF of a law on the line.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The document of a check; its answer and its details in sentences; the laws it speaks of: calibration, then lower and
/// upper of min-max and of f-u; and the page.
type CheckAnswer<'py> = (String, [Vec<String>; 2], Vec<Curve<'py>>, Page);

/// Looks at labeled probabilities of the calibration data, or at a calibration that keeps them, and at target rows.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, calibration, probs_target, target_labels, side_cal, side_target, classes, alpha, delta, permutations, seed,
    logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn check<'py>(
    py: Python<'py>,
    probs_cal: Option<Matrix<'_>>,
    y_cal: Option<LabelArray<'_>>,
    calibration: Option<Bound<'py, FittedCalibration>>,
    probs_target: Matrix<'_>,
    target_labels: Vec<(usize, usize)>,
    side_cal: &Bound<'py, PyDict>,
    side_target: &Bound<'py, PyDict>,
    classes: Option<Vec<String>>,
    alpha: Option<f64>,
    delta: f64,
    permutations: Option<usize>,
    seed: Option<u64>,
    logits: &str,
    options: &Bound<'py, PyDict>,
) -> PyResult<CheckAnswer<'py>> {
    let settings = Settings::new(alpha.unwrap_or(0.1), seed.unwrap_or(0), options)?;
    let delta = FailureProbability::new(delta).map_err(Failure::from)?;
    // Options of methods mean nothing to a check; ignored in silence they would seem to have
    // counted.
    settings.options.require_used_by_check().map_err(Failure::from)?;
    let stored = calibration.as_ref().map(|fitted| fitted.get().one()).transpose()?;
    let mut job = match stored {
        Some(calibration) => {
            let alpha = alpha.map(|_| settings.alpha);
            let mut job = CheckJob::of_calibration(calibration, "calibration", alpha, delta)
                .map_err(Failure::from)?;
            job.settings.seed = seed.map_or(job.settings.seed, |_| settings.seed);
            job
        }
        None => CheckJob::new(settings.score()?, settings.alpha, delta, settings.seed),
    };
    let checked = &mut job.settings;
    checked.permutations = permutations.unwrap_or(checked.permutations);
    checked.bound_grid = settings.options.count("bound-grid").unwrap_or(checked.bound_grid);
    checked.assumptions =
        PlanAssumptions::from_options(&settings.options).map_err(Failure::from)?;
    let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let columns = target.classes();
    job.labels = TargetLabels::new("y_target", target_labels, columns).map_err(Failure::from)?;
    let cal = match &probs_cal {
        Some(probs) => {
            Some(Points::new(("probs_cal", PointSet::Calibration), probs, &side_cal, logits)?)
        }
        None => None,
    };
    let labels = y_cal.map(|labels| labels.whole("y_cal")).transpose()?;
    let rows_of_cal = match (&probs_cal, stored.and_then(|found| Some((found, found.reference()?))))
    {
        (Some(probs), _) => seen("probs_cal", probs)?,
        (None, Some((found, kept))) => SeenRows {
            name: "calibration",
            rows: kept.labels().len(),
            classes: found.provenance().classes,
        },
        // Said below, where nothing can be compared with.
        (None, None) => SeenRows { name: "calibration", rows: 0, classes: columns },
    };
    let second_cal = side_cal.second(logits, rows_of_cal)?;
    let (checked, laws) = detached(py, |watcher| {
        let mut softmax = Vec::new();
        let labeled = match (&cal, labels, stored) {
            (Some(cal), Some(labels), _) => cal.labeled(&mut softmax, "y_cal", labels)?,
            (_, _, Some(calibration)) => reference_of(calibration)?,
            _ => return Err(Failure::from(nothing_to_compare_with())),
        };
        let labeled = labeled.with_second(&second_cal)?;
        let checked = evenkeel_jobs::check(&job, &labeled, &mut target.source()?, watcher)?;
        // While the interpreter is free: the laws of a large table have many atoms.
        let laws = curves(&checked)?;
        Ok((checked, laws))
    })?;
    let command = match sentences::check::next_step(&checked) {
        NextStep::Calibrate => Some(recalibrate(
            &settings,
            (&job, stored.is_some()),
            logits,
            (!job.labels.is_empty(), !second_cal.is_empty()),
        )),
        NextStep::Label { rows } => Some(format!(
            "evenkeel.choose_rows({}, {})",
            checked.report.m,
            rows.min(checked.report.m)
        )),
        NextStep::Nothing => None,
    };
    let names = classes.as_deref();
    let details = details(&checked, names);
    let mut answer = sentences::check::answer(&checked).to_vec();
    answer.extend(command.clone());
    let said = [answer, details];
    let curve = |(atoms, cdf)| (vector(py, atoms), vector(py, cdf));
    let mut document = checked.document(names, &[]);
    document.command.clone_from(&command);
    document.warnings = document.warnings.into_iter().map(in_python).collect();
    let document = json(&document)?;
    let laws = laws.into_iter().map(curve).collect();
    let (score, seed) = (job.score.name(), job.settings.seed.get());
    let page = Page::new(Found::Check { checked, score }, seed, classes).with_command(command);
    Ok((document, said, laws, page))
}

/// The calibration data that a calibration keeps.
fn reference_of(calibration: &Calibration) -> Result<LabeledData<'_>, Failure> {
    let classes = calibration.provenance().classes;
    match calibration.reference() {
        Some(reference) => Ok(LabeledData::of_reference("calibration", reference, classes)?),
        None => Err(Failure::from(JobError::NotCheckable {
            input: "calibration".to_owned(),
            why: "it does not keep its calibration data, as files of version 0.1 do not; give probs_cal and y_cal, or \
                  calibrate anew",
        })),
    }
}

fn nothing_to_compare_with() -> JobError {
    JobError::NotCheckable {
        input: "probs_cal".to_owned(),
        why: "there is nothing to compare the target data with; give probs_cal and y_cal, or calibration",
    }
}

/// What a check rests on, a sentence each.
fn details(checked: &Checked, names: Option<&[String]>) -> Vec<String> {
    let report = &checked.report;
    let mut said = sentences::evidence::with_labels(checked, names);
    said.extend([
        sentences::evidence::RANGE_RECORD.to_owned(),
        sentences::evidence::shift(report),
        sentences::evidence::guaranteed(report),
        sentences::evidence::belief(report),
        sentences::evidence::order(report),
    ]);
    said.extend(sentences::evidence::classes(checked, names));
    said.extend(checked.recommended.iter().flat_map(sentences::evidence::recommendation));
    said.extend(sentences::evidence::remarks(checked));
    said
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
fn recalibrate(
    settings: &Settings,
    (job, stored): (&CheckJob, bool),
    logits: &str,
    (labeled, second): (bool, bool),
) -> String {
    let CheckSettings { alpha, delta, seed, .. } = job.settings;
    let mut call = "evenkeel.calibrate(probs_cal, y_cal, probs_target".to_owned();
    if labeled {
        call += ", y_target=y_target";
    } else if second {
        call += ", second=second";
    }
    let mut set = |name: &str, value: String| call += &format!(", {name}={value}");
    let rates = [
        ("alpha", alpha.get(), 0.1),
        ("shift_level", delta.get(), FailureProbability::FIVE_PERCENT.get()),
    ];
    for (name, value, _) in rates.iter().filter(|(_, value, default)| value != default) {
        set(name, value.to_string());
    }
    if seed.get() != 0 {
        set("random_state", seed.get().to_string());
    }
    // The score of a calibration in use; any other stands among the options.
    for (name, value) in job.score.options().iter().filter(|_| stored && job.score != Score::Lac) {
        let value = match value.as_str() {
            "true" => "True".to_owned(),
            "false" => "False".to_owned(),
            number if number.parse::<f64>().is_ok() => number.to_owned(),
            word => format!("\"{word}\""),
        };
        set(&keyword(name), value);
    }
    match kind(logits) {
        ValueKind::Probabilities => {}
        ValueKind::Logits => set("logits", "True".to_owned()),
        ValueKind::ForcedLogits => set("logits", "'force'".to_owned()),
    }
    // The grid is the check's own; `calibrate` would refuse it.
    let used = |name: &str| match name {
        "bound-grid" => false,
        // Labels decide where there are any.
        "assume" | "accuracy" => !labeled,
        _ => true,
    };
    for (name, value) in settings.options.iter().filter(|(name, _)| used(name)) {
        let value = match value {
            OptionValue::Word(word) => format!("\"{word}\""),
            OptionValue::Flag(flag) => if flag { "True" } else { "False" }.to_owned(),
            number => number.to_string(),
        };
        set(&keyword(name), value);
    }
    call + ")"
}
