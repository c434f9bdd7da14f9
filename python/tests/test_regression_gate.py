"""Regression that does no harm: the gate, its readings, `check`, normalised and quantile scores, labels."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import evenkeel as ek

SPREAD = 0.5


class Line(RegressorMixin, BaseEstimator):
    """Knows the truth: the mean of y is the first feature. Nothing to fit."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class Spread(Line):
    """Knows how the noise grows."""

    def predict(self, X):
        return np.exp(SPREAD * np.asarray(X)[:, 0])


def world(n, seed, mean=0.0, spread=SPREAD):
    draws = np.random.default_rng(seed)
    X = draws.normal(size=(n, 3))
    X[:, 0] += mean
    return X, X[:, 0] + np.exp(spread * X[:, 0]) * draws.normal(size=n)


def covered(ours, X, y):
    return ek.metrics.interval_coverage(ours.predict_interval(X)[1][:, :, 0], y)


def errors(mean, spread, runs, **settings):
    """Mean distance from 90 % of auto and of split conformal prediction, in points."""
    found = np.zeros((runs, 2))
    for run in range(runs):
        (X_cal, y_cal), (X_target, _), (X, y) = world(300, 3 * run, 0, spread), world(300, 3 * run + 1, mean, spread), world(5000, 3 * run + 2, mean, spread)
        for column, method in enumerate(("auto", "uncorrected")):
            ours = ek.ShiftConformalRegressor(Line(), method=method, **settings).conformalize(X_cal, y_cal, X_target)
            found[run, column] = 100 * abs(covered(ours, X, y) - 0.9)
    return found.mean(axis=0)


def test_it_is_the_default_and_split_conformal_without_a_shift():
    assert ek.ShiftConformalRegressor(Line()).method == "auto"
    kept = 0
    for run in range(60):
        (X_cal, y_cal), (X_target, _) = world(150, 2 * run), world(100, 2 * run + 1)
        ours = ek.ShiftConformalRegressor(Line(), [0.8, 0.9]).conformalize(X_cal, y_cal, X_target)
        split = ek.ShiftConformalRegressor(Line(), [0.8, 0.9], method="uncorrected").conformalize(X_cal, y_cal)
        if ours.calibration_.evidence_["decision"] == "no-shift":
            kept += 1
            assert np.array_equal(ours.predict_interval(X_target)[1], split.predict_interval(X_target)[1])
            rank = int(np.ceil(151 * 0.9))
            assert ours.calibration_.threshold(0.1) == np.sort(np.abs(y_cal - X_cal[:, 0]))[rank - 1]
            assert "split conformal" in ours.calibration_.account_
    assert kept >= 51  # 57 expected at the level 0.05, standard deviation 1.7.


def test_without_a_shift_coverage_is_within_its_binomial_band():
    hits = []
    for run in range(200):
        (X_cal, y_cal), (X_target, _), (X, y) = world(99, 3 * run), world(80, 3 * run + 1), world(50, 3 * run + 2)
        ours = ek.ShiftConformalRegressor(Line(), method_options={"permutations": 99}).conformalize(X_cal, y_cal, X_target)
        hits.append(covered(ours, X, y))
    # A coverage is Beta(90, 10) and 50 points tell it: sd 0.052, of the mean 0.0037.
    assert np.mean(hits) == pytest.approx(0.9, abs=4 * 0.0037)


@pytest.mark.parametrize("mean", [1.0, -1.0])
def test_where_the_noise_moves_it_helps(mean):
    auto, uncorrected = errors(mean, SPREAD, 15)
    assert auto < 0.65 * uncorrected


def test_where_the_noise_stays_it_does_no_harm():
    for mean in (0.5, 1.5):
        auto, uncorrected = errors(mean, 0.0, 20)
        assert auto < uncorrected + 0.5


