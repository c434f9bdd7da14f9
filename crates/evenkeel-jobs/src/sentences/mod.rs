//! Every sentence a user reads about a result: first the answer, then the number, then why.
//!
//! Two data sets have two names everywhere: the **calibration data** (labeled) and the **target data** (of the world the
//! model now works in). The coverage asked for is the **level**.

pub mod check;
pub mod evidence;
pub mod label;

use evenkeel::calibration::{Calibration, ThresholdsDifferBy};
use evenkeel::evaluation::Evaluation;
use evenkeel::level::Miscoverage;
use evenkeel::reading::Verdict;
use evenkeel::threshold::Threshold;

use crate::compare::{Compared, LeftOut};
use crate::documents::CompareDocument;
use crate::error::Spell;
use crate::predict::Predicted;

/// A share as a percentage with one digit.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A confidence as a percentage, with as many digits as it takes not to call it certain.
pub fn confidence(level: f64) -> String {
    let percentage = 100.0 * level;
    let digits = (1..=12).find(|digits| 100.0 - percentage >= 0.5 / 10f64.powi(*digits));
    format!("{percentage:.*} %", digits.map_or(12, |digits| digits as usize))
}

/// A threshold; none is infinite.
pub fn threshold(value: Option<f64>) -> String {
    value.map_or_else(|| "infinite".to_owned(), |value| format!("{value:.4}"))
}

/// Above this rate more sets miss their label than hold it, which is rarely what was meant.
const RARELY_MEANT: f64 = 0.5;

/// What to know about a rate so high that it was likely meant as the level.
pub fn low_level(alpha: f64) -> Option<String> {
    (alpha > RARELY_MEANT).then(|| {
        format!(
            "alpha = {alpha} lets {} of the sets miss their label, a level of {}; for a level of {} give alpha = {}",
            percent(alpha),
            percent(1.0 - alpha),
            percent(alpha),
            // Shortest digits that are near enough: 1 - 0.9 is 0.09999999999999998.
            ((1.0 - alpha) * 1e6).round() / 1e6
        )
    })
}

/// What a user should know about a calibration.
pub fn warnings_of(calibration: &Calibration) -> Vec<String> {
    let mut said = calibration.warnings();
    said.extend(boundless(calibration, &said));
    said.extend(low_level(calibration.provenance().alpha.get()));
    said
}

/// How a warning begins that no set leaves a label out.
const EVERY_LABEL: &str = "every set holds every label";

/// That no set leaves a label out, where the method's own warnings do not say so.
fn boundless(calibration: &Calibration, said: &[String]) -> Option<String> {
    let known = said.iter().any(|warning| warning.starts_with(EVERY_LABEL));
    (!known && calibration.threshold(None)? == Threshold::AllLabels).then(|| {
        let method = calibration.provenance().method.as_str();
        format!(
            "{EVERY_LABEL}: {method} asks for a level that no calibration score reaches, so the threshold is infinite; use another \
             method, more calibration points or a larger alpha"
        )
    })
}

/// The threshold of a calibration as a person would say it.
pub fn threshold_of(calibration: &Calibration, alpha: Option<Miscoverage>) -> String {
    match calibration.threshold(alpha) {
        Some(shared) => {
            let value = shared.get();
            format!("threshold {}", threshold(value.is_finite().then_some(value)))
        }
        None => match calibration.thresholds_differ_by() {
            ThresholdsDifferBy::Label => "a threshold for each label".to_owned(),
            _ => "a threshold for each point".to_owned(),
        },
    }
}

/// A class by its name, or by its label where it has none.
pub fn class_name(label: usize, class_names: Option<&[String]>) -> String {
    let name = class_names.and_then(|names| names.get(label));
    name.cloned().unwrap_or_else(|| format!("class {label}"))
}

/// What was done and why, for the methods that decide something themselves.
pub fn account(calibration: &Calibration) -> Option<String> {
    calibration.account()
}

