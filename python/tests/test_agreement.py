"""Same inputs, same seed: the Rust library, the command line and Python give the same bits.

The Rust library is asked through its example `calibration_bits`.
"""

from __future__ import annotations

import json
import re
import subprocess

import numpy as np
import pytest

import evenkeel as ek

CALIBRATIONS = [
    {"method": "uncorrected"},
    {"method": "ot"},
    {"method": "ot", "sandwich": "min-max", "steps": 200},
    {"method": "ot", "sampling": "sampled", "steps": 30},
    {"method": "ot", "objective": "wasserstein", "steps": 100, "learning_rate": 0.01},
    {"method": "ot", "objective": "finite-sample", "steps": 300},
    {"method": "ot", "weights": "function", "steps": 100},
    {"method": "ot", "grid": 200, "bound_grid": 500, "bandwidth_factor": 0.3, "steps": 100},
    {"method": "ot", "min_effective": 200, "steps": 2000},
    {"method": "ot", "tolerance": 1e-3, "steps": 3000},
    {"method": "ot", "score": "aps", "steps": 100},
    {"method": "ot", "score": "raps", "randomised": True, "raps_lambda": 0.05, "raps_k": 2, "steps": 100},
    {"method": "uncorrected", "score": "margin"},
    {"method": "auto"},
    {"method": "auto", "shift_level": 1e-3},
    {"method": "label-plan"},
    {"method": "likelihood-ratio"},
    {"method": "likelihood-ratio", "ratio": "network"},
    {"method": "ecp"},
    {"method": "ecp", "ecp_power": 2},
    {"method": "qtc"},
    {"method": "qtc", "qtc_rule": "source-coverage"},
    {"method": "conditional"},
    {"method": "conditional", "gamma": 1.0, "lambda_": 0.05},
    {"method": "label-shift"},
    {"method": "label-shift", "label_shift": "em"},
]


def arguments(options):
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        words += [option] if value is True else [option, value]
    return words


def calibrated(run, files, out, options, *more):
    ran = run(
        "calibrate", "--cal-probs", files.probs_cal, "--cal-labels", files.y_cal, "--unlabeled", files.probs_target,
        "--out", out, "--json", *arguments(options), *more,
    )  # fmt: skip
    assert ran.code == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("options", CALIBRATIONS, ids=lambda options: " ".join(map(str, options.values())))
@pytest.mark.parametrize("seed", [0, 7])
def test_a_calibration_is_the_command_lines_bit_for_bit(run, fog, fog_files, tmp_path, options, seed):
    out = tmp_path / "cal.json"
    summary = calibrated(run, fog_files, out, options, "--seed", seed, "--alpha", 0.2)
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, alpha=0.2, random_state=seed, **options)
    theirs = ek.load(out)
    assert ours == theirs  # Every number of the file: threshold, weights, trace, bounds.
    assert ours.threshold() == theirs.threshold()
    assert ours.threshold() in (None, np.inf if summary["threshold"] is None else summary["threshold"])
    used = np.isfinite(ours.scores_)
    order = np.argsort(ours.scores_[used], kind="stable")
    assert np.array_equal(ours.scores_[used][order], theirs.scores_)
    assert np.array_equal(ours.weights_[used][order], theirs.weights_)
    ran = run("predict", "--calibration", out, "--probs", fog_files.probs_test, "--out", tmp_path / "sets.npy")
    assert ran.code == 0, ran.stderr
    assert np.array_equal(np.load(tmp_path / "sets.npy"), ours.predict_set(fog.probs_test))


