"""`ShiftConformalClassifier`: any classifier, MAPIE's shapes, unlabeled target data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.base import ClassifierMixin

from evenkeel import _inputs
from evenkeel._errors import InvalidInputError, InvalidParameterError
from evenkeel._estimator import EstimatorOptions, ShiftConformalEstimator
from evenkeel._sets import LabelSets
from evenkeel.calibration import DEFAULT_METHOD, calibrate
from evenkeel.grouped import GroupedCalibration
from evenkeel.shift import ShiftReport, check

if TYPE_CHECKING:
    from evenkeel._options import MethodName, ScoreName

#: The options of `evenkeel.calibrate` that `evenkeel.check` has too.
_CHECK_OPTIONS = ("score", "randomised", "raps_lambda", "raps_k", "bound_grid", "assume", "accuracy")


class ShiftConformalClassifier(ClassifierMixin, ShiftConformalEstimator):
    """Prediction sets of a classifier that keep their coverage when the data shift.

    Parameters
    ----------
    estimator : object
        Anything with `predict_proba`, or with `decision_function`, whose values are taken as logits. Pipelines are
        fine; `classes_` is used if there is one.
    confidence_level : float or list of floats
        Target coverage, one or several at once.
    method : str
        See `evenkeel.method_names()`.
    conformity_score : str
        "lac", "aps", "raps" or "margin".
    prefit : bool
        Whether `estimator` is fitted already; otherwise `fit` fits a clone of it.
    random_state : int
        Root of all randomness.
    logits : bool or "force"
        The outputs of the estimator are logits even if they come from `predict_proba`.
    method_options : dict
        Options of `evenkeel.calibrate`.
    assume : str
        What unlabeled rows are taken to mean, for methods "auto" and "label-plan": "class-shares", "calibrated", "matched" or
        "blend".
    accuracy : float
        Share of right predictions on the target data, where it is known.
    second_estimators : list of estimators
        Other fitted classifiers of the same classes. They are asked how often `estimator` is right on the target data.
    per : str, optional
        "class" for coverage of each class; a name for the groups given to `conformalize`.

    Attributes
    ----------
    classes_ : array (C,)
        Labels, in the order of the columns of the sets.
    calibration_ : Calibration
        What `conformalize` learned; conformalizing again replaces it.
    """

    #: Outputs for the target rows of `conformalize`, and whether they are logits.
    _target: Optional[Tuple[np.ndarray, Union[bool, Literal["force"]]]]

    def __init__(
        self,
        estimator: Any = None,
        confidence_level: Any = 0.9,
        method: MethodName = DEFAULT_METHOD,
        conformity_score: ScoreName = "lac",
        prefit: bool = True,
        random_state: Any = 0,
        logits: Union[bool, Literal["force"]] = False,
        method_options: Optional[EstimatorOptions] = None,
        assume: Optional[Literal["class-shares", "calibrated", "matched", "blend"]] = None,
        accuracy: Optional[float] = None,
        second_estimators: Optional[Sequence[Any]] = None,
        per: Optional[str] = None,
    ) -> None:
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.method = method
        self.conformity_score = conformity_score
        self.prefit = prefit
        self.random_state = random_state
        self.logits = logits
        self.method_options = method_options
        self.assume = assume
        self.accuracy = accuracy
        self.second_estimators = second_estimators
        self.per = per

    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ShiftConformalClassifier":
        """Fits a clone of the estimator; needs prefit=False."""
        self._fit(X, y, fit_params)
        self.classes_ = np.asarray(getattr(self.estimator_, "classes_", np.unique(np.asarray(y))))
        if hasattr(self, "calibration_"):
            del self.calibration_  # It belonged to the model before.
            self._target = None
        return self

    def conformalize(
        self,
        X_cal: Any,
        y_cal: Any,
        X_target: Any = None,
        y_target: Any = None,
        *,
        groups_cal: Any = None,
        groups_target: Any = None,
    ) -> "ShiftConformalClassifier":
        """Learns from labeled calibration data and unlabeled target data; may be called again at any time.

        Without `X_target` only the method "uncorrected" can be used. `y_target` holds labels of some target rows, drawn at random:
        a dict from row to label, or one for each row with None, NaN or -1 where unknown. `groups_cal` and `groups_target` hold the
        group of each point: every group is calibrated by itself, and `predict_set` takes the groups of its rows.
        """
        alphas = self._alphas()
        probs, logits = self._outputs(X_cal, "X_cal")
        self.classes_ = _classes(self._model(), probs.shape[1])
        if X_target is None:
            if self.method != "uncorrected":
                raise InvalidParameterError(
                    f"X_target is missing; method {self.method} learns from unlabeled target data, or use uncorrected"
                )
            if y_target is not None:
                raise InvalidParameterError("y_target labels rows of X_target, which is missing; give both")
            target = probs
            groups_target = groups_cal if groups_target is None else groups_target
        else:
            target, _ = self._outputs(X_target, "X_target")
        known = self._encoded_target(y_target, "y_target", len(target))
        self.calibration_ = calibrate(
            probs,
            self._encoded(y_cal, "y_cal"),
            target,
            method=self.method,
            alpha=alphas[0],
            random_state=self.random_state,
            logits=logits,
            y_target=known,
            second=self._second(X_cal, X_target, logits),
            per=self.per,
            groups_cal=groups_cal,
            groups_target=groups_target,
            classes=self._class_words(),
            **{"score": self.conformity_score, **self._assumed(), **self._options()},
        )
        # Labels may come later, and a calibration does not keep the target rows.
        self._target = None if X_target is None else (target, logits)
        return self

    def partial_conformalize(self, y_target_new: Any) -> "ShiftConformalClassifier":
        """Adds labels of target rows that arrived after `conformalize`: the same as with all labels at once.

        For methods "auto" and "few-labels". Labels are given as to `conformalize`; those of before need not be given again.
        """
        self._require_conformalized()
        kept = getattr(self, "_target", None)
        if kept is None:
            raise InvalidParameterError("there are no target rows to label; call conformalize with X_target first")
        if isinstance(self.calibration_, GroupedCalibration):
            raise InvalidParameterError(
                "labels cannot be added to a calibration with a threshold for each class or group; call conformalize with all labels"
            )
        target, logits = kept
        known = self._encoded_target(y_target_new, "y_target_new", len(target))
        self.calibration_ = self.calibration_.update(target, known, logits=logits)
        return self

    def check(
        self, X_cal: Any, y_cal: Any, X_target: Any, delta: float = 0.05, y_target: Any = None
    ) -> ShiftReport:
        """Is there a shift, how much coverage is at risk, what to do: see `evenkeel.check`.

        `y_target` holds labels of some target rows, as in `conformalize`; with them the verdict is theirs. Of `method_options` those about the score and `bound_grid` are used.
        """
        options = {name: value for name, value in self._options().items() if name in _CHECK_OPTIONS}
        probs, logits = self._outputs(X_cal, "X_cal")
        self.classes_ = _classes(self._model(), probs.shape[1])
        target = self._outputs(X_target, "X_target")[0]
        return check(
            probs,
            self._encoded(y_cal, "y_cal"),
            target,
            y_target=self._encoded_target(y_target, "y_target", len(target)),
            alpha=self._alphas()[0],
            delta=delta,
            random_state=self.random_state,
            logits=logits,
            second=self._second(X_cal, X_target, logits),
            classes=self._class_words(),
            **{"score": self.conformity_score, **self._assumed(), **options},
        )

    def predict(self, X: Any) -> np.ndarray:
        """The estimator's own labels, without sets."""
        model = self._model()
        if hasattr(model, "predict"):
            return np.asarray(model.predict(X))
        outputs, _ = self._outputs(X, "X")
        return _classes(model, outputs.shape[1])[outputs.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The estimator's own probabilities."""
        outputs, logits = self._outputs(X, "X")
        if not logits:
            return outputs
        shifted = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def predict_set(
        self, X: Any, *, groups: Any = None, features: Any = None, ratios: Any = None, first_row: int = 0
    ) -> Tuple[np.ndarray, LabelSets]:
        """Labels, and which labels are in the sets: `(y_pred, bool (n, C, n_levels))`, with `to_labels(level)`.

        `features` or `ratios` of the rows are needed where `method_options` held those of the calibration data; `first_row` is the
        position of the first row in a stream, by which randomised scores draw. See `Calibration.predict_set`. `groups` holds the group of
        each row where `conformalize` was given groups.
        """
        self._require_conformalized()
        if groups is not None and getattr(self.calibration_, "per", "one") != "group":
            raise InvalidParameterError("groups have no use here: conformalize was not given any; leave them out")
        outputs, logits = self._outputs(X, "X")
        side = {"groups": groups, "features": features, "ratios": ratios, "first_row": first_row}
        sets = self.calibration_._sets(outputs, self._alphas(), logits=logits, **side)
        return self.predict(X), LabelSets(np.stack(sets, axis=2), self.classes_.tolist())

    def _outputs(self, X: Any, argument: str) -> Tuple[np.ndarray, Union[bool, Literal["force"]]]:
        """What the model says about `X`, and whether it speaks in logits. Those of a `decision_function` are, whatever they are."""
        return self._said(self._model(), X, argument)

    def _said(self, model: Any, X: Any, argument: str) -> Tuple[np.ndarray, Union[bool, Literal["force"]]]:
        """The same of any model."""
        if hasattr(model, "predict_proba"):
            _inputs.kind(self.logits)
            return _inputs.matrix(f"the probabilities of {argument}", model.predict_proba(X)), self.logits
        if not hasattr(model, "decision_function"):
            raise InvalidParameterError(
                f"estimator {type(model).__name__} has neither predict_proba nor decision_function; give a classifier"
            )
        decisions = _inputs.matrix(f"the logits of {argument}", model.decision_function(X))
        if decisions.shape[1] == 1:  # Two classes: the one number is the second class's logit against the first's.
            decisions = np.hstack([np.zeros_like(decisions), decisions])
        return decisions, "force"

    def _assumed(self) -> Dict[str, Any]:
        """What is assumed of the target data, and known of them."""
        return {"assume": self.assume, "accuracy": self.accuracy}

    def _second(self, X_cal: Any, X_target: Any, logits: Union[bool, Literal["force"]]) -> Optional[List[Tuple[np.ndarray, np.ndarray]]]:
        """What the second estimators say of the rows, with their columns in the order of `classes_`."""
        models = self.second_estimators
        if models is None or len(models) == 0:
            return None
        if X_target is None:
            raise InvalidParameterError("second_estimators say something of X_target, which is missing; give it")
        return [
            (self._aligned(model, index, X_cal, logits), self._aligned(model, index, X_target, logits))
            for index, model in enumerate(models)
        ]

    def _aligned(self, model: Any, index: int, X: Any, logits: Union[bool, Literal["force"]]) -> np.ndarray:
        name = f"second_estimators[{index}]"
        outputs, speaks_logits = self._said(model, X, name)
        classes = _classes(model, outputs.shape[1]).tolist()
        wanted = self.classes_.tolist()
        if sorted(map(str, classes)) != sorted(map(str, wanted)):
            raise InvalidInputError(
                f"{name} has the classes {classes} and the estimator {wanted}; give a classifier of the same classes"
            )
        outputs = outputs[:, [classes.index(label) for label in wanted]].astype(np.float64)
        if bool(speaks_logits) == bool(logits):
            return outputs
        if logits:  # Their logarithms have these probabilities.
            return np.log(np.maximum(outputs, np.finfo(np.float32).smallest_subnormal))
        shifted = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def _class_words(self) -> Optional[List[str]]:
        """The classes as names to be shown; None where they are numbers, which labels by position would be taken for."""
        words = self.classes_.tolist()
        if not all(isinstance(word, str) and word and not word.lstrip("-").isdigit() for word in words):
            return None
        return words

    def _encoded(self, y: Any, argument: str) -> np.ndarray:
        """Positions of labels in `classes_`."""
        given = _inputs.array_of(argument, y)
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        if given.ndim != 1:
            raise InvalidInputError(f"{argument}: it has shape {given.shape}; labels are one per row")
        position = {label: index for index, label in enumerate(self.classes_.tolist())}
        try:
            encoded = np.array([position.get(label, -1) for label in given.tolist()], dtype=np.int64)
        except TypeError:  # A list, which no dict looks up.
            raise InvalidInputError(f"{argument}: it holds something that is not a label; labels are one per row") from None
        unknown = np.flatnonzero(encoded < 0)
        if unknown.size:
            raise InvalidInputError(
                f"{argument}[{unknown[0]}] is {given.tolist()[unknown[0]]!r}, which is none of the estimator's "
                f"{len(self.classes_)} classes; remove the point or fit the estimator with it"
            )
        return encoded


    def _encoded_target(self, y: Any, argument: str, rows: int) -> Optional[Dict[int, int]]:
        """Positions of the labels known in `classes_`, by row."""
        if y is None:
            return None
        if isinstance(y, Mapping):
            places, given = list(y), list(y.values())
        else:
            array = _inputs.array_of(argument, y)
            if array.shape != (rows,):
                raise InvalidInputError(
                    f"{argument} has shape {array.shape} but X_target has {rows} rows; give one label for each, None where "
                    "unknown, or a dict from row to label"
                )
            places, given = list(range(rows)), array.tolist()
        classes = self.classes_.tolist()
        known = [(row, label) for row, label in zip(places, given) if not _is_gap(label) or label in classes]
        if not known:
            return {}
        encoded = self._encoded([label for _, label in known], argument)
        return {row: int(position) for (row, _), position in zip(known, encoded)}


def _is_gap(label: Any) -> bool:
    """Whether a label stands for one that is not known."""
    return label is None or (isinstance(label, float) and label != label) or (isinstance(label, (int, float)) and label == -1)


def _classes(model: Any, columns: int) -> np.ndarray:
    classes = np.asarray(getattr(model, "classes_", np.arange(columns)))
    if classes.shape != (columns,):
        raise InvalidInputError(
            f"the estimator has {classes.shape} classes_ but {columns} columns of probabilities; give a plain classifier"
        )
    return classes
