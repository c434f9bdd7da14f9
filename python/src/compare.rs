//! Methods side by side on labeled test data.

use evenkeel::calibration::ClassNames;
use evenkeel::error::PointSet;
use evenkeel::method::{MethodName, Need, require_a_user_among};
use evenkeel::side_inputs::SideInput;
use evenkeel_jobs::documents::EvaluateDocument;
use evenkeel_jobs::{CompareJob, Compared, IfInapplicable, sentences};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{LabelArray, Matrix, vector};
use crate::calibration::FittedCalibration;
use crate::detached::detached;
use crate::errors::{Failure, spelled};
use crate::json;
use crate::methods::Settings;
use crate::pages::{Found, Page};
use crate::points::{Points, SideArrays, seen};

/// The document of a comparison; a dict for each method with its calibration, evaluation and gap curve; what is said before
/// and after the table; which methods could not apply; and the page.
type CompareAnswer<'py> = (String, Vec<Bound<'py, PyDict>>, [Vec<String>; 2], Vec<String>, Page);

/// Fits every method and measures it. Without `methods` all that what was given allows.
#[pyfunction]
#[pyo3(signature = (
    probs_cal, y_cal, probs_target, probs_test, y_test, side_cal, side_target, side_test, methods, columns, classes, alpha, seed,
    logits, options
))]
#[allow(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    probs_cal: Matrix<'_>,
    y_cal: LabelArray<'_>,
    probs_target: Matrix<'_>,
    probs_test: Matrix<'_>,
    y_test: LabelArray<'_>,
    side_cal: &Bound<'py, PyDict>,
    side_target: &Bound<'py, PyDict>,
    side_test: &Bound<'py, PyDict>,
    methods: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    alpha: f64,
    seed: u64,
    logits: &str,
    options: &Bound<'py, PyDict>,
) -> PyResult<CompareAnswer<'py>> {
    let settings = Settings::new(alpha, seed, options)?;
    let side_cal = SideArrays::of(side_cal)?;
    let (side_target, side_test) = (SideArrays::of(side_target)?, SideArrays::of(side_test)?);
    let (methods, if_inapplicable) = chosen(methods, &side_cal.given())?;
    settings.options.require_an_owner_among(&methods).map_err(Failure::from)?;
    for (points, side) in [
        (PointSet::Calibration, &side_cal),
        (PointSet::Target, &side_target),
        (PointSet::Test, &side_test),
    ] {
        require_a_user_among(&methods, points, &side.given()).map_err(Failure::from)?;
    }
    let entrant = |method: &MethodName| settings.entrant(*method, side_cal.known_ratios());
    let entrants = methods.iter().map(entrant).collect::<Result<_, _>>()?;
    let job = CompareJob { entrants, if_inapplicable };
    let second_cal = side_cal.second(logits, seen("probs_cal", &probs_cal)?)?;
    let second_target = side_target.second(logits, seen("probs_target", &probs_target)?)?;
    let cal = Points::new(("probs_cal", PointSet::Calibration), &probs_cal, &side_cal, logits)?
        .with_second(&second_cal);
    let labels = y_cal.whole("y_cal")?;
    let target =
        Points::new(("probs_target", PointSet::Target), &probs_target, &side_target, logits)?
            .with_second(&second_target);
    let test = Points::new(("probs_test", PointSet::Test), &probs_test, &side_test, logits)?;
    // Against the classes of the calibration data, so that rows of another model are found first.
    let test_labels = test.labels("y_test", y_test.whole("y_test")?, cal.classes())?;
    let comparison = detached(py, |watcher| {
        let mut softmax = Vec::new();
        let labeled = cal.labeled(&mut softmax, "y_cal", labels)?;
        let mut target = target.source()?;
        let mut test = test.source()?.with_labels("y_test", &test_labels)?;
        Ok(evenkeel_jobs::compare(&job, &labeled, &mut target, &mut test, watcher)?)
    })?;
    let document = comparison.document(settings.alpha.get(), &spelled);
    let account = sentences::method_account(&comparison.compared);
    let said = [vec![sentences::compared(&document)], account.into_iter().collect()];
    let left_out = comparison.left_out.iter().map(|one| sentences::left_out(one, &spelled));
    let left_out = left_out.collect();
    let document = json(&document)?;
    let rows_of = |one: &Compared| match one.calibration.provenance().method {
        // Its scores are those of the test rows, and `order` points at them.
        MethodName::Oracle => test.count(),
        _ => cal.count(),
    };
    let names = ClassNames { columns, classes };
    let methods = comparison.compared.iter().map(|one| dict(py, one, rows_of(one), &names));
    let methods = methods.collect::<PyResult<_>>()?;
    let (alpha, labeled) = (settings.alpha, cal.count());
    let found = Found::Comparison { comparison, alpha, labeled };
    let page = Page::new(found, settings.seed.get(), names.classes);
    Ok((document, methods, said, left_out, page))
}

/// Each name once, and known; or all that what was given allows.
fn chosen(
    names: Option<Vec<String>>,
    given: &[SideInput],
) -> Result<(Vec<MethodName>, IfInapplicable), Failure> {
    let Some(names) = names else {
        let weighted = given.contains(&SideInput::Weights);
        let allowed = |method: &MethodName| method.needs().weights != Need::Required || weighted;
        let all = MethodName::ALL.into_iter().filter(allowed).collect();
        return Ok((all, IfInapplicable::LeaveOut));
    };
    let mut methods = Vec::new();
    for name in &names {
        let method: MethodName =
            name.parse().map_err(|error| Failure::Setting(format!("methods: {error}")))?;
        if methods.contains(&method) {
            return Err(Failure::Setting(format!(
                "methods names \"{name}\" twice; name each once"
            )));
        }
        methods.push(method);
    }
    Ok((methods, IfInapplicable::Fail))
}

/// What one method came to.
fn dict<'py>(
    py: Python<'py>,
    compared: &Compared,
    rows: usize,
    names: &ClassNames,
) -> PyResult<Bound<'py, PyDict>> {
    let Compared { calibration, order, evaluation, gap_curve, .. } = compared;
    let row = PyDict::new(py);
    row.set_item("alphas", vector(py, gap_curve.iter().map(|point| point.alpha.get()).collect()))?;
    row.set_item("coverages", vector(py, gap_curve.iter().map(|point| point.coverage).collect()))?;
    let document = EvaluateDocument::new(evaluation, names.classes.as_deref());
    row.set_item("evaluation", json(&document)?)?;
    let fitted = FittedCalibration::new(calibration.clone(), order.clone(), rows);
    row.set_item("calibration", Bound::new(py, fitted.named_by(names.clone())?)?)?;
    Ok(row)
}
