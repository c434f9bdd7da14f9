//! The page of a comparison: methods side by side on labeled rows.

use evenkeel::calibration::Calibration;
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::MethodName;
use evenkeel_jobs::{Compared, Comparison, Spell, sentences};

use super::{AboutRun, class_rows, ended};
use crate::content::{
    Answer, DataSet, Estimate, GapCurve, Grounds, MeanSize, MethodRow, MethodThreshold, Repair,
    Report, ScoreLaws, Standing, StepCurve, ThresholdMark, TraceCurve, WeightsOverScores,
};

/// The page of a comparison at a miscoverage rate on `labeled` calibration rows; `spell` says errors in the words of the
/// shell.
///
/// # Errors
/// If a method has no calibration points, which none has.
pub fn compare_page(
    comparison: &Comparison,
    (alpha, labeled): (Miscoverage, usize),
    spell: Spell<'_>,
    about: &AboutRun<'_>,
) -> evenkeel::Result<Report> {
    let Comparison { compared, left_out } = comparison;
    let mut report = Report::new(alpha, compare_answer(compared, alpha));
    report.title = "Which method keeps coverage?".into();
    report.run.clone_from(&about.run);
    report.date.clone_from(&about.date);
    let tested = compared.first().map_or(0, |first| first.evaluation.n);
    report.data = vec![
        DataSet::new(labeled as u64, "labeled calibration rows", &about.calibration),
        DataSet::new(tested, "labeled test rows", &about.rows),
    ];
    report.account.extend(compared.iter().map(sentences::method_outcome));
    add_comparison(&mut report, compared, about.class_names);
    report
        .warnings
        .extend(ended(left_out.iter().map(|one| sentences::left_out(one, spell)).collect()));
    if let Some(first) = compared.first() {
        let laws = report.score_laws.get_or_insert_with(ScoreLaws::default);
        laws.score = first.calibration.provenance().score.name().to_owned();
        laws.calibration =
            StepCurve::from(&WeightedEmpirical::uniform(first.calibration.scores())?);
        laws.test = Some(StepCurve::from(&first.label_law));
    }
    report.provenance = about.provenance.clone();
    Ok(report)
}

/// The method a user would take home: the one that chooses for them if it is there, else the last that needs no labels.
fn headline_method(compared: &[Compared]) -> Option<&Compared> {
    let name = |one: &&Compared| one.calibration.provenance().method;
    let chooses = compared.iter().find(|one| name(one) == MethodName::Auto);
    let label_free = || compared.iter().rev().find(|one| name(one) != MethodName::Oracle);
    chooses.or_else(label_free).or(compared.last())
}

/// What the method to take home does and which came closest, without a verdict: one batch crowns no method. The oracle,
/// which has the labels, does not compete.
fn compare_answer(compared: &[Compared], alpha: Miscoverage) -> Answer {
    let level = 1.0 - alpha.get();
    let name = |one: &Compared| one.calibration.provenance().method;
    let miss = |one: &&Compared| (one.evaluation.coverage - level).abs();
    let label_free = compared.iter().filter(|one| name(one) != MethodName::Oracle);
    let closest = label_free.min_by(|a, b| miss(a).total_cmp(&miss(b))).or(compared.first());
    let (Some(taken), Some(closest)) = (headline_method(compared), closest) else {
        return Answer::default();
    };
    let said = |one: &Compared| {
        let (coverage, size) =
            (sentences::percent(one.evaluation.coverage), one.evaluation.mean_size);
        format!("{coverage} with {size:.2} labels in a set")
    };
    let mut headline = format!("{} covers {}", name(taken).as_str(), said(taken));
    if name(taken) != name(closest) {
        let closest = format!("{}, {}", name(closest).as_str(), said(closest));
        headline.push_str(&format!(
            "; closest to {} on this batch: {closest}",
            sentences::percent(level)
        ));
    }
    let measured = |one: &Compared| Estimate {
        value: Some(one.evaluation.coverage),
        range: None,
        standing: Standing::Measured { labels: one.evaluation.n },
    };
    let mut answer = Answer::new(None, headline + ".");
    let uncorrected = compared.iter().find(|one| name(one) == MethodName::Uncorrected);
    answer.now = uncorrected.map(measured);
    answer.repair = Some(Repair {
        method: name(taken).as_str().into(),
        coverage: Some(measured(taken)),
        size: MeanSize {
            before: uncorrected.map(|one| one.evaluation.mean_size),
            after: Some(taken.evaluation.mean_size),
        },
    });
    answer.grounds = Some(Grounds::new(Standing::Measured { labels: taken.evaluation.n }));
    answer
}

/// Adds what was done and why, and the methods: table, gap curves, weights, traces, thresholds, classes and warnings.
pub fn add_comparison(report: &mut Report, compared: &[Compared], names: Option<&[String]>) {
    report.account.extend(sentences::method_account(compared));
    let mut laws = report.score_laws.take().unwrap_or_default();
    laws.thresholds.clear();
    for one in compared {
        let calibration = &one.calibration;
        let (method, learned) = (calibration.provenance().method, calibration.learned());
        let name = method.as_str().to_owned();
        report.methods.push(MethodRow {
            method: name.clone(),
            assumption: method.assumption().into(),
            threshold: calibration.threshold(None).map_or(MethodThreshold::PerPoint, Into::into),
            coverage: Some(one.evaluation.coverage),
            mean_size: Some(one.evaluation.mean_size),
            total_coverage_gap: one.evaluation.total_coverage_gap,
            effective_sample_size: Some(calibration.effective_sample_size()),
            seconds: Some(one.seconds),
        });
        let points = one.gap_curve.iter().map(|point| (point.alpha.get(), point.gap)).collect();
        if !one.gap_curve.is_empty() {
            report.gap_curves.push(GapCurve { method: name.clone(), points });
        }
        let mark = |threshold| ThresholdMark { label: name.clone(), threshold };
        laws.thresholds.extend(calibration.threshold(None).map(mark));
        if !learned.trace.points().is_empty() {
            laws.reweighted = Some(StepCurve::from(calibration.law()));
            report.traces.push(TraceCurve {
                method: name,
                points: learned.trace.points().to_vec(),
                stopped: learned.stopped.to_string(),
            });
            report.weights = Some(weights_of(calibration));
        }
    }
    if let Some(taken) = headline_method(compared) {
        let calibration = &taken.calibration;
        if calibration.effective_sample_size() < 0.999 * calibration.scores().len() as f64 {
            laws.reweighted = Some(StepCurve::from(calibration.law()));
            report.weights = Some(weights_of(calibration));
        }
        report.classes_under = Some(calibration.provenance().method.as_str().to_owned());
        report.classes = class_rows(&taken.evaluation.per_class, names);
    }
    report.score_laws = Some(laws);
    report.warnings.extend(ended(sentences::method_warnings(compared)));
}

fn weights_of(calibration: &Calibration) -> WeightsOverScores {
    WeightsOverScores {
        method: calibration.provenance().method.as_str().to_owned(),
        scores: calibration.scores().to_vec(),
        weights: calibration.weights().as_slice().to_vec(),
        effective_sample_size: calibration.effective_sample_size(),
    }
}
