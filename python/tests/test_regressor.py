"""`ShiftConformalRegressor`, on the regression of the paper's appendix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
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
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, y_test) = data
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, y)
    coverages = {}
    for method in ("uncorrected", "ot"):
        ours = ek.ShiftConformalRegressor(model, confidence_level=[0.8, 0.9], method=method)
        predicted, intervals = ours.conformalize(X_cal, y_cal, X_today).predict_interval(X_test)
        assert np.array_equal(predicted, model.predict(X_test)) and intervals.shape == (1000, 2, 2)
        half = intervals[:, 1] - predicted[:, np.newaxis]
        assert np.allclose(half, [ours.calibration_.threshold(0.2), ours.calibration_.threshold(0.1)])
        assert np.allclose(predicted[:, np.newaxis] - intervals[:, 0], half)
        assert np.allclose(ek.metrics.interval_length(intervals), 2 * half)
        coverages[method] = ek.metrics.interval_coverage(intervals[:, :, 1], y_test)
    assert coverages["uncorrected"] < 0.9  # The tree extrapolates badly: coverage is lost,
    assert coverages["ot"] > coverages["uncorrected"]  # and some of it regained.


def test_without_shift_intervals_cover(data):
    (X, y), (X_cal, y_cal), *_ = data
    X_new, y_new = world(4000, 9)
    ours = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="uncorrected")
    _, intervals = ours.conformalize(X_cal, y_cal, X_new).predict_interval(X_new)
    # Four standard deviations of the coverage of 1000 calibration points and 4000 test points.
    assert ek.metrics.interval_coverage(intervals[:, :, 0], y_new) == pytest.approx(0.9, abs=0.043)


def test_bins_of_a_classifier(data):
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, y_test) = data
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=100))
    ours = ek.ShiftConformalRegressor(model, confidence_level=[0.8, 0.9], method="ot", prefit=False, bins=20)
    ours.fit(X, y).conformalize(X_cal, y_cal, X_today)
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
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, _) = data
    gap = (y < 200) | (y > 230)
    model = RandomForestClassifier(20, random_state=0)
    ours = ek.ShiftConformalRegressor(model, method="uncorrected", prefit=False, bins=40).fit(X[gap], y[gap])
    assert len(ours.estimator_.classes_) < 40
    ours.conformalize(X_cal, y_cal, X_today)
    assert ours.calibration_.n_classes == 40
    assert ours.predict_interval(X_test)[1].shape == (1000, 2, 1)


def test_a_classifier_fitted_before_needs_edges(data):
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, _) = data
    edges = np.linspace(50, 370, 17)
    labels = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, 15)
    model = LogisticRegression(max_iter=1000).fit(X, labels)
    with pytest.raises(ValueError, match="bin_edges is missing"):
        ek.ShiftConformalRegressor(model, method="ot").conformalize(X_cal, y_cal, X_today)
    ours = ek.ShiftConformalRegressor(model, method="ot", bin_edges=edges).conformalize(X_cal, y_cal, X_today)
    _, intervals = ours.predict_interval(X_test)
    assert set(np.unique(intervals[~np.isnan(intervals)])) <= set(edges)
    for wrong in ([1.0], [1, 1], [3, 2], [0, np.nan]):
        with pytest.raises(ek.EvenkeelError, match="bin_edges"):
            ek.ShiftConformalRegressor(model, bin_edges=wrong).conformalize(X_cal, y_cal, X_today)


def test_too_few_points_give_infinite_intervals(data):
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, _) = data
    ours = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="uncorrected")
    _, intervals = ours.conformalize(X_cal[:5], y_cal[:5], X_today).predict_interval(X_test)
    assert np.all(np.isneginf(intervals[:, 0])) and np.all(np.isposinf(intervals[:, 1]))


def test_prefit_both_ways_and_again(data):
    (X, y), (X_cal, y_cal), (X_today, _), (X_test, _) = data
    ours = ek.ShiftConformalRegressor(LinearRegression(), method="ot", prefit=False).fit(X, y)
    before = ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="ot")
    first = ours.conformalize(X_cal, y_cal, X_today).predict_interval(X_test)[1]
    assert np.array_equal(first, before.conformalize(X_cal, y_cal, X_today).predict_interval(X_test)[1])
    assert not hasattr(clone(ours), "calibration_")
    assert ours.conformalize(X_cal, y_cal, X_cal).calibration_ != before.calibration_
    with pytest.raises(ValueError, match="absolute"):
        before.set_params(conformity_score="lac").conformalize(X_cal, y_cal, X_today)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_values_that_are_no_numbers(data, wrong):
    (X, y), (X_cal, y_cal), (X_today, _), _ = data
    spoiled = y_cal.copy()
    spoiled[7] = wrong
    with pytest.raises(ek.InvalidInputError, match=r"y\[7\]"):
        ek.ShiftConformalRegressor(LinearRegression().fit(X, y), method="ot").conformalize(X_cal, spoiled, X_today)
