"""`ShiftConformalClassifier`."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import evenkeel as ek


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    noisy = X[1000:] + np.random.default_rng(1).normal(0, 4, X[1000:].shape)
    return X[:400], y[:400], X[400:1000], y[400:1000], noisy[:400], noisy[400:], y[1400:]


def fitted(digits, **keywords):
    X, y, *_ = digits
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200, **keywords)).fit(X, y)


def test_a_pipeline_fitted_before(digits):
    _, _, X_cal, y_cal, X_target, X_test, y_test = digits
    model = fitted(digits)
    ours = ek.ShiftConformalClassifier(model, confidence_level=0.9, method="ot")
    assert ours.conformalize(X_cal, y_cal, X_target) is ours
    labels, sets = ours.predict_set(X_test)
    assert np.array_equal(labels, model.predict(X_test))
    assert sets.shape == (len(X_test), 10, 1) and sets.dtype == bool
    direct = ek.calibrate(
        model.predict_proba(X_cal), y_cal, model.predict_proba(X_target), method="ot", alpha=0.1
    )
    assert ours.calibration_ == direct
    assert np.array_equal(sets[:, :, 0], direct.predict_set(model.predict_proba(X_test)))


def test_a_model_fitted_here(digits):
    X, y, X_cal, y_cal, X_target, X_test, _ = digits
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    ours = ek.ShiftConformalClassifier(model, method="uncorrected", prefit=False)
    with pytest.raises(NotFittedError, match="call fit"):
        ours.conformalize(X_cal, y_cal, X_target)
    ours.fit(X, y)
    assert not hasattr(model[-1], "coef_")  # A clone was fitted.
    with pytest.raises(NotFittedError, match="call conformalize"):
        ours.predict_set(X_test)
    before = ek.ShiftConformalClassifier(fitted(digits), method="uncorrected")
    sets = ours.conformalize(X_cal, y_cal, X_target).predict_set(X_test)[1]
    assert np.array_equal(sets, before.conformalize(X_cal, y_cal, X_target).predict_set(X_test)[1])
    ours.fit(X, y)
    with pytest.raises(NotFittedError):
        ours.predict_set(X_test)
    with pytest.raises(ValueError, match="prefit is True"):
        ek.ShiftConformalClassifier(model).fit(X, y)


def test_several_levels_at_once(digits):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    model = fitted(digits)
    ours = ek.ShiftConformalClassifier(model, confidence_level=[0.5, 0.9, 0.99], method="ot").conformalize(X_cal, y_cal, X_target)
    _, sets = ours.predict_set(X_test)
    assert sets.shape == (len(X_test), 10, 3)
    assert np.all(sets[:, :, 0] <= sets[:, :, 1]) and np.all(sets[:, :, 1] <= sets[:, :, 2])
    for index, alpha in enumerate([0.5, 0.1, 0.01]):
        assert np.array_equal(sets[:, :, index], ours.calibration_.predict_set(model.predict_proba(X_test), alpha))


def test_conformalizing_again_replaces_the_calibration(digits):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    ours = ek.ShiftConformalClassifier(fitted(digits), method="ot")
    first = ours.conformalize(X_cal, y_cal, X_target).calibration_
    second = ours.conformalize(X_cal, y_cal, X_cal).calibration_
    assert first != second
    assert ours.conformalize(X_cal, y_cal, X_target).calibration_ == first


def test_labels_that_are_strings(digits):
    X, y, X_cal, y_cal, X_target, X_test, y_test = digits
    names = np.array([f"digit {label}" for label in range(10)])
    model = LogisticRegression(max_iter=100).fit(X, names[y])
    numbers = LogisticRegression(max_iter=100).fit(X, y)
    ours = ek.ShiftConformalClassifier(model, method="ot").conformalize(X_cal, names[y_cal], X_target)
    same = ek.ShiftConformalClassifier(numbers, method="ot").conformalize(X_cal, y_cal, X_target)
    assert list(ours.classes_) == list(names)
    labels, sets = ours.predict_set(X_test)
    assert set(labels) <= set(names)
    assert np.array_equal(sets, same.predict_set(X_test)[1])
    with pytest.raises(ValueError, match=r"y_cal\[0\] is .*'eleven'.*10 classes"):
        ours.conformalize(X_cal[:3], ["eleven", "digit 1", "digit 2"], X_target)


def test_decisions_are_logits(digits):
    X, y, X_cal, y_cal, X_target, X_test, _ = digits
    for model in (LinearSVC(dual=False), RidgeClassifier()):
        model.fit(X, y)
        ours = ek.ShiftConformalClassifier(model, method="ot").conformalize(X_cal, y_cal, X_target)
        direct = ek.calibrate(
            model.decision_function(X_cal), y_cal, model.decision_function(X_target), method="ot", logits=True
        )
        assert ours.calibration_ == direct
        assert np.allclose(ours.predict_proba(X_test).sum(axis=1), 1)
    two = LinearSVC(dual=False).fit(X, y > 4)
    ours = ek.ShiftConformalClassifier(two, method="uncorrected").conformalize(X_cal, y_cal > 4, X_target)
    assert ours.predict_set(X_test)[1].shape == (len(X_test), 2, 1)
    assert np.allclose(ours.predict_proba(X_test)[:, 1], 1 / (1 + np.exp(-two.decision_function(X_test))))


class Network:
    """Any object: logits out of `predict_proba`, no classes, no `predict`."""

    def __init__(self, weights):
        self.weights = weights

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float32) @ self.weights


def test_any_object_with_probabilities(digits):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    model = Network(fitted(digits)[-1].coef_.T.astype(np.float32))
    ours = ek.ShiftConformalClassifier(model, method="ot", logits=True).conformalize(X_cal, y_cal, X_target)
    labels, sets = ours.predict_set(X_test)
    assert np.array_equal(labels, model.predict_proba(X_test).argmax(axis=1))
    assert sets.shape == (len(X_test), 10, 1)
    with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
        ek.ShiftConformalClassifier(object(), method="ot").conformalize(X_cal, y_cal, X_target)
    with pytest.raises(ValueError, match="estimator is None"):
        ek.ShiftConformalClassifier().conformalize(X_cal, y_cal, X_target)


def test_tables_with_named_columns(digits):
    X, y, X_cal, y_cal, X_target, X_test, _ = digits
    frame = lambda values: pandas.DataFrame(values, columns=[f"pixel {column}" for column in range(64)])  # noqa: E731
    ours = ek.ShiftConformalClassifier(LogisticRegression(max_iter=100), method="uncorrected", prefit=False)
    ours.fit(frame(X), pandas.Series(y)).conformalize(frame(X_cal), pandas.Series(y_cal), frame(X_target))
    assert list(ours.feature_names_in_)[:1] == ["pixel 0"]
    sets = ours.predict_set(frame(X_test))[1]
    plain = ek.ShiftConformalClassifier(LogisticRegression(max_iter=100), method="uncorrected", prefit=False)
    plain.fit(X, y).conformalize(X_cal, y_cal, X_target)
    assert np.array_equal(sets, plain.predict_set(X_test)[1])
    table = polars.DataFrame(X_cal, schema=[f"pixel {column}" for column in range(64)])
    again = ours.conformalize(table, polars.Series(y_cal), table)
    assert again.predict_set(frame(X_test))[1].shape == sets.shape


def test_parameters_and_clones(digits):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    ours = ek.ShiftConformalClassifier(fitted(digits), confidence_level=[0.8, 0.9], method="ot", method_options={"steps": 5})
    assert ours.get_params(deep=False)["confidence_level"] == [0.8, 0.9]
    assert "estimator__logisticregression__C" in ours.get_params()
    ours.conformalize(X_cal, y_cal, X_target)
    assert ours.calibration_.steps_ == 5
    copy = clone(ours)
    assert not hasattr(copy, "calibration_") and copy.get_params(deep=False)["method_options"] == {"steps": 5}
    ours.set_params(method="uncorrected", confidence_level=0.7)
    with pytest.raises(ek.IncompatibleError, match="method uncorrected does not use steps; ot does"):
        ours.conformalize(X_cal, y_cal, X_target)
    ours.set_params(method_options=None)
    assert ours.conformalize(X_cal, y_cal, X_target).calibration_.method == "uncorrected"
    assert pickle.loads(pickle.dumps(ours)).calibration_ == ours.calibration_
    assert "ShiftConformalClassifier" in repr(ours)


def test_without_target_data_only_uncorrected(digits):
    _, _, X_cal, y_cal, *_ = digits
    with pytest.raises(ValueError, match="X_target is missing"):
        ek.ShiftConformalClassifier(fitted(digits), method="ot").conformalize(X_cal, y_cal)
    ek.ShiftConformalClassifier(fitted(digits), method="uncorrected").conformalize(X_cal, y_cal)


def test_a_check_through_the_estimator(digits):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    model = fitted(digits)
    report = ek.ShiftConformalClassifier(model).check(X_cal, y_cal, X_target)
    ours = report.to_dict()
    theirs = ek.check(model.predict_proba(X_cal), y_cal, model.predict_proba(X_target)).to_dict()
    # The call that is advised names the score that the estimator was given.
    assert ours.pop("command", None) is None or theirs.pop("command") is not None
    assert ours == theirs


@pytest.mark.parametrize("level", [0, 1, -0.5, np.nan, "high", [], [0.9, 2]])
def test_levels_out_of_their_range(digits, level):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    ours = ek.ShiftConformalClassifier(fitted(digits), confidence_level=level, method="uncorrected")
    with pytest.raises(ek.InvalidParameterError, match="confidence_level"):
        ours.conformalize(X_cal, y_cal, X_target)


def test_all_scores(digits):
    _, _, X_cal, y_cal, X_target, X_test, y_test = digits
    for score in ("lac", "aps", "raps", "margin"):
        ours = ek.ShiftConformalClassifier(fitted(digits), method="uncorrected", conformity_score=score)
        _, sets = ours.conformalize(X_cal, y_cal, X_cal).predict_set(X_cal)
        assert ours.calibration_.score == score
        assert ek.metrics.coverage(sets, y_cal) >= 0.9


def test_every_method(digits):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    model = fitted(digits)
    for method in (name for name in ek.method_names() if name != "few-labels"):  # it needs labels of target rows
        if method == "fixed":
            continue  # It needs weights of the user's own.
        ours = ek.ShiftConformalClassifier(model, confidence_level=[0.8, 0.9], method=method)
        _, sets = ours.conformalize(X_cal[:200], y_cal[:200], X_target).predict_set(X_test[:20])
        assert sets.shape == (20, 10, 2), method
    fixed = ek.ShiftConformalClassifier(model, method="fixed", method_options={"weights_cal": np.ones(len(X_cal))})
    assert fixed.conformalize(X_cal, y_cal, X_target).calibration_.method == "fixed"
    assert ek.ShiftConformalClassifier(model).method == "auto"


def test_a_check_uses_the_options_of_the_score(digits):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    model, options = fitted(digits), {"raps_lambda": 0.3, "raps_k": 1, "randomised": True}
    ours = ek.ShiftConformalClassifier(model, conformity_score="raps", method_options={**options, "steps": 5})
    report = ours.check(X_cal, y_cal, X_target)
    direct = ek.check(model.predict_proba(X_cal), y_cal, model.predict_proba(X_target), score="raps", **options)
    assert report.to_dict() == direct.to_dict()
    assert report.threshold != ek.ShiftConformalClassifier(model).check(X_cal, y_cal, X_target).threshold


@pytest.mark.parametrize("method", ["likelihood-ratio", "conditional"])
def test_features_beside_the_models_inputs(digits, method):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    model, noise = fitted(digits), np.random.default_rng(0).normal(size=(3, 600, 3))
    beside = {"features_cal": noise[0][: len(X_cal)], "features_target": noise[1][: len(X_target)] + 0.2}
    ours = ek.ShiftConformalClassifier(model, method=method, method_options=beside).conformalize(X_cal, y_cal, X_target)
    some = noise[2][:30]
    sets = ours.predict_set(X_test[:30], features=some)[1]
    direct = ek.calibrate(
        model.predict_proba(X_cal), y_cal, model.predict_proba(X_target), method=method, **beside
    ).predict_set(model.predict_proba(X_test[:30]), features=some)
    assert np.array_equal(sets[:, :, 0], direct)
    with pytest.raises(ek.IncompatibleError, match="needs features"):
        ours.predict_set(X_test[:30])


@pytest.mark.parametrize("name", ["alpha", "logits", "random_state", "method", "y_cal"])
def test_options_that_are_parameters(digits, name):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    with pytest.raises(ek.InvalidParameterError, match=f"method_options holds {name}"):
        ek.ShiftConformalClassifier(fitted(digits), method_options={name: 0.1}).conformalize(X_cal, y_cal, X_target)


def test_parameters_of_the_wrong_kind(digits):
    _, _, X_cal, y_cal, X_target, _, _ = digits
    model = fitted(digits)
    wrong = [{"method_options": "abc"}, {"method_options": {3: 4}}, {"logits": "False"}, {"prefit": "no"}]
    for keywords in [*wrong, {"method_options": {"randomised": "no"}}, {"method_options": {"randomised": [1, 2]}}]:
        with pytest.raises(ek.InvalidParameterError):
            ek.ShiftConformalClassifier(model, **keywords).conformalize(X_cal, y_cal, X_target)


def test_labels_of_other_packages(digits):
    X, y, X_cal, y_cal, X_target, _, _ = digits
    names = np.array([f"digit {label}" for label in range(10)])
    ours = ek.ShiftConformalClassifier(LogisticRegression(max_iter=100).fit(X, names[y]), method="uncorrected")
    expected = ours.conformalize(X_cal, names[y_cal], X_target).calibration_
    arrow = pyarrow.array(names[y_cal].tolist())
    for labels in (arrow, arrow.dictionary_encode(), pyarrow.chunked_array([arrow[:5], arrow[5:]]), polars.Series(names[y_cal]),
                   pandas.Series(names[y_cal]).astype("category"), pandas.DataFrame({"y": names[y_cal]})):  # fmt: skip
        assert ours.conformalize(X_cal, labels, X_target).calibration_ == expected
    lists = np.empty(len(y_cal), dtype=object)
    lists[:] = [[1, 2]] * len(y_cal)
    with pytest.raises(ek.InvalidInputError, match="y_cal: it holds something that is not a label"):
        ours.conformalize(X_cal, lists, X_target)


def test_rows_of_a_stream_draw_by_position(digits):
    _, _, X_cal, y_cal, X_target, X_test, _ = digits
    ours = ek.ShiftConformalClassifier(fitted(digits), confidence_level=[0.8, 0.9], method="uncorrected",
                                       conformity_score="aps", method_options={"randomised": True})  # fmt: skip
    ours.conformalize(X_cal, y_cal, X_target)
    whole = ours.predict_set(X_test[:40])[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = [ours.predict_set(X_test[row : row + 1], first_row=row)[1] for row in range(40)]
        assert np.array_equal(np.vstack(single), whole)
    with pytest.warns(UserWarning, match="count rows with first_row"):
        ours.predict_set(X_test[1:2])
