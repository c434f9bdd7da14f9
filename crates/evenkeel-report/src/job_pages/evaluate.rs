//! The page of an evaluation on labeled rows.

use evenkeel::certify::{CoveredLabels, clopper_pearson};
use evenkeel::evaluation::Evaluation;
use evenkeel::level::FailureProbability;
use evenkeel::reading::Verdict;
use evenkeel_jobs::{CoverageMeasured, sentences};

use super::{AboutRun, class_rows, page_verdict};
use crate::content::{
    Advice, Answer, DataSet, Estimate, Grounds, Reading, ReadingRange, Report, Standing,
};

/// The page of an evaluation; the verdict is that of the labels.
///
/// # Errors
/// If the evaluation is of no rows, which none is.
pub fn evaluate_page(
    evaluation: &Evaluation,
    calibration_points: usize,
    about: &AboutRun<'_>,
) -> evenkeel::Result<Report> {
    let measured = measured(evaluation)?;
    let level = 1.0 - evaluation.alpha.get();
    let verdict = measured.verdict(level);
    let said = sentences::evaluated(evaluation);
    let headline = sentences::check::counted_headline(&measured, verdict, level);
    let mut answer = Answer::new(page_verdict(verdict), headline);
    answer.now =
        Some(Estimate::measured(measured.value, [measured.low, measured.high], measured.k));
    answer.advice = Some(Advice {
        sentence: sentences::evaluation_advice(verdict).to_owned(),
        // What keeps its coverage needs no new calibration.
        commands: if verdict == Verdict::Loss { about.commands.clone() } else { Vec::new() },
    });
    answer.grounds = Some(Grounds::new(Standing::Measured { labels: measured.k }));
    let mut page = Report::new(evaluation.alpha, answer);
    page.run.clone_from(&about.run);
    page.date.clone_from(&about.date);
    page.data = vec![
        DataSet::new(calibration_points as u64, "calibration rows", &about.calibration),
        DataSet::new(evaluation.n, "labeled rows", &about.rows),
    ];
    page.readings.push(ReadingRange {
        reading: Reading::Measured,
        coverage: Estimate::measured(measured.value, [measured.low, measured.high], measured.k),
    });
    page.account.extend(said);
    page.classes_under = Some("these rows, sets in use".into());
    page.classes = class_rows(&evaluation.per_class, about.class_names);
    page.provenance = about.provenance.clone();
    Ok(page)
}

/// The coverage counted, with its exact interval.
fn measured(evaluation: &Evaluation) -> evenkeel::Result<CoverageMeasured> {
    let covered = (evaluation.coverage * evaluation.n as f64).round() as u64;
    let counted = CoveredLabels::new(covered.min(evaluation.n), evaluation.n)?;
    let interval = clopper_pearson(counted, FailureProbability::FIVE_PERCENT);
    Ok(CoverageMeasured {
        k: evaluation.n,
        covered: counted.covered(),
        value: evaluation.coverage,
        low: interval.low,
        high: interval.high,
        confidence: interval.confidence,
        chosen_with_labels: false,
    })
}
