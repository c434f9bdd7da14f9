//! Results -> the contents of a page.

use evenkeel::bound::coverage_interval;
use evenkeel::calibration::Calibration;
use evenkeel::check::ShiftReport;
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::{KnownRatios, Method, MethodName};
use evenkeel::sandwich::Sandwich;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use evenkeel_jobs::{CheckJob, Checked, Compared, Comparison, sentences};
use evenkeel_report::{
    Answer, BoundRow, ClassRow, CoverageRange, DominanceRow, GapCurve, Input, MethodRow,
    MethodThreshold, Provenance, Report, ScoreLaws, StepCurve, ThresholdMark, TraceCurve, Verdict,
    WeightsOverScores,
};

use crate::args::{CheckArgs, CompareArgs};
use crate::failure::{Failure, spelled};
use crate::files::shape_of;
use crate::table::percent;

/// The page of a check.
pub(crate) fn check_page(
    args: &CheckArgs,
    job: &CheckJob,
    checked: &Checked,
    names: Option<&[String]>,
) -> Result<Report, Failure> {
    let found = &checked.report;
    let alpha = Miscoverage::new(found.alpha)?;
    let mut report = Report::new("Is coverage at risk?", alpha, check_answer(found));
    report.subtitle = Some(format!(
        "{} labeled points of the calibration data, {} unlabeled ones of the target data, {} classes",
        found.n, found.m, found.classes
    ));
    add_check(&mut report, checked, job.score.name())?;
    report.classes_under = Some("uncorrected, calibration data".into());
    report.classes = class_rows(&checked.per_class, names);
    report.provenance = provenance(
        &[
            ("calibration probabilities", &args.labeled.cal_probs),
            ("calibration labels", &args.labeled.cal_labels),
            ("unlabeled probabilities of the target data", &args.unlabeled),
        ],
        [
            ("delta".into(), args.delta.to_string()),
            ("bound grid".into(), job.settings.bound_grid.to_string()),
            ("permutations".into(), job.settings.permutations.to_string()),
        ]
        .into_iter()
        .chain(in_words(&job.score.options()))
        .collect(),
        args.common.seed,
    );
    Ok(report)
}

/// A verdict, a headline and the three sentences of a check.
pub(crate) fn check_answer(found: &ShiftReport) -> Answer {
    let best = found.coverage_interval.assumed[1];
    // Alarm only where even the model's own belief misses the level; a shift alone is a caution.
    let (verdict, headline) = match (found.shift.detected, best < 1.0 - found.alpha) {
        (false, _) => (Verdict::Fine, "No shift was found"),
        (true, false) => (Verdict::Caution, "The data shifted; coverage may be lost"),
        (true, true) => (Verdict::Alarm, "The data shifted and coverage is lost"),
    };
    Answer {
        verdict,
        headline: headline.into(),
        sentences: sentences::check_answer(found).to_vec(),
    }
}

/// Adds what a check found: laws, intervals, bounds, order and warnings.
pub(crate) fn add_check(
    report: &mut Report,
    checked: &Checked,
    score: &str,
) -> Result<(), Failure> {
    let Checked { report: found, laws, scores, .. } = checked;
    let threshold = found.threshold.map_or(Threshold::AllLabels, Threshold::Finite);
    let delta = FailureProbability::new(found.delta)?;
    let pairs: [(&str, &Sandwich); 2] = [("min-max", &laws.min_max), ("f-u", &laws.f_u)];
    for (name, sandwich) in pairs {
        for (confidence, words) in [(None, "these points"), (Some(delta), "their law")] {
            report.coverage_ranges.push(CoverageRange {
                label: format!("{name}, {words}"),
                interval: coverage_interval(sandwich, threshold, confidence)?,
                measured: None,
            });
        }
        report.dominance.push(DominanceRow { pair: name.into(), order: sandwich.order() });
    }
    for (name, bounds) in [("min-max", &found.bounds.min_max), ("f-u", &found.bounds.f_u)] {
        report.bounds.push(BoundRow {
            label: format!("{name}, equal weights"),
            weighted_cdf: bounds.weighted_cdf,
            weighted_cdf_dkw: Some(bounds.weighted_cdf_dkw),
            wasserstein: bounds.wasserstein,
            wasserstein_dkw: Some(bounds.wasserstein_dkw),
        });
    }
    report.score_laws = Some(ScoreLaws {
        score: score.into(),
        calibration: StepCurve::from(&WeightedEmpirical::uniform(scores)?),
        reweighted: None,
        sandwiches: pairs.iter().map(|(_, sandwich)| (*sandwich).into()).collect(),
        test: None,
        thresholds: vec![ThresholdMark { label: "uncorrected".into(), threshold }],
    });
    let warnings = sentences::check_warnings(checked);
    report.warnings.extend(warnings.iter().map(|warning| format!("{warning}.")));
    Ok(())
}

