//! The references made of the table: `docs/options.md`, and the types of the Python package.
//!
//! `EVENKEEL_REWRITE=1 cargo test -p evenkeel --test options` writes them anew.

use std::fmt::Write;
use std::path::Path;

use evenkeel::method::{MethodName, Need, OPTIONS, OptionKind, OptionSpec};
use evenkeel::side_inputs::SideInput;

fn is_or_becomes(path: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("EVENKEEL_REWRITE").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not what the option table says; write it anew with EVENKEEL_REWRITE=1",
        path.display()
    );
}

/// As it is called in Python.
fn keyword(name: &str) -> String {
    if name == "lambda" { "lambda_".to_owned() } else { name.replace('-', "_") }
}

fn rows(specs: &[&OptionSpec]) -> String {
    let mut text =
        "| command line | Python | values | default | what it does |\n|---|---|---|---|---|\n"
            .to_owned();
    for spec in specs {
        let values = match spec.kind {
            OptionKind::Choice(choices) => choices
                .iter()
                .map(|choice| format!("`{}`", choice.word))
                .collect::<Vec<_>>()
                .join(", "),
            OptionKind::NumberOrWord(range, choices) => {
                let words: Vec<String> =
                    choices.iter().map(|choice| format!("`{}`", choice.word)).collect();
                format!("{}, or {}", range.words, words.join(" or "))
            }
            OptionKind::Flag => "a flag; `True` or `False` in Python".to_owned(),
            _ => spec.kind.expected(),
        };
        let default = match (spec.kind, spec.unset, spec.default_text()) {
            (OptionKind::Flag, ..) => "off".to_owned(),
            (_, Some(words), _) => words.to_owned(),
            (.., text) => format!("`{}`", text.unwrap_or_default()),
        };
        writeln!(
            text,
            "| `--{}` | `{}` | {values} | {default} | {} |",
            spec.name,
            keyword(spec.name),
            spec.help
        )
        .unwrap();
    }
    for spec in specs {
        let OptionKind::Choice(choices) = spec.kind else { continue };
        write!(text, "\n`{}`:\n\n", spec.name).unwrap();
        for choice in choices {
            writeln!(text, "- `{}`: {}", choice.word, choice.help).unwrap();
        }
    }
    text
}

fn page() -> String {
    let mut text = "\
# Options

Made from the option table in `crates/evenkeel/src/method/options/table.rs`, which the command line, Python and stored
provenance use too. Do not edit: `EVENKEEL_REWRITE=1 cargo test -p evenkeel --test options` writes it anew.

An option that the chosen method or score does not use is refused, with the ones that do. `compare` takes an option if at
least one of its methods uses it, and gives it to those.

## Score

"
    .to_owned();
    text += &rows(&OPTIONS.iter().filter(|spec| spec.is_of_scores()).collect::<Vec<_>>());
    for method in MethodName::ALL {
        write!(
            text,
            "\n## {}\n\n{}. Assumes: {}.\n",
            method.as_str(),
            method.summary(),
            method.assumption()
        )
        .unwrap();
        for side in SideInput::ALL {
            let words = match method.needs().of(side) {
                Need::Unused => continue,
                Need::Optional => "Takes",
                Need::Required => "Needs",
            };
            let of = match side {
                SideInput::Labels => "each with the row of its target point",
                _ => "per calibration point",
            };
            writeln!(text, "{words} {}: one {} {of}.", side.name(), side.one()).unwrap();
        }
        let own: Vec<&OptionSpec> = method.options().collect();
        if !own.is_empty() {
            text += &format!("\n{}", rows(&own));
        }
    }
    text
}

fn literal<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    format!("Literal[{}]", words.join(", "))
}

fn python_type(spec: &OptionSpec) -> String {
    match spec.kind {
        OptionKind::Choice(choices) => literal(choices.iter().map(|choice| choice.word)),
        OptionKind::Number(_) => "float".to_owned(),
        OptionKind::NumberOrWord(_, choices) => {
            format!("Union[float, {}]", literal(choices.iter().map(|choice| choice.word)))
        }
        OptionKind::Count(_) => "int".to_owned(),
        _ => "bool".to_owned(),
    }
}

fn typed_dict(name: &str, doc: &str, specs: &[&OptionSpec]) -> String {
    let mut text = format!("\n\nclass {name}(TypedDict, total=False):\n    \"\"\"{doc}\"\"\"\n\n");
    for spec in specs {
        writeln!(text, "    {}: Optional[{}]", keyword(spec.name), python_type(spec)).unwrap();
    }
    text
}

fn python() -> String {
    let fitted = MethodName::ALL.into_iter().filter(|name| *name != MethodName::Oracle);
    let score = OPTIONS.iter().find(|spec| spec.name == "score").unwrap();
    let mut text = "\
\"\"\"Names and options as types, so that a checker finds a misspelled one.

Made from the option table in `crates/evenkeel/src/method/options/table.rs`. Do not edit:
`EVENKEEL_REWRITE=1 cargo test -p evenkeel --test options` writes it anew.
\"\"\"

from __future__ import annotations

from typing import Literal, Optional, TypedDict, Union

"
    .to_owned();
    writeln!(text, "MethodName = {}", literal(fitted.map(MethodName::as_str))).unwrap();
    writeln!(
        text,
        "ComparableMethod = {}",
        literal(MethodName::ALL.into_iter().map(MethodName::as_str))
    )
    .unwrap();
    writeln!(text, "ScoreName = {}", python_type(score)).unwrap();
    let all: Vec<&OptionSpec> = OPTIONS.iter().collect();
    let of_check: Vec<&OptionSpec> = OPTIONS.iter().filter(|spec| of_check_too(spec)).collect();
    text += &typed_dict(
        "MethodOptions",
        "Options of `calibrate` and `compare`; None is the default.",
        &all,
    );
    text += &typed_dict("CheckOptions", "Options of `check`; None is the default.", &of_check);
    text
}

#[test]
fn the_page_of_options() {
    is_or_becomes("docs/options.md", &page());
}

#[test]
fn the_types_of_the_python_package() {
    is_or_becomes("python/evenkeel/_options.py", &python());
}

/// Options of methods that a check has as well, and those of scores.
fn of_check_too(spec: &OptionSpec) -> bool {
    spec.is_of_scores() || matches!(spec.name, "bound-grid" | "assume" | "accuracy")
}
