"""Real documents follow the schema that is made from the types (docs/reference/evenkeel.schema.json)."""

from __future__ import annotations

import json
import subprocess

import pytest
from jsonschema import Draft202012Validator

METHODS = ["auto", "label-plan", "ot", "uncorrected", "likelihood-ratio", "label-shift", "conditional", "ecp", "qtc"]


@pytest.fixture(scope="module")
def schema(root):
    found = json.loads((root / "docs" / "reference" / "evenkeel.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(found)
    return found


@pytest.fixture(scope="module")
def run(binary, tmp_path_factory):
    """The program on files of the demo, in one folder."""
    folder = tmp_path_factory.mktemp("documents")
    subprocess.run([binary, "demo", "--out", folder / "demo", "--quiet"], check=True, stdout=subprocess.DEVNULL)

    def run(*arguments, code=0):
        done = subprocess.run(
            [binary, *arguments, "--json", "--quiet"], cwd=folder / "demo" / "data", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    run.folder = folder / "demo" / "data"
    return run


def valid(schema, name, document):
    validator = Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/document:{name}"})
    found = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator.iter_errors(document)]
    assert not found, "\n".join(found)


CAL = ("--cal-probs", "calibration_probs.npy", "--cal-labels", "calibration_labels.npy")
TARGET = (*CAL, "--unlabeled", "fog_3_unlabeled.npy")
TEST = ("--probs", "fog_3_test_probs.npy", "--labels", "fog_3_test_labels.npy")


@pytest.mark.parametrize("day", ["clean", "fog_3", "shear_5"])
@pytest.mark.parametrize("more", [(), ("--alpha", "0.1,0.05"), ("--target-labels", "fifty_labels.csv"), ("--fail-below", "0")])
def test_check(schema, run, day, more):
    valid(schema, "check", run("check", *CAL, "--unlabeled", f"{day}_unlabeled.npy", *more))


@pytest.mark.parametrize("method", METHODS)
def test_calibrate_evaluate_and_predict(schema, run, method):
    """Every method's document and file; what is evaluated and predicted with it."""
    out = f"{method}.json"
    valid(schema, "calibrate", run("calibrate", *TARGET, "--method", method, "--out", out))
    valid(schema, "calibration", json.loads((run.folder / out).read_text(encoding="utf-8")))
    if method == "conditional":
        return  # A program for each test point: slow, and its document is that of the others.
    valid(schema, "evaluate", run("evaluate", "--calibration", out, *TEST))
    valid(schema, "predict", run("predict", "--calibration", out, "--probs", "fog_3_test_probs.npy", "--out", f"{method}.csv"))


def test_calibrations_of_other_kinds(schema, run):
    few = ("--target-labels", "fifty_labels.csv", "--alpha", "0.1,0.2")
    valid(schema, "calibrate", run("calibrate", *TARGET, *few, "--out", "few.json"))
    valid(schema, "calibration", json.loads((run.folder / "few.json").read_text(encoding="utf-8")))
    valid(schema, "calibrate", run("calibrate", *TARGET, "--score", "plan", "--out", "plan.json"))
    valid(schema, "calibration", json.loads((run.folder / "plan.json").read_text(encoding="utf-8")))
    valid(schema, "calibrate-per-class", run("calibrate", *TARGET, "--per", "class", "--out", "class.json"))
    valid(schema, "evaluate", run("evaluate", "--calibration", "class.json", *TEST))


def test_compare_label_demo_and_errors(schema, run):
    test = ("--test-probs", "fog_3_test_probs.npy", "--test-labels", "fog_3_test_labels.npy")
    valid(schema, "compare", run("compare", *TARGET, *test, "--methods", "uncorrected,ot,auto,oracle"))
    valid(schema, "label", run("label", "--unlabeled", "fog_3_unlabeled.npy", "--budget", "20", "--out", "rows.csv"))
    valid(schema, "label", run("label", "--for", "5"))
    valid(schema, "demo", run("demo", "--out", str(run.folder / "again")))
    valid(schema, "error", run("check", *CAL, "--unlabeled", "missing.npy", code=2))
    valid(schema, "error", run("check", *CAL, "--unlabeled", "calibration_labels.npy", code=2))


def test_the_schema_refuses_what_is_not_a_document(schema, run):
    """A field too many and one too few are found: the schema is closed."""
    run("calibrate", *TARGET, "--out", "closed.json")
    document = run("evaluate", "--calibration", "closed.json", *TEST)
    with pytest.raises(AssertionError, match="surprise"):
        valid(schema, "evaluate", {**document, "surprise": 1})
    with pytest.raises(AssertionError, match="coverage"):
        valid(schema, "evaluate", {key: value for key, value in document.items() if key != "coverage"})


def test_monitor(schema, run):
    """Every document of a monitor, from the first batch to the decision."""
    store = ("--store", "ek.sqlite")
    run("calibrate", *CAL, "--method", "uncorrected", "--out", "watched.json")
    added = ("monitor", "add", *store, "--reference", "watched.json", "--keep", "rows")
    valid(schema, "monitor-model", run(*added))
    found = run("monitor", "run", *store, "--batches", "clean_test_probs.npy", "fog_3_test_probs.npy", code=1)
    valid(schema, "monitor-run", found)
    fields = schema["$defs"]["ReceivedFields"]["properties"]
    for batch in found["batches"]:
        valid(schema, "monitor-batch", {name: batch[name] for name in fields})
        assert {"coverage_estimate", "readings", "verdict", "advice"} <= set(batch)
    valid(schema, "monitor-labels", run("monitor", "labels", *store, "--batch", "1", "--labels", "clean_test_labels.npy"))
    valid(schema, "monitor-propose", run("monitor", "propose", *store))
    valid(schema, "monitor-status", run("monitor", "status", *store))
    valid(schema, "monitor-model", run("monitor", "approve", *store, "--who", "Ada", "--why", "a test"))
    valid(schema, "monitor-calibration", run("monitor", "calibration", *store, "--out", "new.json"))
    valid(schema, "monitor-export", run("monitor", "export", *store, "--out", "history.csv"))
    valid(schema, "monitor-backup", run("monitor", "backup", *store, "--out", "copy.sqlite"))
    valid(schema, "monitor-status", run("monitor", "status", *store))
