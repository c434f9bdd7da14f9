//! Every sentence a user reads about a result: first the answer, then the number, then why.
//!
//! Two data sets have two names everywhere: the **calibration data** (labeled) and the **target data** (of the world the
//! model now works in). The coverage asked for is the **level**.

use evenkeel::calibration::{Calibration, ThresholdsDifferBy};
use evenkeel::check::ShiftReport;
use evenkeel::evaluation::{ClassCoverage, Evaluation};
use evenkeel::level::Miscoverage;

use crate::check::{Checked, Recommended};
use crate::compare::{Compared, LeftOut};
use crate::documents::CompareDocument;
use crate::error::Spell;
use crate::predict::Predicted;

/// A share as a percentage with one digit.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A threshold; none is infinite.
pub fn threshold(value: Option<f64>) -> String {
    value.map_or_else(|| "infinite".to_owned(), |value| format!("{value:.4}"))
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

/// The answer of a check: shift or not, what coverage to expect, what to do.
pub fn check_answer(report: &ShiftReport) -> [String; 3] {
    let shift = &report.shift;
    let interval = &report.coverage_interval;
    let range = |[low, high]: [f64; 2]| format!("{} to {}", percent(low), percent(high));
    [
        format!(
            "{} (p = {:.3}): the model's confidence differs by {:.3} (KS distance) and its predicted classes by {:.3} (total \
             variation) between {} calibration points and {} target points.",
            if shift.detected { "Shift detected" } else { "No shift detected" },
            shift.p_value,
            shift.confidence_distance,
            shift.class_distance,
            report.n,
            report.m,
        ),
        format!(
            "Expected coverage at the uncorrected threshold {} (level {}): {} if the truth lies between labels drawn from the \
             model and labels drawn at random; {} whatever the labels are ({} with {:.0} % confidence).",
            threshold(report.threshold),
            percent(1.0 - report.alpha),
            range(interval.assumed),
            range(interval.guaranteed),
            range(interval.with_confidence.guaranteed),
            100.0 * interval.with_confidence.level,
        ),
        advice(report),
    ]
}

/// What to do, in one sentence.
pub fn advice(report: &ShiftReport) -> String {
    const RECALIBRATE: &str = "Recalibrate on the unlabeled target data with `auto`, and label a few hundred points to be sure";
    let [low, high] = report.coverage_interval.assumed;
    let level = 1.0 - report.alpha;
    let p = report.shift.p_value;
    if !report.shift.detected {
        return format!(
            "Keep the uncorrected threshold: no shift was found (p = {p:.3}), and its {:.0} % guarantee holds as long as nothing \
             changed.",
            100.0 * level
        );
    }
    let moved = format!("the model's predictions moved (p = {p:.3})");
    // A shift that cannot cost coverage is worth watching and not worth a new threshold.
    if low >= level {
        return format!(
            "Keep the threshold and watch: {moved}, but {:.0} % coverage holds even if the model knows nothing.",
            100.0 * level
        );
    }
    if high < level {
        return format!(
            "{RECALIBRATE}: {moved}, and even if the model's probabilities are right, coverage is only {}.",
            percent(high)
        );
    }
    format!(
        "{RECALIBRATE}: {moved}, and coverage lies between {} (the model knows nothing) and {} (its probabilities are right).",
        percent(low),
        percent(high)
    )
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

/// The classes that the uncorrected threshold covers least and most among the calibration data; none with fewer than two.
pub fn classes(checked: &Checked, class_names: Option<&[String]>) -> Option<String> {
    let by_coverage = |a: &&ClassCoverage, b: &&ClassCoverage| a.coverage.total_cmp(&b.coverage);
    let least = checked.per_class.iter().min_by(by_coverage)?;
    // Reversed, because `max_by` takes the last of equals: ties go to the smaller label, as in
    // `min_by`.
    let most = checked.per_class.iter().rev().max_by(by_coverage)?;
    let said = |class: &ClassCoverage| {
        let name = class_name(class.label, class_names);
        format!("{} for {name} ({} points)", percent(class.coverage), class.n)
    };
    (least.label != most.label).then(|| {
        format!(
            "In the calibration data, the uncorrected threshold covers {}, the least of all classes, and {}, the most.",
            said(least),
            said(most)
        )
    })
}

/// A class by its name, or by its label where it has none.
pub fn class_name(label: usize, class_names: Option<&[String]>) -> String {
    let name = class_names.and_then(|names| names.get(label));
    name.cloned().unwrap_or_else(|| format!("class {label}"))
}

/// What a user should know about a check.
pub fn check_warnings(checked: &Checked) -> Vec<String> {
    let Checked { report, laws, scores, .. } = checked;
    let mut said = Vec::new();
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
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The law of the smaller scores: if even it lies beyond them, no weights on these points can
    // help.
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

/// What is recommended once a shift was found, what it is worth, and how to do it: `command` is what to type in the shell
/// at hand.
pub fn recommendation(recommended: &Recommended, command: &str) -> Vec<String> {
    let cut = threshold(recommended.threshold);
    let mut said = vec![match &recommended.certificate {
        // A certificate is made by the plan alone, so that it tells whether the threshold was
        // moved.
        Some(_) => format!("Recommended: auto, which moves the threshold to {cut}."),
        None => format!("Recommended: auto, which keeps the threshold at {cut}."),
    }];
    said.extend(recommended.certificate.as_ref().map(ToString::to_string));
    said.push(format!("To do so: {command}"));
    said.extend(recommended.warnings.iter().map(|warning| format!("Beware: {warning}.")));
    said
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
        said.push(format!(
            "Bound on the total coverage gap: {before:.3} before, {after:.3} after {} steps ({}){taken}.",
            learned.steps,
            learned.stopped.name(),
        ));
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

/// What a comparison is about.
pub fn compared(document: &CompareDocument) -> String {
    format!("{} labeled test points, level {}.", document.n, percent(1.0 - document.alpha))
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