def test_the_same_seed_gives_the_same_bits_and_it_can_be_pickled():
    (X_cal, y_cal), (X_target, _) = world(200, 0), world(200, 1, 1.0)
    one, other = (ek.ShiftConformalRegressor(Line(), random_state=3).conformalize(X_cal, y_cal, X_target) for _ in range(2))
    cal = one.calibration_
    assert cal == other.calibration_ and hash(cal) == hash(other.calibration_)
    again = pickle.loads(pickle.dumps(one))
    assert again.calibration_ == cal and again.calibration_.threshold(0.2) == cal.threshold(0.2)
    assert again.check(X_target) == one.check(X_target)
    assert cal.method == "auto" and cal.score == "absolute" and cal.n_classes == 0 and cal.labels_used_ == 0
    assert "A shift was found" in repr(cal) and "absolute residuals" in cal._repr_html_()
    assert cal.weights_.shape == (200,) and cal.weights_.sum() == pytest.approx(1)
    evidence = cal.evidence_
    assert evidence["decision"] == "corrected" and evidence["features"] == 3 and 0 < evidence["strength"] <= 1
    assert evidence["shift"]["detected"] and len(evidence["shift"]["distances"]) == 4
    assert cal.effective_sample_size_ == pytest.approx(evidence["effective_sample_size"])


def test_readings_alone_and_the_paper_s_method():
    (X_cal, y_cal), (X_target, _), (X, y) = world(500, 0), world(500, 1, 1.0), world(5000, 2, 1.0)
    found = {}
    for method in ("uncorrected", "calibrated", "likelihood-ratio", "label-plan", "ot", "auto"):
        ours = ek.ShiftConformalRegressor(Line(), method=method).conformalize(X_cal, y_cal, X_target)
        assert ours.calibration_.method == method
        found[method] = covered(ours, X, y)
    for method in ("calibrated", "likelihood-ratio", "auto"):
        assert abs(found[method] - 0.9) < abs(found["uncorrected"] - 0.9) - 0.03, found
    exact = ek.ShiftConformalRegressor(Line(), method="ot", method_options={"objective": "exact"})
    assert exact.conformalize(X_cal, y_cal, X_target).calibration_.steps_ == 0
    with pytest.raises(ek.InvalidParameterError, match="must be one of auto"):
        ek.ShiftConformalRegressor(Line(), method="label-shift").conformalize(X_cal, y_cal, X_target)
    with pytest.raises(ek.InvalidParameterError, match="method_options holds steps"):
        ek.ShiftConformalRegressor(Line(), method_options={"steps": 3}).conformalize(X_cal, y_cal, X_target)


def test_features_of_the_user_and_inputs_that_are_no_numbers():
    (X_cal, y_cal), (X_target, _) = world(200, 0), world(200, 1)
    # Only a feature that the model does not see moved.
    moved = np.random.default_rng(5).normal(size=(200, 1))
    ours = ek.ShiftConformalRegressor(Line())
    ours.conformalize(X_cal, y_cal, X_target, features_cal=moved, features_target=moved + 2)
    assert ours.calibration_.evidence_["shift"]["detected"] and ours.calibration_.evidence_["features"] == 1
    wide = np.random.default_rng(6).normal(size=(200, 100))
    ours.conformalize(np.hstack([X_cal, wide]), y_cal, np.hstack([X_target, wide]))
    assert ours.calibration_.evidence_["features"] == 0
    assert "103 features are too many" in ours.calibration_.warnings_[0]
    words = np.column_stack([X_cal[:, 0].astype(object), np.full(200, "a", dtype=object)])
    ours.conformalize(words, y_cal, words)
    assert ours.calibration_.evidence_["features"] == 0
    with pytest.raises(ek.InvalidParameterError, match="one data set only"):
        ours.conformalize(X_cal, y_cal, X_target, features_cal=moved)
    with pytest.raises(ek.InvalidInputError, match="features_cal has 3 rows"):
        ours.conformalize(X_cal, y_cal, X_target, features_cal=moved[:3], features_target=moved)


