//! Large inputs make small pages.

use evenkeel_report::{ClassRow, GapCurve, WeightsOverScores, figures, render};
use roxmltree::Document;

use crate::fixture::{full, laws};

/// Points of the longest path.
fn longest_path(svg: &str) -> usize {
    let document = Document::parse(svg).unwrap();
    let lengths = document
        .descendants()
        .filter_map(|node| node.attribute("d"))
        .map(|data| data.bytes().filter(u8::is_ascii_uppercase).count());
    lengths.max().unwrap_or(0)
}

#[test]
fn a_million_atoms_fit_into_a_thousand_points_and_a_small_page() {
    let mut report = full("ot");
    report.score_laws = Some(laws("ot", 1_000_000));
    let n = 1_000_000_u32;
    report.weights = Some(WeightsOverScores {
        method: "ot".into(),
        scores: (0..n).map(|i| f64::from(i) / f64::from(n)).collect(),
        weights: (0..n).map(|i| f64::from(i.wrapping_mul(2_654_435_761) % 1000) / 5e8).collect(),
        effective_sample_size: 5e5,
    });
    report.gap_curves = (0..12)
        .map(|index| GapCurve {
            method: format!("method {index}"),
            points: (1..20_000_u32)
                .map(|i| (f64::from(i) / 2e4, f64::from(i.wrapping_mul(40_503) % 997) / 3e3))
                .collect(),
        })
        .collect();
    report.classes = (0..5000)
        .map(|index| ClassRow {
            name: format!("class {index}"),
            points: index,
            coverage: Some(index as f64 / 5000.0),
            mean_size: Some(2.0),
            ..ClassRow::default()
        })
        .collect();
    for figure in figures(&report) {
        // The band between two laws is one outline of two curves.
        let most = match figure.name {
            "weights" => 2000,
            "score-laws" => 2001,
            _ => 1000,
        };
        let longest = longest_path(&figure.svg);
        assert!(longest <= most, "{}: {longest}", figure.name);
    }
    let page = render(&report);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let summary = "The 200 classes of 5000 with the lowest coverage: from 0\u{202f}% (class 0) to 99.9\u{202f}% (class 4999)";
    assert!(page.contains(summary));
}

#[test]
fn a_small_law_is_drawn_step_by_step() {
    let report = full("ot");
    let laws = figures(&report).into_iter().find(|figure| figure.name == "score-laws").unwrap();
    // Up and across for each of 40 atoms.
    assert!(laws.svg.split(" d=\"").any(|path| path.matches('V').count() >= 40));
}
