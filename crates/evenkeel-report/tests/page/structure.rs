//! Sections, figures and what they are made of.

use evenkeel_report::{figures, render};
use roxmltree::Document;

use crate::fixture::{bare, drawings, full};

const NAMESPACE: &str = "http://www.w3.org/2000/svg";

#[test]
fn every_figure_is_well_formed_and_described() {
    let report = full("ot");
    let page = render(&report);
    let figures = figures(&report);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
    assert_eq!(
        names,
        ["readings", "score-laws", "weights", "coverage-and-size", "coverage-gap", "trace"]
    );
    assert_eq!(drawings(&page).len(), figures.len());
    for figure in &figures {
        assert!(page.contains(&figure.svg), "{} is not in the page", figure.name);
        let document = Document::parse(&figure.svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().namespace(), Some(NAMESPACE));
        assert_eq!(root.attribute("role"), Some("img"));
        let text_of =
            |name: &str| root.children().find(|node| node.has_tag_name((NAMESPACE, name)));
        assert_eq!(text_of("title").and_then(|node| node.text()), Some(figure.title));
        assert_eq!(text_of("desc").and_then(|node| node.text()), Some(figure.caption.as_str()));
        let labels = root.attribute("aria-labelledby").unwrap();
        for id in labels.split(' ') {
            assert!(root.children().any(|node| node.attribute("id") == Some(id)), "{id}");
        }
    }
}

#[test]
fn coordinates_are_numbers_inside_the_drawing() {
    for figure in figures(&full("ot")) {
        let document = Document::parse(&figure.svg).unwrap();
        for node in document.descendants() {
            let data = node.attribute("d").unwrap_or_default();
            assert!(!data.contains("NaN") && !data.contains("inf"), "{}: {data}", figure.name);
            for name in ["x", "y", "width", "height"] {
                if let Some(value) = node.attribute(name) {
                    let value: f64 = value.parse().unwrap();
                    assert!((0.0..=700.0).contains(&value), "{}: {name}={value}", figure.name);
                }
            }
        }
    }
}

#[test]
fn nothing_is_fetched() {
    let page = render(&full("ot"));
    let rest = page.replace(NAMESPACE, "");
    for address in
        ["http:", "https:", "//cdn", "url(", "@import", "<link", "<img", "src=", "<iframe"]
    {
        assert!(!rest.contains(address), "{address}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_page_is_in_the_order_of_reading() {
    let page = render(&full("ot"));
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    let order = [
        "<h1>",
        "class=\"answer loss\"",
        ">Coverage now<",
        ">With the repair: ",
        ">What to do<",
        ">Since what<",
        ">How sure<",
        "id=\"warnings-heading\"",
        "id=\"examples\"",
        "id=\"conditions\"",
        "id=\"classes\"",
        "<details class=\"how\">",
        "id=\"readings\"",
        "id=\"bounds\"",
        "id=\"laws\"",
        "id=\"methods\"",
        "id=\"repeat\"",
        "</details>",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_comparison_has_no_colour_and_shows_its_methods() {
    let mut report = full("ot");
    report.answer.verdict = None;
    let page = render(&report);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(place("class=\"answer neutral\"") < place("id=\"methods\""));
    assert!(place("id=\"methods\"") < place("<details class=\"how\">"));
    assert_eq!(page.matches("id=\"methods\"").count(), 1);
    assert!(!page.contains("class=\"light\""));
}

#[test]
fn sections_without_data_are_left_out() {
    let page = render(&bare());
    assert!(drawings(&page).is_empty());
    for absent in [
        "<table",
        "<figure",
        "<dl class=\"grounds\"",
        "class=\"run\"",
        "class=\"date\"",
        "id=\"examples\"",
        "id=\"conditions\"",
        "id=\"readings\"",
        "id=\"bounds\"",
        "id=\"methods\"",
        "id=\"classes\"",
        "warnings-heading",
        "What to do",
    ] {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(page.contains("as asked for.") && page.contains("id=\"repeat\""));
    // A page that finds nothing wrong says that nothing needs repair.
    assert!(page.contains("none needed"));
}

#[test]
fn numbers_in_tables_carry_the_value_they_sort_by() {
    let page = render(&full("ot"));
    for cell in [
        "data-v=\"8e-1\">80.0\u{202f}%<",
        "data-v=\"Infinity\">∞<",
        ">per point</td>",
        ">–</td>",
        "data-v=\"1.4e0\">above 1: says nothing</td>",
    ] {
        assert!(page.contains(cell), "{cell}");
    }
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(render(&full("ot")), render(&full("ot")));
}

#[test]
fn a_method_has_one_colour_in_all_figures() {
    let mut report = full("ot");
    report.methods.insert(0, report.methods[1].clone());
    report.methods[0].method = "first".into();
    for figure in
        figures(&report).iter().filter(|figure| ["coverage-gap", "trace"].contains(&figure.name))
    {
        assert!(figure.svg.contains("s-k1"), "{}", figure.name);
        assert!(!figure.svg.contains("s-k0"), "{}", figure.name);
    }
}