def test_check_says_what_is_lost():
    (X_cal, y_cal), (same, _), (moved, _), (X, y) = world(400, 0), world(400, 1), world(400, 2, 0.8), world(8000, 3, 0.8)
    ours = ek.ShiftConformalRegressor(Line(), method="uncorrected").conformalize(X_cal, y_cal)
    quiet, loud = ours.check(same), ours.check(moved)
    assert (quiet.verdict, quiet.decision, quiet.coverage_estimate.reading) == ("ok", "no-shift", "uncorrected")
    assert quiet.advice == "Keep the intervals."
    truth = covered(ours, X, y)
    assert loud.verdict == "loss" and loud.shift.detected and loud.coverage_estimate.reading == "auto"
    assert loud.coverage_estimate.low <= truth <= loud.coverage_estimate.high
    assert abs(loud.coverage_estimate.value - truth) < 0.5 * (0.9 - truth) and loud.coverage_estimate.standing == "assumed"
    assert loud.loss.value == pytest.approx(100 * (0.9 - loud.coverage_estimate.value))
    names = [reading.name for reading in loud.readings]
    assert names == ["uncorrected", "calibrated", "likelihood-ratio", "auto", "label-plan", "ot", "ot-exact"]
    assert [reading.counts for reading in loud.readings] == [False, True, True, True, False, False, False]
    for shown in (repr(loud), loud.explain(), loud._repr_html_()):
        assert "loss" in shown and "Conformalize with this target data" in shown
    assert "covariate shift" in loud.explain() and json.dumps(loud.to_dict())
    assert pickle.loads(pickle.dumps(loud)) == loud
    # The same from predictions alone.
    alone = ek.check_regression(X_cal[:, 0], y_cal, moved[:, 0], features_cal=X_cal, features_target=moved)
    assert alone == loud
    bare = ek.check_regression(X_cal[:, 0], y_cal, moved[:, 0])
    assert bare.features == 0 and bare.verdict == "loss"
    # After the repair little is lost.
    ours.set_params(method="auto").conformalize(X_cal, y_cal, moved)
    assert ours.check(moved).verdict in ("ok", "watch")


def test_check_with_labels_measures():
    (X_cal, y_cal), (X_target, y_target) = world(300, 0), world(300, 1)
    ours = ek.ShiftConformalRegressor(Line()).conformalize(X_cal, y_cal, X_target)
    rows = ek.choose_rows(300, 60)
    # The residuals trebled where nothing shows it.
    trebled = X_target[:, 0] + 3 * (y_target - X_target[:, 0])
    report = ours.check(X_target, {int(row): trebled[row] for row in rows})
    assert report.decision == "no-shift" and report.verdict == "loss" and report.coverage_measured.k == 60
    low, high = ek.coverage_interval(report.coverage_measured.covered, 60)
    assert (report.coverage_measured.low, report.coverage_measured.high) == (low, high) and high < 0.9
    assert f"{report.coverage_measured.covered} of 60 labels" in repr(report)
    # A threshold that these labels helped to choose needs the interval that holds at every threshold.
    labels = {int(row): trebled[row] for row in rows}
    again = ours.conformalize(X_cal, y_cal, X_target, labels).check(X_target, labels).coverage_measured
    assert (again.low, again.high) == ek.coverage_interval(again.covered, 60, chosen_with_labels=True)


def test_labels_pull_the_threshold_and_may_guarantee():
    (X_cal, y_cal), (X_target, y_target) = world(300, 0), world(300, 1)
    trebled = X_target[:, 0] + 3 * (y_target - X_target[:, 0])
    some = np.full(300, np.nan)
    rows = ek.choose_rows(300, 50)
    some[rows] = trebled[rows]
    thresholds = {}
    for guarantee in (None, "average", 0.9):
        ours = ek.ShiftConformalRegressor(Line()).conformalize(X_cal, y_cal, X_target, some, guarantee=guarantee)
        thresholds[guarantee] = ours.calibration_.threshold()
    without = ek.ShiftConformalRegressor(Line()).conformalize(X_cal, y_cal, X_target).calibration_.threshold()
    scores = np.sort(np.abs(trebled - X_target[:, 0])[rows])
    assert without < thresholds[None] <= thresholds["average"] <= thresholds[0.9]
    assert thresholds["average"] >= scores[int(np.ceil(51 * 0.9)) - 1]
    assert ours.calibration_.labels_used_ == 50 and "50 labels" in ours.calibration_.account_
    assert ours.calibration_.weights_.shape == (350,) and 0.3 < ours.calibration_.evidence_["pull"] < 1
    assert pickle.loads(pickle.dumps(ours)).calibration_.threshold() == thresholds[0.9]
    for wrong, message in (({}, "no label"), (None, "without labels")):
        with pytest.raises(ek.InvalidParameterError, match=message):
            ours.conformalize(X_cal, y_cal, X_target, wrong, guarantee="average")
    for wrong in ({400: 1.0}, {0: np.inf}, [1.0, 2.0]):
        with pytest.raises(ek.InvalidInputError, match="y_target"):
            ours.conformalize(X_cal, y_cal, X_target, wrong)
    with pytest.raises(ek.InvalidParameterError, match="has no use for it"):
        ours.set_params(method="ot").conformalize(X_cal, y_cal, X_target, some)


