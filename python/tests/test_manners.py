"""What Python users expect: warnings at their own line, pages, sets in words, messages in Python's words."""

from __future__ import annotations

import copy
import pickle
import re
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import evenkeel as ek

NAMES = ["top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]


class Reader:
    """A classifier whose inputs are its outputs."""

    def __init__(self, classes):
        self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return self.classes_[np.asarray(X).argmax(axis=1)]


def warned(call):
    """What a call returns, and the warnings of this package that it raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call()
    return made, [one for one in caught if issubclass(one.category, ek.ShiftWarning)]


# A level of 10 % is warned about by every call that takes one.
def test_every_call_warns_of_what_it_holds_at_the_line_of_the_caller(fog):
    few = {row: int(fog.y_test[row]) for row in range(0, 200, 4)}
    data = (fog.probs_cal, fog.y_cal, fog.probs_target)
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_test[:200])
    regression = ek.ShiftConformalRegressor(LinearRegression(), confidence_level=0.1, prefit=False)
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 1))
    y = X[:, 0] + random.normal(size=400) * (1 + 3 * (X[:, 0] > 0))
    regression.fit(X[:100], y[:100])
    calls = {
        "calibrate": (lambda: ek.calibrate(*data, alpha=0.9), lambda made: made.warnings_),
        "per class": (lambda: ek.calibrate(*data, alpha=0.9, per="class", method="uncorrected"), lambda made: made.warnings_),
        "check": (lambda: ek.check(*data, alpha=0.9), lambda made: made.warnings_),
        "compare": (
            lambda: ek.compare(*data, fog.probs_test, fog.y_test, ["uncorrected", "ot"], alpha=0.9),
            lambda made: made.warnings,
        ),
        "evaluate": (lambda: cal.evaluate(fog.probs_test, fog.y_test, 0.9), lambda made: made["warnings"]),
        "update": (lambda: cal.update(fog.probs_test[:200], few), lambda made: made.warnings_),
        "classifier": (
            lambda: ek.ShiftConformalClassifier(Reader(range(10)), confidence_level=0.1).conformalize(*data),
            lambda made: made.calibration_.warnings_,
        ),
        "classifier's check": (
            lambda: ek.ShiftConformalClassifier(Reader(range(10)), confidence_level=0.1).check(*data),
            lambda made: made.warnings_,
        ),
        "regressor": (
            lambda: regression.conformalize(X[100:250], y[100:250], X[250:] + 1),
            lambda made: made.calibration_.warnings_,
        ),
        "regressor's check": (lambda: regression.check(X[250:] + 1), lambda made: made.warnings),
        "check_regression": (lambda: ek.check_regression(X[:, 0], y, X[:, 0] + 2), lambda made: made.warnings),
    }
    silent = []
    for name, (call, held) in calls.items():
        made, caught = warned(call)
        assert [str(one.message) for one in caught] == held(made), name
        assert all(one.filename == __file__ for one in caught), name
        if not caught:
            silent.append(name)
    # Regressors warn of other things than a level; the rest must have had something to say here.
    assert set(silent) <= {"regressor"}


def test_a_warning_can_be_made_an_error(fog):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ek.ShiftWarning)
        with pytest.raises(ek.ShiftWarning, match="a level of 10.0 %"):
            ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected", alpha=0.9)


def test_steps_of_another_call_do_not_warn():
    """A classifier over bins is calibrated more than once on the way; only what it ends with is told."""
    random = np.random.default_rng(1)
    X = random.normal(size=(900, 2))
    y = X @ [2.0, 1.0] + random.normal(size=900)
    conformal = ek.ShiftConformalRegressor(LogisticRegression(), prefit=False, bins=8).fit(X[:300], y[:300])
    made, caught = warned(lambda: conformal.conformalize(X[300:600], y[300:600], X[600:] + 0.5))
    assert [str(one.message) for one in caught] == made.calibration_.warnings_
    report, caught = warned(lambda: conformal.check(X[600:] + 0.5, {0: y[600], 1: y[601]}))
    assert [str(one.message) for one in caught] == report.warnings


def test_what_compare_leaves_out_is_told_and_not_warned_of(fog):
    rows, caught = warned(lambda: ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test[:100], fog.y_test[:100]))
    assert rows.left_out and set(rows.left_out) <= set(rows.warnings)
    assert not set(rows.left_out) & {str(one.message) for one in caught}


def test_an_evaluation_and_a_comparison_have_pages(fog, tmp_path):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, classes=NAMES)
    found = cal.evaluate(fog.probs_test, fog.y_test)
    rows = ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test, ["uncorrected", "auto"], classes=NAMES)
    per_class = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", per="class", classes=NAMES)
    groups = np.where(np.arange(len(fog.y_test)) % 2, "east & west", "north")
    per_group = ek.calibrate(
        fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", groups_cal=groups[:300], groups_target=groups[:300]
    )
    of_groups = per_group.evaluate(fog.probs_test, fog.y_test, groups=groups)
    results = (found, rows, per_class.evaluate(fog.probs_test, fog.y_test), of_groups)
    for place, result in enumerate(results):
        page = result.to_html(tmp_path / f"{place}.html", title="model <7>")
        assert (tmp_path / f"{place}.html").read_text(encoding="utf-8") == page and page.startswith("<!DOCTYPE html>")
        assert "model &lt;7&gt;" in page and "<script src" not in page and "--" not in re.sub(r"<(style|script).*?</\1>|<!--.*?-->|--[a-z]", "", page, flags=re.S)
        assert result.to_html(class_names=[f"<{label}>" for label in range(10)]).count("<3>") == 0
        again = pickle.loads(pickle.dumps(result))
        with pytest.raises(ek.EvenkeelError, match="went through pickle or was copied"):
            again.to_html()
    assert "sneaker" in found.to_html() and "sneaker" in rows.to_html() and "east &amp; west" in of_groups.to_html()
    assert "auto" in rows.to_html() and f"{100 * found['coverage']:.1f}" in found.to_html()
    with pytest.raises(ek.FileError, match="cannot be written"):
        rows.to_html(tmp_path / "nowhere" / "page.html")


def test_an_evaluation_is_the_dict_of_the_command_line(fog):
    cal = ek.calibrate(fog.probs_cal, np.array(NAMES)[fog.y_cal], fog.probs_target, classes=NAMES)
    found = cal.evaluate(fog.probs_test, np.array(NAMES)[fog.y_test])
    assert isinstance(found, dict) and found == dict(found) == copy.deepcopy(found) == pickle.loads(pickle.dumps(found))
    assert [row["name"] for row in found["per_class"]] == NAMES
    assert found["coverage"] == ek.metrics.coverage(cal.predict_set(fog.probs_test), fog.y_test)


def test_a_calibration_per_group_is_used_like_any_other(fog, tmp_path):
    """One class wraps both: what they share is the same call."""
    groups = np.where(np.arange(300) % 2, "east", "west")
    one = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", classes=NAMES)
    grouped = ek.calibrate(
        fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", groups_cal=groups, groups_target=groups, classes=NAMES
    )
    for cal, own in ((one, None), (grouped, groups)):
        cal.save(tmp_path / "cal.json")
        assert (tmp_path / "cal.json").read_text(encoding="utf-8") == cal.to_json() + "\n"
        again = ek.load(tmp_path / "cal.json")
        assert type(again) is type(cal) and again == cal == pickle.loads(pickle.dumps(cal)) == copy.deepcopy(cal) and hash(again) == hash(cal)
        assert cal.classes_ == NAMES and cal.predict_set(fog.probs_target, groups=own).classes == NAMES
    assert one != grouped
    with pytest.raises(ek.IncompatibleError, match="groups have no use here"):
        one.predict_set(fog.probs_target, groups=groups)
    with pytest.raises(ek.InvalidInputError, match="give the group of each row"):
        grouped.evaluate(fog.probs_target, fog.y_cal)
    with pytest.raises(ek.IncompatibleError, match="threshold for each class or group, and this asks about one"):
        ek.check(calibration=grouped, probs_target=fog.probs_target)


def test_pages_are_those_of_the_command_line(fog, fog_files, run, tmp_path):
    """The same contents; names of files, commands, dates and seconds are the shells' own."""
    rows = ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test, ["uncorrected", "auto"])
    said = run(
        "compare", "--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled", fog_files.probs_target,
        "--test-probs", fog_files.probs_test, "--test-labels", fog_files.y_test, "--methods", "uncorrected,auto",
        "--html", tmp_path / "cli.html", "--quiet",
    )  # fmt: skip
    assert said.code == 0, said.stderr

    def figures(page):
        return re.findall(r"<svg.*?</svg>", page, flags=re.S)

    ours, theirs = figures(rows.to_html()), figures((tmp_path / "cli.html").read_text(encoding="utf-8"))
    assert len(ours) >= 3 and ours == theirs


