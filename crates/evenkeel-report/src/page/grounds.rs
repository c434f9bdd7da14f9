//! Since what, how sure, and what to know before trusting it.

use crate::content::{Report, ShiftOutcome, ShiftTest, Standing};
use crate::text::{grouped, p_value, prose, sentence};

pub(super) fn grounds(report: &Report) -> String {
    let grounds = report.answer.grounds.as_ref();
    let since = grounds.and_then(|grounds| grounds.since.clone());
    let since = since.or_else(|| report.shift.as_ref().map(shift_sentence));
    let sure = grounds.map(|grounds| {
        let words = grounds.rests_on.clone().unwrap_or_else(|| worth(grounds.standing));
        (standing_word(grounds.standing), words)
    });
    let mut facts = String::new();
    if let Some(since) = since {
        facts.push_str(&format!("<div><dt>Since what</dt><dd>{}</dd></div>\n", prose(&since)));
    }
    if let Some((word, words)) = sure {
        facts.push_str(&format!(
            "<div><dt>How sure</dt><dd><strong>{word}</strong> {}</dd></div>\n",
            prose(&words)
        ));
    }
    let warnings = warnings(report);
    if facts.is_empty() && warnings.is_empty() {
        return String::new();
    }
    let facts =
        if facts.is_empty() { facts } else { format!("<dl class=\"grounds\">\n{facts}</dl>\n") };
    format!("{facts}{warnings}")
}

/// What a shift test found, with its p-value.
pub(super) fn shift_sentence(shift: &ShiftTest) -> String {
    let p = p_value(shift.p_value);
    match shift.outcome {
        ShiftOutcome::Found => {
            format!("Since the calibration data, the model's outputs changed ({p}).")
        }
        ShiftOutcome::NotFound => format!(
            "No change was found: the model's outputs look like those on the calibration data ({p})."
        ),
    }
}

fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Assumed => "Assumed.",
        Standing::Guaranteed => "Guaranteed.",
        Standing::Expected { .. } => "Expected.",
        Standing::Measured { .. } => "Measured.",
    }
}

fn worth(standing: Standing) -> String {
    match standing {
        Standing::Assumed => {
            "No label of the target data was seen. The range holds if the truth lies among the readings under How we \
             know; only labels can show whether it does."
                .to_owned()
        }
        Standing::Guaranteed => "It holds whatever the labels of the target data are.".to_owned(),
        Standing::Expected { labels } => {
            format!("Expected from {} labeled rows and what the model's outputs can mean.", grouped(labels))
        }
        Standing::Measured { labels } => {
            format!("Counted on {} labeled rows of the target data.", grouped(labels))
        }
    }
}

fn warnings(report: &Report) -> String {
    if report.warnings.is_empty() {
        return String::new();
    }
    let items: String = report
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>\n", prose(&sentence(warning))))
        .collect();
    format!(
        "<section class=\"warnings\" aria-labelledby=\"warnings-heading\">\n\
         <h2 id=\"warnings-heading\">Before you trust this</h2>\n\
         <ul>\n{items}</ul>\n</section>\n"
    )
}