def test_normalised_residuals_of_a_scale_that_is_given():
    (X_cal, y_cal), (X_target, _), (X, y) = world(500, 0), world(500, 1, 1.0), world(5000, 2, 1.0)
    ours = ek.ShiftConformalRegressor(Line(), scale_estimator=Spread()).conformalize(X_cal, y_cal, X_target)
    assert ours.calibration_.score == "normalised" and "normalised residuals" in repr(ours.calibration_)
    # The scale explains the noise, so that nothing is lost under the shift: sd of a coverage 0.013.
    assert covered(ours, X, y) == pytest.approx(0.9, abs=0.055)
    lengths = ek.metrics.interval_length(ours.predict_interval(X)[1])[:, 0]
    assert np.corrcoef(lengths, Spread().predict(X))[0, 1] > 0.999
    by_hand = ek.ShiftConformalRegressor(Line(), conformity_score="normalised")
    by_hand.conformalize(X_cal, y_cal, X_target, scale_cal=Spread().predict(X_cal), scale_target=Spread().predict(X_target))
    assert np.array_equal(by_hand.predict_interval(X, scale=Spread().predict(X))[1], ours.predict_interval(X)[1])
    assert ours.check(X_target).verdict == "ok"
    with pytest.raises(ek.InvalidParameterError, match="Give a fitted scale_estimator"):
        by_hand.conformalize(X_cal, y_cal, X_target)
    with pytest.raises(ek.InvalidInputError, match=r"scales must be positive"):
        by_hand.conformalize(X_cal, y_cal, X_target, scale_cal=np.zeros(500), scale_target=np.ones(500))
    with pytest.raises(ek.InvalidParameterError, match="needs absolute ones"):
        ek.ShiftConformalRegressor(Line(), method="ot", scale_estimator=Spread()).conformalize(X_cal, y_cal, X_target)


def test_a_scale_fitted_on_training_residuals_makes_intervals_follow_the_noise():
    (X_train, y_train), (X_cal, y_cal), (X_target, _), (X, y) = world(1000, 0), world(500, 1), world(500, 2), world(5000, 3)
    tree = DecisionTreeRegressor(min_samples_leaf=40)
    ours = ek.ShiftConformalRegressor(LinearRegression(), prefit=False, scale_estimator=tree)
    ours.fit(X_train, y_train).conformalize(X_cal, y_cal, X_target)
    assert covered(ours, X, y) == pytest.approx(0.9, abs=0.055)
    lengths = ek.metrics.interval_length(ours.predict_interval(X)[1])[:, 0]
    assert np.corrcoef(lengths, np.exp(SPREAD * X[:, 0]))[0, 1] > 0.6
    same = ek.ShiftConformalRegressor(LinearRegression(), prefit=False, conformity_score="normalized").fit(X_train, y_train)
    assert type(same.scale_estimator_) is LinearRegression


def test_a_pair_of_quantiles():
    (X_train, y_train), (X_cal, y_cal), (X_target, _), (X, y) = world(1000, 0), world(400, 1), world(400, 2, 0.7), world(4000, 3, 0.7)
    pair = tuple(GradientBoostingRegressor(loss="quantile", alpha=a, n_estimators=50, max_depth=2) for a in (0.05, 0.95))
    ours = ek.ShiftConformalRegressor(pair, prefit=False).fit(X_train, y_train).conformalize(X_cal, y_cal, X_target)
    assert ours.calibration_.score == "quantile" and ours.calibration_.evidence_["decision"] != "no-shift"
    predicted, intervals = ours.predict_interval(X)
    low, high = (model.predict(X) for model in ours.estimator_)
    reach = ours.calibration_.threshold()
    assert np.allclose(intervals[:, 0, 0], low - reach) and np.allclose(intervals[:, 1, 0], high + reach)
    assert np.allclose(predicted, (low + high) / 2) and np.array_equal(predicted, ours.predict(X))
    split = ek.ShiftConformalRegressor(ours.estimator_, method="uncorrected").conformalize(X_cal, y_cal)
    assert abs(covered(ours, X, y) - 0.9) < abs(covered(split, X, y) - 0.9) + 0.02
    assert ours.check(X_target).threshold == reach
    twice = np.column_stack([model.predict(X_cal) for model in ours.estimator_])
    today = np.column_stack([model.predict(X_target) for model in ours.estimator_])
    assert ek.check_regression(twice, y_cal, today).threshold == split.calibration_.threshold()
    with pytest.raises(ek.InvalidParameterError, match="holds 3 models"):
        ek.ShiftConformalRegressor((Line(),) * 3).conformalize(X_cal, y_cal, X_target)
    with pytest.raises(ek.InvalidParameterError, match='say "quantile"'):
        ek.ShiftConformalRegressor((Line(), Line()), conformity_score="absolute").conformalize(X_cal, y_cal, X_target)


