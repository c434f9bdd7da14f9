//! Verdicts are told apart by colour, and their words can be read.

use evenkeel_report::{Verdict, render};

use crate::fixture::bare;

/// The value of a variable in the block of styles that `mode` begins.
fn colour(page: &str, mode: &str, variable: &str) -> String {
    let style = &page[page.find("--ground:").unwrap() - 20..];
    let block = &style[style.find(mode).unwrap_or_else(|| panic!("{mode}"))..];
    let at = block.find(&format!("--{variable}: ")).unwrap_or_else(|| panic!("{variable}"));
    block[at..].split([' ', ';']).nth(1).unwrap().to_owned()
}

/// Relative luminance of `#rrggbb` (WCAG 2).
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn verdict_colours_differ_and_can_be_read() {
    let page = render(&bare());
    for (mode, paper) in [(":root", "#ffffff"), ("dark)", "#1a1f27"), ("@media print", "#ffffff")] {
        let names = ["ok", "watch", "loss", "unknown", "neutral"];
        let tones = names.map(|name| colour(&page, mode, name));
        for (index, tone) in tones.iter().enumerate() {
            assert!(!tones[..index].contains(tone), "{mode} {}: {tone}", names[index]);
            let wash = colour(&page, mode, &format!("{}-bg", names[index]));
            for ground in [wash.as_str(), paper] {
                let ratio = contrast(tone, ground);
                assert!(ratio >= 4.5, "{mode} {}: {ratio:.2} on {ground}", names[index]);
            }
        }
    }
}

#[test]
fn every_verdict_has_its_class_and_its_sign() {
    let mut signs = Vec::new();
    for (verdict, class) in [
        (Verdict::Ok, "ok"),
        (Verdict::Watch, "watch"),
        (Verdict::Loss, "loss"),
        (Verdict::Unknown, "unknown"),
    ] {
        let mut report = bare();
        report.answer.verdict = Some(verdict);
        let page = render(&report);
        assert!(page.contains(&format!("class=\"answer {class}\"")), "{class}");
        assert!(page.contains(&format!(".{class} {{ --tone: var(--{class});")), "{class}");
        let light = page.split("class=\"light\"").nth(1).unwrap();
        let sign = light.split(['>', '<']).nth(1).unwrap().to_owned();
        assert!(!signs.contains(&sign), "{sign}");
        signs.push(sign);
    }
}
