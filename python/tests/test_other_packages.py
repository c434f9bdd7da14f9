"""Uncorrected, the sets are those of MAPIE and crepes on the same data."""

from __future__ import annotations

import numpy as np
import pytest
from crepes import ConformalClassifier
from crepes.extras import hinge
from mapie.classification import SplitConformalClassifier
from mapie.regression import SplitConformalRegressor
from sklearn.datasets import load_digits, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split

import evenkeel as ek

LEVELS = [0.8, 0.9, 0.95]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=300, random_state=0)
    X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, train_size=500, random_state=0)
    model = LogisticRegression(max_iter=300, C=3e-5).fit(X_train, y_train)
    return model, X_cal, y_cal, X_test, y_test


def test_mapie_gives_the_same_sets(digits):
    model, X_cal, y_cal, X_test, _ = digits
    theirs = SplitConformalClassifier(model, confidence_level=LEVELS, conformity_score="lac", prefit=True)
    theirs.conformalize(X_cal, y_cal)
    labels, sets = theirs.predict_set(X_test)
    ours = ek.ShiftConformalClassifier(model, confidence_level=LEVELS, method="uncorrected")
    our_labels, our_sets = ours.conformalize(X_cal, y_cal, X_test).predict_set(X_test)
    assert our_sets.shape == sets.shape == (len(X_test), 10, 3)
    assert np.array_equal(our_labels, labels)
    assert np.array_equal(our_sets, sets)
    assert len(np.unique(our_sets[:, :, 2].sum(axis=1))) >= 4  # Sets of many sizes, not a trivial case.


def test_crepes_gives_the_same_sets(digits):
    """crepes compares p-values, (1 + number of scores at or above) / (n + 1), with the significance level."""
    model, X_cal, y_cal, X_test, _ = digits
    alphas_cal = hinge(model.predict_proba(X_cal), model.classes_, y_cal)
    theirs = ConformalClassifier().fit(alphas_cal)
    alphas_test = hinge(model.predict_proba(X_test))
    ours = ek.calibrate(model.predict_proba(X_cal), y_cal, model.predict_proba(X_test), method="uncorrected")
    for level in LEVELS:
        sets = theirs.predict_set(alphas_test, confidence=level, smoothing=False)
        assert np.array_equal(ours.predict_set(model.predict_proba(X_test), 1 - level), sets.astype(bool))


def test_mapie_gives_the_same_intervals():
    X, y = make_regression(900, 5, noise=20, random_state=0)
    model = LinearRegression().fit(X[:300], y[:300])
    theirs = SplitConformalRegressor(model, confidence_level=LEVELS, prefit=True).conformalize(X[300:600], y[300:600])
    predicted, intervals = theirs.predict_interval(X[600:])
    ours = ek.ShiftConformalRegressor(model, confidence_level=LEVELS, method="uncorrected")
    our_predicted, our_intervals = ours.conformalize(X[300:600], y[300:600], X[600:]).predict_interval(X[600:])
    assert np.array_equal(our_predicted, predicted)
    assert our_intervals.shape == intervals.shape == (300, 2, 3)
    assert np.allclose(our_intervals, intervals, rtol=0, atol=1e-9)
