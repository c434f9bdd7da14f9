"""The report's figures with matplotlib (`pip install "evenkeel-conformal[plot]"`).

Every function draws on `ax`, or on new axes, and returns them.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from evenkeel.calibration import Calibration
from evenkeel.comparison import Comparison
from evenkeel.shift import ShiftReport

__all__ = ["coverage_and_size", "coverage_gap", "coverage_ranges", "score_laws", "trace", "weights"]

#: Okabe and Ito's colours: told apart by everyone, and in print.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

Calibrations = Union[Calibration, Mapping[str, Calibration], Comparison]


def coverage_and_size(comparison: Comparison, ax: Any = None) -> Any:
    """Coverage against mean set size, one marker per method, with the level as a line."""
    ax = _axes(ax)
    for row, (colour, marker) in zip(comparison, _styles(len(comparison))):
        ax.plot([row.mean_size], [100 * row.coverage], marker, color=colour, label=row.method, markersize=8)
    ax.axhline(100 * (1 - comparison.alpha), color="0.4", linestyle="--", linewidth=1, label="level")
    return _finished(ax, "mean set size", "coverage (%)", "Coverage and set size")


def coverage_gap(comparison: Comparison, ax: Any = None) -> Any:
    """Measured minus nominal coverage over all miscoverage rates, one curve per method (the paper's Fig 2)."""
    ax = _axes(ax)
    for (name, curve), (colour, _) in zip(comparison.gap_curves.items(), _styles(len(comparison))):
        ax.plot(1 - curve.alpha, 100 * (curve.coverage - (1 - curve.alpha)), color=colour, label=name)
    ax.axhline(0, color="0.4", linestyle="--", linewidth=1)
    return _finished(ax, "nominal coverage", "measured minus nominal (points)", "Coverage gap")


def coverage_ranges(report: ShiftReport, ax: Any = None) -> Any:
    """Where target coverage lies at the uncorrected threshold, from unlabeled points alone."""
    ax = _axes(ax)
    interval = report.coverage_interval
    confident = interval.with_confidence
    ranges: List[Tuple[str, Tuple[float, float]]] = [
        ("min-max, these points", interval.guaranteed),
        (f"min-max, their law ({100 * confident.level:.0f} %)", confident.guaranteed),
        ("f-u, these points", interval.assumed),
        (f"f-u, their law ({100 * confident.level:.0f} %)", confident.assumed),
    ]
    for place, (_, (low, high)) in enumerate(ranges):
        ax.plot([100 * low, 100 * high], [place, place], color=_COLOURS[place // 2], linewidth=6, solid_capstyle="butt")
    ax.axvline(100 * (1 - report.alpha), color="0.4", linestyle="--", linewidth=1, label="level")
    ax.set_yticks(range(len(ranges)), [name for name, _ in ranges])
    ax.set_xlim(0, 100)
    ax.invert_yaxis()
    return _finished(ax, "coverage (%)", "", "Coverage to expect")


def score_laws(report: ShiftReport, calibration: Optional[Calibration] = None, ax: Any = None) -> Any:
    """CDFs of the calibration scores and of the laws around the target scores (the paper's Fig 1), reweighted if learned."""
    ax = _axes(ax)
    laws = report.laws_
    for pair, colour in (("min_max", _COLOURS[1]), ("f_u", _COLOURS[2])):
        for side, style in (("lower", "-"), ("upper", "--")):
            curve = laws[f"{pair}_{side}"]
            label = f"{pair.replace('_', '-')} {side}"
            ax.step(*_steps(curve.scores, curve.cdf), where="post", color=colour, linestyle=style, linewidth=1, label=label)
    curve = laws["calibration"]
    ax.step(*_steps(curve.scores, curve.cdf), where="post", color=_COLOURS[0], label="calibration")
    if calibration is not None:
        scores, mass = calibration.scores_, calibration.weights_
        order = np.argsort(scores, kind="stable")
        order = order[np.isfinite(scores[order])]
        ax.step(*_steps(scores[order], np.cumsum(mass[order])), where="post", color=_COLOURS[3], label="reweighted")
    if report.threshold is not None:
        ax.axvline(report.threshold, color="0.4", linestyle=":", linewidth=1, label="uncorrected threshold")
    # Beside the axes: seven curves leave no corner of them free.
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    return _finished(ax, "score", "share of scores at or below", "Laws of the scores", beside)


def trace(calibrations: Calibrations, ax: Any = None) -> Any:
    """The objective over optimisation steps, one curve per calibration that was optimised."""
    ax = _axes(ax)
    learned = {name: one for name, one in _named(calibrations).items() if len(one.trace_.step)}
    for (name, one), (colour, _) in zip(learned.items(), _styles(len(learned))):
        ax.plot(one.trace_.step, one.trace_.objective, color=colour, label=name)
    return _finished(ax, "step", "objective", "Learning")


def weights(calibrations: Calibrations, ax: Any = None) -> Any:
    """Weights over scores; a point of weight 1 counts as much as it would uncorrected."""
    ax = _axes(ax)
    named = _named(calibrations)
    for (name, one), (colour, marker) in zip(named.items(), _styles(len(named))):
        used = np.isfinite(one.scores_)
        relative = one.weights_[used] * used.sum()
        ax.plot(one.scores_[used], relative, marker, color=colour, markersize=3, linestyle="none", label=name)
    ax.axhline(1, color="0.4", linestyle="--", linewidth=1)
    return _finished(ax, "score", "weight relative to uncorrected", "Calibration weights")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib; install it with: pip install \"evenkeel-conformal[plot]\"") from error
    return pyplot.subplots(layout="constrained")[1]


def _named(calibrations: Calibrations) -> Dict[str, Calibration]:
    if isinstance(calibrations, Calibration):
        return {calibrations.method: calibrations}
    if isinstance(calibrations, Comparison):
        return calibrations.calibrations
    return dict(calibrations)


def _styles(count: int) -> Sequence[Tuple[str, str]]:
    return [(_COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]) for index in range(count)]


def _steps(scores: np.ndarray, cdf: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """A step curve that starts at 0."""
    return np.concatenate([scores[:1], scores]), np.concatenate([[0.0], cdf])


def _finished(ax: Any, x: str, y: str, title: str, legend: Optional[Dict[str, Any]] = None) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", **(legend or {}))
    return ax
