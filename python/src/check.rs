//! Is there a shift, how much coverage is at risk.

use evenkeel::calibrator::MOST_CANDIDATES;
use evenkeel::check::{
    CheckSettings, Prediction, ShiftReport, TodayLaws, TodaySketch, check as check_laws,
    predictions,
};
use evenkeel::level::FailureProbability;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arrays::{LabelArray, Matrix, RowsWork, Table, ValueKind, vector};
use crate::door::enter;
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
    permutations: usize,
    seed: u64,
    logits: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<(String, Vec<String>, Vec<Curve<'py>>)> {
    let asked = Settings::new(alpha, seed, options)?;
    let delta = FailureProbability::new(delta).map_err(Failure::from)?;
    let settings = CheckSettings {
        permutations,
        bound_grid: asked.bound_grid()?,
        ..CheckSettings::new(asked.alpha, delta, asked.seed)
    };
    let score = asked.score()?;
    let kind = ValueKind::of(logits);
    let yesterday = probs_cal.table("probs_cal", kind)?;
    let labels = y_cal.labels("y_cal", &yesterday)?;
    let today = probs_target.table("probs_target", kind)?;
    let (report, laws) =
        enter(py, |_| report_and_laws(&score, &settings, &yesterday, &labels, &today))?;
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
    yesterday: &Table<'_>,
    labels: &Labels,
    today: &Table<'_>,
) -> Result<(ShiftReport, Laws), Failure> {
    let classes = yesterday.columns();
    let drawn = score.with_draws_for("calibration");
    let scores = yesterday.probabilities(LabelScores { score: &drawn, labels })?;
    today.require_classes(classes)?;
    let laws = today_laws(&score.with_draws_for("today"), &scores, settings, today)?;
    let predictions = yesterday.probabilities(Predictions)?;
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
fn today_laws(
    score: &Score,
    scores: &[f64],
    settings: &CheckSettings,
    today: &Table<'_>,
) -> Result<TodayLaws, Failure> {
    let (range, seed) = (score.range(today.columns()), settings.seed);
    if today.rows() * today.columns() <= MOST_CANDIDATES {
        return today.probabilities(Exact { score, seed });
    }
    let empty = TodaySketch::new(scores, range, settings.bound_grid, seed)?;
    let parts = today.shares(|first| Sketched { empty: &empty, first, score });
    let sketch = parts.try_reduce(|| empty.clone(), |all, part| Ok(all.merge(&part)?))?;
    Ok(sketch.laws()?)
}

struct Exact<'a> {
    score: &'a Score,
    seed: Seed,
}

impl RowsWork for Exact<'_> {
    type Output = TodayLaws;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<TodayLaws> {
        TodayLaws::of_probabilities(&Probabilities::from_rows(rows)?, self.score, self.seed)
    }
}

struct Sketched<'a> {
    empty: &'a TodaySketch,
    first: usize,
    score: &'a Score,
}

impl RowsWork for Sketched<'_> {
    type Output = TodaySketch;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<TodaySketch> {
        self.empty.clone().add_probabilities(self.first, rows, self.score)
    }
}

struct Predictions;

impl RowsWork for Predictions {
    type Output = Vec<Prediction>;

    fn run<T: Real>(self, rows: Rows<'_, T>) -> evenkeel::Result<Vec<Prediction>> {
        Ok(predictions(&Probabilities::from_rows(rows)?))
    }
}