@pytest.mark.parametrize("method", ["uncorrected", "ot", "auto", "qtc", "ecp", "conditional", "label-shift"])
def test_a_calibration_says_what_the_command_line_says(run, fog, fog_files, tmp_path, method):
    ran = run("calibrate", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
              fog_files.probs_target, "--out", tmp_path / "cal.json", "--method", method)  # fmt: skip
    assert ran.code == 0, ran.stderr
    theirs = [re.sub(r" in [\d.]+ s\.$", ".", line) for line in ran.stdout.splitlines() if not line.startswith("Stored in ")]
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method=method)
    title, *said = repr(ours).splitlines()
    assert title == "<evenkeel.Calibration of 10 classes, score lac>" and said == theirs
    assert said == repr(ek.load(tmp_path / "cal.json")).splitlines()[1:]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_logits_agree(run, fog, tmp_path, kind):
    from types import SimpleNamespace

    logits = {name: np.log(getattr(fog, name) + 1e-9).astype(kind) for name in ("probs_cal", "probs_target", "probs_test")}
    files = SimpleNamespace(y_cal=tmp_path / "y.npy", **{name: tmp_path / f"{name}.npy" for name in logits})
    np.save(files.y_cal, fog.y_cal)
    for name, array in logits.items():
        np.save(getattr(files, name), array)
    calibrated(run, files, tmp_path / "cal.json", {"method": "ot", "steps": 50}, "--logits")
    ours = ek.calibrate(logits["probs_cal"], fog.y_cal, logits["probs_target"], method="ot", steps=50, logits=True)
    assert ours == ek.load(tmp_path / "cal.json")
    ran = run("predict", "--calibration", tmp_path / "cal.json", "--probs", files.probs_test, "--out", tmp_path / "s.npy",
              "--logits")  # fmt: skip
    assert ran.code == 0, ran.stderr
    assert np.array_equal(np.load(tmp_path / "s.npy"), ours.predict_set(logits["probs_test"], logits=True))


def test_fixed_weights_agree(run, fog, fog_files, tmp_path):
    weights = np.linspace(0, 2, 300)
    np.save(tmp_path / "w.npy", weights)
    calibrated(run, fog_files, tmp_path / "cal.json", {"method": "fixed"}, "--weights-file", tmp_path / "w.npy")
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="fixed", weights_cal=weights)
    assert ours == ek.load(tmp_path / "cal.json")
    assert np.allclose(ours.weights_, weights / weights.sum(), atol=1e-15)  # In the order of the rows.


@pytest.mark.parametrize("method", ["likelihood-ratio", "conditional"])
def test_features_agree(run, fog, fog_files, tmp_path, method):
    features = {name: np.log(getattr(fog, name)[:, :3].astype(float) + 0.01) for name in ("probs_cal", "probs_target", "probs_test")}
    for name, array in features.items():
        np.save(tmp_path / f"{name}-features.npy", array)
    calibrated(run, fog_files, tmp_path / "cal.json", {"method": method}, "--cal-features",
               tmp_path / "probs_cal-features.npy", "--unlabeled-features", tmp_path / "probs_target-features.npy")  # fmt: skip
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method=method, features_cal=features["probs_cal"],
                        features_target=features["probs_target"])  # fmt: skip
    assert ours == ek.load(tmp_path / "cal.json") and ours.threshold() is None
    ran = run("predict", "--calibration", tmp_path / "cal.json", "--probs", fog_files.probs_test, "--features",
              tmp_path / "probs_test-features.npy", "--out", tmp_path / "sets.npy")  # fmt: skip
    assert ran.code == 0, ran.stderr
    sets = ours.predict_set(fog.probs_test, features=features["probs_test"])
    assert np.array_equal(np.load(tmp_path / "sets.npy"), sets)
    assert "for each point" in repr(ours) and "for each point" in ours._repr_html_()
    with pytest.raises(ek.EvenkeelError, match="needs features: one row of features per point"):
        ours.predict_set(fog.probs_test)


def test_known_ratios_agree(run, fog, fog_files, tmp_path):
    ratios, test_ratios = np.linspace(0.2, 3, 300), np.linspace(0.2, 3, 2000)
    np.save(tmp_path / "r.npy", ratios)
    np.save(tmp_path / "t.npy", test_ratios)
    calibrated(run, fog_files, tmp_path / "cal.json", {"method": "likelihood-ratio"}, "--cal-ratios", tmp_path / "r.npy")
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="likelihood-ratio", ratios_cal=ratios)
    assert ours == ek.load(tmp_path / "cal.json")
    ran = run("predict", "--calibration", tmp_path / "cal.json", "--probs", fog_files.probs_test, "--ratios",
              tmp_path / "t.npy", "--out", tmp_path / "sets.npy")  # fmt: skip
    assert ran.code == 0, ran.stderr
    assert np.array_equal(np.load(tmp_path / "sets.npy"), ours.predict_set(fog.probs_test, ratios=test_ratios))


