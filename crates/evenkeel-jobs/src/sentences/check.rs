//! What a check says: the verdict with its number, what to do, and what that rests on; the rest on request.

use evenkeel::certify::{HalfWidth, label_budget};
use evenkeel::check::{AssumedModel, ShiftReport};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::{FailureProbability, Level};
use evenkeel::reading::{ReadingName, Verdict};
use evenkeel::shift::RandomDrawTest;

use super::{class_name, percent, threshold};
use crate::check::{Checked, CoverageRange, FailedCondition, Recommended};

/// Points within which a few labels should tell coverage, in advice.
const USEFUL_HALF_WIDTH: f64 = 0.05;
/// Masses of the grid form further from 1 than this make it say little.
const MASS_TOLERANCE: f64 = 0.05;

/// What the coverage believed with labels takes for granted.
pub const POSTERIOR: &str = "If one of the label laws that the labels were weighed against is near the truth; the labels' own count is part of it.";

/// A share as a whole percentage, without its sign; levels such as 92.5 keep their digits.
pub fn points(share: f64) -> String {
    let percentage = 100.0 * share;
    let whole = percentage.round();
    if (percentage - whole).abs() < 0.05 {
        format!("{whole:.0}")
    } else {
        format!("{percentage:.1}")
    }
}

/// A share as a whole percentage.
pub fn about(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A p-value, or that it is as small as so many relabelings can tell.
pub fn p_value(found: f64, permutations: usize) -> String {
    let resolution = 1.0 / (permutations as f64 + 1.0);
    // The smallest p-value says that no relabeling came near, not how far the data are from all of them.
    if found <= resolution * (1.0 + 1e-9) && resolution <= 0.001 * (1.0 + 1e-9) {
        "p < 0.001".to_owned()
    } else {
        small_p(found)
    }
}

/// A bound on a share; above 1 it says nothing.
pub fn bound(value: f64) -> String {
    if value > 1.0 { "above 1: says nothing".to_owned() } else { format!("{value:.3}") }
}

/// The answer in three sentences: the verdict with its number, what to do, what it rests on. `command` is what to type in
/// the shell at hand where a new calibration is advised.
pub fn answer(checked: &Checked, command: &str) -> [String; 3] {
    let to_do = match command_is_advised(checked) {
        true => format!("{} {command}", advice(checked)),
        false => advice(checked),
    };
    [headline(checked), to_do, rests_on(checked)]
}

/// Whether the advice is to calibrate anew.
pub fn command_is_advised(checked: &Checked) -> bool {
    checked.verdict == Verdict::Loss && checked.recommended.is_some()
}

/// The verdict with its number.
pub fn headline(checked: &Checked) -> String {
    let asked = format!("asked for {} %", points(checked.level()));
    if checked.report.threshold.is_none() {
        return format!("Every set holds every label, so coverage is 100 %, {asked}.");
    }
    if let Some(measured) = &checked.measured {
        let counted = format!(
            "{} of {} labels lie in their sets, {} ({}-{} at {:.0} % confidence), {asked}",
            measured.covered,
            measured.k,
            about(measured.value),
            points_whole(measured.low),
            points_whole(measured.high),
            100.0 * measured.confidence,
        );
        return match checked.verdict {
            Verdict::Loss => format!("Coverage is lost: {counted}."),
            Verdict::Ok => format!("Coverage holds: {counted}."),
            _ => format!("Coverage may be a little low: {counted}."),
        };
    }
    let estimate = &checked.report.coverage_estimate;
    let range = format!("(range {}-{})", points_whole(estimate.low), points_whole(estimate.high));
    let value = about(estimate.value);
    match checked.verdict {
        Verdict::Ok => format!("Coverage holds: about {value} {range}, {asked}."),
        Verdict::Watch => format!("Coverage may be a little low: about {value} {range}, {asked}."),
        Verdict::Unknown => format!(
            "Coverage cannot be told without labels: anything from {} to {}, {asked}.",
            points_whole(estimate.low),
            about(estimate.high),
        ),
        _ => format!("Coverage is probably about {value} {range}, {asked}."),
    }
}

fn points_whole(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// What to do, in one sentence; where a new calibration is advised the command follows it.
pub fn advice(checked: &Checked) -> String {
    let more = || labels_wanted(checked.level());
    match (checked.verdict, &checked.recommended) {
        (Verdict::Loss, Some(recommended)) => {
            let expected = recommended.coverage_estimate.map_or_else(String::new, |estimate| {
                format!(
                    " for about {} ({}-{})",
                    about(estimate.value),
                    points_whole(estimate.low),
                    points_whole(estimate.high)
                )
            });
            let expected = match recommended.expected_error {
                Some(error) => format!(
                    " with these labels for {} % give or take {:.1} points,",
                    points(checked.level()),
                    100.0 * error
                ),
                None => expected,
            };
            format!(
                "Calibrate anew{expected} with {:.1} labels a set in place of {:.1}:",
                recommended.mean_size.after, recommended.mean_size.before,
            )
        }
        (Verdict::Loss, None) => format!("The shift test sees no cause. {}", more()),
        (Verdict::Unknown, _) => more(),
        (Verdict::Watch, _) => format!("Keep the threshold and watch. {}", more()),
        (Verdict::Ok, _) if checked.report.shift.detected => {
            "Nothing to do: the data shifted, but not in a way that costs coverage.".to_owned()
        }
        _ => "Nothing to do: keep the threshold.".to_owned(),
    }
}

/// How many labels tell coverage within five points.
fn labels_wanted(level: f64) -> String {
    let wanted = HalfWidth::new(USEFUL_HALF_WIDTH).ok().zip(Level::new(level).ok());
    let count =
        wanted.map(|(width, level)| label_budget(width, level, FailureProbability::FIVE_PERCENT));
    count.map_or_else(
        || "Label rows drawn at random to know.".to_owned(),
        |count| format!("Label {count} rows drawn at random to know coverage within 5 points."),
    )
}

/// Whether the model's outputs changed since the calibration data.
pub fn since(report: &ShiftReport) -> String {
    let p = p_value(report.shift.p_value, report.shift.permutations);
    match report.shift.detected {
        true => format!("Since the calibration data, the model's outputs changed ({p})."),
        false => {
            format!("No change of the model's outputs since the calibration data was found ({p}).")
        }
    }
}

/// What the verdict rests on.
pub fn rests_on(checked: &Checked) -> String {
    let report = &checked.report;
    match &checked.measured {
        Some(measured) => format!(
            "This rests on {} labels of rows drawn at random from {} target rows.",
            measured.k, report.m
        ),
        None => format!(
            "This is estimated from {} unlabeled rows and assumes that classes are about as frequent as in the calibration data; \
             a model that became confident and wrong is not found out.",
            report.m
        ),
    }
}

/// A condition that holds, with the number and the limit.
pub fn failed(condition: &FailedCondition) -> String {
    let FailedCondition { condition, limit, value } = condition;
    match *condition {
        "fail-on-shift" => format!("--{condition}: a shift was detected ({})", small_p(*value)),
        "fail-below-guaranteed" => format!(
            "--{condition} {limit}: the guaranteed coverage goes down to {}",
            percent(*value)
        ),
        "fail-below-worst-case" => {
            format!("--{condition} {limit}: coverage may be as low as {}", percent(*value))
        }
        _ => format!("--{condition} {limit}: coverage is about {}", percent(*value)),
    }
}

fn small_p(value: f64) -> String {
    if value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {value:.3}") }
}

/// What each reading says, with its assumption in words.
pub fn readings(report: &ShiftReport) -> Vec<(String, f64, f64, &'static str)> {
    report
        .readings
        .iter()
        .map(|reading| {
            let name = reading.name.as_str().to_owned();
            (name, reading.coverage, reading.sampling_error, assumption(reading.name))
        })
        .collect()
}

/// What a reading assumes.
pub fn assumption(reading: ReadingName) -> &'static str {
    match reading {
        ReadingName::Calibrated => {
            "the model's probabilities are as right as on the calibration data"
        }
        ReadingName::ClassShares => "classes are about as frequent as in the calibration data",
        ReadingName::Matched => "accuracy fell as the outputs suggest",
        ReadingName::BandLow => "accuracy fell more than the outputs suggest",
        ReadingName::BandHigh => "accuracy fell less than the outputs suggest",
        _ => "see the documentation",
    }
}

/// How far the assumed range can be trusted, measured elsewhere.
pub const RANGE_RECORD: &str = "The range is assumed, not proved. It held on 98 to 100 % of the image corruptions it was tried \
     on and on 78 to 100 % of natural shifts. It never holds where the outputs stay the same while the accuracy collapses.";

/// The shift test in words.
pub fn shift(report: &ShiftReport) -> String {
    let shift = &report.shift;
    format!(
        "{} ({}): the model's confidence differs by {:.3} (KS distance: the largest difference of two distributions) and its \
         predicted classes by {:.3} (total variation: the share that changed) between {} calibration rows and {} target rows.",
        if shift.detected { "Shift detected" } else { "No shift detected" },
        p_value(shift.p_value, shift.permutations),
        shift.confidence_distance,
        shift.class_distance,
        report.n,
        report.m,
    )
}

/// What is guaranteed at the threshold in question, in words.
pub fn guaranteed(report: &ShiftReport) -> String {
    let interval = &report.coverage_interval;
    let range = |[low, high]: [f64; 2]| format!("{} to {}", percent(low), percent(high));
    format!(
        "At the threshold {} coverage is {} whatever the labels are ({} with {:.0} % confidence), and {} if the truth lies \
         between labels drawn from the model{} and labels drawn at random.",
        threshold(report.threshold),
        range(interval.guaranteed),
        range(interval.with_confidence.guaranteed),
        100.0 * interval.with_confidence.level,
        range(interval.assumed),
        match report.assumed_model {
            AssumedModel::AtTemperature => " (softened until it fits the calibration labels)",
            _ => "",
        },
    )
}

/// Whether the model's belief agrees with the calibration labels, in words.
pub fn belief(report: &ShiftReport) -> String {
    let belief = &report.belief;
    let numbers = format!(
        "it expects {} in its sets, and {} are ({})",
        percent(belief.at_threshold),
        percent(belief.measured),
        small_p(belief.p_value)
    );
    match belief.holds {
        true => {
            format!("On the calibration data the model believes what the labels show: {numbers}.")
        }
        false => format!("On the calibration data the model is wrong about itself: {numbers}."),
    }
}

/// How labels moved what is believed about coverage, and what is believed now; empty without labels.
pub fn with_labels(checked: &Checked, class_names: Option<&[String]>) -> Vec<String> {
    let Some(found) = &checked.with_labels else { return Vec::new() };
    let range = |coverage: &CoverageRange| {
        let (low, high) = (points_whole(coverage.low), points_whole(coverage.high));
        format!("{} ({low}-{high})", about(coverage.value))
    };
    let k = checked.measured.map_or(0, |measured| measured.k);
    let mut said = vec![
        format!(
            "Coverage as estimated without labels: {}. As the {k} labels count it: {}. As believed from both: {}.",
            range(&found.prior),
            range(&found.measured),
            range(&found.posterior),
        ),
        format!(
            "The labels {} what was estimated without them: of the trust in it, {} before, {} is left.",
            match (found.contradicted, found.trust < found.prior_trust) {
                (true, _) => "contradict",
                (false, true) => "speak against",
                (false, false) => "speak for",
            },
            about(found.prior_trust),
            about(found.trust),
        ),
    ];
    let temperature = format!(
        "The model's probabilities are read at temperature {:.2} on the target data; {:.2} fits the calibration data",
        found.temperature.target, found.temperature.calibration,
    );
    let moved = found.moved_most().map(|class| {
        let name = match class.labels.as_slice() {
            [label] => class_name(*label, class_names),
            [first, ..] => format!(
                "the group of {} and {} other classes",
                class_name(*first, class_names),
                class.labels.len() - 1
            ),
            [] => "a group without classes".to_owned(),
        };
        format!(
            ". Of all shares that of {name} moved most, from {} to {}",
            percent(class.share.calibration),
            percent(class.share.target)
        )
    });
    said.push(format!("{temperature}{}.", moved.unwrap_or_default()));
    said.extend(found.random_draw.as_ref().filter(|draw| draw.warning().is_none()).map(|draw| {
        format!("The labeled rows look like a random draw ({}).", small_p(draw.p_value))
    }));
    said
}

/// Whether what a check says under its assumption can hold.
pub fn order(report: &ShiftReport) -> String {
    let dominance = &report.dominance.f_u;
    match dominance.at {
        None => "The two assumed score distributions are ordered, as they must be. Whether they bracket the true one cannot be \
                 verified without labels."
            .into(),
        Some(at) => format!(
            "The two assumed score distributions cross by {:.4} at score {at:.4}, so what is said under the assumption does not \
             hold.",
            dominance.largest_violation
        ),
    }
}

/// The classes that the threshold in question covers least and most among the calibration data; none with fewer than two.
pub fn classes(checked: &Checked, class_names: Option<&[String]>) -> Option<String> {
    let by_coverage = |a: &&ClassCoverage, b: &&ClassCoverage| a.coverage.total_cmp(&b.coverage);
    let least = checked.per_class.iter().min_by(by_coverage)?;
    // Reversed, because `max_by` takes the last of equals: ties go to the smaller label, as in `min_by`.
    let most = checked.per_class.iter().rev().max_by(by_coverage)?;
    let said = |class: &ClassCoverage| {
        let name = class_name(class.label, class_names);
        format!("{} for {name} ({} points)", percent(class.coverage), class.n)
    };
    (least.label != most.label).then(|| {
        format!(
            "In the calibration data, the threshold covers {}, the least of all classes, and {}, the most.",
            said(least),
            said(most)
        )
    })
}

/// What a user should know about a check.
pub fn warnings(checked: &Checked) -> Vec<String> {
    let Checked { report, laws, scores, .. } = checked;
    let mut said = Vec::new();
    let draw = checked.with_labels.as_ref().and_then(|found| found.random_draw.as_ref());
    said.extend(draw.and_then(RandomDrawTest::warning).map(|warning| warning.to_string()));
    if report.threshold.is_none() {
        said.push(format!(
            "every set holds every label: {} calibration points are too few for alpha = {}",
            report.n, report.alpha
        ));
    }
    if !report.dominance.f_u.holds {
        said.push(format!(
            "the two assumed score distributions cross by {:.3}: what is said under the assumption does not hold",
            report.dominance.f_u.largest_violation
        ));
    }
    let mass = report.bounds.min_max.mass;
    if (mass - 1.0).abs() > MASS_TOLERANCE {
        said.push(format!(
            "the paper's grid form of the bounds says little here: it integrates against a mass of {mass:.2} in place of 1, as \
             with tied scores; the exact bounds hold"
        ));
    }
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The law of the smaller scores: if even it lies beyond them, no weights on these points can help.
    let beyond = 1.0 - laws.f_u.lower().cdf(largest);
    if beyond > report.alpha {
        said.push(format!(
            "no reweighting can reach the level: even if the model's probabilities are right, {} of the target points score \
             above every calibration score",
            percent(beyond)
        ));
    }
    // Silence is no evidence: a test on a few points finds only the largest shifts.
    if !report.shift.detected && report.shift.confidence_distance < 0.05 && report.m < 100 {
        said.push(format!("a shift could go unseen: {} target points are few", report.m));
    }
    let kept = laws.predictions.len() as u64;
    if kept < report.m {
        said.push(format!(
            "the shift test used a random sample of {kept} of {} target points ({} permutations)",
            report.m, report.shift.permutations
        ));
    }
    said
}

/// What is recommended once a shift was found, and what it is worth.
pub fn recommendation(recommended: &Recommended) -> Vec<String> {
    let cut = threshold(recommended.threshold);
    let with_labels = recommended.expected_error.is_some();
    let mut said = vec![match &recommended.certificate {
        _ if with_labels => {
            format!("Recommended: auto with these labels, which moves the threshold to {cut}.")
        }
        // A certificate is made by the plan alone, so that it tells whether the threshold was moved.
        Some(_) => format!("Recommended: auto, which moves the threshold to {cut}."),
        None => format!("Recommended: auto, which keeps the threshold at {cut}."),
    }];
    said.extend(recommended.certificate.as_ref().map(ToString::to_string));
    said.extend(recommended.warnings.iter().map(|warning| format!("Beware: {warning}.")));
    said
}
