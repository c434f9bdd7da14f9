//! The schema as a page for people: a table of fields for each document and each part.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

const HEAD: &str = "\
# JSON reference

Made from the types that are written and the words above their fields. Do not edit:
`EVENKEEL_REWRITE=1 cargo test -p evenkeel-cli --test schema` writes it anew. [The schema](evenkeel.schema.json) is for programs
(JSON Schema 2020-12, one definition `document:NAME` for each document); the tests validate real documents with it.

Every command prints one document on stdout with `--json`, and nothing else. Fields may be added, never renamed. Numbers are plain JSON
numbers that give every 64-bit float back; an infinite threshold is `null`. Exit codes: 0 done; 1 done, and a condition that was asked
to fail on holds; 2 could not run, and the document is that of an error.
";

/// The page of a schema whose documents are named, each with the command that writes it.
pub(crate) fn written(schema: &Value, documents: &[(&str, &str)]) -> String {
    let definitions = schema["$defs"].as_object().unwrap();
    let mut page = HEAD.to_owned();
    page.push_str("\n## Documents\n");
    let mut shown = BTreeSet::new();
    for (name, written_by) in documents {
        let of = target(&definitions[&format!("document:{name}")]).unwrap();
        shown.insert(of.to_owned());
        let _ = write!(page, "\n### {name}\n\n`{written_by}`\n\n");
        body(&mut page, &definitions[of]);
    }
    page.push_str("\n## Parts\n");
    for (name, definition) in definitions {
        if !name.starts_with("document:") && !shown.contains(name) {
            let _ = write!(page, "\n### {name}\n\n");
            if let Some(words) = definition["description"].as_str() {
                let _ = writeln!(page, "{words}\n");
            }
            body(&mut page, definition);
        }
    }
    // A part that is a document itself stands under the document's name.
    for (name, _) in documents {
        let of = target(&definitions[&format!("document:{name}")]).unwrap();
        page = page.replace(&format!("(#{})", of.to_lowercase()), &format!("(#{name})"));
    }
    page
}

fn body(page: &mut String, schema: &Value) {
    if schema.get("properties").is_some() {
        fields(page, schema);
    } else if let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) {
        page.push_str("| one of | |\n|---|---|\n");
        for alternative in alternatives {
            let words = alternative["description"].as_str().unwrap_or_default();
            let _ = writeln!(page, "| {} | {} |", kind(alternative), cell(words));
        }
    } else {
        let _ = writeln!(page, "{}", kind(schema));
    }
}

fn fields(page: &mut String, schema: &Value) {
    page.push_str("| field | type | always | |\n|---|---|---|---|\n");
    let required: BTreeSet<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let always = if required.contains(name.as_str()) { "yes" } else { "" };
        let words = property["description"].as_str().unwrap_or_default();
        let _ = writeln!(page, "| `{name}` | {} | {always} | {} |", kind(property), cell(words));
    }
}

/// The definition that a schema refers to.
fn target(schema: &Value) -> Option<&str> {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .map(|reference| reference.trim_start_matches("#/$defs/"))
}

/// A type in a few words, with a link where it has a table of its own.
fn kind(schema: &Value) -> String {
    if let Some(of) = target(schema) {
        return format!("[{of}](#{})", of.to_lowercase());
    }
    if let Some(value) = schema.get("const").and_then(Value::as_str) {
        return format!("`\"{value}\"`");
    }
    if let Some(alternatives) =
        schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array)
    {
        return alternatives.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match schema["type"].as_str().unwrap_or_default() {
        "array" => match (schema.get("items"), schema.get("prefixItems").and_then(Value::as_array))
        {
            (Some(items), _) => {
                let count =
                    schema.get("minItems").map_or_else(String::new, |count| format!("{count} "));
                format!("list of {count}{}", kind(items))
            }
            (None, Some(items)) => {
                format!("list of {}", items.iter().map(kind).collect::<Vec<_>>().join(", "))
            }
            (None, None) => "list".to_owned(),
        },
        "object" => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let parts = properties
                    .iter()
                    .map(|(name, property)| format!("`{name}`: {}", kind(property)));
                format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
            }
            None => format!("object of {}", kind(&schema["additionalProperties"])),
        },
        other => other.to_owned(),
    }
}

/// Words that fit a cell of a table.
fn cell(words: &str) -> String {
    words.replace('|', "\\|")
}
