//! Is there a shift, how much coverage is at risk, what to do.

use evenkeel::check::CheckSettings;
use evenkeel::error::PointSet;
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::OptionValue;
use evenkeel_jobs::sentences::check::NextStep;
use evenkeel_jobs::{CheckJob, Checked, TargetLabels, ValueKind, sentences};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, kind, vector};
use crate::calibration::FittedCalibration;
use crate::check_given::CheckGiven;
use crate::detached::detached;
use crate::errors::Failure;
use crate::json;
use crate::methods::Settings;
use crate::pages::{Found, Page};
use crate::points::{Points, SideArrays, seen};
use crate::spelling::{in_python, keyword};

/// Atoms and CDF of a law on the line.
pub(crate) type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The document of a check; its answer and its details in sentences; the laws it speaks of: calibration, then lower and
/// upper of min-max and of f-u; and the page.
pub(crate) type CheckAnswer<'py> = (String, [Vec<String>; 2], Vec<Curve<'py>>, Page);

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
    let given = CheckGiven {
        probs: probs_cal.as_ref(),
        labels: y_cal.as_ref(),
        calibration: calibration.as_ref().map(Bound::get),
        rates: (alpha, delta),
        permutations,
        seed,
        logits,
        options,
    };
    let (settings, mut job) = given.job()?;
    let (side_cal, side_target) = (SideArrays::of(side_cal)?, SideArrays::of(side_target)?);
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let columns = target.classes();
    job.labels = TargetLabels::new("y_target", target_labels, columns).map_err(Failure::from)?;
    let cal = given.calibration_side(&side_cal)?;
    let (checked, laws) = detached(py, |watcher| {
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax)?;
        let checked = evenkeel_jobs::check(&job, &labeled, &mut target.source()?, watcher)?;
        // While the interpreter is free: the laws of a large table have many atoms.
        let laws = curves(&checked)?;
        Ok((checked, laws))
    })?;
    let asked = Asked {
        settings: &settings,
        job: &job,
        stored: calibration.is_some(),
        logits,
        second: cal.has_second(),
        classes,
    };
    asked.answer(py, checked, laws)
}

/// What a check was asked, as far as its answer speaks of it.
pub(crate) struct Asked<'a> {
    pub settings: &'a Settings,
    pub job: &'a CheckJob,
    /// Whether it was about a calibration in use.
    pub stored: bool,
    pub logits: &'a str,
    /// Whether there were second models.
    pub second: bool,
    pub classes: Option<Vec<String>>,
}

impl Asked<'_> {
    /// The document, the sentences, the laws and the page.
    pub(crate) fn answer<'py>(
        self,
        py: Python<'py>,
        checked: Checked,
        laws: Vec<Steps>,
    ) -> PyResult<CheckAnswer<'py>> {
        let command = match sentences::check::next_step(&checked) {
            NextStep::Calibrate => {
                let beside = (!self.job.labels.is_empty(), self.second);
                Some(recalibrate(self.settings, (self.job, self.stored), self.logits, beside))
            }
            NextStep::Label { rows } => Some(format!(
                "evenkeel.choose_rows({}, {})",
                checked.report.m,
                rows.min(checked.report.m)
            )),
            NextStep::Nothing => None,
        };
        let names = self.classes.as_deref();
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
        let (score, seed) = (self.job.score.name(), self.job.settings.seed.get());
        let page = Page::new(Found::Check { checked, score }, seed, self.classes);
        let page = page.with_command(command);
        Ok((document, said, laws, page))
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
pub(crate) type Steps = (Vec<f64>, Vec<f64>);

/// Atoms and CDF of the laws a check speaks of.
pub(crate) fn curves(checked: &Checked) -> Result<Vec<Steps>, Failure> {
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
    // Whoever gave a calibration may have nothing else.
    let mut call = match stored {
        true => "evenkeel.calibrate(calibration=calibration, probs_target=probs_target",
        false => "evenkeel.calibrate(probs_cal, y_cal, probs_target",
    }
    .to_owned();
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
