//! The page of a model over time.

use super::figures::{coverage, evidence};
use super::{Trend, TrendMark, TrendPoint};
use crate::content::Verdict;
use crate::page::{command, document, drawing_card, light, section, tone};
use crate::text::{escape, p_value, percent_about, percent_chosen, prose};

/// Batches in the table; the figures show all.
const MOST_ROWS: usize = 200;

/// The parts of the page, as HTML, for whoever has a page of their own around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendParts {
    /// Light, answer, since when, what to do.
    pub answer: String,
    /// Coverage and evidence over time.
    pub figures: String,
    /// The batches, the last first.
    pub batches: String,
    /// What people decided, the last first.
    pub decisions: String,
}

/// The whole page. The same trend gives the same bytes; it loads nothing, and needs no script to be read.
pub fn render_trend(trend: &Trend) -> String {
    let parts = trend_parts(trend);
    let (model, made) = (escape(&trend.model), escape(&trend.made));
    let header = format!(
        "<header>\n<p class=\"brand\">Evenkeel <span class=\"date\">{made}</span></p>\n<h1>{model}</h1>\n{}</header>\n",
        parts.answer
    );
    let facts: String = trend
        .facts
        .iter()
        .map(|(name, value)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
        })
        .collect();
    let body = [
        section("trend", "Over time", &[parts.figures]),
        section("decisions", "Decisions", &[parts.decisions]),
        section("batches", "Batches", &[parts.batches]),
        section("facts", "Facts", &[format!("<dl class=\"facts\">\n{facts}</dl>\n")]),
    ];
    document(&format!("{}: coverage over time", trend.model), &header, &body.concat())
}

/// The parts of the page.
pub fn trend_parts(trend: &Trend) -> TrendParts {
    let figures: Vec<String> = [coverage(trend), evidence(trend)]
        .into_iter()
        .flatten()
        .map(|figure| drawing_card("h3", &figure.name, &figure.title, &figure.caption, &figure.svg))
        .collect();
    TrendParts {
        answer: answer(trend),
        figures: match figures.is_empty() {
            true => String::new(),
            false => format!("<div class=\"cards\">\n{}</div>\n", figures.concat()),
        },
        batches: batches(&trend.points),
        decisions: decisions(&trend.marks),
    }
}

fn answer(trend: &Trend) -> String {
    let (class, sign) = match trend.verdict {
        None => ("neutral", String::new()),
        Some(verdict) => (tone(verdict), light(verdict)),
    };
    let commands: String = trend.commands.iter().map(|typed| command(typed)).collect();
    let advice = match trend.advice.is_empty() {
        true => String::new(),
        false => format!("<p class=\"do\">{}</p>\n", prose(&trend.advice)),
    };
    format!(
        "<div class=\"answer {class}\">\n<p class=\"verdict\">{sign}<strong>{}</strong></p>\n<p>{}</p>\n{advice}{commands}</div>\n",
        prose(&trend.headline),
        prose(&trend.since)
    )
}

fn batches(points: &[TrendPoint]) -> String {
    if points.is_empty() {
        return "<p>No batch has arrived yet.</p>\n".to_owned();
    }
    let rows: String = points.iter().rev().take(MOST_ROWS).map(batch).collect();
    let left = points.len().saturating_sub(MOST_ROWS);
    let note = match left {
        0 => String::new(),
        left => format!("<p class=\"note\">{left} earlier batches are left out here.</p>\n"),
    };
    let columns = [
        "time",
        "rows",
        "coverage, about",
        "range",
        "counted on labels",
        "mean size",
        "p, this batch",
        "alarm",
    ];
    let head: String =
        columns.iter().map(|name| format!("<th scope=\"col\" class=\"n\">{name}</th>")).collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Batches\" tabindex=\"0\">\n<table class=\"stacked\">\n<caption>Batches</caption>\n\
         <thead><tr><th scope=\"col\">batch</th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n{note}"
    )
}

fn batch(point: &TrendPoint) -> String {
    let name = match point.name.is_empty() {
        true => format!("{}", point.batch),
        false => format!("{} {}", point.batch, escape(&point.name)),
    };
    let name = match &point.link {
        None => name,
        Some(link) => format!("<a href=\"{}\">{name}</a>", escape(link)),
    };
    let measured = point.measured.map_or_else(
        || "\u{2013}".to_owned(),
        |[value, low, high]| {
            format!(
                "{} ({:.0}\u{2013}{:.0}) of {}",
                percent_about(value),
                100.0 * low,
                100.0 * high,
                point.labels
            )
        },
    );
    let alarms = match point.alarms.is_empty() {
        true => "\u{2013}".to_owned(),
        false => format!("<span class=\"word\">{}</span>", escape(&point.alarms.join("; "))),
    };
    let class = if point.alarms.is_empty() { "" } else { " class=\"loss\"" };
    let cells = [
        ("time", escape(&point.time)),
        ("rows", point.rows.to_string()),
        (
            "coverage, about",
            format!(
                "<span class=\"word {}\">{}</span>",
                tone(point.verdict),
                percent_about(point.estimate)
            ),
        ),
        ("range", format!("{:.0}\u{2013}{:.0} %", 100.0 * point.range[0], 100.0 * point.range[1])),
        ("counted on labels", measured),
        ("mean size", format!("{:.2}", point.mean_size)),
        ("p, this batch", escape(&p_value(point.p_value))),
        ("alarm", alarms),
    ];
    let cells: String = cells
        .iter()
        .map(|(label, text)| {
            // Reasons are sentences: they may take several lines.
            let class = if *label == "alarm" { "" } else { " class=\"n\"" };
            format!("<td{class} data-label=\"{label}\">{text}</td>")
        })
        .collect();
    format!("<tr{class}><th scope=\"row\" class=\"short\">{name}</th>{cells}</tr>\n")
}

