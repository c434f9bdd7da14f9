//! Results -> the contents of a page.

use evenkeel::bound::coverage_interval;
use evenkeel::calibration::Calibration;
use evenkeel::check::ShiftReport;
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::{KnownRatios, Method, MethodName};
use evenkeel::sandwich::{Order, Sandwich};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use evenkeel_jobs::{CheckJob, Checked, Compared, Comparison, sentences};
use evenkeel_report::{
    Advice, Answer, BoundRow, ClassRow, DataSet, DominanceRow, Estimate, GapCurve, Grounds, Input,
    MeanSize, MethodRow, MethodThreshold, Provenance, Reading, ReadingRange, Repair, Report,
    ScoreLaws, ShiftOutcome, ShiftTest, Standing, StepCurve, ThresholdMark, TraceCurve, Verdict,
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
    let mut report = Report::new(alpha, check_answer(found));
    report.data = check_data(found, &args.labeled.cal_probs, &args.unlabeled);
    report.class_count = Some(found.classes);
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

/// The data of a check by size and name.
pub(crate) fn check_data(found: &ShiftReport, calibration: &str, target: &str) -> Vec<DataSet> {
    vec![
        DataSet::new(found.n as u64, "labeled calibration rows", calibration),
        DataSet::new(found.m, "unlabeled target rows", target),
    ]
}

/// Below the level by less than this, coverage is to be watched and not lost.
const LITTLE: f64 = 0.02;

/// A verdict, a headline, the range of coverage and the advice of a check.
pub(crate) fn check_answer(found: &ShiftReport) -> Answer {
    let best = found.coverage_interval.assumed[1];
    let (verdict, headline) = match (found.shift.detected, best < 1.0 - found.alpha - LITTLE) {
        (false, _) => (Verdict::Ok, "No shift was found"),
        (true, false) => (Verdict::Watch, "The data shifted; coverage may be lost"),
        (true, true) => (Verdict::Loss, "The data shifted and coverage is lost"),
    };
    let mut answer = Answer::new(verdict, headline);
    answer.now = Some(Estimate {
        value: None,
        range: Some(found.coverage_interval.assumed),
        standing: Standing::Assumed,
    });
    answer.advice = Some(Advice { sentence: sentences::advice(found), commands: Vec::new() });
    answer.grounds = Some(Grounds::new(Standing::Assumed));
    answer
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
        let order = sandwich.order();
        let interval = coverage_interval(sandwich, threshold, Some(delta))?;
        let (reading, standing) = match order {
            Order::Guaranteed => (Reading::Guaranteed, Standing::Guaranteed),
            _ => (model_to_chance(), Standing::Assumed),
        };
        // Laws that cross enclose nothing: their range is no reading.
        if !matches!(order, Order::Violated { .. }) {
            let range = [interval.low, interval.high];
            report.readings.push(ReadingRange::range(reading, range, standing));
        }
        report.dominance.push(DominanceRow { pair: name.into(), order });
    }
    let outcome = if found.shift.detected { ShiftOutcome::Found } else { ShiftOutcome::NotFound };
    report.shift = Some(ShiftTest { outcome, p_value: found.shift.p_value });
    report.account.extend(sentences::check_answer(found));
    for (name, bounds) in [("min-max", &found.bounds.min_max), ("f-u", &found.bounds.f_u)] {
        report.bounds.push(BoundRow {
            label: format!("{name}, equal weights"),
            exact: None,
            weighted_cdf: Some(bounds.weighted_cdf),
            weighted_cdf_dkw: Some(bounds.weighted_cdf_dkw),
            wasserstein: Some(bounds.wasserstein),
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

/// The range from the model's own probabilities to labels drawn at random.
fn model_to_chance() -> Reading {
    Reading::Other {
        name: "model to chance".into(),
        explanation:
            "If the truth lies between labels drawn from the model and labels drawn at random."
                .into(),
    }
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
    let mut report = Report::new(alpha, compare_answer(compared, alpha));
    report.title = "Which method keeps coverage?".into();
    let tested = compared.first().map_or(0, |first| first.evaluation.n);
    report.data = vec![
        DataSet::new(labeled as u64, "labeled calibration rows", &args.labeled.cal_probs),
        DataSet::new(tested, "labeled test rows", &args.test_probs),
    ];
    report.account.extend(compared.iter().map(sentences::method_outcome));
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
        let (coverage, size) = (percent(one.evaluation.coverage), one.evaluation.mean_size);
        format!("{coverage} with {size:.2} labels in a set")
    };
    let mut headline = format!("{} covers {}", name(taken).as_str(), said(taken));
    if name(taken) != name(closest) {
        let closest = format!("{}, {}", name(closest).as_str(), said(closest));
        headline.push_str(&format!("; closest to {} on this batch: {closest}", percent(level)));
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
pub(crate) fn add_comparison(report: &mut Report, compared: &[Compared], names: Option<&[String]>) {
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
        ..ClassRow::default()
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
