//! Methods side by side on labeled test data: what `compare` and `demo` share.

use std::time::Instant;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::evaluation::{Evaluation, GapPoint, percent_rates};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::{KnownRatios, Method, MethodName, OptionValues};
use evenkeel::threshold::Threshold;
use serde::Serialize;

use crate::args::Reading;
use crate::commands::fit;
use crate::inputs::{BlockWork, LabeledFiles};
use crate::job::{Failure, Rates, calibrator};
use crate::progress::Verbosity;
use crate::streams::{PointFiles, each_block};
use crate::table::{Align, Table, percent, threshold};
use crate::tally::Tally;
use evenkeel::score::Score;

/// Files of a comparison, as typed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    pub target: PointFiles<'a>,
    pub test: PointFiles<'a>,
}

/// Methods to compare.
pub(crate) struct Methods {
    pub names: Vec<MethodName>,
    /// Whether one that cannot apply is left out instead of ending the comparison.
    pub left_out_if_inapplicable: bool,
}

/// What a comparison gives.
pub(crate) struct Comparison {
    pub compared: Vec<Compared>,
    /// Methods that could not apply, with the reasons.
    pub left_out: Vec<String>,
}

/// One method's outcome.
pub(crate) struct Compared {
    pub calibration: Calibration,
    pub evaluation: Evaluation,
    /// Scores of the test points at their labels, exact at every calibration score.
    pub label_law: WeightedEmpirical,
    pub gap_curve: Vec<GapPoint>,
    pub seconds: f64,
}

/// A row of the table, under the names of the JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub method: &'static str,
    /// None is infinite.
    pub threshold: Option<f64>,
    pub coverage: f64,
    pub mean_size: f64,
    pub total_coverage_gap: Option<f64>,
    pub effective_sample_size: f64,
    pub seconds: f64,
    pub assumption: &'static str,
    /// Whether every point or label has a threshold of its own.
    #[serde(skip)]
    pub own_thresholds: bool,
}

impl Compared {
    pub(crate) fn row(&self) -> Row {
        let method = self.calibration.provenance().method;
        Row {
            method: method.as_str(),
            threshold: match self.calibration.threshold(None) {
                Some(Threshold::Finite(score)) => Some(score),
                Some(Threshold::AllLabels) | None => None,
            },
            coverage: self.evaluation.coverage,
            mean_size: self.evaluation.mean_size,
            total_coverage_gap: self.evaluation.total_coverage_gap,
            effective_sample_size: self.calibration.effective_sample_size(),
            seconds: self.seconds,
            assumption: method.assumption(),
            own_thresholds: self.calibration.threshold(None).is_none(),
        }
    }
}

/// Calibrates every method and evaluates all of them in one pass over the test rows.
pub(crate) fn compare(
    methods: &Methods,
    labeled: &LabeledFiles,
    files: Files<'_>,
    settings: (&OptionValues, Score, Rates),
    reading: &Reading,
    verbosity: Verbosity,
) -> Result<Comparison, Failure> {
    let (options, score, rates) = settings;
    let known_ratios = KnownRatios::of(labeled.beside()?.ratios);
    let classes = labeled.classes();
    let mut fitted = Vec::new();
    let mut left_out = Vec::new();
    for method in &methods.names {
        let result = if *method == MethodName::Oracle {
            oracle(files.test, classes, (score, rates), reading, verbosity)
        } else {
            let own = options.of_method(*method);
            let calibrator = calibrator(*method, &own, known_ratios, score, rates)?;
            fit(&calibrator, labeled, files.target, reading, verbosity)
        };
        match result {
            Ok(fit) => fitted.push(fit),
            // Asked for by name, a method that cannot apply is an error; among all of them it is left out, with the reason.
            Err(failure) if methods.left_out_if_inapplicable && failure.is_about_data() => {
                left_out.push(format!("{} is left out: {failure}", method.as_str()));
            }
            Err(failure) => return Err(failure),
        }
    }
    let mut tallies: Vec<Option<Tally<'_>>> = Vec::new();
    for (calibration, _) in &fitted {
        tallies.push(Some(Tally::new(calibration, None)?));
    }
    let mut seconds = vec![0.0; fitted.len()];
    each_block(files.test, reading, classes, "testing", verbosity, |points| {
        for (tally, seconds) in tallies.iter_mut().zip(&mut seconds) {
            let started = Instant::now();
            *tally = tally.take().map(|tally| tally.add(points)).transpose()?;
            *seconds += started.elapsed().as_secs_f64();
        }
        Ok(())
    })?;
    let finished = tallies.iter().flatten().map(|tally| Ok((tally.finish()?, tally.label_law()?)));
    let finished: Vec<(Evaluation, WeightedEmpirical)> =
        finished.collect::<Result<_, Failure>>()?;
    drop(tallies);
    let rates = percent_rates();
    let outcomes = fitted.into_iter().zip(finished).zip(seconds);
    let compared = outcomes
        .map(|(((calibration, fitting), (evaluation, label_law)), testing)| {
            let curve = calibration.gap_curve(&label_law, &rates);
            Compared {
                gap_curve: curve,
                calibration,
                evaluation,
                label_law,
                seconds: fitting + testing,
            }
        })
        .collect();
    Ok(Comparison { compared, left_out })
}

/// Split conformal prediction on the test points' own labels, and its seconds: a pass of its own over them.
fn oracle(
    test: PointFiles<'_>,
    classes: usize,
    (score, rates): (Score, Rates),
    reading: &Reading,
    verbosity: Verbosity,
) -> Result<(Calibration, f64), Failure> {
    let started = Instant::now();
    let drawn = score.with_draws_for("test");
    let mut scores = Vec::new();
    let files = PointFiles { features: None, ratios: None, ..test };
    each_block(files, reading, classes, "testing", verbosity, |points| {
        scores.extend(points.block.label_scores(points.first_row, &drawn, points.labels)?);
        Ok(())
    })?;
    let method = Method::Uncorrected;
    let calibrator = ShiftCalibrator { method, score, alpha: rates.alpha, seed: rates.seed };
    Ok((calibrator.oracle(&scores, classes)?, started.elapsed().as_secs_f64()))
}

/// The table of a comparison.
pub(crate) fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("method", Align::Left),
        ("coverage", Align::Right),
        ("mean size", Align::Right),
        ("total gap", Align::Right),
        ("threshold", Align::Right),
        ("n_w", Align::Right),
        ("seconds", Align::Right),
        ("assumes", Align::Left),
    ]);
    for row in rows {
        table.push(vec![
            row.method.to_owned(),
            percent(row.coverage),
            format!("{:.2}", row.mean_size),
            row.total_coverage_gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.3}")),
            if row.own_thresholds { "each its own".to_owned() } else { threshold(row.threshold) },
            format!("{:.1}", row.effective_sample_size),
            format!("{:.3}", row.seconds),
            row.assumption.to_owned(),
        ]);
    }
    table
}
