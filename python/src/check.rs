//! Is there a shift, how much coverage is at risk.

use evenkeel::calibrator::MOST_CANDIDATES;
use evenkeel::check::{CheckSettings, ShiftReport, TargetLaws, TargetSketch, check as check_laws};
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::shift::{Prediction, predictions};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arrays::{LabelArray, Matrix, RowsWork, Table, ValueKind, vector};
use crate::detached::enter;
use crate::errors::Failure;
use crate::fitting::LabelScores;
use crate::methods::Settings;

/// Atoms and CDF of a law on the line.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The report as JSON, its sentences, and the laws it speaks of: calibration, then lower and upper of min-max and of f-u.
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
) -> PyResult<(String, Vec<String>, Vec<Curve<'py>>)> {
    let asked = Settings::new(alpha, seed, options)?;
    let delta = FailureProbability::new(delta).map_err(Failure::from)?;
    asked.options.require_used_by_check().map_err(Failure::from)?;
    let default = CheckSettings::new(asked.alpha, delta, asked.seed);
    let settings = CheckSettings {
        permutations: permutations.unwrap_or(default.permutations),
        bound_grid: asked.bound_grid(),
        ..default
    };
    let score = asked.score()?;
    let kind = ValueKind::of(logits);
    let labeled = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &labeled)?;
    let target = probs_target.table("probs_target", kind)?;
    let (report, laws) =
        enter(py, |_| report_and_laws(&score, &settings, &labeled, &labels, &target))?;
    let document = serde_json::to_string(&report)
        .map_err(|error| Failure::Data(format!("could not write JSON: {error}")))?;
    let mut sentences = report.sentences().to_vec();
    sentences.push(report.order_sentence());
    let curve = |(atoms, cdf)| (vector(py, atoms), vector(py, cdf));
    Ok((document, sentences, laws.into_iter().map(curve).collect()))
}

type Laws = Vec<(Vec<f64>, Vec<f64>)>;

fn report_and_laws(
    score: &Score,
    settings: &CheckSettings,
    labeled: &Table<'_>,
    labels: &Labels,
    target: &Table<'_>,
) -> Result<(ShiftReport, Laws), Failure> {
    let classes = labeled.columns();
    let drawn = score.with_draws_for("calibration");
    let scores = labeled.probabilities(LabelScores { score: &drawn, labels })?;
    target.require_classes(classes)?;
    let laws = target_laws(&score.with_draws_for("today"), &scores, settings, target)?;
    let predictions = labeled.probabilities(Predictions)?;
    let range = score.range(classes);
    let report = check_laws(&scores, &predictions, &laws, classes, range, settings)?;
    let calibration = WeightedEmpirical::uniform(&scores)?;
    let all = [
        &calibration,
        laws.min_max.lower(),
        laws.min_max.upper(),
        laws.f_u.lower(),
        laws.f_u.upper(),
    ];
    let curve = |law: &&WeightedEmpirical| {
        let atoms = law.atoms().to_vec();
        let cdf = atoms.iter().map(|atom| law.cdf(*atom)).collect();
        (atoms, cdf)
    };
    Ok((report, all.iter().map(curve).collect()))
}

/// Exact laws of a table small enough to keep, a sketch of a larger one, as on the command line.
fn target_laws(
    score: &Score,
    scores: &[f64],
    settings: &CheckSettings,
    target: &Table<'_>,
) -> Result<TargetLaws, Failure> {
    let (range, seed) = (score.range(target.columns()), settings.seed);
    if target.rows() * target.columns() <= MOST_CANDIDATES {
        return target.probabilities(Exact { score, seed });
    }
    let empty = TargetSketch::new(scores, range, settings.bound_grid, seed)?;
    let parts = target.shares(|first| Sketched { empty: &empty, first, score });
    let sketch = parts.try_reduce(|| empty.clone(), |all, part| Ok(all.merge(part)?))?;
    Ok(sketch.laws()?)
}

struct Exact<'a> {
    score: &'a Score,
    seed: Seed,
}

impl RowsWork for Exact<'_> {
    type Output = TargetLaws;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<TargetLaws> {
        TargetLaws::of_probabilities(&Probabilities::from_rows(rows)?, self.score, self.seed)
    }
}

struct Sketched<'a> {
    empty: &'a TargetSketch,
    first: usize,
    score: &'a Score,
}

impl RowsWork for Sketched<'_> {
    type Output = TargetSketch;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<TargetSketch> {
        self.empty.clone().add_probabilities(RowKeys::From(self.first as u64), rows, self.score)
    }
}

struct Predictions;

impl RowsWork for Predictions {
    type Output = Vec<Prediction>;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Vec<Prediction>> {
        Ok(predictions(&Probabilities::from_rows(rows)?))
    }
}