@pytest.mark.parametrize("classes", [NAMES, range(10), range(1, 11), [3, 1, 4, 15, 9, 2, 6, 5, 35, 8]], ids=["words", "from 0", "from 1", "any"])
def test_sets_of_an_estimator_speak_in_its_classes(fog, classes):
    classes = np.asarray(classes)
    model = Reader(classes)
    conformal = ek.ShiftConformalClassifier(model, confidence_level=[0.8, 0.9], method="uncorrected")
    conformal.conformalize(fog.probs_cal, classes[fog.y_cal], fog.probs_target)
    _, sets = conformal.predict_set(fog.probs_test)
    assert sets.shape == (2000, 10, 2) and sets.dtype == bool
    plain = np.asarray(sets)
    by_hand = [np.mean(plain[np.arange(2000), fog.y_test, level]) for level in range(2)]
    assert ek.metrics.coverage(sets, classes[fog.y_test]).tolist() == pytest.approx(by_hand, abs=0)
    assert ek.metrics.coverage(sets[:, :, 1], classes[fog.y_test]) == by_hand[1]
    assert ek.metrics.mean_set_size(sets).tolist() == [plain[:, :, level].sum(axis=1).mean() for level in range(2)]
    assert sets.to_labels(level=1)[7] == [classes.tolist()[place] for place in np.flatnonzero(plain[7, :, 1])]
    assert sets.to_labels(0) == sets[:, :, 0].to_labels() == pickle.loads(pickle.dumps(sets)).to_labels(level=0)
    with pytest.raises(ValueError, match="sets at 2 levels; say which"):
        sets.to_labels()
    with pytest.raises(ValueError, match="not whole sets"):
        sets[:, :5].to_labels(0)
    with pytest.raises(ValueError, match="one level only"):
        sets[:, :, 0].to_labels(1)


