"""`ShiftConformalRegressor`: intervals that keep their coverage when the data shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils import column_or_1d

from evenkeel import _evenkeel, _inputs, _format
from evenkeel._errors import IncompatibleError, InvalidInputError, InvalidParameterError
from evenkeel._estimator import ShiftConformalEstimator
from evenkeel.calibration import Calibration, calibrate

if TYPE_CHECKING:
    from evenkeel._options import MethodName

#: The paper's settings for regression: eq 8, ten large steps, the plain bandwidth rule.
REGRESSION_OPTIONS: Dict[str, Any] = {
    "objective": "wasserstein",
    "steps": 10,
    "learning_rate": 0.1,
    "bandwidth_factor": 1.0,
}


class ShiftConformalRegressor(RegressorMixin, ShiftConformalEstimator):
    """Intervals of a regressor that keep their coverage when the data shift.

    A plain regressor (`predict`) is calibrated on its absolute residuals. Candidate labels of target points are bins of
    `y`, and calibration residuals placed around a prediction stand for what the model believes. A classifier over bins
    (`predict_proba`) is calibrated on the probabilities of its bins, and its sets of bins are unions of intervals.

    Parameters
    ----------
    estimator : object
        A regressor with `predict`, or a classifier over bins with `predict_proba` or `decision_function` (taken as logits).
    confidence_level : float or list of floats
        Target coverage, one or several at once.
    method : str
        "ot" or "uncorrected" for a plain regressor; any of `evenkeel.method_names()` for a classifier over bins.
    conformity_score : str
        "absolute" for a plain regressor; "lac", "aps", "raps" or "margin" for a classifier over bins.
    prefit : bool
        Whether `estimator` is fitted already; otherwise `fit` fits a clone of it.
    random_state : int
        Root of all randomness.
    bins : int
        Number of equal bins over the range of the training `y` (of the calibration `y` for a fitted plain regressor).
    bin_edges : array (bins + 1,)
        Edges of the bins of a fitted classifier; class `k` is the bin from `bin_edges[k]` to `bin_edges[k + 1]`. Labels
        outside count to the bin at that edge; if there were any, intervals with it are open there.
    method_options : dict
        Options of `evenkeel.calibrate`, on top of the paper's for regression (`REGRESSION_OPTIONS`).

    Attributes
    ----------
    calibration_ : Calibration
        What `conformalize` learned; conformalizing again replaces it.
    bin_edges_ : array (bins + 1,)
        Of a classifier over bins fitted here.
    open_ends_ : tuple (low, high) of bool
        Of a classifier over bins: whether calibration or training labels lay below the lowest or above the highest edge. The
        edge bin then stands for them too, and an interval that holds it has an infinite end there.
    """

    def __init__(
        self,
        estimator: Any = None,
        confidence_level: Any = 0.9,
        method: MethodName = "ot",
        conformity_score: Optional[str] = None,
        prefit: bool = True,
        random_state: Any = 0,
        bins: int = 50,
        bin_edges: Any = None,
        method_options: Optional[Dict[str, Any]] = None,
    ) -> None:
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.method = method
        self.conformity_score = conformity_score
        self.prefit = prefit
        self.random_state = random_state
        self.bins = bins
        self.bin_edges = bin_edges
        self.method_options = method_options

    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ShiftConformalRegressor":
        """Fits a clone of the estimator; needs prefit=False. A classifier is fitted to the bins of `y`."""
        if _is_classifier(self._inner()):
            values = _inputs.vector("y", y)
            labels, edges = _binned(values, self._edges_over(values))
            self._fit(X, labels, fit_params)
            self.bin_edges_ = edges
            self._trained_outside = (bool(np.any(values < edges[0])), bool(np.any(values > edges[-1])))
        else:
            self._fit(X, column_or_1d(y, warn=True), fit_params)
        if hasattr(self, "calibration_"):
            del self.calibration_  # It belonged to the model before.
        return self

    def conformalize(self, X_cal: Any, y_cal: Any, X_target: Any = None) -> "ShiftConformalRegressor":
        """Learns from labeled calibration data and unlabeled target data; may be called again at any time.

        Without `X_target` only the method "uncorrected" can be used.
        """
        if X_target is None and self.method != "uncorrected":
            raise InvalidParameterError(
                f"X_target is missing; method {self.method} learns from unlabeled target data, or use uncorrected"
            )
        target = X_cal if X_target is None else X_target
        if self._predicts_bins():
            self.calibration_ = self._calibrated_bins(X_cal, y_cal, target)
        else:
            self.calibration_ = self._calibrated_residuals(X_cal, y_cal, target)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The estimator's own prediction; of a classifier over bins the mean of its bins."""
        if not self._predicts_bins():
            predicted = np.asarray(self._predicted(X))
            return predicted[:, 0] if predicted.ndim == 2 and predicted.shape[1] == 1 else predicted
        edges = self._edges()
        return self._bin_probabilities(X, "X") @ ((edges[:-1] + edges[1:]) / 2)

    def predict_interval(
        self, X: Any, *, features: Any = None, ratios: Any = None, first_row: int = 0
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Predictions and intervals, `(y_pred, (n, 2, n_levels))`.

        Of a classifier over bins these are the smallest intervals around its unions (`predict_union`); an empty union has
        NaN ends, and one with an edge bin that also stands for labels outside the edges has an infinite end (`open_ends_`).
        `features`, `ratios` and `first_row` are for a classifier over bins, as in `Calibration.predict_set`.
        """
        self._require_conformalized()
        prediction = self.predict(X)
        if self._predicts_bins():
            edges, sets = self._outer_edges(), self._bin_sets(X, features, ratios, first_row)
            return prediction, np.stack([_hulls(one, edges) for one in sets], axis=2)
        if features is not None or ratios is not None:
            raise InvalidParameterError("features and ratios are for a classifier over bins; a plain regressor uses none")
        calibration: Calibration = self.calibration_
        half = [_half_width(calibration, alpha) for alpha in self._alphas()]
        return prediction, np.stack([np.stack([prediction - one, prediction + one], axis=1) for one in half], axis=2)

    def predict_union(
        self, X: Any, *, features: Any = None, ratios: Any = None, first_row: int = 0
    ) -> Tuple[np.ndarray, List[List[np.ndarray]]]:
        """Predictions, and for every level a list with an array `(k, 2)` of disjoint intervals per point.

        Ends and keywords are as in `predict_interval`. `evenkeel.metrics.union_length` and `union_coverage` measure them.
        Of a plain regressor every union is one interval.
        """
        self._require_conformalized()
        if self._predicts_bins():
            edges, levels = self._outer_edges(), self._bin_sets(X, features, ratios, first_row)
            return self.predict(X), [[_union(row, edges) for row in sets] for sets in levels]
        prediction, intervals = self.predict_interval(X, features=features, ratios=ratios)
        return prediction, [[row[np.newaxis, :] for row in intervals[:, :, level]] for level in range(intervals.shape[2])]

    def _predicts_bins(self) -> bool:
        model = self._model()
        return hasattr(model, "predict_proba") or _is_classifier(model)

    def _predicted(self, X: Any) -> Any:
        model = self._model()
        if not hasattr(model, "predict"):
            raise InvalidParameterError(
                f"estimator {type(model).__name__} has neither predict nor predict_proba; give a regressor, or a classifier "
                "over bins"
            )
        return model.predict(X)

    def _edges_over(self, y: np.ndarray) -> np.ndarray:
        if self.bin_edges is not None:
            return _checked_edges(self.bin_edges)
        low, high = (float(y.min()), float(y.max())) if y.size else (0.0, 0.0)
        _, edges = _evenkeel.bin_labels(y, low, high, _inputs.count("bins", self.bins))
        return edges

    def _edges(self) -> np.ndarray:
        if not self.prefit and hasattr(self, "bin_edges_"):
            return self.bin_edges_  # Those the model was fitted to here.
        given = self.bin_edges if self.bin_edges is not None else getattr(self._model(), "bin_edges_", None)
        if given is None:
            raise InvalidParameterError(
                "bin_edges is missing; say which interval each class of the estimator stands for, or give prefit=False"
            )
        return _checked_edges(given)

    def _bin_probabilities(self, X: Any, argument: str) -> np.ndarray:
        """Probabilities of all bins in their order; a bin that no training point fell into has none."""
        model, edges = self._model(), self._edges()
        probs = _class_probabilities(model, X, argument)
        classes = np.asarray(getattr(model, "classes_", np.arange(probs.shape[1])))
        no_bins = InvalidInputError("the classes of the estimator are not bins; label bin k with k")
        if classes.shape != (probs.shape[1],) or classes.dtype.kind not in "iufb":
            raise no_bins
        places = classes.astype(np.int64)
        if np.any(classes != places) or len(np.unique(places)) != len(places):
            raise no_bins
        bins = len(edges) - 1
        if places.min() < 0 or places.max() >= bins:
            raise InvalidInputError(f"the estimator has a class {places.max()} but there are {bins} bins; check bin_edges")
        if np.array_equal(places, np.arange(bins)):
            return probs
        spread = np.zeros((len(probs), bins), dtype=probs.dtype)
        spread[:, places] = probs
        return spread

    def _outer_edges(self) -> np.ndarray:
        """The edges, infinite where an edge bin also stands for labels beyond it."""
        edges = self._edges().copy()
        low, high = self.open_ends_
        if low:
            edges[0] = -np.inf
        if high:
            edges[-1] = np.inf
        return edges

    def _open_ends(self, y_cal: np.ndarray, edges: np.ndarray) -> Tuple[Tuple[bool, bool], List[str]]:
        """Which ends are open, and a warning about each: labels beyond an edge were counted to its bin."""
        trained = (False, False) if self.prefit else getattr(self, "_trained_outside", (False, False))
        shares = (float(np.mean(y_cal < edges[0])), float(np.mean(y_cal > edges[-1])))
        words = (("below", "lowest", "lower"), ("above", "highest", "upper"))
        said = []
        for share, outside, (where, edge, end) in zip(shares, trained, words):
            if share > 0 or outside:
                who = f"{_format.percent(share)} of the calibration labels" if share > 0 else "some training labels"
                said.append(
                    f"{who} lie {where} the bin edges, so an interval with the {edge} bin has no {end} end; widen bin_edges "
                    "for finite ones"
                )
        return (shares[0] > 0 or trained[0], shares[1] > 0 or trained[1]), said

    def _calibrated_bins(self, X_cal: Any, y_cal: Any, X_target: Any) -> Calibration:
        values, edges = _inputs.vector("y_cal", y_cal), self._edges()
        labels, _ = _binned(values, edges)
        score = "lac" if self.conformity_score is None else self.conformity_score
        calibration = calibrate(
            self._bin_probabilities(X_cal, "X_cal"),
            labels,
            self._bin_probabilities(X_target, "X_target"),
            method=self.method,
            alpha=self._alphas()[0],
            random_state=self.random_state,
            **{**self._paper_options(), "score": score, **self._options()},
        )
        self.open_ends_, said = self._open_ends(values, edges)
        return Calibration(calibration._core, said)

    def _paper_options(self) -> Dict[str, Any]:
        """Those of `REGRESSION_OPTIONS` that the method uses."""
        used = _evenkeel.options_of_method(str(self.method))
        return {name: value for name, value in REGRESSION_OPTIONS.items() if name in used}

    def _calibrated_residuals(self, X_cal: Any, y_cal: Any, X_target: Any) -> Calibration:
        if self.conformity_score not in (None, "absolute"):
            raise InvalidParameterError(
                f"conformity_score is {self.conformity_score!r}; a plain regressor is calibrated on absolute residuals, say "
                "\"absolute\""
            )
        core = _evenkeel.calibrate_residuals(
            _inputs.vector("the predictions of X_cal", self._predicted(X_cal)),
            _inputs.vector("y_cal", y_cal),
            _inputs.vector("the predictions of X_target", self._predicted(X_target)),
            _inputs.count("bins", self.bins),
            str(self.method),
            self._alphas()[0],
            _inputs.seed(self.random_state),
            {**self._paper_options(), **self._options()},
        )
        return ResidualCalibration(core)

    def _bin_sets(self, X: Any, features: Any, ratios: Any, first_row: int) -> List[np.ndarray]:
        probs, calibration = self._bin_probabilities(X, "X"), self.calibration_
        return calibration._sets(probs, self._alphas(), features=features, ratios=ratios, first_row=first_row)


class ResidualCalibration(Calibration):
    """Weighted absolute residuals of a plain regressor: thresholds are half widths of intervals, and there are no label sets."""

    __slots__ = ()

    @property
    def score(self) -> str:
        """Always "absolute"."""
        return "absolute"

    @property
    def n_classes(self) -> int:
        """Number of bins of `y` that served as candidate labels."""
        return self._core.classes

    def predict_set(self, *_: Any, **__: Any) -> np.ndarray:
        """Refused: there are no labels."""
        raise IncompatibleError("a calibration of residuals gives no sets of labels; use the regressor's predict_interval")

    def _sets(self, *_: Any, **__: Any) -> List[np.ndarray]:
        return [self.predict_set()]

    def evaluate(self, *_: Any, **__: Any) -> Dict[str, Any]:
        """Refused: there are no labels."""
        raise IncompatibleError(
            "a calibration of residuals gives no sets of labels; measure the regressor's intervals with evenkeel.metrics"
        )

    def save(self, path: Any) -> None:
        """Refused: the file would be read as one of label scores."""
        raise IncompatibleError("a calibration of residuals has no file of its own; pickle the regressor")

    def _title(self) -> str:
        return f"Calibration of absolute residuals, {self.n_classes} bins of y"


def _is_classifier(model: Any) -> bool:
    try:
        return bool(is_classifier(model))
    except (AttributeError, TypeError):
        return False  # No estimator of scikit-learn: nothing is known about it.


def _class_probabilities(model: Any, X: Any, argument: str) -> np.ndarray:
    """What a classifier over bins says about `X`; decisions are taken as logits, as in `ShiftConformalClassifier`."""
    if hasattr(model, "predict_proba"):
        return _inputs.matrix(f"the probabilities of {argument}", model.predict_proba(X))
    if not hasattr(model, "decision_function"):
        raise InvalidParameterError(
            f"estimator {type(model).__name__} is a classifier with neither predict_proba nor decision_function; give one that "
            "says how likely each bin is, or a regressor"
        )
    logits = _inputs.matrix(f"the logits of {argument}", model.decision_function(X)).astype(np.float64)
    if logits.shape[1] == 1:  # Two bins: the one number is the second's logit against the first's.
        logits = np.hstack([np.zeros_like(logits), logits])
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)


def _half_width(calibration: Calibration, alpha: float) -> float:
    threshold = calibration.threshold(alpha)
    if threshold is None:
        raise InvalidParameterError(f"method {calibration.method} has no single threshold; use ot or uncorrected")
    return threshold


def _checked_edges(edges: Any) -> np.ndarray:
    checked = _inputs.vector("bin_edges", edges)
    if len(checked) < 2 or not np.all(np.isfinite(checked)) or not np.all(np.diff(checked) > 0):
        raise InvalidParameterError("bin_edges must be at least two finite numbers, each above the one before")
    return checked


def _binned(y: np.ndarray, edges: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The bin of every `y`; what lies outside goes to the edge bin."""
    bad = np.flatnonzero(~np.isfinite(y))
    if bad.size:
        raise InvalidInputError(f"y[{bad[0]}] is {y[bad[0]]}; remove the point or impute a finite value")
    labels = np.searchsorted(edges, y, side="right") - 1
    return np.clip(labels, 0, len(edges) - 2).astype(np.int64), edges


def _union(members: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bins of one set as disjoint intervals; shape (k, 2)."""
    padded = np.concatenate([[False], members, [False]])
    changes = np.flatnonzero(padded[1:] != padded[:-1])
    return np.stack([edges[changes[0::2]], edges[changes[1::2]]], axis=1)


def _hulls(sets: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The smallest interval around each set of bins; shape (n, 2)."""
    first, last = sets.argmax(axis=1), sets.shape[1] - sets[:, ::-1].argmax(axis=1)
    hulls = np.stack([edges[first], edges[last]], axis=1)
    hulls[~sets.any(axis=1)] = np.nan
    return hulls
