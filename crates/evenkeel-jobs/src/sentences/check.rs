//! What a check says: the verdict with its number, what to do, and what that rests on; the rest on request.

use std::sync::{Mutex, PoisonError};

use evenkeel::certify::{HalfWidth, label_budget};
use evenkeel::check::ShiftReport;
use evenkeel::level::{FailureProbability, Level};
use evenkeel::reading::{ReadingName, Verdict};
use evenkeel::shift::RandomDrawTest;

use super::{capitalised, percent};
use crate::check::{Checked, CoverageMeasured, FailedCondition, Recommended};

/// Points within which a few labels should tell coverage, in advice.
const USEFUL_HALF_WIDTH: f64 = 0.05;
/// About so many labels are worth their price, as docs/methods/few-labels.md measures.
const FEW: u32 = 50;
/// A range that reaches this far below the level says little.
const WIDE: f64 = 0.15;
/// A loss of less than this is none to be woken for.
const SMALL_LOSS: f64 = 0.02;

/// A share as a percentage, without its sign; levels such as 92.5 or 99.99 keep their digits.
pub fn points(share: f64) -> String {
    // Four digits are finer than any level means, and coarser than the rounding of `1 - alpha`.
    let rounded = (1e6 * share).round() / 1e4;
    // What is below one is not called one.
    if rounded >= 100.0 && share < 1.0 { "99.9999".to_owned() } else { format!("{rounded}") }
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

/// The answer in three sentences: the verdict with its number, what to do, what it rests on.
pub fn answer(checked: &Checked) -> [String; 3] {
    [headline(checked), advice(checked), rests_on(checked)]
}

/// What is to be done; each shell has a command of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Calibrate anew, as recommended.
    Calibrate,
    /// Label so many rows drawn at random.
    Label {
        /// How many.
        rows: u64,
    },
    /// Nothing.
    Nothing,
}

/// What is to be done, by the verdict.
pub fn next_step(checked: &Checked) -> NextStep {
    match (checked.repair(), checked.verdict) {
        (Some(_), _) => NextStep::Calibrate,
        (None, Verdict::Ok) => NextStep::Nothing,
        (None, _) => match labels_wanted(checked.level()) {
            // Of few rows all are labeled.
            Some(rows) => NextStep::Label { rows: rows.min(checked.report.m) },
            None => NextStep::Nothing,
        },
    }
}

