//! What is read in the first minute.

use evenkeel::level::Miscoverage;
use evenkeel_report::{
    Answer, Estimate, Grounds, Report, ShiftOutcome, ShiftTest, Standing, Verdict, render,
};

use crate::fixture::{bare, full};

/// The page without tags and with plain blanks.
fn words(page: &str) -> String {
    let body = &page[page.find("<body>").unwrap()..page.find("<script>").unwrap()];
    let mut text = String::new();
    let mut inside = false;
    for character in body.replace("</dt>", " ").chars() {
        match character {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => text.push(character),
            _ => {}
        }
    }
    let text = text.replace(['\u{202f}', '\u{a0}'], " ").replace("&lt;", "<").replace("&#39;", "'");
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn the_tiles_hold_the_numbers() {
    let text = words(&render(&full("auto")));
    for said in [
        "Coverage now about 53 % range 46 to 61 % asked for 90 % assumed: no label was seen",
        "With the repair: auto 91 % range 87 to 94 % mean labels in a set: 1.3 → 4.1 measured on 200 labeled rows",
        "What to do auto auto auto",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn a_number_says_what_it_is_worth() {
    let said = |value: Option<f64>, range, standing| {
        let mut report = bare();
        report.answer.now = Some(Estimate { value, range, standing });
        words(&render(&report))
    };
    let range = Some([0.58, 0.91]);
    assert!(
        said(Some(0.7), range, Standing::Guaranteed).contains("at least 70 % range 58 to 91 %")
    );
    let measured = said(Some(0.7), None, Standing::Measured { labels: 12_000 });
    assert!(measured.contains("Coverage now 70 % asked for 90 % measured on 12 000 labeled rows"));
    assert!(said(None, range, Standing::Assumed).contains("Coverage now 58 to 91 % asked for"));
    assert!(said(None, None, Standing::Assumed).contains("Coverage now not known"));
}

#[test]
fn the_level_is_said_as_it_was_asked_for() {
    let alpha = Miscoverage::new(0.025).unwrap();
    let text = words(&render(&Report::new(alpha, Answer::new(Verdict::Ok, "Fine."))));
    assert!(
        text.contains("Asked for: 97.5 % coverage.") && text.contains("The level, 97.5 % here")
    );
}

#[test]
fn head_and_grounds_are_in_plain_words() {
    let mut report = full("x");
    report.answer.grounds = Some(Grounds::new(Standing::Assumed));
    report.data[0].what = "labeled calibration rows".into();
    report.data[0].name = Some("calibration.npy".into());
    let text = words(&render(&report));
    assert!(text.contains("1000 labeled calibration rows (calibration.npy), 10 classes."));
    assert!(text.contains("the model's outputs changed (p < 0.001)."));
    assert!(text.contains("How sure Assumed. No label of the target data was seen."));
    report.shift = Some(ShiftTest { outcome: ShiftOutcome::NotFound, p_value: 0.65 });
    report.answer.grounds = Some(Grounds::new(Standing::Measured { labels: 200 }));
    let text = words(&render(&report));
    assert!(text.contains("No change was found") && text.contains("(p = 0.650)"));
    assert!(text.contains("Measured. Counted on 200 labeled rows of the target data."));
}

#[test]
fn every_term_is_explained_where_it_first_stands() {
    let page = render(&full("x"));
    for term in ["prediction set", "Coverage", "level", "reading"] {
        assert!(page.contains(&format!("<dfn>{term}</dfn>")), "{term}");
    }
    let verdict = page.find("class=\"answer").unwrap();
    assert!(page.find("<dfn>level</dfn>").unwrap() < verdict);
}

#[test]
fn no_backtick_is_left() {
    let mut report = full("use `auto` and ` label");
    // Names of files and what is typed are shown as they are: nobody puts a backtick there for emphasis.
    report.provenance = bare().provenance;
    report.answer.advice.as_mut().unwrap().commands = vec!["evenkeel check".into()];
    for text in [&mut report.title, report.run.as_mut().unwrap(), report.date.as_mut().unwrap()] {
        *text = "plain".into();
    }
    report.data.clear();
    report.examples.clear();
    report.classes.clear();
    report.classes_under = None;
    report.methods.clear();
    report.gap_curves.clear();
    report.weights = None;
    report.score_laws = None;
    report.bounds.clear();
    report.dominance.clear();
    report.traces.iter_mut().for_each(|trace| trace.method = "ot".into());
    report.conditions.rows[0].condition = "fog".into();
    report.conditions.title = None;
    report.answer.repair = None;
    let page = render(&report);
    assert!(!page.contains('`'), "{}", &page[page.find('`').unwrap() - 80..][..160]);
    assert!(page.contains("<strong>use <code>auto</code> and  label</strong>"));
    // With names that hold none there is none at all, in the script and the styles neither.
    assert!(!render(&full("auto")).contains('`'));
}

#[test]
fn a_command_is_copied_as_given() {
    let mut report = full("x");
    let typed = "evenkeel  check --cal-probs 'a b.npy' --unlabeled x&y.npy";
    report.answer.advice.as_mut().unwrap().commands = vec![typed.into()];
    let page = render(&report);
    let start = page.find("<pre class=\"command\"").unwrap();
    let pre = &page[start..start + page[start..].find("</pre>").unwrap() + 6];
    let document = roxmltree::Document::parse(pre).unwrap();
    let text: String = document
        .descendants()
        .filter(roxmltree::Node::is_text)
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(text, typed);
}
