"""Coverage for each class and each group."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from crepes import WrapClassifier
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import evenkeel as ek


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=300, random_state=0)
    X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, train_size=500, random_state=0)
    model = LogisticRegression(max_iter=300, C=3e-5).fit(X_train, y_train)
    return model, X_cal, y_cal, X_test, y_test


def imbalanced(rows, seed):
    """One point in ten is of class 1, which the model sees badly."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.1).astype(int)
    p = np.where(y == 1, rng.beta(2, 4, rows), rng.beta(1, 8, rows))
    return np.column_stack([1 - p, p]), y


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_crepes_gives_the_same_sets_per_class(digits, level):
    """crepes keeps a label whose p-value, (1 + scores of the class at or above) / (n_y + 1), equals the significance level.

    That is one rank more than ceil((n_y + 1)(1 - alpha)) where (n_y + 1) alpha is whole, and the same everywhere else.
    """
    model, X_cal, y_cal, X_test, _ = digits
    probs_cal, probs_test = model.predict_proba(X_cal), model.predict_proba(X_test)
    theirs = WrapClassifier(model)
    theirs.calibrate(X_cal, y_cal, class_cond=True)
    expected = theirs.predict_set(X_test, labels=False, confidence=level, smoothing=False).astype(bool)
    ours = ek.calibrate(probs_cal, y_cal, probs_test, method="uncorrected", alpha=1 - level, per="class")
    sets = ours.predict_set(probs_test)
    whole = np.array([round((n + 1) * (1 - level), 6) % 1 == 0 for n in np.bincount(y_cal)])
    assert whole.any() and not whole.all()
    assert np.array_equal(sets[:, ~whole], expected[:, ~whole])
    assert not (sets & ~expected).any()
    assert np.array_equal(ours.predict_set(probs_test, (1 - level) * (1 - 1e-9)), expected)
    assert len(np.unique(sets.sum(axis=1))) >= 3
    one = ek.calibrate(probs_cal, y_cal, probs_test, method="uncorrected", alpha=1 - level)
    assert not np.array_equal(sets, one.predict_set(probs_test))


def test_the_minority_is_warned_about_and_covered():
    probs_cal, y_cal = imbalanced(1000, 0)
    probs, y = imbalanced(5000, 1)
    one = ek.calibrate(probs_cal, y_cal, probs, method="uncorrected")
    before = one.evaluate(probs, y)["per_class"][1]["coverage"]
    assert before < 0.6
    assert any("class 1" in said and 'per="class"' in said for said in one.warnings_)
    assert any("class 1" in said for said in ek.check(probs_cal, y_cal, probs).warnings)
    assert pickle.loads(pickle.dumps(one)).warnings_ == one.warnings_
    per_class = ek.calibrate(probs_cal, y_cal, probs, method="uncorrected", per="class")
    after = per_class.evaluate(probs, y)["per_class"]
    assert all(row["coverage"] > 0.85 for row in after)
    assert after[1]["threshold"] == per_class.thresholds()[1] > per_class.thresholds()[0]
    # No warning where nothing is wrong.
    balanced = np.random.default_rng(3).dirichlet([1, 1], 500)
    labels = (np.random.default_rng(4).random(500) < balanced[:, 1]).astype(int)
    assert not ek.calibrate(balanced, labels, balanced, method="uncorrected").warnings_


@pytest.mark.parametrize("method", ["auto", "label-plan", "label-shift", "uncorrected"])
def test_the_command_line_gives_the_same_bytes_per_class(fog, fog_files, run, tmp_path, method):
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method=method, per="class")
    ours.save(tmp_path / "ours.json")
    theirs = tmp_path / "theirs.json"
    done = run("calibrate", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
               fog_files.probs_target, "--method", method, "--per", "class", "--json", "--out", theirs)  # fmt: skip
    assert done.code == 0, done.stderr
    assert theirs.read_text() == (tmp_path / "ours.json").read_text()
    lines = json.loads(done.stdout)["per_class"]
    assert lines == ours.lines_
    assert ek.load(theirs) == ours
    sets = tmp_path / "sets.npy"
    done = run("predict", "--calibration", theirs, "--probs", fog_files.probs_test, "--out", sets)
    assert done.code == 0, done.stderr
    assert np.array_equal(np.load(sets), ours.predict_set(fog.probs_test))