def test_more_rows_than_are_kept_agree(run, fog, tmp_path):
    """The target data are sketched above 2**21 candidate scores; both sides must do so alike."""
    from types import SimpleNamespace

    target = np.ascontiguousarray(np.tile(fog.probs_test, (120, 1)))
    files = SimpleNamespace(probs_cal=tmp_path / "c.npy", y_cal=tmp_path / "y.npy", probs_target=tmp_path / "t.npy")
    for path, array in ((files.probs_cal, fog.probs_cal), (files.y_cal, fog.y_cal), (files.probs_target, target)):
        np.save(path, array)
    for options in ({"method": "ot", "steps": 50}, {"method": "ot", "sandwich": "min-max", "steps": 20},
                    {"method": "uncorrected"}):  # fmt: skip
        calibrated(run, files, tmp_path / "cal.json", options)
        assert ek.calibrate(fog.probs_cal, fog.y_cal, target, **options) == ek.load(tmp_path / "cal.json")
    ran = run("check", "--cal-probs", files.probs_cal, "--cal-labels", files.y_cal, "--unlabeled", files.probs_target, "--json")
    ours, theirs = ek.check(fog.probs_cal, fog.y_cal, target).to_dict(), json.loads(ran.stdout)
    # What to type differs: a command there, a call here.
    assert ours.pop("command").startswith("evenkeel.calibrate(") and theirs.pop("command").startswith("evenkeel calibrate ")
    assert ours == theirs


@pytest.mark.parametrize("alpha", [None, 0.05, 0.3])
def test_sets_and_evaluation_agree(run, fog, fog_files, tmp_path, alpha):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=100, score="raps", randomised=True)
    cal.save(tmp_path / "cal.json")
    more = [] if alpha is None else ["--alpha", alpha]
    ran = run("predict", "--calibration", tmp_path / "cal.json", "--probs", fog_files.probs_test, "--out",
              tmp_path / "sets.npy", *more)  # fmt: skip
    assert ran.code == 0, ran.stderr
    assert np.array_equal(np.load(tmp_path / "sets.npy"), cal.predict_set(fog.probs_test, alpha))
    ran = run("evaluate", "--calibration", tmp_path / "cal.json", "--probs", fog_files.probs_test, "--labels",
              fog_files.y_test, "--json", *more)  # fmt: skip
    assert json.loads(ran.stdout) == cal.evaluate(fog.probs_test, fog.y_test, alpha)


def test_a_check_agrees(run, fog, fog_files):
    words = ["check", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
             fog_files.probs_target, "--delta", 0.1, "--bound-grid", 300, "--permutations", 99, "--seed", 3]  # fmt: skip
    report = ek.check(
        fog.probs_cal, fog.y_cal, fog.probs_target, delta=0.1, bound_grid=300, permutations=99, random_state=3
    )
    document, ours = json.loads(run(*words, "--json").stdout), report.to_dict()
    assert document.pop("command") and ours.pop("command")
    assert ours == document and "recommended" in document

    def without_call(text):
        """What to type differs: a command there, a call here."""
        return text.splitlines()[:3]

    assert without_call(repr(report)) == without_call(run(*words).stdout)


def test_a_check_of_a_calibration_agrees(run, fog, fog_files, tmp_path):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, alpha=0.2, random_state=3)
    cal.save(tmp_path / "cal.json")
    labels = np.full(len(fog.probs_test), -1)
    labels[:40] = fog.y_test[:40]
    np.save(tmp_path / "labels.npy", labels)
    sheet = "row,label\n" + "".join(f"{row},{fog.y_test[row]}\n" for row in reversed(range(40)))
    (tmp_path / "sheet.csv").write_text(sheet)
    words = ["check", "--calibration", tmp_path / "cal.json", "--unlabeled", fog_files.probs_test, "--json"]
    document = json.loads(run(*words).stdout)
    assert document["threshold"] == cal.threshold() and document["alpha"] == 0.2
    assert ek.check(calibration=cal, probs_target=fog.probs_test).to_dict() == document
    found = [
        ek.check(calibration=cal, probs_target=fog.probs_test, y_target=labels),
        ek.check(calibration=ek.load(tmp_path / "cal.json"), probs_target=fog.probs_test,
                 y_target={row: fog.y_test[row] for row in range(40)}),
        ek.check(fog.probs_cal, fog.y_cal, fog.probs_test, y_target=labels.astype(float)),
    ]  # fmt: skip
    for file in ("labels.npy", "sheet.csv"):
        document = json.loads(run(*words, "--target-labels", tmp_path / file).stdout)
        assert document == found[0].to_dict() == found[1].to_dict()
        assert document["coverage_measured"]["k"] == 40
    assert found[2].coverage_measured.k == 40 and found[2].threshold != found[0].threshold