def test_a_classifier_over_bins_goes_through_the_same_gate():
    (X_train, y_train), (X_cal, y_cal), (X_target, _), (same, _), (X, y) = (
        world(1500, 0), world(400, 1), world(400, 2, 1.0), world(400, 4), world(4000, 3, 1.0)
    )  # fmt: skip
    forest = RandomForestClassifier(60, min_samples_leaf=10, random_state=0)
    ours = ek.ShiftConformalRegressor(forest, prefit=False, bins=20).fit(X_train, y_train).conformalize(X_cal, y_cal, X_target)
    cal = ours.calibration_
    assert cal.method == "auto" and cal.evidence_["shift"]["detected"] and cal.account_ in repr(cal)
    corrected = ek.metrics.union_coverage(ours.predict_union(X)[1][0], y)
    assert pickle.loads(pickle.dumps(cal)).account_ == cal.account_
    assert ours.check(X_target).shift.detected
    ours.conformalize(X_cal, y_cal, same)
    assert ours.calibration_.evidence_["decision"] == "no-shift"
    before = ek.metrics.union_coverage(ours.predict_union(X)[1][0], y)
    ours.set_params(method="uncorrected").conformalize(X_cal, y_cal, X_target)
    assert before == ek.metrics.union_coverage(ours.predict_union(X)[1][0], y)
    assert abs(corrected - 0.9) < abs(before - 0.9) + 0.005
    ours.set_params(method="calibrated").conformalize(X_cal, y_cal, X_target)
    assert ours.calibration_.method == "calibrated"
    with pytest.raises(ek.InvalidParameterError, match="few-labels"):
        ours.set_params(method="auto").conformalize(X_cal, y_cal, X_target, {0: 1.0})


def test_hostile_inputs():
    X, y = world(30, 0)
    constant = np.ones((30, 1))
    ours = ek.ShiftConformalRegressor(Line())
    assert ours.conformalize(constant, y, constant).calibration_.evidence_["decision"] == "no-shift"
    assert np.isinf(ours.conformalize(X[:1], y[:1], X).calibration_.threshold())
    assert ours.conformalize(X, y, X[:1]).predict_interval(X)[1].shape == (30, 2, 1)
    assert ours.check(X[:1]).m == 1
    for wrong in (np.zeros((0, 3)), np.full((5, 3), np.nan)):
        with pytest.raises(ek.EvenkeelError):
            ours.conformalize(X, y, wrong)
    with pytest.raises(ek.EvenkeelError):
        ours.conformalize(X, y[:3], X)
    for predictions in (np.ones((3, 3)), np.zeros(0), ["a"]):
        with pytest.raises(ek.EvenkeelError):
            ek.check_regression(predictions, np.ones(3), np.ones(3))
    with pytest.raises(ek.InvalidInputError, match="one data set only"):
        ek.check_regression(X[:, 0], y, X[:, 0], features_cal=X)


def noisy_world(times, seed):
    """Calibration data, and target data whose noise is so many times as large; predictions do not show it."""
    (X_cal, y_cal), (X_target, y_target) = world(300, seed), world(400, seed + 100)
    return (X_cal, y_cal), (X_target, X_target[:, 0] + times * (y_target - X_target[:, 0]))