/// The page of a comparison.
pub(crate) fn compare_page(
    args: &CompareArgs,
    comparison: &Comparison,
    labeled: usize,
    names: Option<&[String]>,
) -> Result<Report, Failure> {
    let Comparison { compared, left_out } = comparison;
    let alpha = Miscoverage::new(args.common.alpha)?;
    let mut report = Report::new("Methods side by side", alpha, compare_answer(compared, alpha));
    report.subtitle = Some(format!(
        "{labeled} labeled points of the calibration data, {} labeled test points of the target data",
        compared.first().map_or(0, |first| first.evaluation.n),
    ));
    add_comparison(&mut report, compared, names);
    let reasons = left_out.iter().map(|one| sentences::left_out(one, &spelled));
    report.warnings.extend(reasons.map(|reason| format!("{reason}.")));
    let score = Score::from_options(args.scoring.values()?, Seed::new(args.common.seed))?;
    if let Some(first) = compared.first() {
        let laws = report.score_laws.get_or_insert_with(ScoreLaws::default);
        laws.score = score.name().to_owned();
        laws.calibration =
            StepCurve::from(&WeightedEmpirical::uniform(first.calibration.scores())?);
        laws.test = Some(StepCurve::from(&first.label_law));
    }
    let mut inputs = vec![
        ("calibration probabilities", &args.labeled.cal_probs),
        ("calibration labels", &args.labeled.cal_labels),
        ("unlabeled probabilities of the target data", &args.unlabeled),
        ("test probabilities", &args.test_probs),
        ("test labels", &args.test_labels),
    ];
    let beside = [
        ("calibration features", &args.beside.cal_features),
        ("features of the target data", &args.beside.unlabeled_features),
        ("test features", &args.test_features),
        ("calibration ratios", &args.beside.cal_ratios),
        ("test ratios", &args.test_ratios),
        ("weights", &args.beside.weights_file),
    ];
    inputs.extend(beside.into_iter().filter_map(|(role, file)| Some((role, file.as_ref()?))));
    report.provenance =
        provenance(&inputs, settings_of_comparison(args, compared, &score)?, args.common.seed);
    Ok(report)
}

/// Every setting in effect: of the score, and of each method.
fn settings_of_comparison(
    args: &CompareArgs,
    compared: &[Compared],
    score: &Score,
) -> Result<Vec<(String, String)>, Failure> {
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let mut settings = vec![("methods".to_owned(), args.methods.clone())];
    settings.extend(in_words(&score.options()));
    for one in compared {
        let name = one.calibration.provenance().method;
        // It has no settings: it is split conformal on the test labels.
        if name == MethodName::Oracle {
            continue;
        }
        let method = Method::from_options(name, &args.settings.values()?.of_method(name), ratios)?;
        let own = in_words(&method.options());
        settings.extend(
            own.into_iter()
                .map(|(option, value)| (format!("{name}: {option}", name = name.as_str()), value)),
        );
    }
    Ok(settings)
}