fn decisions(marks: &[TrendMark]) -> String {
    if marks.is_empty() {
        return String::new();
    }
    let items: String = marks
        .iter()
        .rev()
        .map(|mark| {
            let why = match mark.why.is_empty() {
                true => String::new(),
                false => format!(": {}", escape(&mark.why)),
            };
            format!(
                "<li>{}, after batch {}: <strong>{}</strong>{why}</li>\n",
                escape(&mark.time),
                mark.after,
                escape(&mark.what)
            )
        })
        .collect();
    format!("<ul>\n{items}</ul>\n")
}

/// The first sentence of a page: "Coverage now about 84 % (78-89), level 90 %."
pub(crate) fn coverage_now(estimate: f64, [low, high]: [f64; 2], level: f64) -> String {
    format!(
        "Coverage now about {} ({:.0}\u{2013}{:.0}), level {}.",
        percent_about(estimate),
        100.0 * low,
        100.0 * high,
        percent_chosen(level)
    )
}

impl Trend {
    /// The sentence about a batch at the head of a page.
    pub fn headline_of(point: &TrendPoint, level: f64) -> String {
        coverage_now(point.estimate, point.range, level)
    }
}

/// Words for what a verdict means.
impl TrendPoint {
    /// Green, amber or red in words.
    pub fn light(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "green",
            Verdict::Loss => "red",
            Verdict::Watch | Verdict::Unknown => "amber",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend() -> Trend {
        let point = |batch: u64| TrendPoint {
            batch,
            time: format!("2026-11-{batch:02}"),
            name: "night<1>.npy".into(),
            rows: 500,
            estimate: 0.9 - 0.01 * batch as f64,
            range: [0.8 - 0.01 * batch as f64, 0.95],
            measured: (batch == 2).then_some([0.88, 0.8, 0.93]),
            labels: 50,
            verdict: Verdict::Ok,
            evidence: 0.1 * batch as f64,
            p_value: 0.4,
            mean_size: 1.2,
            alarms: if batch == 4 { vec!["this batch differs".into()] } else { Vec::new() },
            link: None,
        };
        Trend {
            model: "garments & more".into(),
            made: "2026-11-17".into(),
            level: 0.9,
            verdict: Some(Verdict::Loss),
            headline: "Coverage now about 84 %.".into(),
            since: "Alarm since batch 4.".into(),
            advice: "Decide on proposal 1.".into(),
            commands: vec!["evenkeel monitor approve --proposal 1".into()],
            points: (1..=5).map(point).collect(),
            marks: vec![TrendMark {
                after: 4,
                time: "2026-11-05".into(),
                what: "version 2 approved by Ada".into(),
                why: "new camera".into(),
            }],
            facts: vec![("store".into(), "ek.sqlite".into())],
        }
    }

    #[test]
    fn the_page_is_well_formed_and_says_everything() {
        let page = render_trend(&trend());
        let body = &page[page.find("<header>").unwrap()..page.find("<script>").unwrap()];
        // A button that only the script shows: an attribute without a value is HTML, not XML.
        let body = body.replace(" hidden>", " hidden=\"\">");
        roxmltree::Document::parse(&format!("<page>{body}</page>")).unwrap();
        for words in [
            "garments &amp; more",
            "night&lt;1&gt;.npy",
            "version 2 approved by Ada",
            "new camera",
            "ek.sqlite",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(
            !page.contains("http://")
                || page.matches("http://").count()
                    == page.matches("http://www.w3.org/2000/svg").count()
        );
    }

    #[test]
    fn a_model_without_batches_has_a_page() {
        let empty = Trend { points: Vec::new(), marks: Vec::new(), verdict: None, ..trend() };
        assert!(render_trend(&empty).contains("No batch has arrived yet."));
    }

    #[test]
    fn numbers_that_are_none_break_nothing() {
        let mut odd = trend();
        odd.points[0].estimate = f64::NAN;
        odd.points[1].evidence = f64::INFINITY;
        odd.points[2].range = [f64::NAN, f64::NAN];
        assert!(render_trend(&odd).contains("</html>"));
    }
}