def test_labels_that_contradict_the_outputs_take_over():
    ours_off, split_off, warned = [], [], 0
    for seed in range(12):
        (X_cal, y_cal), (X_target, y_target) = noisy_world(2, seed)
        rows = np.random.default_rng(seed).choice(400, 40, replace=False)
        labels = {int(row): y_target[row] for row in rows}
        ours = ek.ShiftConformalRegressor(Line()).conformalize(X_cal, y_cal, X_target, labels)
        warned += any("labels-disagree" in warning for warning in ours.calibration_.warnings_)
        others = np.setdiff1d(np.arange(400), rows)
        inside = np.abs(y_target[others] - X_target[others, 0])
        ours_off.append(abs(np.mean(inside <= ours.calibration_.threshold()) - 0.9))
        scores = np.sort(np.abs(y_target[rows] - X_target[rows, 0]))
        split_off.append(abs(np.mean(inside <= scores[int(np.ceil(0.9 * 41)) - 1]) - 0.9))
    # Chance alone makes forty labels agree now and then.
    assert warned >= 9, warned
    # Nine points off with a pull that the law without labels could resist.
    assert np.mean(ours_off) < 0.065 and np.mean(ours_off) < 1.6 * np.mean(split_off), (np.mean(ours_off), np.mean(split_off))


def test_labels_decide_the_verdict_of_a_check():
    (X_cal, y_cal), (X_target, y_target) = noisy_world(2, 3)
    ours = ek.ShiftConformalRegressor(Line()).conformalize(X_cal, y_cal, X_target)
    rows = np.random.default_rng(1).choice(400, 60, replace=False)
    report = ours.check(X_target, {int(row): y_target[row] for row in rows})
    assert report.verdict == "loss" and report.decided_by_labels
    assert report.coverage_measured.high < 0.9
    first = repr(report).splitlines()[0]
    assert "of 60 labels" in first and first.endswith("loss."), first
    assert "these labels" in report.advice
    # Fewer covered than one time in ten, and not few enough to exclude the level.
    (X_cal, y_cal), (X_target, y_target) = noisy_world(1.3, 3)
    ours.conformalize(X_cal, y_cal, X_target)
    inside = np.abs(y_target - X_target[:, 0]) <= ours.calibration_.threshold()
    draws = (np.random.default_rng(seed).choice(400, 50, replace=False) for seed in range(200))
    rows = next(rows for rows in draws if inside[rows].sum() == 41)
    report = ours.check(X_target, {int(row): y_target[row] for row in rows})
    assert report.coverage_measured.high > 0.9 and report.verdict == "watch", report


def test_rows_that_were_picked_are_named_and_decide_nothing():
    (X_cal, y_cal), (X_target, y_target) = world(300, 0), world(400, 1)
    largest = np.argsort(X_target[:, 0])[-40:]
    labels = {int(row): y_target[row] for row in largest}
    ours = ek.ShiftConformalRegressor(Line())
    with pytest.warns(ek.ShiftWarning, match="labels-not-random"):
        ours.conformalize(X_cal, y_cal, X_target, labels, guarantee=0.9)
    with pytest.warns(ek.ShiftWarning, match="labels-not-random"):
        report = ours.check(X_target, labels)
    assert not report.decided_by_labels
    random = {int(row): y_target[row] for row in np.random.default_rng(0).choice(400, 40, replace=False)}
    ours.conformalize(X_cal, y_cal, X_target, random)
    assert not any("labels-not-random" in warning for warning in ours.calibration_.warnings_)


def test_labels_that_arrive_later_give_what_all_at_once_give():
    (X_cal, y_cal), (X_target, y_target) = noisy_world(2, 5)
    rows = np.random.default_rng(2).choice(400, 40, replace=False)
    labels = {int(row): y_target[row] for row in rows}
    first = {row: labels[row] for row in list(labels)[:15]}
    rest = {row: labels[row] for row in list(labels)[15:]}

    def fresh():
        return ek.ShiftConformalRegressor(Line())

    at_once = fresh().conformalize(X_cal, y_cal, X_target, labels)
    later = fresh().conformalize(X_cal, y_cal, X_target, first).partial_conformalize(rest)
    assert later.calibration_ == at_once.calibration_
    row, value = next(iter(first.items()))
    with pytest.raises(ek.InvalidInputError, match="was given before"):
        later.partial_conformalize({row: value + 1})
    with pytest.raises(ek.InvalidParameterError, match="X_target"):
        ek.ShiftConformalRegressor(Line(), method="uncorrected").conformalize(
            X_cal, y_cal
        ).partial_conformalize(rest)
