//! How we know: readings, bounds, laws, weights, methods and what is needed to repeat the run, folded away.

use super::{
    cards, evidence_tables, figure_card, fold, grounds, method_table, provenance, subsection,
};
use crate::content::{Report, Standing};
use crate::figures::{Figure, Place};
use crate::text::{prose, sentence};

/// Heading of the methods' part.
pub(super) const METHODS: &str = "Methods side by side";

pub(super) fn how_we_know(report: &Report, figures: &[(Place, Figure)]) -> String {
    let parts = [
        account(report),
        readings(report, figures),
        subsection("bounds", "Bounds", &evidence_tables::both(report)),
        subsection("laws", "Scores and weights", &cards(&placed(figures, Place::Laws))),
        // A comparison shows its methods unfolded, above.
        match report.answer.verdict {
            Some(_) => subsection("methods", METHODS, &methods(report, figures)),
            None => String::new(),
        },
        provenance::provenance(report),
    ];
    let body = parts.concat();
    let summary = "<h2>How we know</h2> <span class=\"hint\">readings, bounds, methods, and how to repeat this</span>";
    format!("<div class=\"know\" id=\"how-we-know\">\n{}</div>\n", fold("how", summary, &body))
}

/// The methods side by side: table and figures.
pub(super) fn methods(report: &Report, figures: &[(Place, Figure)]) -> String {
    format!("{}{}", method_table::method_table(report), cards(&placed(figures, Place::Comparison)))
}

fn placed(figures: &[(Place, Figure)], place: Place) -> Vec<&Figure> {
    figures.iter().filter(|(at, _)| *at == place).map(|(_, figure)| figure).collect()
}

/// What was done and why, and what the shift test found.
fn account(report: &Report) -> String {
    // Said above already, unless the answer has words of its own there.
    let own = report.answer.grounds.as_ref().is_some_and(|grounds| grounds.since.is_some());
    // A check's account has the test in more words.
    let shift = report.shift.as_ref().filter(|_| own && report.account.is_empty());
    let shift = shift.map(grounds::shift_sentence);
    let paragraphs: String = shift
        .iter()
        .chain(&report.account)
        .map(|text| format!("<p>{}</p>\n", prose(&sentence(text))))
        .collect();
    subsection("account", "What was done", &paragraphs)
}

/// The figure, and a sentence on each reading beside it.
fn readings(report: &Report, figures: &[(Place, Figure)]) -> String {
    let figure: String =
        placed(figures, Place::Readings).iter().map(|figure| figure_card(figure, "h4")).collect();
    if figure.is_empty() {
        return figure;
    }
    let meanings: String = report
        .readings
        .iter()
        .map(|row| {
            let (name, meaning) = (row.reading.name(), row.reading.explanation());
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", prose(name), prose(&sentence(meaning)))
        })
        .collect();
    let assumed = report.readings.iter().any(|row| row.coverage.standing == Standing::Assumed);
    let intro = match assumed {
        true => {
            "<p>Without labels the same outputs have several explanations, and no test can tell them apart. \
             A <dfn>reading</dfn> is one of them; each gives a coverage.</p>\n"
        }
        false => "",
    };
    let body = format!(
        "{intro}\
         <div class=\"readings\">\n{figure}<dl class=\"meanings\">\n{meanings}</dl>\n</div>\n"
    );
    subsection("readings", "Readings", &body)
}
