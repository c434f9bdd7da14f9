//! The page of a check.

use evenkeel::check::SandwichBounds;
use evenkeel::level::Miscoverage;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::reading::{ReadingName, Verdict as Found};
use evenkeel_jobs::sentences::{self, class_name};
use evenkeel_jobs::{Checked, Recommended};

use super::{AboutRun, class_rows, ended};
use crate::content::{
    Advice, Answer, BoundRow, DataSet, DominanceRow, Estimate, ExampleRow, Grounds, MeanSize,
    Reading, ReadingRange, Repair, Report, ScoreLaws, ShiftOutcome, ShiftTest, Standing, StepCurve,
    ThresholdMark, Verdict,
};

/// The page of a check; `score` is the name of its score function.
///
/// # Errors
/// If the check is of no points, which none is.
pub fn check_page(
    checked: &Checked,
    score: &str,
    about: &AboutRun<'_>,
) -> evenkeel::Result<Report> {
    let found = &checked.report;
    let mut page =
        Report::new(Miscoverage::new(found.alpha)?, check_answer(checked, &about.commands));
    page.run.clone_from(&about.run);
    page.date.clone_from(&about.date);
    let rows = match &checked.measured {
        Some(measured) => format!("target rows, {} of them labeled", measured.k),
        None => "unlabeled target rows".to_owned(),
    };
    page.data = vec![
        DataSet::new(found.n as u64, "labeled calibration rows", &about.calibration),
        DataSet::new(found.m, rows, &about.rows),
    ];
    page.class_count = Some(found.classes);
    add_check(&mut page, checked, score, about.class_names)?;
    page.classes_under = Some("calibration data, sets in use".into());
    page.classes = class_rows(&checked.per_class, about.class_names);
    page.provenance = about.provenance.clone();
    Ok(page)
}

/// A verdict as the page colours it.
pub fn page_verdict(verdict: Found) -> Verdict {
    match verdict {
        Found::Ok => Verdict::Ok,
        Found::Loss => Verdict::Loss,
        Found::Unknown => Verdict::Unknown,
        _ => Verdict::Watch,
    }
}

/// Verdict, tiles and grounds of a check; `commands` are what to type next.
pub fn check_answer(checked: &Checked, commands: &[String]) -> Answer {
    let mut answer =
        Answer::new(page_verdict(checked.verdict), sentences::check::headline(checked));
    answer.now = Some(coverage_now(checked));
    // What keeps its coverage needs no repair, whatever a method would make of it.
    let shown = checked.recommended.as_ref().filter(|_| checked.verdict != Found::Ok);
    let labels = checked.measured.map_or(0, |measured| measured.k);
    answer.repair = shown.map(|found| repair(found, checked.level(), labels));
    let sentence = sentences::check::advice(checked);
    answer.advice = Some(Advice { sentence, commands: commands.to_vec() });
    let standing = match checked.decisive() {
        Some(measured) => Standing::Measured { labels: measured.k },
        None => Standing::Assumed,
    };
    let rests_on = Some(sentences::check::rests_on(checked));
    let since = Some(sentences::check::since(&checked.report));
    answer.grounds = Some(Grounds { standing, rests_on, since });
    answer
}

fn coverage_now(checked: &Checked) -> Estimate {
    let found = &checked.report.coverage_estimate;
    match checked.decisive() {
        Some(found) => Estimate::measured(found.value, [found.low, found.high], found.k),
        // Where the readings disagree a single number would be one of them, taken for the truth.
        None if checked.verdict == Found::Unknown => Estimate {
            value: None,
            range: Some([found.low, found.high]),
            standing: Standing::Assumed,
        },
        None => Estimate::assumed(found.value, [found.low, found.high]),
    }
}

fn repair(recommended: &Recommended, level: f64, labels: u64) -> Repair {
    let estimate = recommended.coverage_estimate;
    let estimate = estimate.map(|found| Estimate::assumed(found.value, [found.low, found.high]));
    // With labels the level is what is aimed at, give or take what to expect.
    let with_labels = recommended.expected_error.map(|error| {
        // Nine in ten, as in the ranges without labels.
        let range = [(level - 1.645 * error).max(0.0), (level + 1.645 * error).min(1.0)];
        Estimate { value: Some(level), range: Some(range), standing: Standing::Expected { labels } }
    });
    Repair {
        method: recommended.method.to_owned(),
        coverage: with_labels.or(estimate),
        size: MeanSize {
            before: Some(recommended.mean_size.before),
            after: Some(recommended.mean_size.after),
        },
    }
}

/// The bounds of one pair of laws: of the rows at hand, of the populations behind them, and with the DKW terms of the paper.
fn bound_rows(name: &str, bounds: &SandwichBounds) -> [BoundRow; 3] {
    let with = |what: &str, confidence: f64| {
        format!("{name}, {what}, confidence {}", sentences::confidence(confidence))
    };
    [
        BoundRow {
            label: name.to_owned(),
            exact: Some(bounds.exact),
            level: Some(bounds.level),
            weighted_cdf: Some(bounds.weighted_cdf),
            wasserstein: Some(bounds.wasserstein),
        },
        BoundRow {
            label: with("populations", bounds.population_confidence),
            exact: Some(bounds.exact_population),
            level: Some(bounds.level_population),
            ..BoundRow::default()
        },
        BoundRow {
            label: with("DKW terms", bounds.dkw_confidence),
            exact: Some(bounds.exact_dkw),
            level: Some(bounds.level_dkw),
            weighted_cdf: Some(bounds.weighted_cdf_dkw),
            wasserstein: Some(bounds.wasserstein_dkw),
        },
    ]
}

