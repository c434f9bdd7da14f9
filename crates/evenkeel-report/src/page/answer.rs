//! The verdict in one line, and three tiles: coverage now, with the repair, what to do.

use crate::content::{Advice, Estimate, MeanSize, Repair, Report, Standing, Verdict};
use crate::text::{decimal, escape, grouped, percent_about, percent_chosen, percent_span, prose};

/// The level as the meter draws it.
const KEY: &str = "<span class=\"key\" aria-hidden=\"true\"></span>";

/// Class of the page's colours.
pub(crate) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Watch => "watch",
        Verdict::Loss => "loss",
        Verdict::Unknown => "unknown",
    }
}

pub(super) fn answer(report: &Report) -> String {
    let (class, light) = match report.answer.verdict {
        None => ("neutral", String::new()),
        Some(verdict) => (tone(verdict), light(verdict)),
    };
    let headline = prose(&report.answer.headline);
    format!(
        "<div class=\"answer {class}\">\n<p class=\"verdict\">{light}<strong>{headline}</strong></p>\n</div>\n{}",
        tiles(report, class)
    )
}

/// A sign that differs without colour too.
pub(crate) fn light(verdict: Verdict) -> String {
    let (sign, word) = match verdict {
        Verdict::Ok => ("\u{2713}", "OK"),
        Verdict::Watch => ("!", "Watch"),
        Verdict::Loss => ("\u{2715}", "Loss"),
        Verdict::Unknown => ("?", "Unknown"),
    };
    format!("<span class=\"light\" role=\"img\" aria-label=\"{word}\">{sign}</span>")
}

fn tiles(report: &Report, class: &str) -> String {
    let answer = &report.answer;
    let repair = match (&answer.repair, answer.verdict) {
        (Some(repair), _) => Some(repair_tile(repair, report.level())),
        (None, Some(Verdict::Ok)) => Some(tile(
            "",
            "Repair",
            "<p class=\"figure\">none needed</p>\n<p class=\"under\">The sets in use stay as they are.</p>\n",
        )),
        (None, Some(_)) => Some(tile(
            "",
            "Repair",
            "<p class=\"figure\">none yet</p>\n<p class=\"under\">See what to do.</p>\n",
        )),
        (None, None) => None,
    };
    let tiles: Vec<String> = [
        answer.now.as_ref().map(|now| now_tile(now, report.level(), class)),
        repair,
        answer.advice.as_ref().map(advice_tile),
    ]
    .into_iter()
    .flatten()
    .collect();
    if tiles.is_empty() {
        return String::new();
    }
    format!("<div class=\"tiles\">\n{}</div>\n", tiles.concat())
}

/// A tile; `class` and `body` are HTML.
fn tile(class: &str, heading: &str, body: &str) -> String {
    format!("<section class=\"tile {class}\">\n<h2>{heading}</h2>\n{body}</section>\n")
}

fn now_tile(now: &Estimate, level: f64, class: &str) -> String {
    let body = format!(
        "<p class=\"figure\">{}</p>\n{}{}<p class=\"under\">{KEY}asked for {}</p>\n{}",
        number(now),
        meter(now, level),
        range(now),
        percent_chosen(level),
        standing(now.standing)
    );
    tile(class, "Coverage now", &body)
}

fn repair_tile(repair: &Repair, level: f64) -> String {
    let method = escape(&repair.method);
    let coverage = repair.coverage.as_ref().map_or(String::new(), |coverage| {
        let (number, meter, range) = (number(coverage), meter(coverage, level), range(coverage));
        format!("<p class=\"figure\">{number}</p>\n{meter}{range}")
    });
    let size = sizes(repair.size).map_or(String::new(), |sizes| {
        format!("<p class=\"under\">mean labels in a set: <strong>{sizes}</strong></p>\n")
    });
    let standing = repair.coverage.as_ref().map_or(String::new(), |found| standing(found.standing));
    tile(
        "",
        &format!("With the repair: <span class=\"method\">{method}</span>"),
        &format!("{coverage}{size}{standing}"),
    )
}

fn advice_tile(advice: &Advice) -> String {
    let commands: String = advice.commands.iter().map(|typed| command(typed)).collect();
    let body = format!("<p class=\"do\">{}</p>\n{commands}", prose(&advice.sentence));
    tile("advice", "What to do", &body)
}

/// What to type. Each word is a box of its own: a line that ended within `--option` would be copied wrong by hand.
pub(crate) fn command(typed: &str) -> String {
    let words: Vec<String> =
        typed.split(' ').map(|word| format!("<span>{}</span>", escape(word))).collect();
    format!("<pre class=\"command\" tabindex=\"0\">{}</pre>\n", words.join(" "))
}

/// The number as it stands out: `about 53 %`.
fn number(estimate: &Estimate) -> String {
    let (value, range) = (estimate.finite_value(), estimate.finite_range());
    let before = match (value, estimate.standing) {
        (Some(_), Standing::Assumed | Standing::Expected { .. }) => {
            "<span class=\"about\">about</span> "
        }
        (Some(_), Standing::Guaranteed) => "<span class=\"about\">at least</span> ",
        _ => "",
    };
    let said = value.map(percent_about).or(range.map(percent_span));
    format!("{before}{}", said.unwrap_or_else(|| "not known".to_owned()))
}

/// The range, if it is not the number itself.
fn range(estimate: &Estimate) -> String {
    match (estimate.finite_value(), estimate.finite_range()) {
        (Some(_), Some(range)) => {
            format!("<p class=\"under\">range {}</p>\n", percent_span(range))
        }
        _ => String::new(),
    }
}

/// Number, range and level on a line from 0 to 100 %, for the eye; the words beside it say the same.
fn meter(estimate: &Estimate, level: f64) -> String {
    let at = |share: f64| decimal(100.0 * share.clamp(0.0, 1.0), 1);
    let band = estimate.finite_range().map_or(String::new(), |[low, high]| {
        let width = at((high.clamp(0.0, 1.0) - low.clamp(0.0, 1.0)).max(0.0));
        format!("<span class=\"band\" style=\"left:{}%;width:{width}%\"></span>", at(low))
    });
    let dot = estimate.finite_value().map_or(String::new(), |value| {
        format!("<span class=\"dot\" style=\"left:{}%\"></span>", at(value))
    });
    format!(
        "<div class=\"meter\" aria-hidden=\"true\">{band}<span class=\"asked\" style=\"left:{}%\"></span>{dot}</div>\n",
        at(level)
    )
}

fn standing(standing: Standing) -> String {
    let words = match standing {
        Standing::Assumed => "assumed: no label was seen".to_owned(),
        Standing::Guaranteed => "guaranteed".to_owned(),
        Standing::Expected { labels } => format!("expected, with {} labels seen", grouped(labels)),
        Standing::Measured { labels } => format!("measured on {} labeled rows", grouped(labels)),
    };
    format!("<p class=\"standing\">{words}</p>\n")
}

/// `1.3 -> 5.1`, or the one that is known.
pub(super) fn sizes(size: MeanSize) -> Option<String> {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    match (finite(size.before), finite(size.after)) {
        (Some(before), Some(after)) => {
            Some(format!("{}\u{a0}\u{2192}\u{a0}{}", decimal(before, 1), decimal(after, 1)))
        }
        (Some(only), None) | (None, Some(only)) => Some(decimal(only, 1)),
        (None, None) => None,
    }
}
