"""`ShiftConformalRegressor`: intervals that keep their coverage when the data shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
from sklearn.base import RegressorMixin, clone, is_classifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils import column_or_1d

from evenkeel import _errors, _evenkeel, _format, _inputs
from evenkeel._errors import InvalidInputError, InvalidParameterError
from evenkeel._estimator import EstimatorOptions, ShiftConformalEstimator
from evenkeel.calibration import Calibration, fitted
from evenkeel.regression import (
    Compared,
    Forecast,
    GatedCalibration,
    RegressionReport,
    ResidualCalibration,
    Side,
    account,
    checked_guarantee,
    checked_scale,
    compared,
    given_features,
    not_random,
    numeric_table,
    plain_readings,
    report,
    target_values,
)

if TYPE_CHECKING:
    from typing_extensions import Literal

    from evenkeel._options import MethodName, ScoreName

    RegressorScore = Literal["absolute", "normalised", "normalized", "quantile"]

#: The paper's settings for regression, where `ot` minimises eq 8: ten large steps, the plain bandwidth rule.
REGRESSION_OPTIONS: Dict[str, Any] = {
    "objective": "wasserstein",
    "steps": 10,
    "learning_rate": 0.1,
    "bandwidth_factor": 1.0,
}

#: Methods of a plain regressor.
PLAIN_METHODS = ("auto", "uncorrected", "calibrated", "likelihood-ratio", "label-plan", "ot")
#: Options of the gate, for method "auto".
GATE_OPTIONS = ("shift_level", "permutations")
#: Folds of the training data on which residuals for a scale model are predicted.
SCALE_FOLDS = 5


class Reference(NamedTuple):
    """What is kept of the calibration data, to check target data that come later."""

    scores: np.ndarray
    side: Side
    #: Predictions and `y` of a plain regressor; None where readings by bins of `y` do not apply.
    plain: Optional[Tuple[np.ndarray, np.ndarray]]


class ShiftConformalRegressor(RegressorMixin, ShiftConformalEstimator):
    """Intervals of a regressor that keep their coverage when the data shift.

    A plain regressor (`predict`) is calibrated on its residuals, absolute or divided by a scale. A pair of quantile regressors is
    calibrated as in conformalised quantile regression. A classifier over bins (`predict_proba`) is calibrated on the probabilities
    of its bins, and its sets of bins are unions of intervals.

    The method "auto" does no harm: where the target data show no shift, or none that the residuals feel, it is split conformal
    prediction, exactly. See https://evenkeel.github.io/evenkeel/regression.html.

    Parameters
    ----------
    estimator : object
        A regressor with `predict`, a pair of regressors for a lower and an upper quantile, or a classifier over bins with
        `predict_proba` or `decision_function` (taken as logits).
    confidence_level : float or list of floats
        Target coverage, one or several at once.
    method : str
        "auto", "uncorrected", a reading alone ("calibrated", "likelihood-ratio", "label-plan") or "ot". A classifier over bins also takes
        any other of `evenkeel.method_names()`.
    conformity_score : str
        "absolute", "normalised" or "quantile" for regressors; "lac", "aps", "raps" or "margin" for a classifier over bins. By default
        what the estimators ask for.
    prefit : bool
        Whether `estimator` (and `scale_estimator`) are fitted already; otherwise `fit` fits clones of them.
    scale_estimator : object
        A regressor that predicts how large residuals are at x, for the score "normalised". With `prefit=True` its predictions are taken as
        they are and must be positive. With `prefit=False` a clone of it (of `estimator`, if it is None and the score is "normalised") is
        fitted to the logarithms of absolute residuals of the training data, each predicted by a model that did not see the point.
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
        method: Union[MethodName, Literal["calibrated"]] = "auto",
        conformity_score: Optional[Union[RegressorScore, ScoreName]] = None,
        prefit: bool = True,
        random_state: Any = 0,
        bins: int = 50,
        bin_edges: Any = None,
        method_options: Optional[EstimatorOptions] = None,
        scale_estimator: Any = None,
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
        self.scale_estimator = scale_estimator

    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ShiftConformalRegressor":
        """Fits clones of the estimators; needs prefit=False. A classifier is fitted to the bins of `y`."""
        if self._is_pair():
            if _inputs.flag("prefit", self.prefit):
                self._fit(X, y, fit_params)  # Says why it refuses.
            self.estimator_ = tuple(clone(one).fit(X, column_or_1d(y, warn=True), **fit_params) for one in self.estimator)
        elif _is_classifier(self._inner()):
            values = _inputs.vector("y", y)
            labels, edges = _binned(values, self._edges_over(values))
            self._fit(X, labels, fit_params)
            self.bin_edges_ = edges
            self._trained_outside = (bool(np.any(values < edges[0])), bool(np.any(values > edges[-1])))
        else:
            values = column_or_1d(y, warn=True)
            self._fit(X, values, fit_params)
            if self._score_kind() == "normalised":
                self.scale_estimator_ = self._fitted_scale(X, values, fit_params)
        if hasattr(self, "calibration_"):
            del self.calibration_  # It belonged to the model before.
        return self

    def conformalize(
        self,
        X_cal: Any,
        y_cal: Any,
        X_target: Any = None,
        y_target: Any = None,
        *,
        features_cal: Any = None,
        features_target: Any = None,
        scale_cal: Any = None,
        scale_target: Any = None,
        guarantee: Optional[Union[float, Literal["none", "average"]]] = None,
    ) -> "ShiftConformalRegressor":
        """Learns from labeled calibration data and unlabeled target data; may be called again at any time.

        Without `X_target` only the method "uncorrected" can be used.

        `y_target` holds some known `y` of the target data, of rows drawn at random: one for each row with NaN where unknown, or a dict
        from row to value. Method "auto" pulls its threshold toward theirs. `guarantee="average"` makes it at least that of split
        conformal prediction on these labels, `guarantee=0.9` at least one that covers the level with this probability.

        `features_cal` and `features_target` are what is compared beside predictions; by default `X` itself, where it is a table of
        numbers with at least five rows a column. `scale_cal` and `scale_target` are scales of residuals (score "normalised") in place of
        a scale estimator; `predict_interval` then takes `scale`.
        """
        if X_target is None and self.method != "uncorrected":
            raise InvalidParameterError(
                f"X_target is missing; method {self.method} learns from unlabeled target data, or use uncorrected"
            )
        if y_target is not None and self.method != "auto":
            raise InvalidParameterError(f"y_target is given, and method {self.method} has no use for it; say method=\"auto\"")
        promise = checked_guarantee(guarantee)
        if promise is not None and y_target is None:
            raise InvalidParameterError("guarantee is given without labels; give y_target")
        target = X_cal if X_target is None else X_target
        if self._predicts_bins():
            if scale_cal is not None or scale_target is not None:
                raise InvalidParameterError("scale_cal and scale_target are for residuals; a classifier over bins has none")
            if self.method in ("auto", "calibrated"):
                features = (features_cal, features_target)
                self.calibration_ = self._gated_bins(X_cal, y_cal, target, features, y_target, promise)
            else:
                self._refuse_features(features_cal, features_target)
                self.calibration_ = self._calibrated_bins(X_cal, y_cal, target)
            _errors.warn_of(self.calibration_.warnings_)
            return self
        if self.method not in PLAIN_METHODS:
            raise InvalidParameterError(f"method is {self.method!r}; for a regressor it must be one of {', '.join(PLAIN_METHODS)}")
        y = _inputs.vector("y_cal", y_cal)
        cal = self._forecast(X_cal, "X_cal", "scale_cal", scale_cal)
        said = self._forecast(target, "X_target", "scale_target", scale_target)
        scores = cal.scores(y)
        plain = (cal.prediction, y) if cal.kind == "absolute" else None
        # Kept by this name so that scikit-learn does not take it for a fitted attribute.
        self._reference = Reference(scores, Side(cal.outputs(), self._features(X_cal, "features_cal", features_cal)), plain)
        side = Side(said.outputs(), self._features(target, "features_target", features_target))
        self._require_both(features_cal, features_target)
        known = target_values("y_target", y_target, len(said.prediction))
        labeled = said.rows(sorted(known)).scores(np.array([known[row] for row in sorted(known)])) if known else np.zeros(0)
        picked = not_random(side, sorted(known), _inputs.seed(self.random_state))
        self.calibration_ = self._calibrated_scores(cal, said, y, side, (labeled, picked), promise)
        _errors.warn_of(self.calibration_.warnings_)
        # What labels that arrive later are added to; by this name so that scikit-learn does not take it for a fitted attribute.
        self._asked = None
        if X_target is not None:
            beside = {"features_cal": features_cal, "features_target": features_target, "scale_cal": scale_cal, "scale_target": scale_target}
            self._asked = ((X_cal, y_cal, X_target), known, {**beside, "guarantee": guarantee})
        return self

    def partial_conformalize(self, y_target_new: Any) -> "ShiftConformalRegressor":
        """Adds `y` of target rows that became known after `conformalize`: the same as with all of them at once.

        For method "auto". Given as `y_target` to `conformalize`; what was given before need not be given again. The data that
        `conformalize` was called with must not have changed since.
        """
        self._require_conformalized()
        asked = getattr(self, "_asked", None)
        if asked is None:
            raise InvalidParameterError("there are no target rows to label; call conformalize of a regressor with X_target first")
        (X_cal, y_cal, X_target), known, beside = asked
        rows = len(self._forecast(X_target, "X_target", "scale_target", beside["scale_target"]).prediction)
        new = target_values("y_target_new", y_target_new, rows)
        for row in sorted(set(known) & set(new)):
            if known[row] != new[row]:
                raise InvalidInputError(
                    f"y_target_new[{row}] is {new[row]}, and {known[row]} was given before; call conformalize with what is right"
                )
        return self.conformalize(X_cal, y_cal, X_target, {**known, **new}, **beside)

    def check(
        self, X_target: Any, y_target: Any = None, *, delta: float = 0.05, permutations: Optional[int] = None,
        features_target: Any = None, scale_target: Any = None,
    ) -> RegressionReport:
        """Do the intervals in use still cover the target data, how much is lost, what to do; see `RegressionReport`.

        The question is about the first confidence level and the threshold that `conformalize` left. `y_target` holds some known `y`, as
        there: coverage is then measured too.
        """
        self._require_conformalized()
        reference: Reference = self._reference
        alpha, seed = self._alphas()[0], _inputs.seed(self.random_state)
        threshold = _reach(self.calibration_, alpha)
        beside: Dict[str, float] = {}
        labeled: List[float] = []
        if self._predicts_bins():
            probs = self._bin_probabilities(X_target, "X_target")
            outputs, m = _bin_outputs(probs, self._edges()), len(probs)
            known = target_values("y_target", y_target, m)
            labeled = self._bin_scores(probs, known)
        else:
            said = self._forecast(X_target, "X_target", "scale_target", scale_target)
            outputs, m = said.outputs(), len(said.prediction)
            known = target_values("y_target", y_target, m)
            rows = sorted(known)
            labeled = said.rows(rows).scores(np.array([known[row] for row in rows])).tolist() if rows else []
            if reference.plain is not None:
                bins = _inputs.count("bins", self.bins)
                beside = plain_readings(reference.scores, *reference.plain, said.prediction, bins, threshold, alpha, seed)
        side = Side(outputs, self._features(X_target, "features_target", features_target))
        draws = None if permutations is None else _inputs.count("permutations", permutations)
        failure = _inputs.number("delta", delta)
        data = compared(reference.scores, reference.side, side)
        pulled = getattr(self.calibration_, "labels_used_", 0) > 0
        picked = not_random(side, sorted(known), seed)
        found = report(data, threshold, alpha, failure, draws, seed, beside, labeled, chosen_with_labels=pulled, picked=picked)
        _errors.warn_of(found.warnings)
        return found

    def predict(self, X: Any) -> np.ndarray:
        """The estimator's own prediction; of a classifier over bins the mean of its bins, of two quantiles their middle."""
        if self._is_pair():
            return self._forecast(X, "X").prediction
        if not self._predicts_bins():
            predicted = np.asarray(self._predicted(X))
            return predicted[:, 0] if predicted.ndim == 2 and predicted.shape[1] == 1 else predicted
        edges = self._edges()
        return self._bin_probabilities(X, "X") @ ((edges[:-1] + edges[1:]) / 2)

    def predict_interval(
        self, X: Any, *, features: Any = None, ratios: Any = None, first_row: int = 0, scale: Any = None
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Predictions and intervals, `(y_pred, (n, 2, n_levels))`.

        Of a classifier over bins these are the smallest intervals around its unions (`predict_union`); an empty union has
        NaN ends, and one with an edge bin that also stands for labels outside the edges has an infinite end (`open_ends_`).
        `features`, `ratios` and `first_row` are for a classifier over bins, as in `Calibration.predict_set`; `scale` for residuals whose
        scales were given to `conformalize`.
        """
        self._require_conformalized()
        if self._predicts_bins():
            prediction = self.predict(X)
            edges, sets = self._outer_edges(), self._bin_sets(X, features, ratios, first_row)
            return prediction, np.stack([_hulls(one, edges) for one in sets], axis=2)
        if features is not None or ratios is not None:
            raise InvalidParameterError("features and ratios are for a classifier over bins; a plain regressor uses none")
        said = self._forecast(X, "X", "scale", scale)
        reached = [said.interval(_reach(self.calibration_, alpha)) for alpha in self._alphas()]
        return said.prediction, np.stack(reached, axis=2)

    def predict_union(
        self, X: Any, *, features: Any = None, ratios: Any = None, first_row: int = 0, scale: Any = None
    ) -> Tuple[np.ndarray, List[List[np.ndarray]]]:
        """Predictions, and for every level a list with an array `(k, 2)` of disjoint intervals per point.

        Ends and keywords are as in `predict_interval`. `evenkeel.metrics.union_length` and `union_coverage` measure them.
        Of a plain regressor every union is one interval.
        """
        self._require_conformalized()
        if self._predicts_bins():
            edges, levels = self._outer_edges(), self._bin_sets(X, features, ratios, first_row)
            return self.predict(X), [[_union(row, edges) for row in sets] for sets in levels]
        prediction, intervals = self.predict_interval(X, features=features, ratios=ratios, scale=scale)
        return prediction, [[row[np.newaxis, :] for row in intervals[:, :, level]] for level in range(intervals.shape[2])]

    def _is_pair(self) -> bool:
        """Whether the estimator is a pair of regressors for two quantiles."""
        if not isinstance(self.estimator, (tuple, list)):
            return False
        if len(self.estimator) != 2:
            raise InvalidParameterError(
                f"estimator holds {len(self.estimator)} models; give one regressor, or two for a lower and an upper quantile"
            )
        return True

    def _score_kind(self) -> str:
        """The score of a regressor: what was asked for, or what the estimators ask for."""
        given = "normalised" if self.conformity_score == "normalized" else self.conformity_score
        natural = "quantile" if self._is_pair() else "absolute" if self.scale_estimator is None else "normalised"
        if given is None:
            return natural
        if given not in ("absolute", "normalised", "quantile") or (given == "quantile") != (natural == "quantile"):
            allowed = '"quantile"' if natural == "quantile" else '"absolute" or "normalised"'
            raise InvalidParameterError(f"conformity_score is {self.conformity_score!r}; for this estimator say {allowed}")
        return given

    def _fitted_scale(self, X: Any, y: np.ndarray, fit_params: Dict[str, Any]) -> Any:
        """A clone fitted to log residuals of the training data, each predicted by a model that did not see the point."""
        if fit_params:
            raise InvalidParameterError(
                "fit was given parameters for the estimator, and does not know how to split them over folds for the scale; fit both "
                "models yourself and give prefit=True"
            )
        if len(y) < SCALE_FOLDS:
            raise InvalidInputError(f"{len(y)} training points are too few for a scale estimator; give at least {SCALE_FOLDS}")
        residuals = np.abs(y - np.ravel(cross_val_predict(clone(self._inner()), X, y, cv=SCALE_FOLDS)))
        typical = float(np.median(residuals)) or float(np.mean(residuals)) or 1.0
        # A residual of exactly zero has no logarithm, and a nearly perfect hit would count for too much.
        model = clone(self._inner() if self.scale_estimator is None else self.scale_estimator)
        return model.fit(X, np.log(residuals + 0.05 * typical))

    def _forecast(self, X: Any, argument: str, scale_argument: str = "scale", scale: Any = None) -> Forecast:
        """What the models say of some points."""
        kind = self._score_kind()
        if kind == "quantile":
            if scale is not None:
                raise InvalidParameterError(f"{scale_argument} is given, and quantiles have a width of their own; leave it out")
            low, high = (_inputs.vector(f"the predictions of {argument}", one.predict(X)) for one in self._model())
            return Forecast.between(low, high)
        prediction = _inputs.vector(f"the predictions of {argument}", self._predicted(X))
        if scale is not None:
            return Forecast.plain(prediction, checked_scale(scale_argument, scale, len(prediction)))
        if kind == "absolute":
            return Forecast.plain(prediction)
        if not self.prefit:
            logs = _inputs.vector(f"the log scales of {argument}", self.scale_estimator_.predict(X))
            # exp overflows above 709: no scale is that far from the typical one.
            return Forecast.plain(prediction, np.exp(np.clip(logs, -300, 300)))
        if self.scale_estimator is None:
            raise InvalidParameterError(
                "conformity_score is \"normalised\" and nothing says how large residuals are: the training data of a fitted estimator are "
                "not known. Give a fitted scale_estimator, scale_cal and scale_target, or prefit=False"
            )
        name = f"the scales of {argument}"
        return Forecast.plain(prediction, checked_scale(name, self.scale_estimator.predict(X), len(prediction)))

    def _features(self, X: Any, argument: str, given: Any) -> Optional[np.ndarray]:
        if given is None:
            return numeric_table(X)
        rows = len(X) if hasattr(X, "__len__") else len(_inputs.array_of("X", X))
        return given_features(argument, given, rows)

    def _require_both(self, features_cal: Any, features_target: Any) -> None:
        if (features_cal is None) != (features_target is None):
            raise InvalidParameterError("features of one data set only; give features_cal and features_target, or neither")

    def _refuse_features(self, features_cal: Any, features_target: Any) -> None:
        if features_cal is not None or features_target is not None:
            raise InvalidParameterError(
                f"features are for method auto here; give those of method {self.method} in method_options"
            )

    def _gate_settings(self) -> Tuple[float, Optional[int], Dict[str, Any]]:
        """Level and permutations of the gate, and the options that are not its own."""
        options = self._options()
        level = _inputs.number("shift_level", options.pop("shift_level", 0.05))
        draws = options.pop("permutations", None)
        return level, None if draws is None else _inputs.count("permutations", draws), options

    def _calibrated_scores(
        self, cal: Forecast, said: Forecast, y: np.ndarray, side: Side, known: Tuple[np.ndarray, Optional[str]], promise: Any
    ) -> Calibration:
        """The calibration of a regressor's scores by the method; `known` are scores of labels, and what to warn of their rows."""
        labeled, picked = known
        method, alpha, seed = str(self.method), self._alphas()[0], _inputs.seed(self.random_state)
        if method in ("ot", "label-plan") and cal.kind != "absolute":
            raise InvalidParameterError(f"method {method} places residuals around predictions and needs absolute ones, not {cal.kind}")
        if method == "ot" or (method == "uncorrected" and cal.kind == "absolute"):
            return self._calibrated_residuals(cal.prediction, y, said.prediction)
        scores = self._reference.scores
        data = compared(scores, self._reference.side, side)
        level, draws, others = self._gate_settings() if method == "auto" else (0.05, None, self._options())
        if others:
            allowed = f"only {' and '.join(GATE_OPTIONS)} are" if method == "auto" else "none is"
            raise InvalidParameterError(f"method_options holds {', '.join(sorted(others))}; {allowed} an option of method {method} here")
        evidence: Optional[Dict[str, Any]] = None
        if method == "auto":
            weights, test_mass, evidence = data.gate(level, draws, seed)
            told = account(evidence)
        elif method == "uncorrected":
            weights, test_mass, told = np.full(len(scores), 1 / len(scores)), 1 / (len(scores) + 1), "Split conformal prediction."
        elif method == "label-plan":
            bins = _inputs.count("bins", self.bins)
            weights, test_mass = _evenkeel.binned_plan_weights(cal.prediction, y, said.prediction, bins)
            told = "The law of y is taken to be that of the calibration data, and target points are transported onto it."
        else:
            weights, test_mass = _evenkeel.reading_weights(scores, data.cal, data.target, data.outputs, method, seed)
            told = f"The reading {method} alone, without a test: the law of the residuals is kept at what is compared."
        notes = list(data.notes) if method in ("auto", "likelihood-ratio") else []
        notes += [] if picked is None else [picked]
        return _gated(method, cal.kind, scores, (weights, test_mass), (alpha, seed), told, evidence, notes, labeled, promise)

    def _gated_bins(
        self, X_cal: Any, y_cal: Any, X_target: Any, features: Tuple[Any, Any], y_target: Any, promise: Any
    ) -> Calibration:
        """A classifier over bins through the same gate: its scores are weighted as those of a regressor."""
        values, edges = _inputs.vector("y_cal", y_cal), self._edges()
        labels, _ = _binned(values, edges)
        probs_cal, probs_target = self._bin_probabilities(X_cal, "X_cal"), self._bin_probabilities(X_target, "X_target")
        alpha, seed = self._alphas()[0], _inputs.seed(self.random_state)
        level, draws, options = self._gate_settings()
        if y_target is not None:
            raise InvalidParameterError(
                "y_target with a classifier over bins: give its probabilities and the bins of y to evenkeel.calibrate, whose method "
                "few-labels is for them"
            )
        options = {"score": "lac" if self.conformity_score is None else self.conformity_score, **options}
        split = fitted(probs_cal, labels, probs_target, "uncorrected", alpha, seed, **options)
        side = Side(_bin_outputs(probs_cal, edges), self._features(X_cal, "features_cal", features[0]))
        self._require_both(*features)
        self._reference = Reference(split.scores_, side, None)
        target = Side(_bin_outputs(probs_target, edges), self._features(X_target, "features_target", features[1]))
        data: Compared = compared(split.scores_, side, target)
        if self.method == "auto":
            weights, test_mass, evidence = data.gate(level, draws, seed)
            told, corrected = account(evidence), evidence["decision"] == "corrected"
        else:
            weights, test_mass = _evenkeel.reading_weights(split.scores_, data.cal, data.target, data.outputs, "calibrated", seed)
            told, corrected, evidence = "The reading calibrated alone, without a test.", True, None
        self.open_ends_, said = self._open_ends(values, edges)
        core = split._core
        if corrected:
            # `fixed` gives the test point the weight 1, so that the weights carry its share in their sum.
            scaled = weights * ((1 - test_mass) / test_mass)
            core = fitted(
                probs_cal, labels, probs_target, "fixed", alpha, seed, weights_cal=scaled, **options
            )._core
        return BinCalibration(core, [*said, *data.notes], {"method": str(self.method), "account": told, "evidence": evidence})

    def _bin_scores(self, probs: np.ndarray, known: Dict[int, float]) -> List[float]:
        """Scores of the bins of known `y`."""
        if not known:
            return []
        rows = sorted(known)
        labels, _ = _binned(np.array([known[row] for row in rows]), self._edges())
        options: Dict[str, Any] = {"score": "lac" if self.conformity_score is None else self.conformity_score}
        # Of the score, not of a method: `uncorrected` has no others.
        own = _evenkeel.options_of_method("uncorrected")
        options.update({name: value for name, value in self._options().items() if name in own})
        seed = _inputs.seed(self.random_state)
        scored = fitted(probs[rows], labels, probs[rows], "uncorrected", 0.1, seed, **options)
        return list(scored.scores_)

    def _predicts_bins(self) -> bool:
        if self._is_pair():
            return False
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
        calibration = fitted(
            self._bin_probabilities(X_cal, "X_cal"),
            labels,
            self._bin_probabilities(X_target, "X_target"),
            self.method,
            self._alphas()[0],
            self.random_state,
            **{**self._paper_options(), "score": score, **self._options()},
        )
        self.open_ends_, said = self._open_ends(values, edges)
        side = Side(_bin_outputs(self._bin_probabilities(X_cal, "X_cal"), edges), self._features(X_cal, "features_cal", None))
        self._reference = Reference(_known_scores(calibration), _known_side(calibration, side), None)
        return Calibration(calibration._core, said)

    def _paper_options(self) -> Dict[str, Any]:
        """Those of `REGRESSION_OPTIONS` that the method uses."""
        if self._options().get("objective", "wasserstein") != "wasserstein":
            return {}  # The exact bound has a minimiser, and needs no steps.
        used = _evenkeel.options_of_method(str(self.method))
        return {name: value for name, value in REGRESSION_OPTIONS.items() if name in used}

    def _calibrated_residuals(self, predictions_cal: np.ndarray, y: np.ndarray, predictions_target: np.ndarray) -> Calibration:
        """Absolute residuals by `ot`, whose candidates are bins of `y`, or by split conformal prediction."""
        core = _evenkeel.calibrate_residuals(
            predictions_cal,
            y,
            predictions_target,
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


class BinCalibration(Calibration):
    """A calibration of a classifier over bins by the gate: its file is that of the weights found."""

    __slots__ = ("_about",)

    def __init__(self, core: Any, notes: Any, about: Dict[str, Any]) -> None:
        super().__init__(core, notes)
        self._about = about

    @property
    def method(self) -> str:
        """Name of the method that made it."""
        return str(self._about["method"])

    @property
    def account_(self) -> Optional[str]:
        """What was done and why."""
        return str(self._about["account"])

    @property
    def evidence_(self) -> Optional[Dict[str, Any]]:
        """What the gate found."""
        found = self._about["evidence"]
        return None if found is None else dict(found)

    def _state(self) -> Any:
        return (*super()._state(), self._about)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self.account_}"


def _gated(
    method: str,
    score: str,
    scores: np.ndarray,
    weighted: Tuple[np.ndarray, float],
    asked: Tuple[float, int],
    told: str,
    evidence: Optional[Dict[str, Any]],
    notes: List[str],
    labeled: np.ndarray,
    promise: Any,
) -> GatedCalibration:
    """A calibration of weighted scores, pulled to labels where there are some."""
    (weights, test_mass), (alpha, seed) = weighted, asked
    if len(labeled):
        before = _evenkeel.calibrate_weighted(scores, weights, test_mass, "fixed", alpha, seed).threshold(None)
        covered = int(np.sum(labeled <= before)) if before is not None else len(labeled)
        low, high = _evenkeel.coverage_interval(covered, len(labeled), 0.05, False)
        if not low <= 1 - alpha <= high:
            notes = [
                *notes,
                f"labels-disagree: {covered} of {len(labeled)} labels lie in the intervals that would be used without them, which should "
                f"cover {_format.percent(1 - alpha)}; the labels decide most of the threshold",
            ]
        scores, weights, test_mass, pull = _evenkeel.pull_to_labels(scores, weights, test_mass, labeled, alpha)
        told = f"{told} {len(labeled)} labels of the target data pull the law of the scores by {_format.percent(pull)}."
        if promise is not None and np.isinf(_evenkeel.guaranteed_threshold(labeled, alpha, None if promise == "average" else promise)):
            notes = [*notes, f"{len(labeled)} labels are too few for this guarantee, so intervals are infinite; label more rows"]
        if evidence is not None:
            evidence = {**evidence, "labels_used": len(labeled), "pull": pull}
    elif promise is not None:
        raise InvalidParameterError("guarantee is given and y_target holds no label; give some")
    core = _evenkeel.calibrate_weighted(scores, weights, test_mass, "fixed", alpha, seed)
    about = {
        "method": method,
        "score": score,
        "account": told,
        "evidence": evidence,
        "labeled": labeled.tolist(),
        "guarantee": promise,
    }
    return GatedCalibration(core, notes, about)


def _reach(calibration: Calibration, alpha: float) -> float:
    threshold = calibration.threshold(alpha)
    if threshold is None:
        raise InvalidParameterError(f"method {calibration.method} has no single threshold; use auto or uncorrected")
    return threshold


def _bin_outputs(probs: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean and standard deviation of the law that a classifier over bins predicts; shape (n, 2)."""
    centres = (edges[:-1] + edges[1:]) / 2
    weights = probs.astype(np.float64)
    total = weights.sum(axis=1)
    mean = weights @ centres / total
    spread = np.maximum((weights @ centres**2) / total - mean**2, 0.0)
    return np.column_stack([mean, np.sqrt(spread)])


def _known_scores(calibration: Calibration) -> np.ndarray:
    """Scores of the calibration rows that have one; a weight function uses up the others."""
    scores = calibration.scores_
    return np.ascontiguousarray(scores[~np.isnan(scores)])


def _known_side(calibration: Calibration, side: Side) -> Side:
    kept = ~np.isnan(calibration.scores_)
    return Side(side.outputs[kept], None if side.features is None else side.features[kept])


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
