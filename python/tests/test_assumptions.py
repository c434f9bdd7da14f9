"""What is assumed, what is known, what second models say: the same from Python."""

import numpy as np
import pytest

import evenkeel as ek


def world(rows, strength, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, rows)
    z = rng.normal(size=(rows, 4)) + 2.5 * strength * np.eye(4)[y]
    e = np.exp(2.5 * z - (2.5 * z).max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), y


@pytest.fixture(scope="module")
def data():
    (cal, y), (target, _) = world(300, 1.0, 0), world(300, 0.5, 1)
    soften = lambda p: (p**0.5) / (p**0.5).sum(axis=1, keepdims=True)  # noqa: E731
    return cal, y, target, (soften(cal), soften(target))


def test_assumptions_name_the_reading(data):
    cal, y, target, second = data
    for assume in ("class-shares", "calibrated", "matched", "blend"):
        report = ek.check(cal, y, target, assume=assume)
        assert report.coverage_estimate.reading == assume
        made = ek.calibrate(cal, y, target, method="label-plan", assume=assume, accuracy=None)
        assert made.evidence_["plan"]["corrected"]["coverage_estimate"]["reading"] == assume
    report = ek.check(cal, y, target, accuracy=0.6)
    assert [r.name for r in report.readings] == ["calibrated", "class-shares", "matched", "accuracy"]
    report = ek.check(cal, y, target, assume="matched", second=[second, second])
    assert report.coverage_estimate.reading == "second-opinion"
    assert len(report.second_opinions.trust) == 3
    made = ek.calibrate(cal, y, target, method="label-plan", assume="matched", second=[second])
    assert made.evidence_["plan"]["corrected"]["coverage_estimate"]["reading"] == "second-opinion"
    rows = ek.compare(cal, y, target, cal, y, methods="label-plan", assume="matched", second=[second])
    assert rows["label-plan"].threshold == made.threshold()


def test_logits_of_second_models_are_logits(data):
    cal, y, target, (second_cal, second_target) = data
    plain = ek.calibrate(cal, y, target, method="label-plan", assume="matched", second=[(second_cal, second_target)])
    logs = [np.log(a) for a in (cal, target, second_cal, second_target)]
    again = ek.calibrate(logs[0], y, logs[1], method="label-plan", assume="matched", second=[tuple(logs[2:])], logits=True)
    assert again.threshold() == pytest.approx(plain.threshold(), abs=1e-9)


def test_impossible_values_are_refused(data):
    cal, y, target, (second_cal, second_target) = data
    for share in (0, 1.5, float("nan"), -1, "much"):
        with pytest.raises(ValueError, match="accuracy"):
            ek.calibrate(cal, y, target, accuracy=share)
    with pytest.raises(ValueError, match="a guess among 4 classes"):
        ek.check(cal, y, target, accuracy=0.1)
    with pytest.raises(ValueError, match=r"second\[0\]\[1\] has 299 rows but probs_target has 300 rows"):
        ek.calibrate(cal, y, target, second=[(second_cal, second_target[:-1])])
    with pytest.raises(ValueError, match=r"second\[1\] is no pair"):
        ek.check(cal, y, target, second=[(second_cal, second_target), (second_cal,)])
    with pytest.raises(ValueError, match=r"second\[0\]\[0\] has 3 columns"):
        ek.check(cal, y, target, second=[(second_cal[:, :3], second_target)])
    with pytest.raises(ValueError, match="does not use second"):
        ek.calibrate(cal, y, target, method="ot", second=[(second_cal, second_target)])
    with pytest.raises(ValueError, match="does not use assume"):
        ek.calibrate(cal, y, target, method="ot", assume="matched")


def test_the_smaller_rate_is_the_default_of_qtc(data):
    cal, y, target, _ = data
    cuts = {rule: ek.calibrate(cal, y, target, method="qtc", qtc_rule=rule).threshold() for rule in ("qtc", "source-coverage")}
    assert ek.calibrate(cal, y, target, method="qtc").threshold() == max(cuts.values())


def test_second_estimators():
    sklearn = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=900) > 0, "yes", "no")
    first = sklearn.LogisticRegression().fit(X[:300], y[:300])
    other = sklearn.LogisticRegression(C=0.01).fit(X[:300], y[:300])
    model = ek.ShiftConformalClassifier(first, method="label-plan", assume="matched", second_estimators=[other])
    model.conformalize(X[300:600], y[300:600], 0.3 * X[600:])
    plan = model.calibration_.evidence_["plan"]
    assert len(plan["second_opinions"]["others"]) == 1
    assert model.check(X[300:600], y[300:600], 0.3 * X[600:]).coverage_estimate.reading == "second-opinion"
    strangers = sklearn.LogisticRegression().fit(X[:300], np.where(y[:300] == "yes", "a", "b"))
    with pytest.raises(ValueError, match="classifier of the same classes"):
        ek.ShiftConformalClassifier(first, second_estimators=[strangers]).conformalize(X[300:600], y[300:600], X[600:])