/// Names of options as words of a page.
fn in_words(options: &[(&'static str, String)]) -> Vec<(String, String)> {
    options.iter().map(|(name, value)| (name.replace('-', " "), value.clone())).collect()
}

/// The method a user would take home: the one that chooses for them if it is there, else the last that needs no labels.
fn headline_method(compared: &[Compared]) -> Option<&Compared> {
    let name = |one: &&Compared| one.calibration.provenance().method;
    let chooses = compared.iter().find(|one| name(one) == MethodName::Auto);
    let label_free = || compared.iter().rev().find(|one| name(one) != MethodName::Oracle);
    chooses.or_else(label_free).or(compared.last())
}

/// Which method came closest, in words; the oracle, which has the labels, does not compete.
fn compare_answer(compared: &[Compared], alpha: Miscoverage) -> Answer {
    let level = 1.0 - alpha.get();
    let name = |one: &Compared| one.calibration.provenance().method;
    let miss = |one: &&Compared| (one.evaluation.coverage - level).abs();
    // The oracle would win every time, with labels that nobody has.
    let label_free = compared.iter().filter(|one| name(one) != MethodName::Oracle);
    let best = label_free.min_by(|a, b| miss(a).total_cmp(&miss(b))).or(compared.first());
    let shown = compared.iter().filter(|one| {
        compared.len() <= 3
            || matches!(name(one), MethodName::Auto | MethodName::Uncorrected)
            || best.is_some_and(|best| name(best) == name(one))
    });
    let sentences = shown.map(sentences::method_outcome).collect();
    let off = best.map_or(1.0, |best| miss(&best));
    let verdict = if off <= 0.02 {
        Verdict::Fine
    } else if off <= 0.05 {
        Verdict::Caution
    } else {
        Verdict::Alarm
    };
    let headline = best.map_or_else(String::new, |best| {
        format!("{} comes closest to {}", name(best).as_str(), percent(level))
    });
    Answer { verdict, headline, sentences }
}

/// Adds what was done and why, and the methods: table, gap curves, weights, traces, thresholds, classes and warnings.
pub(crate) fn add_comparison(report: &mut Report, compared: &[Compared], names: Option<&[String]>) {
    report.answer.sentences.extend(sentences::method_account(compared));
    let mut laws = report.score_laws.take().unwrap_or_default();
    // The uncorrected threshold of the check is among the methods again.
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
        // Equal weights say nothing; rounding leaves n_w just beside n.
        if calibration.effective_sample_size() < 0.999 * calibration.scores().len() as f64 {
            laws.reweighted = Some(StepCurve::from(calibration.law()));
            report.weights = Some(weights_of(calibration));
        }
        report.classes_under = Some(calibration.provenance().method.as_str().to_owned());
        report.classes = class_rows(&taken.evaluation.per_class, names);
    }
    report.score_laws = Some(laws);
    let warnings = sentences::method_warnings(compared);
    report.warnings.extend(warnings.into_iter().map(|warning| format!("{warning}.")));
}

/// Classes by name, or by label where they have none.
fn class_rows(classes: &[ClassCoverage], names: Option<&[String]>) -> Vec<ClassRow> {
    let row = |class: &ClassCoverage| ClassRow {
        name: names
            .and_then(|names| names.get(class.label))
            .cloned()
            .unwrap_or_else(|| class.label.to_string()),
        points: class.n as usize,
        coverage: Some(class.coverage),
        mean_size: None,
    };
    classes.iter().map(row).collect()
}

fn weights_of(calibration: &Calibration) -> WeightsOverScores {
    WeightsOverScores {
        method: calibration.provenance().method.as_str().to_owned(),
        scores: calibration.scores().to_vec(),
        weights: calibration.weights().as_slice().to_vec(),
        effective_sample_size: calibration.effective_sample_size(),
    }
}

/// What a colleague needs to repeat the run.
pub(crate) fn provenance(
    inputs: &[(&str, &String)],
    options: Vec<(String, String)>,
    seed: u64,
) -> Provenance {
    let input = |(role, path): &(&str, &String)| Input {
        role: (*role).to_owned(),
        path: (*path).clone(),
        shape: shape_of(path),
        // Reading every input once more for a checksum would double the time of a run.
        checksum: None,
    };
    Provenance {
        command: Some(std::env::args().collect::<Vec<String>>().join(" ")),
        inputs: inputs.iter().map(input).collect(),
        options,
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        seed: Some(seed),
    }
}