/// What a calibration came to: its threshold, its bound where one was minimised, its account. The seconds of its fit are
/// known to those who were there; a stored calibration has none.
pub fn calibrated(calibration: &Calibration, seconds: Option<f64>) -> Vec<String> {
    let (provenance, learned) = (calibration.provenance(), calibration.learned());
    let mut said = vec![format!(
        "{} at alpha = {} by {} ({:.1} of {} points effective).",
        capitalised(&threshold_of(calibration, None)),
        provenance.alpha.get(),
        provenance.method.as_str(),
        calibration.effective_sample_size(),
        calibration.scores().len(),
    )];
    if let (Some(before), Some(after)) = (learned.bound_before, learned.bound_after) {
        let taken = seconds.map_or_else(String::new, |seconds| format!(" in {seconds:.3} s"));
        let how = match learned.steps {
            0 => "at its minimiser".to_owned(),
            steps => format!("after {steps} steps ({})", learned.stopped.name()),
        };
        said.push(format!(
            "Bound on the distance of coverage from the level: {before:.3} with equal weights, {after:.3} {how}{taken}.",
        ));
        if let (Some(before), Some(after)) =
            (learned.total_gap_bound_before, learned.total_gap_bound_after)
        {
            said.push(format!(
                "Bound on the total coverage gap: {before:.3} with equal weights, {after:.3} with these.",
            ));
        }
    }
    said.extend(account(calibration));
    said
}

/// What the sets came to.
pub fn predicted(predicted: &Predicted) -> String {
    let document = predicted.document();
    let level = percent(1.0 - document.alpha);
    let cut = match predicted.threshold {
        Some(_) => format!(" at threshold {} (level {level})", threshold(document.threshold)),
        None => match predicted.thresholds_differ_by {
            ThresholdsDifferBy::Label => {
                format!(", with a threshold for each label (level {level})")
            }
            _ => format!(", each with its own threshold (level {level})"),
        },
    };
    format!(
        "{} prediction sets{cut}: {:.2} labels on average, {} empty, {} with every label.",
        document.n, document.mean_size, document.empty, document.full,
    )
}

/// What an evaluation found, over all points.
pub fn evaluated(evaluation: &Evaluation) -> Vec<String> {
    let mut said = vec![format!(
        "Coverage {} on {} points (level {}); {:.2} labels on average (median {}), {} empty sets, {} with every label.",
        percent(evaluation.coverage),
        evaluation.n,
        percent(1.0 - evaluation.alpha.get()),
        evaluation.mean_size,
        evaluation.median_size,
        evaluation.empty,
        evaluation.full,
    )];
    if let Some(gap) = evaluation.total_coverage_gap {
        said.push(format!(
            "Total coverage gap {gap:.3}: average distance from the level over all alpha."
        ));
    }
    said
}

/// What to do after an evaluation.
pub fn evaluation_advice(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "Nothing to do: keep the threshold.",
        Verdict::Loss => "Calibrate anew, and give the labels of these rows to it.",
        _ => "Keep the threshold and watch: more labels would tell.",
    }
}

/// What a comparison is about.
pub fn compared(document: &CompareDocument) -> String {
    let mut said = vec![format!(
        "{} labeled test points, level {}.",
        document.n,
        percent(1.0 - document.alpha)
    )];
    said.extend(document.notes.iter().cloned());
    said.join(" ")
}

/// How the oracle of a comparison is measured; none without one.
pub fn of_oracle(compared: &[Compared]) -> Option<String> {
    let is_oracle = |one: &Compared| {
        one.calibration.provenance().method == evenkeel::method::MethodName::Oracle
    };
    compared.iter().any(is_oracle).then(|| {
        "oracle is calibrated on one half of them and measured on the other, both ways; its threshold is that of all.".to_owned()
    })
}

/// How one method of a comparison did.
pub fn method_outcome(compared: &Compared) -> String {
    format!(
        "{} covers {} with {:.2} labels on average (level {}).",
        compared.calibration.provenance().method.as_str(),
        percent(compared.evaluation.coverage),
        compared.evaluation.mean_size,
        percent(1.0 - compared.evaluation.alpha.get()),
    )
}

/// What the first method that decides something itself did and why; `auto` speaks for the plan it chose.
pub fn method_account(compared: &[Compared]) -> Option<String> {
    compared.iter().find_map(|one| {
        let method = one.calibration.provenance().method.as_str();
        account(&one.calibration).map(|account| format!("What {method} did and why: {account}"))
    })
}

/// Warnings of all methods of a comparison, each with its method.
pub fn method_warnings(compared: &[Compared]) -> Vec<String> {
    let of_one = |one: &Compared| {
        let method = one.calibration.provenance().method.as_str();
        one.calibration.warnings().into_iter().map(move |warning| format!("{method}: {warning}"))
    };
    compared.iter().flat_map(of_one).collect()
}

/// Why a method takes no part in a comparison.
pub fn left_out(left_out: &LeftOut, spell: Spell<'_>) -> String {
    format!("{} is left out: {}", left_out.method.as_str(), left_out.reason.spelled(spell))
}

/// The first letter in upper case.
fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
