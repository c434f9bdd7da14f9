"""Methods side by side on labeled test data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, NamedTuple, Optional, Sequence, Union

import numpy as np

from evenkeel import _errors, _evenkeel, _format, _inputs, _tables
from evenkeel._documents import Record
from evenkeel._errors import InvalidParameterError
from evenkeel._pages import WithPage
from evenkeel.calibration import Calibration

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import ComparableMethod, MethodOptions


class ComparisonRow(Record):
    """One method's outcome, a row of `evenkeel compare --json`; a threshold of None is infinite or per point."""


class GapCurve(NamedTuple):
    """Coverage measured on the test points at every miscoverage rate."""

    alpha: np.ndarray
    coverage: np.ndarray


class Comparison(WithPage, Sequence[ComparisonRow]):
    """Rows of a comparison; also the calibrations, evaluations and gap curves behind them, by method."""

    _MAKER = "evenkeel.compare"

    def __init__(
        self,
        document: Dict[str, Any],
        calibrations: Dict[str, Calibration],
        evaluations: Dict[str, Dict[str, Any]],
        gap_curves: Dict[str, GapCurve],
        sentences: Sequence[Sequence[str]],
        left_out: Sequence[str],
        page: Optional[_evenkeel.Page] = None,
    ) -> None:
        self._document = document
        self.alpha: float = document["alpha"]
        self.rows = [ComparisonRow(row) for row in document["rows"]]
        #: Warnings of all methods, each with its method, and which methods could not apply.
        self.warnings: List[str] = document["warnings"]
        self.calibrations = calibrations
        self.evaluations = evaluations
        self.gap_curves = gap_curves
        #: What it is about; what a method that decides something itself did and why.
        self.sentences_ = [list(part) for part in sentences]
        self.left_out = list(left_out)
        self.page_ = page

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
        return json.loads(json.dumps(self._document))

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame([row.to_dict() for row in self.rows])

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), "page_": None}

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

    def __repr__(self) -> str:
        title, account = self.sentences_
        lines = [*title, "", _format.table(self._HEADER, self._cells(), left=(0, 7))]
        lines += ["", *account] if account else []
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings])

    def _repr_html_(self) -> str:
        (title,), account = self.sentences_
        rows = _format.html_table(self._HEADER, self._cells())
        return _format.html_page(title, account, rows, warnings=self.warnings)


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
    logits: Union[bool, Literal["force"]] = False,
    features_cal: Any = None,
    features_target: Any = None,
    features_test: Any = None,
    ratios_cal: Any = None,
    ratios_test: Any = None,
    weights_cal: Any = None,
    second: Any = None,
    classes: Any = None,
    **options: Unpack[MethodOptions],
) -> Comparison:
    """Fits every method and measures all of them on labeled test points.

    `methods` is "all" that can be applied, names separated by commas, or a sequence of names ("oracle" is split conformal prediction on
    the test labels: calibrated on one half of the test rows, measured on the other, both ways). `classes`, `second` and the options are
    those of `evenkeel.calibrate`.
    """
    cal = _tables.table("probs_cal", probs_cal, ("y_cal", y_cal))
    labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", cal.values.shape[1], classes, cal.columns)
    test = _tables.aligned("probs_test", _tables.table("probs_test", probs_test, ("y_test", y_test)), cal.columns, "probs_cal")
    second_cal, second_target = _tables.second_models(second, cal.columns, "probs_cal")
    document, compared, sentences, left_out, page = _evenkeel.compare(
        cal.values,
        labels,
        _tables.aligned("probs_target", _tables.table("probs_target", probs_target), cal.columns, "probs_cal"),
        test,
        _tables.encoded("y_test", y_test, "probs_test", test.shape[1], names, cal.columns)[0],
        _inputs.side_inputs("_cal", features_cal, ratios_cal, weights_cal, second=second_cal),
        _inputs.side_inputs("_target", features_target, second=second_target),
        _inputs.side_inputs("_test", features_test, ratios_test),
        _names(methods),
        cal.columns,
        names,
        _inputs.number("alpha", alpha),
        _inputs.seed(random_state),
        _inputs.kind(logits),
        dict(options),
    )
    by_name = {one["calibration"].method: one for one in compared}
    comparison = Comparison(
        json.loads(document),
        calibrations={name: Calibration(one["calibration"]) for name, one in by_name.items()},
        evaluations={name: json.loads(one["evaluation"]) for name, one in by_name.items()},
        gap_curves={name: GapCurve(one["alphas"], one["coverages"]) for name, one in by_name.items()},
        sentences=sentences,
        left_out=left_out,
        page=page,
    )
    # That "all" leaves out what cannot apply is told, and no reason for alarm.
    _errors.warn_of(warning for warning in comparison.warnings if warning not in comparison.left_out)
    return comparison


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
