//! The JSON schema of every document, made from the types that are written and the words above their fields.
//!
//! `docs/reference/evenkeel.schema.json` is for programs, `docs/reference/json.md` for people. Both are compared with what the sources
//! say now; `EVENKEEL_REWRITE=1 cargo test -p evenkeel-cli --test schema` writes them anew. That real documents follow the
//! schema is tested from Python (`python/tests/test_json_schema.py`), which has a validator.
#![allow(clippy::unwrap_used, clippy::panic)]

mod attributes;
mod page;
mod schemas;
mod sources;

use std::path::Path;

use serde_json::{Map, Value, json};

use schemas::Schemas;
use sources::Sources;

/// A document: its name in the schema, the type that is written, and what writes it.
struct Document {
    name: &'static str,
    file: &'static str,
    of: &'static str,
    written_by: &'static str,
}

const fn document(
    name: &'static str,
    file: &'static str,
    of: &'static str,
    written_by: &'static str,
) -> Document {
    Document { name, file, of, written_by }
}

const JOBS: &str = "evenkeel-jobs/src/documents.rs";
const GROUPED: &str = "evenkeel-jobs/src/grouped/documents.rs";
const MONITOR: &str = "evenkeel-cli/src/commands/monitor/status.rs";

const DOCUMENTS: [Document; 21] = [
    document("check", JOBS, "CheckDocument", "evenkeel check --json"),
    document("calibrate", JOBS, "CalibrateDocument", "evenkeel calibrate --json"),
    document(
        "calibrate-per-class",
        GROUPED,
        "CalibratePerClassDocument",
        "evenkeel calibrate --per class --json",
    ),
    document(
        "calibrate-per-group",
        GROUPED,
        "CalibratePerGroupDocument",
        "evenkeel calibrate --per COLUMN --json",
    ),
    document("predict", JOBS, "PredictDocument", "evenkeel predict --json"),
    document("evaluate", JOBS, "EvaluateDocument", "evenkeel evaluate --json"),
    document("compare", JOBS, "CompareDocument", "evenkeel compare --json"),
    document("label", JOBS, "LabelDocument", "evenkeel label --json"),
    document("demo", "evenkeel-cli/src/commands/demo.rs", "Document", "evenkeel demo --json"),
    document(
        "demo-data",
        "evenkeel-cli/src/commands/demo.rs",
        "WrittenDocument",
        "evenkeel demo --data or --nights, with --json",
    ),
    document(
        "error",
        "evenkeel-cli/src/error_document.rs",
        "ErrorDocument",
        "any command with --json that could not run (exit code 2)",
    ),
    document(
        "calibration",
        "evenkeel/src/calibration/file.rs",
        "CalibrationFile",
        "evenkeel calibrate --out cal.json",
    ),
    document(
        "monitor-model",
        "evenkeel-monitor/src/model.rs",
        "Model",
        "evenkeel monitor add, approve and reject --json",
    ),
    document(
        "monitor-run",
        "evenkeel-cli/src/commands/monitor/run.rs",
        "RunDocument",
        "evenkeel monitor run --json",
    ),
    document(
        "monitor-batch",
        "evenkeel-monitor/src/batch.rs",
        "ReceivedFields",
        "the server for each batch, and monitor run for each of its batches, beside the fields of check",
    ),
    document("monitor-status", MONITOR, "StatusDocument", "evenkeel monitor status --json"),
    document("monitor-export", MONITOR, "ExportDocument", "evenkeel monitor export --json"),
    document("monitor-backup", MONITOR, "BackupDocument", "evenkeel monitor backup --json"),
    document(
        "monitor-labels",
        "evenkeel-monitor/src/labels.rs",
        "LabelsReceived",
        "evenkeel monitor labels --json",
    ),
    document(
        "monitor-propose",
        "evenkeel-monitor/src/proposal.rs",
        "Proposal",
        "evenkeel monitor propose --json",
    ),
    document(
        "monitor-calibration",
        "evenkeel-monitor/src/model.rs",
        "Version",
        "evenkeel monitor calibration --json",
    ),
];

#[test]
fn the_schema_is_that_of_the_types() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = Sources::read(
        crates,
        &["evenkeel", "evenkeel-jobs", "evenkeel-io", "evenkeel-monitor", "evenkeel-cli"],
    );
    let mut schemas = Schemas::new(&sources);
    let mut documents = Map::new();
    for document in &DOCUMENTS {
        let reference = schemas.of_type(document.of, document.file, &[]);
        documents.insert(document.name.into(), reference);
    }
    let mut definitions: Map<String, Value> = schemas.finished();
    for document in &DOCUMENTS {
        definitions.insert(format!("document:{}", document.name), documents[document.name].clone());
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://evenkeel.github.io/evenkeel/reference/evenkeel.schema.json",
        "title": "Documents of Evenkeel",
        "description": "One definition `document:NAME` for each; fields may be added, never renamed.",
        "$defs": definitions,
    });
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let listed: Vec<(&str, &str)> =
        DOCUMENTS.iter().map(|document| (document.name, document.written_by)).collect();
    let page = page::written(&schema, &listed);
    let folder = crates.parent().unwrap().join("docs").join("reference");
    compared(&folder.join("evenkeel.schema.json"), &text);
    compared(&folder.join("json.md"), &page);
}

/// Fails unless a file holds a text; writes it where that is asked for.
fn compared(path: &Path, text: &str) {
    if std::env::var_os("EVENKEEL_REWRITE").is_some_and(|value| value == "1") {
        std::fs::write(path, text).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == text,
        "{} is not what the types say; EVENKEEL_REWRITE=1 cargo test -p evenkeel-cli --test schema writes it",
        path.display()
    );
}
