"""How prediction sets and intervals did on labeled points."""

from __future__ import annotations

from typing import Any, List, Literal, Optional, Sequence, Union

import numpy as np

from evenkeel import _evenkeel, _inputs, _tables
from evenkeel._errors import InvalidInputError
from evenkeel.calibration import Calibration

__all__ = [
    "coverage",
    "interval_coverage",
    "interval_length",
    "mean_set_size",
    "total_coverage_gap",
    "union_coverage",
    "union_length",
]


def coverage(sets: Any, y: Any, classes: Any = None) -> Any:
    """Share of the points whose label is in their set; `sets` bool (n, C), or (n, C, levels) for an array of shares.

    `y` (n,) are integers from 0, booleans, categories, or names of the classes: those of `classes`, or of the sets where a
    calibration or an estimator made them.
    """
    names = getattr(sets, "classes", None) if classes is None else classes
    levels = _levels(sets)
    labels = _tables.encoded("y", y, "sets", levels[0].shape[1], names)[0]
    return _of_levels(sets, [_evenkeel.coverage(members, labels) for members in levels])


def mean_set_size(sets: Any) -> Any:
    """Mean number of labels in the sets; `sets` bool (n, C), or (n, C, levels) for an array of means."""
    return _of_levels(sets, [float(members.sum(axis=1).mean()) for members in _levels(sets)])


def total_coverage_gap(calibration: Any, probs: Any, y: Any = None, *, logits: Union[bool, Literal["force"]] = False, weights: Any = None) -> float:
    """Distance of coverage from the level, averaged over all miscoverage rates.

    Either of a `Calibration` on labeled rows, `total_coverage_gap(calibration, probs, y)`, or of labeled scores,
    `total_coverage_gap(scores_cal, scores_test, weights=None)`.
    """
    if isinstance(calibration, Calibration):
        return calibration.evaluate(probs, y, logits=logits)["total_coverage_gap"]
    if y is not None:
        raise InvalidInputError("y is given without a Calibration; give two vectors of scores, or a Calibration first")
    given: Optional[np.ndarray] = None if weights is None else _inputs.vector("weights", weights)
    return _evenkeel.total_coverage_gap(
        _inputs.vector("scores_cal", calibration), _inputs.vector("scores_test", probs), given
    )


def interval_coverage(intervals: Any, y: Any) -> float:
    """Share of the points in their interval; `intervals` (n, 2), ends included."""
    ends = _inputs.matrix("intervals", intervals)
    if ends.shape[1] != 2:
        raise InvalidInputError(f"intervals: it has shape {ends.shape}; two ends a point (points, 2) are needed")
    values = _inputs.vector("y", y)
    _same_length("y", values, "intervals", ends)
    return float(np.mean((ends[:, 0] <= values) & (values <= ends[:, 1])))


def interval_length(intervals: Any) -> np.ndarray:
    """Length of every interval, 0 for an empty one (NaN ends); `intervals` (n, 2) or (n, 2, levels)."""
    ends = _numbers("intervals", intervals)
    if ends.ndim not in (2, 3) or ends.shape[1] != 2:
        raise InvalidInputError(
            f"intervals: it has shape {ends.shape}; two ends a point (points, 2) or (points, 2, levels) are needed"
        )
    return np.nan_to_num(ends[:, 1] - ends[:, 0], nan=0.0, posinf=np.inf, neginf=-np.inf)


def union_coverage(unions: Sequence[Any], y: Any) -> float:
    """Share of the points in their union of intervals; `unions` holds an array (k, 2) a point."""
    values, checked = _inputs.vector("y", y), _unions(unions)
    _same_length("y", values, "unions", checked)
    inside: List[bool] = [bool(np.any((one[:, 0] <= value) & (value <= one[:, 1]))) for one, value in zip(checked, values)]
    return float(np.mean(inside))


def union_length(unions: Sequence[Any]) -> np.ndarray:
    """Total length of every union of intervals."""
    return np.array([float((one[:, 1] - one[:, 0]).sum()) for one in _unions(unions)])


def _unions(unions: Any) -> List[np.ndarray]:
    if not hasattr(unions, "__len__") or isinstance(unions, (str, bytes)):
        raise InvalidInputError("unions: it is no sequence; give an array (k, 2) a point, as predict_union does")
    checked = []
    for point, one in enumerate(unions):
        ends = _numbers(f"unions[{point}]", one)
        if ends.size == 0:
            ends = np.empty((0, 2))
        if ends.ndim != 2 or ends.shape[1] != 2:
            raise InvalidInputError(f"unions[{point}]: it has shape {ends.shape}; intervals (k, 2) are needed")
        checked.append(ends)
    return checked


def _numbers(argument: str, values: Any) -> np.ndarray:
    try:
        return _inputs.array_of(argument, values).astype(float)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{argument}: it holds something that is not a number; give ends of intervals") from None


def _levels(sets: Any) -> List[np.ndarray]:
    """The sets of every level."""
    members = np.asarray(sets)
    if members.ndim != 3 or members.shape[2] < 2:
        return [_members(sets)]
    return [_members(members[:, :, level]) for level in range(members.shape[2])]


def _of_levels(sets: Any, found: List[float]) -> Any:
    """One number, or an array of one for each level."""
    return np.array(found) if len(found) > 1 else found[0]


def _members(sets: Any) -> np.ndarray:
    members = np.asarray(sets)
    if members.ndim == 3 and members.shape[2] == 1:
        members = members[:, :, 0]
    if members.ndim != 2 or members.dtype != bool:
        raise InvalidInputError(
            f"sets: it has shape {members.shape} and type {members.dtype}; a bool matrix (points, labels) is needed"
        )
    if members.size == 0:
        raise InvalidInputError("sets: holds no rows; give at least one")
    return np.ascontiguousarray(members)


def _same_length(argument: str, values: Any, other: str, others: Any) -> None:
    if len(values) != len(others):
        raise InvalidInputError(
            f"{argument} has {len(values)} entries but {other} has {len(others)}; the two must describe the same points"
        )
    if len(values) == 0:
        raise InvalidInputError(f"{argument}: holds no rows; give at least one")
