"""`ShiftConformalRegressor`, on the regression of the paper's appendix."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import evenkeel as ek


def world(n, seed, mean=(0.0, 0.0, 0.0, 0.0)):
    draws = np.random.default_rng(seed)
    X = draws.normal(size=(n, 4)) + mean
    return X, 210 + X @ [27.4, 13.7, 13.7, 13.7] + draws.normal(size=n)


SHIFT = (-1.0, 0.5, -0.25, -0.1)


@pytest.fixture(scope="module")
def data():
    return world(1000, 0), world(1000, 1), world(1000, 2, SHIFT), world(1000, 3, SHIFT)


def test_residuals_of_a_plain_regressor(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, y_test) = data
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, y)
    coverages = {}
    for method in ("uncorrected", "auto", "ot"):
        ours = ek.ShiftConformalRegressor(model, confidence_level=[0.8, 0.9], method=method)
        predicted, intervals = ours.conformalize(X_cal, y_cal, X_target).predict_interval(X_test)
        assert np.array_equal(predicted, model.predict(X_test)) and intervals.shape == (1000, 2, 2)
        half = intervals[:, 1] - predicted[:, np.newaxis]
        assert np.allclose(half, [ours.calibration_.threshold(0.2), ours.calibration_.threshold(0.1)])
        assert np.allclose(predicted[:, np.newaxis] - intervals[:, 0], half)
        assert np.allclose(ek.metrics.interval_length(intervals), 2 * half)
        coverages[method] = ek.metrics.interval_coverage(intervals[:, :, 1], y_test)
    assert coverages["uncorrected"] < 0.9  # The tree extrapolates badly: coverage is lost,
    assert coverages["ot"] > coverages["uncorrected"]  # and some of it regained.
    assert abs(coverages["auto"] - 0.9) <= abs(coverages["uncorrected"] - 0.9)


def test_without_shift_intervals_cover(data):
    (X, y), (X_cal, y_cal), *_ = data
    X_new, y_new = world(4000, 9)
    ours = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="uncorrected")
    _, intervals = ours.conformalize(X_cal, y_cal, X_new).predict_interval(X_new)
    # Four standard deviations of the coverage of 1000 calibration points and 4000 test points.
    assert ek.metrics.interval_coverage(intervals[:, :, 0], y_new) == pytest.approx(0.9, abs=0.043)


def test_bins_of_a_classifier(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, y_test) = data
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=100))
    ours = ek.ShiftConformalRegressor(model, confidence_level=[0.8, 0.9], method="ot", prefit=False, bins=20)
    ours.fit(X, y).conformalize(X_cal, y_cal, X_target)
    assert len(ours.bin_edges_) == 21
    assert (ours.bin_edges_[0], ours.bin_edges_[-1]) == (y.min(), y.max())
    predicted, intervals = ours.predict_interval(X_test)
    _, unions = ours.predict_union(X_test)
    assert intervals.shape == (1000, 2, 2) and len(unions) == 2 and len(unions[0]) == 1000
    assert np.sqrt(np.mean((predicted - y_test) ** 2)) < 20
    for level in range(2):
        for (low, high), union in zip(intervals[:, :, level], unions[level]):
            assert np.all(union[:, 0] < union[:, 1]) and np.all(union[1:, 0] > union[:-1, 1])
            assert (low, high) == (union[0, 0], union[-1, 1]) if len(union) else np.isnan(low)
        lengths = ek.metrics.union_length(unions[level])
        assert np.all(lengths <= ek.metrics.interval_length(intervals)[:, level] + 1e-9)
        hull = ek.metrics.interval_coverage(intervals[:, :, level], y_test)
        assert ek.metrics.union_coverage(unions[level], y_test) <= hull


def test_bins_no_training_point_fell_into(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    gap = (y < 200) | (y > 230)
    model = RandomForestClassifier(20, random_state=0)
    ours = ek.ShiftConformalRegressor(model, method="uncorrected", prefit=False, bins=40).fit(X[gap], y[gap])
    assert len(ours.estimator_.classes_) < 40
    ours.conformalize(X_cal, y_cal, X_target)
    assert ours.calibration_.n_classes == 40
    assert ours.predict_interval(X_test)[1].shape == (1000, 2, 1)


def test_a_classifier_fitted_before_needs_edges(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    edges = np.linspace(50, 370, 17)
    labels = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, 15)
    model = LogisticRegression(max_iter=1000).fit(X, labels)
    with pytest.raises(ValueError, match="bin_edges is missing"):
        ek.ShiftConformalRegressor(model, method="ot").conformalize(X_cal, y_cal, X_target)
    ours = ek.ShiftConformalRegressor(model, method="ot", bin_edges=edges).conformalize(X_cal, y_cal, X_target)
    _, intervals = ours.predict_interval(X_test)
    assert set(np.unique(intervals[~np.isnan(intervals)])) <= set(edges)
    for wrong in ([1.0], [1, 1], [3, 2], [0, np.nan]):
        with pytest.raises(ek.EvenkeelError, match="bin_edges"):
            ek.ShiftConformalRegressor(model, bin_edges=wrong).conformalize(X_cal, y_cal, X_target)


def test_too_few_points_give_infinite_intervals(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    ours = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="uncorrected")
    _, intervals = ours.conformalize(X_cal[:5], y_cal[:5], X_target).predict_interval(X_test)
    assert np.all(np.isneginf(intervals[:, 0])) and np.all(np.isposinf(intervals[:, 1]))


def test_prefit_both_ways_and_again(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    ours = ek.ShiftConformalRegressor(LinearRegression(), method="ot", prefit=False).fit(X, y)
    before = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="ot")
    first = ours.conformalize(X_cal, y_cal, X_target).predict_interval(X_test)[1]
    assert np.array_equal(first, before.conformalize(X_cal, y_cal, X_target).predict_interval(X_test)[1])
    assert not hasattr(clone(ours), "calibration_")
    assert ours.conformalize(X_cal, y_cal, X_cal).calibration_ != before.calibration_
    with pytest.raises(ValueError, match="absolute"):
        before.set_params(conformity_score="lac").conformalize(X_cal, y_cal, X_target)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_values_that_are_no_numbers(data, wrong):
    (X, y), (X_cal, y_cal), (X_target, _), _ = data
    spoiled = y_cal.copy()
    spoiled[7] = wrong
    with pytest.raises(ek.InvalidInputError, match=r"y\[7\]"):
        ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="ot").conformalize(X_cal, spoiled, X_target)


def test_labels_outside_the_edges_open_the_intervals():
    draws = np.random.default_rng(9)
    X = draws.normal(size=(4000, 1))
    y = X[:, 0] + draws.standard_t(2, size=4000)
    edges = np.linspace(-2, 2, 9)
    labels = np.clip(np.searchsorted(edges, y[:1500], side="right") - 1, 0, 7)
    model = LogisticRegression().fit(X[:1500], labels)
    cal, test = slice(1500, 2500), slice(2500, None)
    ours = ek.ShiftConformalRegressor(model, method="uncorrected", bin_edges=edges).conformalize(X[cal], y[cal])
    assert ours.open_ends_ == (True, True)
    share = np.mean(y[cal] < -2)
    assert f"{100 * share:.1f} % of the calibration labels lie below the bin edges" in ours.calibration_.warnings_[0]
    assert "lie above" in ours.calibration_.warnings_[1] and "Warning: " in repr(ours.calibration_)
    assert pickle.loads(pickle.dumps(ours)).calibration_.warnings_ == ours.calibration_.warnings_
    _, intervals = ours.predict_interval(X[test])
    _, unions = ours.predict_union(X[test])
    # Four standard deviations of the coverage of 1000 calibration points and 1500 test points.
    assert ek.metrics.union_coverage(unions[0], y[test]) > 0.9 - 0.049
    assert not np.any(intervals[:, 0] == -2) and np.any(np.isneginf(intervals[:, 0]))
    lengths = ek.metrics.interval_length(intervals)[:, 0]
    assert np.array_equal(np.isinf(lengths), np.isinf(intervals[:, :, 0]).any(axis=1))
    assert np.all(np.isfinite(ours.predict(X[test])))
    inside = cal.start + np.flatnonzero(np.abs(y[cal]) < 2)
    ours.conformalize(X[inside], y[inside])
    assert ours.open_ends_ == (False, False) and ours.calibration_.warnings_ == []
    ends = ours.predict_interval(X[test])[1]
    assert set(np.unique(ends[~np.isnan(ends)])) <= set(edges)
    here = ek.ShiftConformalRegressor(LogisticRegression(), "uncorrected", prefit=False)
    here.set_params(confidence_level=0.9, method="uncorrected", bin_edges=edges).fit(X[:1500], np.minimum(y[:1500], 1.9))
    assert here.conformalize(X[inside], y[inside]).open_ends_ == (True, False)
    assert "some training labels lie below" in here.calibration_.warnings_[0]


def test_a_classifier_without_probabilities_gives_logits(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, y_test) = data
    ours = ek.ShiftConformalRegressor(LinearSVC(dual=False), method="uncorrected", prefit=False, bins=5).fit(X, y)
    ours.conformalize(X_cal, y_cal)
    predicted, intervals = ours.predict_interval(X_test)
    assert predicted.min() > y.min() and predicted.max() < y.max()  # No positions of bins.
    decisions = ours.estimator_.decision_function(X_cal)
    edges = ours.bin_edges_
    labels = np.clip(np.searchsorted(edges, y_cal, side="right") - 1, 0, 4)
    assert ours.calibration_.n_classes == 5
    assert ours.calibration_.threshold() == pytest.approx(
        ek.calibrate(decisions, labels, decisions, method="uncorrected", logits=True).threshold()
    )
    two = ek.ShiftConformalRegressor(LinearSVC(dual=False), method="uncorrected", prefit=False, bins=2).fit(X, y)
    assert two.conformalize(X_cal, y_cal).predict_interval(X_test)[1].shape == (1000, 2, 1)
    with pytest.raises(ek.InvalidParameterError, match="neither predict_proba nor decision_function"):
        ek.ShiftConformalRegressor(Silent(), bin_edges=[0, 1, 2]).conformalize(X_cal, y_cal, X_target)


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier that only names a class."""

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_edges_of_a_model_fitted_elsewhere_replace_those_of_one_fitted_here(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    edges = np.linspace(0, 400, 11)
    before = LogisticRegression(max_iter=500).fit(X, np.searchsorted(edges, y, side="right") - 1)
    ours = ek.ShiftConformalRegressor(LogisticRegression(), method="uncorrected", prefit=False, bins=10).fit(X, y)
    ours.set_params(estimator=before, prefit=True, bin_edges=edges).conformalize(X_cal, y_cal)
    fresh = ek.ShiftConformalRegressor(before, method="uncorrected", bin_edges=edges).conformalize(X_cal, y_cal)
    assert np.array_equal(ours.predict_interval(X_test)[1], fresh.predict_interval(X_test)[1], equal_nan=True)


class Wrapped:
    """A model whose columns come in another order."""

    def __init__(self, model, order):
        self.model, self.order, self.classes_ = model, order, model.classes_[order]

    def predict_proba(self, X):
        return self.model.predict_proba(X)[:, self.order]


def test_columns_follow_the_classes(data):
    (X, y), (X_cal, y_cal), _, (X_test, _) = data
    edges = np.linspace(0, 420, 5)
    model = LogisticRegression(max_iter=500).fit(X, np.searchsorted(edges, y, side="right") - 1)
    assert list(model.classes_) == [0, 1, 2, 3]
    plain, mixed = (
        ek.ShiftConformalRegressor(one, method="uncorrected", bin_edges=edges).conformalize(X_cal, y_cal)
        for one in (model, Wrapped(model, [2, 0, 3, 1]))
    )
    assert np.array_equal(plain.predict_interval(X_test)[1], mixed.predict_interval(X_test)[1], equal_nan=True)
    twice = Wrapped(model, [0, 0, 1, 2])
    with pytest.raises(ek.InvalidInputError, match="the classes of the estimator are not bins"):
        ek.ShiftConformalRegressor(twice, method="uncorrected", bin_edges=edges).conformalize(X_cal, y_cal)


def test_predictions_in_a_column(data):
    (X, y), (X_cal, y_cal), (X_target, _), (X_test, _) = data
    row = ek.ShiftConformalRegressor(LinearRegression().fit(X, y)).conformalize(X_cal, y_cal, X_target)
    column = ek.ShiftConformalRegressor(LinearRegression().fit(X, y[:, None])).conformalize(X_cal, y_cal, X_target)
    for one, other in zip(row.predict_interval(X_test), column.predict_interval(X_test)):
        assert one.shape == other.shape and np.allclose(one, other)
    with pytest.raises(ek.InvalidParameterError, match="neither predict nor predict_proba"):
        ek.ShiftConformalRegressor(object()).conformalize(X_cal, y_cal, X_target)


def test_a_calibration_of_residuals_claims_no_classes(data, tmp_path):
    (X, y), (X_cal, y_cal), (X_target, _), _ = data
    ours = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="ot").conformalize(X_cal, y_cal, X_target)
    cal, probs = ours.calibration_, np.full((2, 50), 0.02)
    assert cal.score == "absolute" and "absolute residuals, 50 bins" in repr(cal) and "classes" not in repr(cal)
    assert "absolute residuals" in cal._repr_html_()
    for call in (lambda: cal.predict_set(probs), lambda: cal.evaluate(probs, [0, 1]), lambda: cal.save(tmp_path / "c")):
        with pytest.raises(ek.IncompatibleError, match="calibration of residuals"):
            call()
    again = pickle.loads(pickle.dumps(cal))
    assert again == cal and again.score == "absolute" and np.array_equal(again.weights_, cal.weights_)


def test_metrics_of_shapes_that_do_not_fit():
    for wrong in (np.ones((3, 1)), np.ones((3, 3)), np.ones(3), np.ones((3, 2, 1))):
        with pytest.raises(ek.InvalidInputError, match="intervals"):
            ek.metrics.interval_coverage(wrong, np.ones(3))
    for wrong in (np.ones(3), np.ones((3, 1)), "a", [["a", "b"]], None, np.ones((3, 3, 2))):
        with pytest.raises(ek.InvalidInputError, match="intervals"):
            ek.metrics.interval_length(wrong)
    for wrong in ([[1.0, 2.0, 3.0]], [np.ones((2, 3))], [["a"]], 3, [3.0], "ab"):
        for call in (lambda: ek.metrics.union_coverage(wrong, np.ones(1)), lambda: ek.metrics.union_length(wrong)):
            with pytest.raises(ek.InvalidInputError, match="unions"):
                call()
    assert ek.metrics.union_coverage([[[0, 1], [3, 4]], []], [3.5, 0.0]) == 0.5
    assert list(ek.metrics.union_length([[[0, 1], [3, 5]], [], [[-np.inf, 2]]])) == [3.0, 0.0, np.inf]