/// Adds what a check rests on: examples, readings, shift test, bounds, laws and warnings.
///
/// # Errors
/// If the check is of no points, which none is.
pub fn add_check(
    page: &mut Report,
    checked: &Checked,
    score: &str,
    names: Option<&[String]>,
) -> evenkeel::Result<()> {
    let Checked { report: found, laws, scores, .. } = checked;
    page.examples = checked.examples.iter().map(|example| example_row(example, names)).collect();
    let outcome = if found.shift.detected { ShiftOutcome::Found } else { ShiftOutcome::NotFound };
    page.shift = Some(ShiftTest { outcome, p_value: found.shift.p_value });
    page.readings = readings(checked);
    page.account.extend(sentences::evidence::with_labels(checked, names));
    page.account.extend([
        sentences::evidence::shift(found),
        sentences::evidence::RANGE_RECORD.to_owned(),
        sentences::evidence::guaranteed(found),
        sentences::evidence::belief(found),
        sentences::evidence::order(found),
    ]);
    if let Some(recommended) = &checked.recommended {
        page.account.extend(sentences::evidence::recommendation(recommended));
    }
    let pairs = [
        ("min-max (guaranteed)", &laws.min_max, &found.bounds.min_max),
        ("f-u (assumed)", &laws.f_u, &found.bounds.f_u),
    ];
    for (name, sandwich, bounds) in pairs {
        page.dominance.push(DominanceRow { pair: name.into(), order: sandwich.order() });
        page.bounds.extend(bound_rows(name, bounds));
    }
    let mut thresholds =
        vec![ThresholdMark { label: "in use".into(), threshold: checked.threshold() }];
    thresholds.extend(checked.recommended.as_ref().map(|recommended| ThresholdMark {
        label: recommended.method.to_owned(),
        threshold: recommended.at(),
    }));
    page.score_laws = Some(ScoreLaws {
        score: score.into(),
        calibration: StepCurve::from(&WeightedEmpirical::uniform(scores)?),
        reweighted: None,
        sandwiches: vec![(&laws.min_max).into(), (&laws.f_u).into()],
        test: None,
        thresholds,
    });
    page.warnings.extend(ended(sentences::check::warnings(checked)));
    page.warnings.extend(ended(checked.class_warning(names).into_iter().collect()));
    page.account.extend(ended(sentences::evidence::remarks(checked)));
    if let Some(recommended) = checked.repair() {
        let said = sentences::check::warnings(checked);
        // What a fit with labels warns of may be said of the labels already.
        let new = recommended.warnings.iter().filter(|warning| !said.contains(warning));
        page.warnings.extend(ended(new.cloned().collect()));
    }
    Ok(())
}

/// Every reading with its sampling error, the band, what is guaranteed, and what labels show.
fn readings(checked: &Checked) -> Vec<ReadingRange> {
    let found = &checked.report;
    let mut shown: Vec<ReadingRange> = Vec::new();
    for reading in &found.readings {
        let name = match reading.name {
            ReadingName::Calibrated => Reading::Calibrated,
            ReadingName::ClassShares => Reading::ClassShares,
            ReadingName::Matched => Reading::Matched,
            other => Reading::Other {
                name: other.as_str().to_owned(),
                explanation: sentences::evidence::assumption(other).to_owned(),
            },
        };
        let (value, error) = (reading.coverage, reading.sampling_error);
        let range = [(value - error).max(0.0), (value + error).min(1.0)];
        shown.push(ReadingRange::assumed(name, value, range));
    }
    let [low, high] = found.band;
    let band = [low.min(high), low.max(high)];
    shown.push(ReadingRange::range(Reading::Band, band, Standing::Assumed));
    let guaranteed = found.coverage_interval.guaranteed;
    shown.push(ReadingRange::range(Reading::Guaranteed, guaranteed, Standing::Guaranteed));
    if let Some(believed) = checked.with_labels.as_ref().map(|found| found.posterior) {
        let reading = Reading::Other {
            name: "with labels".to_owned(),
            explanation: sentences::evidence::POSTERIOR.to_owned(),
        };
        shown.push(ReadingRange::assumed(reading, believed.value, [believed.low, believed.high]));
    }
    if let Some(found) = &checked.measured {
        shown.push(ReadingRange::measured(found.value, [found.low, found.high], found.k));
    }
    shown
}

fn example_row(example: &evenkeel_jobs::ExampleRow, names: Option<&[String]>) -> ExampleRow {
    let named =
        |labels: &[usize]| labels.iter().map(|label| class_name(*label, names)).collect::<Vec<_>>();
    ExampleRow {
        row: example.row as u64,
        top: Some((class_name(example.predicted, names), example.confidence)),
        before: named(&example.before),
        after: example.after.as_deref().map(named),
        truth: None,
    }
}
