//! Names and paths are text, whatever they hold.

use evenkeel_report::render;
use roxmltree::Document;

use crate::fixture::{drawings, full};

const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></svg><script>alert(2)</script>",
    "<![CDATA[ x ]]> --> <!--",
    "C:\\daten\\Größe & Länge\\模型.npy",
    "\u{0}\u{8}\u{1b}[31m\u{202e}\u{fffe}",
    "&amp; &#x3c;b&#x3e;",
    "`</code><script>alert(3)</script>`",
    "x\" style=\"left:0\" onclick=\"alert(4)",
];

/// A page without a verdict, whose classes are so many that their names stand in a summary.
fn folded(name: &str) -> String {
    let mut report = full(name);
    report.answer.verdict = None;
    report.classes = vec![report.classes[0].clone(); 13];
    render(&report)
}

#[test]
fn no_name_becomes_markup() {
    let (plain, folded_plain) = (render(&full("plain")), folded("plain"));
    let count = |page: &str, text: &str| page.matches(text).count();
    for name in HOSTILE {
        let page = render(&full(name));
        for tag in [
            "<script",
            "</script",
            "<img",
            "</style",
            "</svg",
            "</title",
            "<!--",
            "<![CDATA[",
            "</details",
            "</pre",
            " onclick=\"",
            " style=\"",
        ] {
            assert_eq!(count(&page, tag), count(&plain, tag), "{name:?}: {tag}");
            let folded = folded(name);
            assert_eq!(count(&folded, tag), count(&folded_plain, tag), "{name:?}: {tag}");
        }
        for drawing in drawings(&page) {
            let document =
                Document::parse(drawing).unwrap_or_else(|error| panic!("{name:?}: {error}"));
            let handlers = document
                .descendants()
                .flat_map(|node| node.attributes())
                .filter(|a| a.name().starts_with("on"));
            assert_eq!(handlers.count(), 0, "{name:?}");
        }
    }
}

#[test]
fn a_name_is_shown_as_given() {
    let page = render(&full("a<b & \"c\""));
    assert!(page.contains("<h1>a&lt;b &amp; &quot;c&quot;</h1>"));
    assert!(page.contains("<code>a&lt;b &amp; &quot;c&quot;</code>"));
    assert!(page.contains("<li class=\"chip\">a&lt;b &amp; &quot;c&quot; <span"));
    assert!(!page.contains("a<b"));
}

#[test]
fn a_long_name_is_cut_in_figures_and_whole_in_tables() {
    let name = "very-long-method-name-".repeat(20);
    let page = render(&full(&name));
    assert!(page.contains(&format!("<th scope=\"row\">{name}</th>")));
    for drawing in drawings(&page) {
        let document = Document::parse(drawing).unwrap();
        let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
        for text in texts.filter_map(|node| node.text()) {
            assert!(text.chars().count() < 90, "{text}");
        }
    }
}
