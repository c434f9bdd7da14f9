"""Is there a shift, how much coverage is at risk, what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Literal, NamedTuple, Optional, Union

import numpy as np

from evenkeel import _errors, _evenkeel, _format, _inputs, _tables
from evenkeel._documents import Record
from evenkeel._errors import InvalidInputError
from evenkeel._pages import WithPage

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import CheckOptions
    from evenkeel.calibration import Calibration


class StepCurve(NamedTuple):
    """The CDF of a law: it rises at `scores` to `cdf`."""

    scores: np.ndarray
    cdf: np.ndarray


class ShiftReport(WithPage, Record):
    """What `evenkeel.check` found: the document of `evenkeel check --json`; a threshold of None is infinite."""

    #: What `auto` makes of the target data; None where no shift was found.
    recommended: Optional[Record] = None
    #: What labels show; None without any.
    coverage_measured: Optional[Record] = None
    #: How labels moved what is believed about coverage; None without any.
    with_labels: Optional[Record] = None
    #: CDFs of the calibration scores and of the laws around the target scores, for figures.
    laws_: Dict[str, StepCurve]
    #: The answer in three sentences, and what it rests on.
    sentences_: List[List[str]]

    _MAKER = "evenkeel.check"
    _READINGS = ("reading", "coverage", "sampling error")
    _BOUNDS = ("bound", "total gap", "distance from the level", "paper's grid form (eq 7)", "eq 8")

    def _reading_rows(self) -> List[List[str]]:
        rows = [[r.name, _format.percent(r.coverage), _format.percent(r.sampling_error)] for r in self.readings]
        if self.with_labels is not None:
            for name, found in (("with labels", self.with_labels.posterior), ("measured", self.with_labels.measured)):
                rows.append([name, _format.percent(found.value), _format.percent(0.5 * (found.high - found.low))])
        return rows

    def _bound_rows(self) -> List[List[str]]:
        pairs = (("min-max (guaranteed)", self.bounds.min_max), ("f-u (assumed)", self.bounds.f_u))
        rows = []
        for name, bounds in pairs:
            columns = ("exact", "level", "weighted_cdf", "wasserstein")
            rows.append([name, *(_format.bound(bounds[column]) for column in columns)])
            proved = [_format.bound(bounds.exact_population), _format.bound(bounds.level_population), "", ""]
            rows.append([f"of the populations, confidence {_format.confidence(bounds.population_confidence)}", *proved])
            with_dkw = [_format.bound(bounds[f"{column}_dkw"]) for column in columns]
            rows.append([f"with DKW terms, confidence {_format.confidence(bounds.dkw_confidence)}", *with_dkw])
        return rows

    @property
    def warnings_(self) -> List[str]:
        """What to know before trusting it, also of what it recommends."""
        recommended = self.recommended.warnings if self.recommended is not None else ()
        # What a fit with labels warns of may be said of the labels already.
        return [*self.warnings, *(warning for warning in recommended if warning not in self.warnings)]

    def __repr__(self) -> str:
        return "\n".join([*self.sentences_[0], *(f"Warning: {warning}." for warning in self.warnings_)])

    def explain(self) -> str:
        """The answer with what it rests on: readings, bounds and the paper's quantities, each explained."""
        readings = _format.table(self._READINGS, self._reading_rows())
        bounds = _format.table(self._BOUNDS, self._bound_rows())
        return "\n".join([repr(self), "", readings, "", *self.sentences_[1], "", bounds])

    def _repr_html_(self) -> str:
        (first, *answer), details = self.sentences_
        tables = (
            _format.html_table(self._READINGS, self._reading_rows()),
            _format.html_table(self._BOUNDS, self._bound_rows()),
        )
        return _format.html_page(first, [*answer, *details], *tables, warnings=self.warnings_)

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), "page_": None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        vars(self).update(state)