/// The verdict with its number.
pub fn headline(checked: &Checked) -> String {
    let asked = format!("asked for {} %", points(checked.level()));
    if checked.report.threshold.is_none() {
        return format!("Every set holds every label, so coverage is 100 %, {asked}.");
    }
    if let Some(measured) = checked.decisive() {
        return counted_headline(measured, checked.verdict, checked.level());
    }
    let estimate = &checked.report.coverage_estimate;
    let range = format!("(range {}-{})", points_whole(estimate.low), points_whole(estimate.high));
    let value = about(estimate.value);
    match checked.verdict {
        // No reading is sure of a loss, and that is all that can be said.
        Verdict::Ok if says_little(checked) => {
            format!("No loss of coverage is seen: about {value} {range}, {asked}.")
        }
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

/// The verdict of labels, with their count.
pub fn counted_headline(measured: &CoverageMeasured, verdict: Verdict, level: f64) -> String {
    let counted = format!(
        "{} of {} in their sets, {} ({}-{} at {} % confidence), asked for {} %",
        measured.covered,
        counted(measured.k, "label"),
        about(measured.value),
        points_whole(measured.low),
        points_whole(measured.high),
        points(measured.confidence),
        points(level),
    );
    match verdict {
        Verdict::Loss => format!("Coverage is lost: {counted}."),
        Verdict::Ok => format!("Coverage holds: {counted}."),
        _ => format!("Coverage may be a little low: {counted}."),
    }
}

/// Whether the range is so wide, or the estimate so low, that an absence of loss is no evidence of coverage.
fn says_little(checked: &Checked) -> bool {
    let estimate = &checked.report.coverage_estimate;
    estimate.low < checked.level() - WIDE || estimate.value < checked.level() - SMALL_LOSS
}

pub(super) fn points_whole(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// A number of things.
pub(super) fn counted(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// What to do, in one sentence.
pub fn advice(checked: &Checked) -> String {
    match (checked.verdict, checked.repair()) {
        (Verdict::Loss, Some(recommended)) => repair(checked, recommended),
        (Verdict::Loss, None) => {
            format!("No change of the outputs says what to repair: {}.", to_know(checked))
        }
        (Verdict::Unknown, _) => capitalised(&format!("{}.", to_know(checked))),
        (Verdict::Watch, _) => format!("Keep the threshold and watch, or {}.", to_know(checked)),
        _ if checked.decisive().is_none() && says_little(checked) => format!(
            "Nothing to do on this evidence, which is thin ({}).",
            counted(checked.report.m, "target row")
        ),
        (Verdict::Ok, _) if checked.decisive().is_some() => {
            "Nothing to do: the labels agree with the level.".to_owned()
        }
        (Verdict::Ok, _) if checked.report.shift.detected => {
            "Nothing to do: the outputs changed, and no way to read them says that coverage was lost.".to_owned()
        }
        _ => "Nothing to do: keep the threshold.".to_owned(),
    }
}

/// How to know more. Only where it is said: the search for the number of labels takes as long as a fifth of a small check.
fn to_know(checked: &Checked) -> String {
    labels_wanted(checked.level()).map_or_else(
        || "label rows drawn at random to know".to_owned(),
        |count| match count <= checked.report.m {
            true => format!("label {count} rows drawn at random to know coverage within 5 points"),
            false => format!("label all {} to know", counted(checked.report.m, "row")),
        },
    )
}

/// The repair, what to expect of it, and what labels would add.
fn repair(checked: &Checked, recommended: &Recommended) -> String {
    let sizes = format!(
        "{:.1} labels a set in place of {:.1}",
        recommended.mean_size.after, recommended.mean_size.before
    );
    if let Some(error) = recommended.expected_error {
        return format!(
            "Calibrate anew with these labels: {} % give or take {:.1} points, {sizes}.",
            points(checked.level()),
            100.0 * error
        );
    }
    let expected = recommended.coverage_estimate.map_or_else(String::new, |estimate| {
        let (low, high) = (points_whole(estimate.low), points_whole(estimate.high));
        format!(" about {} ({low}-{high}),", about(estimate.value))
    });
    format!("Calibrate anew:{expected} {sizes}. {FEW} labels would bring it within about 4 points.")
}

/// How many labels tell coverage within five points; none at a level that no number of labels tells.
fn labels_wanted(level: f64) -> Option<u64> {
    /// The level asked for last, and its answer: every check asks up to three times, and the next one of the same level again.
    static LAST: Mutex<Option<(f64, u64)>> = Mutex::new(None);
    let (width, wanted) = HalfWidth::new(USEFUL_HALF_WIDTH).ok().zip(Level::new(level).ok())?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rows)) = last.filter(|(known, _)| *known == level) {
        return Some(rows);
    }
    let rows = label_budget(width, wanted, FailureProbability::FIVE_PERCENT);
    *last = Some((level, rows));
    Some(rows)
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
    if let Some(measured) = checked.decisive() {
        let chosen = match measured.chosen_with_labels {
            true => "; the threshold was chosen with them, which the interval allows for",
            false => "",
        };
        return format!(
            "This rests on {} of {}, taken as drawn at random{chosen}.",
            counted(measured.k, "label"),
            counted(report.m, "target row"),
        );
    }
    let few = checked.measured.as_ref().map_or_else(String::new, |measured| {
        let why = match checked.labels_look_random() {
            true => "cannot decide",
            false => "do not decide: their rows do not look drawn at random",
        };
        let labels = capitalised(&counted(measured.k, "label"));
        format!(" {labels} ({} covered) {why}.", measured.covered)
    });
    let assuming = match report.coverage_estimate.reading {
        ReadingName::Calibrated => "assuming that the model's probabilities are still right",
        ReadingName::Matched => "assuming that accuracy fell as the outputs suggest",
        ReadingName::SecondOpinion => {
            "assuming that accuracy fell as the outputs of all models suggest"
        }
        ReadingName::Accuracy => "given the accuracy that was stated",
        ReadingName::Blend => {
            "between the class shares of the calibration data and the accuracy that the outputs suggest"
        }
        ReadingName::LabelShift => {
            "assuming that classes changed in frequency alone, which explains the outputs"
        }
        _ => "assuming the class shares of the calibration data",
    };
    // Whoever knows the accuracy has noticed.
    let unseen = match report.coverage_estimate.reading {
        ReadingName::Accuracy => "",
        _ => "; a model confident and wrong goes unnoticed",
    };
    format!("Estimated from {}, {assuming}{unseen}.{few}", counted(report.m, "unlabeled row"),)
}

/// A condition that holds, with the number and the limit.
pub fn failed(condition: &FailedCondition) -> String {
    let FailedCondition { condition, limit, value, measured } = condition;
    match *condition {
        "fail-on-shift" => format!("--{condition}: a shift was detected ({})", small_p(*value)),
        "fail-below-guaranteed" => format!(
            "--{condition} {limit}: the guaranteed coverage goes down to {}",
            percent(*value)
        ),
        "fail-below-worst-case" => {
            format!("--{condition} {limit}: coverage may be as low as {}", percent(*value))
        }
        _ if *measured => format!("--{condition} {limit}: coverage is at most {}", percent(*value)),
        _ => format!("--{condition} {limit}: coverage is about {}", percent(*value)),
    }
}

/// A p-value; the smallest that 999 relabelings can give says that none came near, not how far the data are from all.
pub(super) fn small_p(value: f64) -> String {
    if value <= 0.001 * (1.0 + 1e-9) { "p < 0.001".to_owned() } else { format!("p = {value:.3}") }
}

/// What a user should know about a check.
pub fn warnings(checked: &Checked) -> Vec<String> {
    let Checked { report, laws, scores, .. } = checked;
    let mut said = Vec::new();
    let draw = checked.with_labels.as_ref().and_then(|found| found.random_draw.as_ref());
    said.extend(draw.and_then(RandomDrawTest::warning).map(|warning| warning.to_string()));
    if report.threshold.is_none() {
        said.push(format!(
            "every set holds every label: the threshold is infinite ({} calibration points, alpha = {})",
            report.n, report.alpha
        ));
    }
    if !report.dominance.f_u.holds {
        said.push(format!(
            "the two assumed score distributions cross by {:.3}: what is said under the assumption does not hold",
            report.dominance.f_u.largest_violation
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
    said.extend(super::low_level(report.alpha));
    // Silence is no evidence: a test on a few points finds only the largest shifts.
    if !report.shift.detected && report.m < 100 {
        let are = if report.m == 1 { "is" } else { "are" };
        let rows = counted(report.m, "target row");
        said.push(format!("a shift could go unseen: {rows} {are} few"));
    }
    said
}
