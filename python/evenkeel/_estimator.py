"""What the two estimators share: levels, prefit models, and the state scikit-learn expects."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Dict, List, Literal, Mapping, Optional

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from evenkeel import _inputs
from evenkeel._errors import InvalidParameterError
from evenkeel._options import MethodOptions


#: What the estimators give to `evenkeel.calibrate` themselves, and where it is said instead.
_NO_OPTIONS = {
    "alpha": "say confidence_level instead",
    "logits": "outputs of decision_function are taken as logits, and the classifier has a parameter logits",
    "method": "give it as the estimator's own parameter",
    "random_state": "give it as the estimator's own parameter",
    "per": "give it as the classifier's own parameter",
    "groups_cal": "give it to conformalize",
    "groups_target": "give it to conformalize",
    "probs_cal": "the estimator predicts them",
    "probs_target": "the estimator predicts them",
    "classes": "they are those of the estimator",
    "y_cal": "give it to conformalize",
    "y_target": "give it to conformalize",
}


class EstimatorOptions(MethodOptions, total=False):
    """What `method_options` may hold: options of the method, and what stands beside the rows of `conformalize`."""

    features_cal: Any
    features_target: Any
    ratios_cal: Any
    weights_cal: Any
    small_groups: Literal["merge", "refuse", "all-labels"]
    other_groups: Literal["refuse", "pooled"]
    #: Relabelings of the shift test of a regressor's `auto`.
    permutations: Optional[int]


class ShiftConformalEstimator(BaseEstimator):
    """fit -> conformalize -> predict_set or predict_interval, as in MAPIE, with target data at the second step."""

    estimator: Any
    confidence_level: Any
    prefit: bool
    random_state: Any
    method_options: Optional["EstimatorOptions"]

    def _alphas(self) -> List[float]:
        """Miscoverage rates of the confidence levels."""
        levels = np.atleast_1d(np.asarray(self.confidence_level, dtype=object))
        if levels.ndim != 1 or levels.size == 0:
            raise InvalidParameterError(
                f"confidence_level is {self.confidence_level!r}; it must be a number or a list of numbers"
            )
        return [_alpha(level) for level in levels]

    def _fit(self, X: Any, y: Any, fit_params: Dict[str, Any]) -> None:
        if _inputs.flag("prefit", self.prefit):
            raise InvalidParameterError(
                "prefit is True, so the estimator is used as it is; call conformalize, or give prefit=False to fit it here"
            )
        self.estimator_ = clone(self._inner()).fit(X, y, **fit_params)
        _take_over(self, self.estimator_)

    def _inner(self) -> Any:
        if self.estimator is None:
            raise InvalidParameterError("estimator is None; give a model, fitted if prefit is True")
        return self.estimator

    def _model(self) -> Any:
        """The fitted model: the one given if it was fitted before, the one fitted here otherwise."""
        if _inputs.flag("prefit", self.prefit):
            return self._inner()
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                f"This {type(self).__name__} has prefit=False and was not fitted; call fit, or give a fitted estimator and "
                "prefit=True"
            )
        return self.estimator_

    def _require_conformalized(self) -> None:
        if not hasattr(self, "calibration_"):
            raise NotFittedError(f"This {type(self).__name__} was not conformalized; call conformalize first")

    def _options(self) -> Dict[str, Any]:
        """`method_options`, without anything that is a parameter of the estimator itself."""
        if self.method_options is None:
            return {}
        if not isinstance(self.method_options, Mapping) or not all(isinstance(name, str) for name in self.method_options):
            raise InvalidParameterError(f"method_options is {self.method_options!r}; it must be a dict of options by name")
        for name, instead in _NO_OPTIONS.items():
            if name in self.method_options:
                raise InvalidParameterError(f"method_options holds {name}; {instead}")
        return dict(self.method_options)

    def __sklearn_tags__(self) -> Any:
        """What kinds of inputs are taken is up to the estimator inside."""
        tags = super().__sklearn_tags__()
        try:
            tags.input_tags = get_tags(self.estimator).input_tags
        except (AttributeError, TypeError):
            pass  # No estimator of scikit-learn: nothing is known about it.
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibration_") or hasattr(self, "estimator_")


def _alpha(level: Any) -> float:
    """`1 - level` as a person means it: 0.1 for 0.9, not 0.09999999999999998."""
    number = _inputs.number("confidence_level", level)
    if not 0.0 < number < 1.0:
        raise InvalidParameterError(f"confidence_level is {number!r}; it must be between 0 and 1, both excluded")
    return float(1 - Decimal(repr(number)))


def _take_over(mine: Any, theirs: Any) -> None:
    """What the fitted model knows about its inputs."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(theirs, name):
            setattr(mine, name, getattr(theirs, name))
        elif hasattr(mine, name):
            delattr(mine, name)
