//! Tables show what there is, and nothing else.

use evenkeel_report::study::{Study, StudyTable, render_study};
use evenkeel_report::{ClassRow, ConditionRow, Report, render};
use roxmltree::Document;

use crate::fixture::full;

/// The tables of a page: label, then rows of cells, headings first.
fn tables(page: &str) -> Vec<(String, Vec<Vec<String>>)> {
    page.match_indices("<table")
        .map(|(start, _)| {
            let end = start + page[start..].find("</table>").unwrap() + "</table>".len();
            let document = Document::parse(&page[start..end]).unwrap();
            let text = |node: roxmltree::Node<'_, '_>| -> String {
                node.descendants()
                    .filter(roxmltree::Node::is_text)
                    .filter_map(|node| node.text())
                    .collect()
            };
            let named = |name: &'static str| {
                document.descendants().filter(move |node| node.has_tag_name(name))
            };
            let rows = named("tr")
                .map(|row| row.children().filter(roxmltree::Node::is_element).map(text).collect());
            (named("caption").map(text).collect(), rows.collect())
        })
        .collect()
}

/// Every table is a rectangle, and each of its columns has a value.
fn assert_no_empty_column(page: &str) {
    for (label, rows) in tables(page) {
        let (head, body) = rows.split_first().unwrap();
        for row in body {
            assert_eq!(row.len(), head.len(), "{label}: {row:?}");
        }
        for (column, heading) in head.iter().enumerate() {
            let filled = body.iter().any(|row| !matches!(row[column].trim(), "" | "–" | "-"));
            assert!(filled, "{label}: nothing below {heading:?}");
        }
    }
}

fn headings(report: &Report, label: &str) -> Vec<String> {
    let tables = tables(&render(report));
    let (_, rows) = tables.into_iter().find(|(found, _)| found.contains(label)).unwrap();
    rows[0].clone()
}

#[test]
fn no_table_has_an_empty_column() {
    let mut report = full("ot");
    assert_eq!(tables(&render(&report)).len(), 5);
    assert_no_empty_column(&render(&report));
    // Values are taken away one after the other; with each its column goes.
    type Removal = fn(&mut Report);
    let removals: [Removal; 9] = [
        |report| report.conditions.rows[0].estimated = None,
        |report| report.conditions.rows[0].measured = None,
        |report| report.conditions.rows[0].size.before = None,
        |report| report.conditions.rows[0].size.after = Some(f64::NAN),
        |report| report.conditions.rows[0].verdict = None,
        |report| report.classes[0].coverage = None,
        |report| report.methods.iter_mut().for_each(|row| row.total_coverage_gap = None),
        |report| report.methods.iter_mut().for_each(|row| row.assumption.clear()),
        |report| report.bounds[0].exact = None,
    ];
    for remove in removals {
        remove(&mut report);
        assert_no_empty_column(&render(&report));
    }
}

#[test]
fn a_column_is_there_if_one_row_fills_it() {
    let mut report = full("ot");
    report.classes.push(ClassRow { name: "b".into(), mean_size: Some(2.5), ..ClassRow::default() });
    assert_eq!(
        headings(&report, "Coverage of each class"),
        ["class", "rows", "coverage", "mean labels in a set"]
    );
    report.conditions.rows = vec![
        ConditionRow { measured: Some(0.9), ..ConditionRow::new("one") },
        ConditionRow { with_labels: Some(0.9), ..ConditionRow::new("two") },
    ];
    assert_eq!(
        headings(&report, "Coverage under each condition"),
        ["condition", "measured", "with 50 labels"]
    );
}

#[test]
fn a_study_has_no_empty_column_either() {
    let texts = |row: &[&str]| row.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let table = StudyTable {
        title: "Coverage".into(),
        note: None,
        columns: texts(&["condition", "auto", "never run", "ot"]),
        rows: vec![texts(&["fog", "0.9", "", "–"]), texts(&["blur", "", "–", "0.8"])],
    };
    let page = render_study(&Study { tables: vec![table], ..Study::default() });
    assert_no_empty_column(&page);
    assert!(!page.contains("never run") && page.contains(">ot</th>"));
}

#[test]
fn bounds_above_one_are_words() {
    let mut report = full("ot");
    report.bounds[0].wasserstein = Some(51.3);
    let tables = tables(&render(&report));
    let (_, rows) = tables.iter().find(|(label, _)| label.contains("can be lost")).unwrap();
    assert_eq!(rows[1][1..], ["0.150", "0.200", "1: says nothing", "above 1: says nothing"]);
    assert!(!render(&report).contains(">51.3"));
}

#[test]
fn nearly_all_is_not_said_to_be_all() {
    let tables = tables(&render(&full("ot")));
    let (_, rows) = tables.iter().find(|(label, _)| label.contains("each condition")).unwrap();
    let row: Vec<String> =
        rows[1].iter().map(|cell| cell.replace(['\u{202f}', '\u{a0}'], " ")).collect();
    assert_eq!(row[1..], ["53 % (46 to 61 %)", "53.4 %", "99.9 %", "92.0 %", "1.3 → 6.4", "loss"]);
}

#[test]
fn many_classes_are_folded() {
    let mut report = full("ot");
    let row = report.classes[0].clone();
    report.classes = vec![row; 12];
    assert!(!render(&report).contains("<details class=\"all-classes\">"));
    report.classes.push(ClassRow { name: "z".into(), coverage: Some(0.2), ..ClassRow::default() });
    let page = render(&report);
    assert!(page.contains("<details class=\"all-classes\">"));
    assert!(page.contains("from 20\u{202f}% (z) to 75\u{202f}% (ot)"));
}