@pytest.mark.parametrize("methods", ["uncorrected,ot,oracle", "all"])
def test_a_comparison_agrees(run, fog, fog_files, methods):
    words = ["compare", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
             fog_files.probs_target, "--test-probs", fog_files.probs_test, "--test-labels", fog_files.y_test,
             "--methods", methods, "--steps", 200]  # fmt: skip
    ran = run(*words, "--json")
    assert ran.code == 0, ran.stderr
    theirs = json.loads(ran.stdout)
    found = ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test, methods, steps=200)
    ours = found.to_dict()
    for document in (ours, theirs):
        for row in document["rows"]:
            assert row.pop("seconds") >= 0
        # What few-labels lacks is spelled as each shell calls it.
        document["warnings"] = [said for said in document["warnings"] if not said.startswith("few-labels is left out")]
    assert ours == theirs

    def without_seconds(text):
        lines = [line for line in text.splitlines() if "few-labels is left out" not in line]
        return [re.sub(r"\s+[\d.]+(?=  \S*[a-z])", "", line) for line in lines]  # the column before the last

    assert without_seconds(repr(found)) == without_seconds(run(*words).stdout.rstrip("\n"))


def test_the_rust_library_agrees(library, fog, tmp_path):
    """Through the example that prints what `ShiftCalibrator::calibrate` returns."""
    fog.probs_cal.astype("<f8").tofile(tmp_path / "cal.f64")
    fog.y_cal.astype("<u8").tofile(tmp_path / "labels.u64")
    fog.probs_target.astype("<f8").tofile(tmp_path / "target.f64")
    ran = subprocess.run(
        [library, tmp_path / "cal.f64", tmp_path / "labels.u64", tmp_path / "target.f64", "10"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (tmp_path / "cal.json").write_text(ran.stdout)
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot")
    theirs = ek.load(tmp_path / "cal.json")
    assert np.array_equal(np.sort(ours.scores_), theirs.scores_) and ours.threshold() == theirs.threshold()
    assert ours.bound_after_ == theirs.bound_after_


def test_thresholds_of_labels_are_called_so(run, fog, fog_files, tmp_path):
    ran = run("calibrate", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
              fog_files.probs_target, "--method", "label-shift", "--out", tmp_path / "cal.json")  # fmt: skip
    said = "A threshold for each label at alpha = 0.1 by label-shift"
    assert ran.stdout.startswith(said) and said in repr(ek.load(tmp_path / "cal.json"))


@pytest.mark.parametrize("delta", [0.05, 0.01, 0.001])
def test_auto_tests_as_check_does(fog, delta):
    report = ek.check(fog.probs_cal, fog.y_cal, fog.probs_target, delta=delta)
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, shift_level=delta)
    test = cal.evidence_["test"]
    assert (report.shift.p_value, report.shift.permutations) == (test["p_value"], test["permutations"])
    assert cal.evidence_["plan"]["certificate"]["delta"] == delta


def test_a_level_that_no_test_can_reach_is_refused(run, fog, fog_files, tmp_path):
    ran = run("calibrate", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
              fog_files.probs_target, "--shift-level", "1e-9", "--out", tmp_path / "cal.json")  # fmt: skip
    assert ran.code == 2 and "so it could never reject" in ran.stderr
    with pytest.raises(ek.EvenkeelError, match="so it could never reject"):
        ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, shift_level=1e-9)