def check(
    probs_cal: Any = None,
    y_cal: Any = None,
    probs_target: Any = None,
    alpha: Optional[float] = None,
    delta: float = 0.05,
    random_state: Any = _inputs.UNSET,
    *,
    calibration: Optional[Calibration] = None,
    y_target: Any = None,
    classes: Any = None,
    logits: Union[bool, Literal["force"]] = False,
    permutations: Optional[int] = None,
    second: Any = None,
    **options: Unpack[CheckOptions],
) -> ShiftReport:
    """Is there a shift, how much coverage is at risk, what to do.

    Parameters
    ----------
    probs_cal : array (n, C)
        Class probabilities of the calibration data. Tables (pandas, polars, pyarrow) are matched by the names of their columns, as in
        `evenkeel.calibrate`.
    y_cal : array (n,)
        Their labels: integers from 0, or names of the classes.
    probs_target : array (m, C)
        Class probabilities of the target data, which need no labels.
    alpha : float
        Miscoverage rate: 0.1, or that of `calibration`.
    delta : float
        Failure probability of each confidence statement, and level of the shift test.
    random_state : int
        Root of all randomness: 0, or that of `calibration`.
    calibration : Calibration
        A calibration in use, in place of `probs_cal` and `y_cal`: does it still hold?
    y_target : array (m,) or dict
        Labels of some target rows: one for each row with -1 or NaN where unknown, or a dict from row to label. With labels the
        verdict is theirs.
    classes : sequence of C names
        Names of the classes in the order of the columns.
    logits : bool or "force"
        Every matrix of probabilities given holds logits; a stable softmax is applied. Rows that are probabilities already are an
        error, unless "force" says that they are logits all the same.
    permutations : int
        Relabelings that the shift test draws: 999, or `2 / delta` if that is more.
    second : sequence of pairs of arrays (n, C), (m, C)
        What other models say of the same rows: `[(probs_cal_B, probs_target_B), ...]`.
    **options
        `score` and its options, `assume`, `accuracy` and `bound_grid`, as in https://evenkeel.github.io/evenkeel/options.html and
        typed in `evenkeel._options`.

    Returns
    -------
    ShiftReport
        The verdict with its number, and in `command` the call that does what is recommended.
    """
    if probs_target is None:
        raise InvalidInputError("probs_target is missing; give the probabilities of the target data")
    if calibration is not None and (probs_cal is not None or y_cal is not None):
        raise InvalidInputError("calibration keeps its own data; give it, or probs_cal and y_cal, not both")
    if calibration is None and (probs_cal is None or y_cal is None):
        raise InvalidInputError("give probs_cal and y_cal, or calibration")
    given = _tables.table("probs_target", probs_target)
    if calibration is None:
        cal = _tables.table("probs_cal", probs_cal, ("y_cal", y_cal))
        columns, of = cal.columns, "probs_cal"
        labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", cal.values.shape[1], classes, cal.columns)
    else:
        cal, labels = None, None
        columns, of, names = calibration.columns_, "the calibration", calibration.classes_
    target = _tables.aligned("probs_target", given, columns, of)
    second_cal, second_target = _tables.second_models(second, columns, of)
    found = _evenkeel.check(
        None if cal is None else cal.values,
        labels,
        None if calibration is None else calibration._core,
        target,
        _tables.encoded_target("y_target", y_target, len(target), names),
        _inputs.side_inputs("_cal", second=second_cal),
        _inputs.side_inputs("_target", second=second_target),
        names,
        None if alpha is None else _inputs.number("alpha", alpha),
        _inputs.number("delta", delta),
        None if permutations is None else _inputs.count("permutations", permutations),
        None if random_state is _inputs.UNSET else _inputs.seed(random_state),
        _inputs.kind(logits),
        dict(options),
    )
    return report_of(*found)


def report_of(text: str, said: List[List[str]], curves: Any, page: Any) -> ShiftReport:
    """A report of what the compiled part answers, with its warnings."""
    curve_names = ("calibration", "min_max_lower", "min_max_upper", "f_u_lower", "f_u_upper")
    laws = {name: StepCurve(*curve) for name, curve in zip(curve_names, curves)}
    report = ShiftReport(json.loads(text), laws_=laws, sentences_=said, page_=page)
    _errors.warn_of(report.warnings_)
    return report
