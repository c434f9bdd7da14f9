"""Methods side by side on labeled test data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Union

import numpy as np

from evenkeel import _evenkeel, _inputs, _format
from evenkeel._errors import InvalidParameterError
from evenkeel.calibration import Calibration

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import ComparableMethod, MethodOptions


@dataclass(frozen=True)
class ComparisonRow:
    """One method's outcome, under the names of `evenkeel compare --json`; a threshold of None is infinite or per point."""

    method: str
    threshold: Optional[float]
    coverage: float
    mean_size: float
    total_coverage_gap: Optional[float]
    effective_sample_size: float
    seconds: float
    assumption: str

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None


@dataclass(frozen=True)
class GapCurve:
    """Coverage measured on the test points at every miscoverage rate."""

    alpha: np.ndarray
    coverage: np.ndarray


class Comparison(Sequence[ComparisonRow]):
    """Rows of a comparison; also the calibrations, evaluations and gap curves behind them, by method."""

    def __init__(
        self,
        alpha: float,
        rows: List[ComparisonRow],
        calibrations: Dict[str, Calibration],
        evaluations: Dict[str, Dict[str, Any]],
        gap_curves: Dict[str, GapCurve],
        left_out: Sequence[str] = (),
    ) -> None:
        self.alpha = alpha
        self.rows = rows
        self.calibrations = calibrations
        self.evaluations = evaluations
        self.gap_curves = gap_curves
        self.left_out = list(left_out)

    @property
    def warnings(self) -> List[str]:
        """Warnings of all methods, each with its method, and which methods could not apply."""
        said = [f"{name}: {warning}" for name, one in self.calibrations.items() for warning in one.warnings_]
        return said + self.left_out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def __getitem__(self, index: Any) -> Any:
        """A row by position, or by the name of its method."""
        if isinstance(index, str):
            for row in self.rows:
                if row.method == index:
                    return row
            raise KeyError(index)
        return self.rows[index]

    def to_dict(self) -> Dict[str, Any]:
        """The document `evenkeel compare --json` prints."""
        evaluations = list(self.evaluations.values())
        return {
            "alpha": self.alpha,
            "n": evaluations[0]["n"] if evaluations else 0,
            "rows": [asdict(row) for row in self.rows],
            "warnings": self.warnings,
        }

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame([asdict(row) for row in self.rows], columns=[one.name for one in fields(ComparisonRow)])

    _HEADER = ("method", "coverage", "mean size", "total gap", "threshold", "n_w", "seconds", "assumes")

    def _cells(self) -> List[List[str]]:
        return [
            [
                row.method,
                _format.percent(row.coverage),
                f"{row.mean_size:.2f}",
                "-" if row.total_coverage_gap is None else f"{row.total_coverage_gap:.3f}",
                self._cut(row),
                f"{row.effective_sample_size:.1f}",
                f"{row.seconds:.3f}",
                row.assumption,
            ]
            for row in self.rows
        ]

    def _cut(self, row: ComparisonRow) -> str:
        own = self.calibrations[row.method].threshold() is None
        return "each its own" if own else _format.threshold(row.threshold)

    def _title(self) -> str:
        return f"{self.to_dict()['n']} labeled test points, target {_format.percent(1 - self.alpha)}."

    def __repr__(self) -> str:
        lines = [self._title(), "", _format.table(self._HEADER, self._cells(), left=(0, 7))]
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings])

    def _repr_html_(self) -> str:
        rows = _format.html_table(self._HEADER, self._cells())
        return _format.html_page(self._title(), [], rows, warnings=self.warnings)


def compare(
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any,
    probs_test: Any,
    y_test: Any,
    methods: Union[str, Sequence[ComparableMethod]] = "all",
    alpha: float = 0.1,
    random_state: Any = 0,
    *,
    logits: bool = False,
    features_cal: Any = None,
    features_target: Any = None,
    features_test: Any = None,
    ratios_cal: Any = None,
    ratios_test: Any = None,
    weights_cal: Any = None,
    **options: Unpack[MethodOptions],
) -> Comparison:
    """Fits every method and measures all of them on labeled test points.

    `methods` is "all" that can be applied, names separated by commas, or a sequence of names ("oracle" is split conformal prediction on
    the test labels themselves). Options are those of `evenkeel.calibrate`.
    """
    compared, left_out = _evenkeel.compare(
        _inputs.matrix("probs_cal", probs_cal),
        _inputs.labels("y_cal", y_cal, "probs_cal"),
        _inputs.matrix("probs_target", probs_target),
        _inputs.matrix("probs_test", probs_test),
        _inputs.labels("y_test", y_test, "probs_test"),
        _inputs.beside("_cal", features_cal, ratios_cal, weights_cal),
        _inputs.beside("_target", features_target),
        _inputs.beside("_test", features_test, ratios_test),
        _names(methods),
        _inputs.number("alpha", alpha),
        _inputs.seed(random_state),
        _inputs.flag("logits", logits),
        dict(options),
    )
    names = [one["calibration"].method for one in compared]
    calibrations = {name: Calibration(one["calibration"]) for name, one in zip(names, compared)}
    rows = [_row(one) for one in compared]
    return Comparison(
        alpha=float(alpha),
        rows=rows,
        calibrations=calibrations,
        evaluations={name: one["evaluation"] for name, one in zip(names, compared)},
        gap_curves={name: GapCurve(one["alphas"], one["coverages"]) for name, one in zip(names, compared)},
        left_out=left_out,
    )


def _names(methods: Union[str, Sequence[str]]) -> Optional[List[str]]:
    """None for all of them."""
    if not isinstance(methods, str):
        try:
            names = list(methods)
        except TypeError:
            names = []
        if not names or not all(isinstance(name, str) for name in names):
            raise InvalidParameterError(f"methods is {methods!r}; it must be \"all\", or at least one name") from None
        return names
    if methods.strip() == "all":
        return None
    return [name.strip() for name in methods.split(",")]


def _row(one: Dict[str, Any]) -> ComparisonRow:
    core, evaluation = one["calibration"], one["evaluation"]
    threshold = core.threshold()
    return ComparisonRow(
        method=core.method,
        threshold=threshold if threshold is not None and math.isfinite(threshold) else None,
        coverage=evaluation["coverage"],
        mean_size=evaluation["mean_size"],
        total_coverage_gap=evaluation["total_coverage_gap"],
        effective_sample_size=core.effective_sample_size,
        seconds=one["seconds"],
        assumption=core.assumption,
    )
