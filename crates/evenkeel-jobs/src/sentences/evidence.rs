//! What a check rests on, in words: readings, shift test, guarantees, what labels changed, what is recommended.

use evenkeel::check::{AssumedModel, ShiftReport};
use evenkeel::evaluation::ClassCoverage;
use evenkeel::reading::ReadingName;

use super::check::{about, p_value, points, points_whole, small_p};
use super::{class_name, percent, threshold};
use crate::check::{Checked, CoverageRange, Recommended};

/// A grid form further below the exact one than kernel and grid explain is none.
const FORM_TOLERANCE: f64 = 0.05;
/// Masses of the grid form further from 1 than this make it say little.
const MASS_TOLERANCE: f64 = 0.05;

/// What the coverage believed with labels takes for granted.
pub const POSTERIOR: &str = "If one of the label laws that the labels were weighed against is near the truth; the labels' own count is part of it.";

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
        ReadingName::LabelShift => "classes have other frequencies and look the same",
        ReadingName::SecondOpinion => "accuracy fell as the outputs of all models suggest",
        ReadingName::Accuracy => "accuracy is what was stated",
        ReadingName::Blend => "as likely class-shares as matched",
        ReadingName::Mean => "as likely calibrated as class-shares",
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
        "At the threshold {} coverage is {} whatever the labels are ({} with {} % confidence), and {} if the truth lies \
         between labels drawn from the model{} and labels drawn at random.",
        threshold(report.threshold),
        range(interval.guaranteed),
        range(interval.with_confidence.guaranteed),
        points(interval.with_confidence.level),
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

/// What a reader of the evidence should know: how it was made, and where a number of the paper says little.
pub fn remarks(checked: &Checked) -> Vec<String> {
    let Checked { report, laws, .. } = checked;
    let mut said = Vec::new();
    let bounds = &report.bounds.min_max;
    if (bounds.mass - 1.0).abs() > MASS_TOLERANCE {
        said.push(format!(
            "the paper's grid form of the bounds says little here: it integrates against a mass of {:.2} in place of 1, as with tied \
             scores; the exact bounds hold",
            bounds.mass
        ));
    } else if bounds.weighted_cdf < bounds.exact - FORM_TOLERANCE {
        said.push(format!(
            "the paper's grid form of the bounds ({:.3}) is below the exact one ({:.3}), as with tied scores: it is no bound here; \
             the exact one holds",
            bounds.weighted_cdf, bounds.exact
        ));
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
    said
}