def test_groups_are_the_same_from_the_command_line(fog, fog_files, run, tmp_path):
    of_cal = np.where(np.arange(300) % 3 == 0, "north", "south")
    of_target = np.where(np.arange(300) % 2 == 0, "north", "south")
    of_test = np.where(np.arange(len(fog.y_test)) % 5 == 0, "north", "south")
    for name, groups in [("cal", of_cal), ("target", of_target), ("test", of_test)]:
        (tmp_path / f"{name}.csv").write_text("id,site\n" + "".join(f"{i},{g}\n" for i, g in enumerate(groups)))
    ours = ek.calibrate(
        fog.probs_cal, fog.y_cal, fog.probs_target, per="site", groups_cal=of_cal, groups_target=of_target.astype(object)
    )
    ours.save(tmp_path / "ours.json")
    theirs = tmp_path / "theirs.json"
    done = run("calibrate", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled",
               fog_files.probs_target, "--per", "site", "--cal-groups", tmp_path / "cal.csv", "--unlabeled-groups",
               f"{tmp_path}/target.csv:site", "--out", theirs)  # fmt: skip
    assert done.code == 0, done.stderr
    assert theirs.read_text() == (tmp_path / "ours.json").read_text()
    done = run("evaluate", "--calibration", theirs, "--probs", fog_files.probs_test, "--labels", fog_files.y_test,
               "--groups", tmp_path / "test.csv", "--json")  # fmt: skip
    assert done.code == 0, done.stderr
    document = ours.evaluate(fog.probs_test, fog.y_test, groups=of_test)
    assert json.loads(done.stdout) == document
    assert [row["group"] for row in document["per_group"]] == ["north", "south"]
    # Each group as if alone.
    north = ek.calibrate(fog.probs_cal[of_cal == "north"], fog.y_cal[of_cal == "north"], fog.probs_target[of_target == "north"])
    assert ours.thresholds()["north"] == north.threshold()
    with pytest.raises(ek.InvalidInputError, match='row 3 is of the group "west"'):
        ours.predict_set(fog.probs_test[:5], groups=["north"] * 3 + ["west", "north"])
    with pytest.raises(ek.InvalidInputError, match="no groups"):
        ours.predict_set(fog.probs_test)


def test_results_are_kept(fog, tmp_path):
    ours = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, per="class", y_target={3: 1, 7: 2, 11: 0})
    assert ours.method == "few-labels" and ours.per == "class" and ours.threshold() is None
    for other in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert other == ours and hash(other) == hash(ours)
    ours.save(tmp_path / "cal.json")
    assert ek.GroupedCalibration.load(tmp_path / "cal.json") == ours
    assert "threshold for each class" in repr(ours) and "<table" in ours._repr_html_()
    one = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target)
    one.save(tmp_path / "one.json")
    with pytest.raises(ek.IncompatibleError, match="one threshold for all"):
        ek.GroupedCalibration.load(tmp_path / "one.json")


def test_the_estimator_takes_classes_and_groups(digits):
    model, X_cal, y_cal, X_test, y_test = digits
    per_class = ek.ShiftConformalClassifier(model, confidence_level=[0.8, 0.9], method="uncorrected", per="class")
    _, sets = per_class.conformalize(X_cal, y_cal).predict_set(X_test)
    assert sets.shape == (len(X_test), 10, 2)
    for label in range(10):
        assert sets[y_test == label, label, 1].mean() > 0.75
    groups = X_cal[:, 20] > 8
    per_group = ek.ShiftConformalClassifier(model, method="uncorrected", per="pixel")
    per_group.conformalize(X_cal, y_cal, X_test, groups_cal=groups, groups_target=X_test[:, 20] > 8)
    _, sets = per_group.predict_set(X_test, groups=X_test[:, 20] > 8)
    assert set(per_group.calibration_.thresholds()) == {"False", "True"}
    assert sets.any(axis=1).mean() > 0.8
    with pytest.raises(ek.InvalidParameterError, match="call conformalize with all labels"):
        per_class.conformalize(X_cal, y_cal, X_test).partial_conformalize({0: 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"per": "site"}, "needs groups_cal"),
        ({"per": "class", "groups_cal": ["a"] * 300, "groups_target": ["a"] * 300}, "takes no groups"),
        ({"groups_cal": ["a"] * 300}, "groups_target is missing"),
        ({"groups_cal": ["a"] * 299, "groups_target": ["a"] * 300}, "groups_cal has 299 groups but probs_cal has 300 rows"),
        ({"groups_cal": ["a"] * 300, "groups_target": ["a"] * 301}, "groups_target has 301 groups"),
        ({"groups_cal": ["a"] * 299 + [""], "groups_target": ["a"] * 300}, "row 299 has no group"),
        ({"groups_cal": ["a"] * 299 + [None], "groups_target": ["a"] * 300}, "row 299 has no group"),
        ({"groups_cal": np.full(300, np.nan), "groups_target": ["a"] * 300}, "row 0 has no group"),
        ({"groups_cal": np.full(300, 1.5), "groups_target": ["a"] * 300}, "texts or integers"),
        ({"groups_cal": [["a", "b"]] * 300, "groups_target": ["a"] * 300}, "one per row"),
        ({"per": "class", "small_groups": "drop"}, "drop"),
        ({"per": "class", "other_groups": "pooled"}, "other_groups has no use"),
        ({"small_groups": "refuse"}, "small_groups has no use"),
        ({"per": "class", "method": "ot"}, "ot has no thresholds for each class"),
        ({"per": "class", "small_groups": "refuse", "alpha": 0.01}, "at least 99"),
        ({"per": 3}, "per is 3"),
    ],
)
def test_mistakes_are_named(fog, arguments, words):
    with pytest.raises(ek.EvenkeelError, match=words):
        ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, **{"method": "uncorrected", **arguments})


def test_a_class_without_calibration_points_is_in_the_rest(fog):
    y_cal = np.where(fog.y_cal == 9, 8, fog.y_cal)
    with pytest.raises(ek.InvalidInputError, match="class 9 has 0"):
        ek.calibrate(fog.probs_cal, y_cal, fog.probs_target, method="uncorrected", per="class")
    cal = ek.calibrate(
        fog.probs_cal, y_cal, fog.probs_target, method="uncorrected", per="class", small_groups="all-labels"
    )
    assert cal.thresholds()[9] == np.inf and cal.predict_set(fog.probs_test)[:, 9].all()
    assert "keep every label (class 9)" in " ".join(cal.warnings_)