def test_metrics_take_labels_as_people_have_them(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected", classes=NAMES)
    sets = cal.predict_set(fog.probs_test)
    expected = np.asarray(sets)[np.arange(2000), fog.y_test].mean()
    words = np.array(NAMES)[fog.y_test]
    stacked = np.stack([np.asarray(sets)] * 3, axis=2)
    for y in (
        words, list(words), words.astype(object), words.astype("S"), pandas.Series(words), pandas.Series(words, dtype="string"),
        pandas.Series(pandas.Categorical(words)), pandas.Categorical(words), polars.Series(words),
        polars.Series(words).cast(polars.Categorical), polars.Series(words, dtype=polars.Enum(NAMES)), pyarrow.array(list(words)),
        pyarrow.array(list(words)).dictionary_encode(), pyarrow.chunked_array([list(words[:900]), list(words[900:])]),
        pandas.DataFrame({"label": words}), polars.DataFrame({"label": words}).lazy(), fog.y_test, fog.y_test.astype(np.uint8),
        fog.y_test.astype(float), pandas.Series(fog.y_test, dtype="Int64"),
    ):  # fmt: skip
        assert ek.metrics.coverage(sets, y) == expected
        assert ek.metrics.coverage(np.asarray(sets), y, classes=NAMES) == expected
        assert ek.metrics.coverage(stacked, y, classes=NAMES).tolist() == [expected] * 3
        assert cal.evaluate(fog.probs_test, y)["coverage"] == expected
    with pytest.raises(ek.InvalidInputError, match=r"y\[3\] is 'hat', which names no class"):
        ek.metrics.coverage(sets, [*words[:3], "hat", *words[4:]])


def test_booleans_are_labels(fog):
    """Two classes: False is the first and True the second, or those that are called so."""
    positive = np.random.default_rng(0).beta(2, 2, 300)
    probs, truth = np.column_stack([1 - positive, positive]), np.random.default_rng(1).random(300) < positive
    cal = ek.calibrate(probs, truth, method="uncorrected")
    assert cal == ek.calibrate(probs, truth.astype(int), method="uncorrected")
    sets = cal.predict_set(probs)
    expected = np.mean(np.asarray(sets)[np.arange(300), truth.astype(int)])
    for y in (truth, truth.tolist(), pandas.Series(truth), pandas.Series(truth, dtype="boolean"), polars.Series(truth), pyarrow.array(truth)):
        assert ek.metrics.coverage(sets, y) == expected
    for names in (["True", "False"], [True, False], ["true", "false"]):
        swapped = ek.calibrate(pandas.DataFrame(probs[:, ::-1], columns=names), truth, method="uncorrected")
        assert swapped.threshold() == cal.threshold()


@pytest.mark.parametrize(
    "values",
    [lambda p: p, lambda p: p.tolist(), lambda p: p[:, np.newaxis], lambda p: pandas.Series(p), lambda p: polars.Series(p), lambda p: pyarrow.array(p)],
)
def test_one_number_a_row_is_told_how_to_become_a_matrix(values):
    p = np.random.default_rng(0).random(50)
    y = (p > 0.5).astype(int)
    with pytest.raises(ek.InvalidInputError, match=r"probs_cal: it has one number a row.*np.column_stack\(\[1 - p, p\]\)"):
        ek.calibrate(values(p), y, values(p))
    two = np.column_stack([1 - p, p])
    cal = ek.calibrate(two, y, two, method="uncorrected")
    with pytest.raises(ek.InvalidInputError, match=r"probs: it has one number a row.*p.reshape\(1, -1\)"):
        cal.predict_set(values(p))


#: Calls that must fail, each for a reason of its own.
def wrong_calls(fog, tmp_path):
    cal, y, target, test, y_test = fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test
    logits = np.log(cal + 1e-6) * 3
    bad = target.copy()
    bad[5, 3] = np.nan
    fitted = ek.calibrate(cal, y, target, classes=NAMES)
    grouped = ek.calibrate(cal, y, target, groups_cal=["a", "b"] * 150, groups_target=["a", "b"] * 150, method="uncorrected")
    fitted.save(tmp_path / "cal.json")
    damaged = tmp_path / "damaged.json"
    damaged.write_text((tmp_path / "cal.json").read_text()[:500])
    named = pandas.DataFrame(cal, columns=NAMES)
    conformal = ek.ShiftConformalClassifier(Reader(range(10)))
    regressor = ek.ShiftConformalRegressor(LinearRegression())
    X = np.arange(20.0)[:, np.newaxis]
    yield from (lambda method=method: ek.calibrate(cal, y, target, method) for method in ("ott", "fixed", "oracle", "", 3))
    for options in (
        {"stpes": 3}, {"steps": 3}, {"steps": -1, "method": "ot"}, {"score": "LAC"}, {"raps_k": 2}, {"alpha": 0}, {"alpha": 1.5},
        {"alpha": "x"}, {"random_state": -1}, {"logits": True}, {"logits": "yes"}, {"features_cal": cal}, {"ratios_cal": y},
        {"weights_cal": y}, {"y_target": [1, 2]}, {"y_target": {5: 11}}, {"y_target": {5000: 1}}, {"y_target": {0: 1}, "accuracy": 0.5},
        {"second": [cal]}, {"second": [(cal, target[:5])]}, {"second": [(cal, target)], "y_target": {0: 1}}, {"per": 3}, {"per": "class", "method": "ot"},
        {"per": "region"}, {"groups_cal": y}, {"groups_cal": y[:5], "groups_target": y}, {"small_groups": "x", "per": "class"},
        {"small_groups": "refuse", "per": "class", "alpha": 0.001, "method": "uncorrected"}, {"other_groups": "x"}, {"classes": NAMES[:3]},
        {"classes": ["a"] * 10}, {"guarantee": 2}, {"guarantee": 0.9}, {"accuracy": 3}, {"assume": "nothing"}, {"shift_level": 0},
        {"shift_level": 1e-9}, {"method": "few-labels"}, {"method": "conditional", "lambda_": -1},
        {"method": "ot", "sandwich": "min-max", "sampling": "sampled"}, {"method": "likelihood-ratio", "ratio": "known"},
        {"method": "likelihood-ratio", "features_cal": cal}, {"method": "ecp", "score": "raps"}, {"randomised": "no"}, {"bound_grid": 0, "method": "ot"}, {"grid": 1, "method": "ot"},
    ):  # fmt: skip
        yield lambda options=options: ek.calibrate(cal, y, target, **options)
    for data in (
        (logits, y, target), (cal, y, logits), (cal, y, bad), (cal, y[:5], target), (cal, y + 5, target), (cal, y - 1, target),
        (cal, y + 0.5, target), (y, cal, target), (cal, cal, target), (cal * 2, y, target), (-cal, y, target), (cal[:0], y[:0], target),
        (cal, y, target[:0]), (cal, y, target[:, :9]), (cal[:, :1], y, target), (cal[:, 0], y, target), (cal, list("ab") * 150, target),
        (cal, None, target), (None, y, target), (cal, y, None), ("cal.npy", y, target), (cal, y, [[0.5], [0.5, 0.5]]), (named, y, named[NAMES[:9]]),
        (named, y, named.rename(columns={"bag": "box"})), (cal.astype(str), y, target), (cal.astype(complex), y, target), (cal, [{}] * 300, target),
        (cal[:, :, np.newaxis, np.newaxis], y, target), (np.full_like(cal, np.inf), y, target), (cal, np.full(300, np.nan), target),
    ):  # fmt: skip
        yield lambda data=data: ek.calibrate(*data)
        yield lambda data=data: ek.check(*data)
        yield lambda data=data: ek.compare(*data, test, y_test, "uncorrected")
    for options in (
        {"delta": 0}, {"delta": 2}, {"permutations": 3}, {"permutations": -1}, {"alpha": 7}, {"steps": 3}, {"bound_grid": 1}, {"logits": True},
        {"calibration": fitted}, {"y_target": {0: 99}}, {"accuracy": -1}, {"score": "plan"}, {"random_state": 0.5}, {"second": [(cal, cal[:3])]},
    ):  # fmt: skip
        yield lambda options=options: ek.check(cal, y, target, **options)
    yield lambda: ek.check(calibration=grouped, probs_target=target)
    yield lambda: ek.check(calibration=fitted, probs_target=target[:, :4])
    yield lambda: ek.check(calibration=fitted)
    yield lambda: ek.check()
    for methods in ("ott", ["ot", "ot"], [], 3, "fixed", "few-labels", ["best"]):
        yield lambda methods=methods: ek.compare(cal, y, target, test, y_test, methods)
    yield lambda: ek.compare(cal, y, target, test, y_test[:9])
    yield lambda: ek.compare(cal, y, target, test, y_test, "uncorrected", steps=3)
    for side in ("features_cal", "features_target", "features_test", "ratios_cal", "ratios_test", "weights_cal"):
        yield lambda side=side: ek.compare(cal, y, target, test, y_test, "uncorrected", **{side: test if side.startswith("features") else y_test})
    for one in (fitted, grouped):
        for rows in (logits, bad, test[:, :3], test[:0], test[:, 0], None, "x", test * 2):
            yield lambda one=one, rows=rows: one.predict_set(rows, groups=["a"] * 300)
            yield lambda one=one, rows=rows: one.evaluate(rows, y, groups=["a"] * 300)
        yield lambda one=one: one.predict_set(test, alpha=2, groups=["a"] * 2000)
        yield lambda one=one: one.predict_set(test, logits=True, groups=["a"] * 2000)
        yield lambda one=one: one.predict_set(test, groups=["c"] * 2000)
        yield lambda one=one: one.predict_set(test, groups=["a"] * 3)
        yield lambda one=one: one.predict_set(test, features=test, groups=["a"] * 2000)
        yield lambda one=one: one.predict_set(test, ratios=y_test, groups=["a"] * 2000)
        yield lambda one=one: one.predict_set(test, first_row=-1, groups=["a"] * 2000)
        yield lambda one=one: one.evaluate(test, y_test + 3, groups=["a"] * 2000)
        yield lambda one=one: one.evaluate(test, y_test[:4], groups=["a"] * 2000)
    yield lambda: grouped.predict_set(test)
    yield lambda: fitted.update(target, {0: 99})
    yield lambda: fitted.update(target[:9], {20: 1})
    yield lambda: ek.calibrate(cal, y, target, method="ot").update(target, {0: 1})
    yield lambda: ek.load(damaged)
    yield lambda: ek.load(tmp_path / "missing.json")
    yield lambda: ek.load(tmp_path)
    yield lambda: ek.GroupedCalibration.load(tmp_path / "cal.json")
    yield lambda: fitted.save(tmp_path / "no" / "cal.json")
    yield lambda: conformal.conformalize(cal, y)
    yield lambda: conformal.conformalize(cal, y + 1, target)
    yield lambda: conformal.conformalize(cal * 2, y, target)
    yield lambda: ek.ShiftConformalClassifier(Reader(range(10)), logits=True).conformalize(cal, y, target)
    yield lambda: ek.ShiftConformalClassifier(Reader(range(10)), confidence_level=90).conformalize(cal, y, target)
    yield lambda: ek.ShiftConformalClassifier(Reader(range(10)), method_options={"alpha": 1}).conformalize(cal, y, target)
    yield lambda: ek.ShiftConformalClassifier(Reader(range(10)), method_options={"stpes": 1}).conformalize(cal, y, target)
    yield lambda: ek.ShiftConformalClassifier(Reader(range(4))).conformalize(cal, y, target)
    yield lambda: ek.ShiftConformalClassifier().conformalize(cal, y, target)
    yield lambda: regressor.conformalize(X, X[:, 0])
    yield lambda: ek.ShiftConformalRegressor(LinearRegression().fit(X, X[:, 0]), method="ecp").conformalize(X, X[:, 0], X)
    yield lambda: ek.ShiftConformalRegressor(LinearRegression().fit(X, X[:, 0]), method_options={"steps": 3}).conformalize(X, X[:, 0], X)
    yield lambda: ek.check_regression(X[:, 0], X[:3, 0], X[:, 0])
    yield lambda: ek.metrics.coverage(test > 0.5, y_test + 20)
    yield lambda: ek.metrics.coverage(test > 0.5, y_test[:3])
    yield lambda: ek.metrics.coverage(test, y_test)
    yield lambda: ek.metrics.total_coverage_gap(y, y_test, y)
    yield lambda: ek.choose_rows(10, 20)
    yield lambda: ek.choose_rows(-1, 2)
    yield lambda: ek.coverage_interval(9, 5)
    yield lambda: ek.label_budget(3)
    yield lambda: ek.CoverageSequence(confidence=3)
    yield lambda: ek.CoverageAlarm(level=3)


def test_messages_speak_python(fog, tmp_path):
    """No flag of the command line, no path of the sources, no NumPy scalar and no name of the compiled part in any of them."""
    foreign = re.compile(r"(?<![\w-])--?[a-z][a-z-]+|np\.(int|float|str)\w*\(|_evenkeel|\.rs\b|Option<|NoneType|astype\('float32'\)")
    found, passed = [], []
    for place, call in enumerate(wrong_calls(fog, tmp_path)):
        try:
            _, caught = warned(call)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            said = str(error)
            assert isinstance(error, ek.EvenkeelError), (place, type(error), said)
            if foreign.search(said) or "\n" in said:
                found.append(said)
        else:
            passed.append(place)
            found += [str(one.message) for one in caught if foreign.search(str(one.message))]
    assert not found, found
    # A call that passes proves nothing about messages: it would be a wrong answer, or no wrong call.
    assert not passed, passed
