"""Score-first: probabilities in, a calibration out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Final, List, Literal, NamedTuple, Optional, Union, overload

import numpy as np

from evenkeel import _errors, _evenkeel, _files, _format, _inputs, _tables
from evenkeel._errors import EvenkeelError, InvalidInputError, InvalidParameterError
from evenkeel._stored import StoredCalibration
from evenkeel.grouped import GroupedCalibration

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import MethodName, MethodOptions

#: What `calibrate` and the classifier do unless told otherwise.
DEFAULT_METHOD: Final = "auto"

SmallGroups = Literal["merge", "refuse", "all-labels"]
OtherGroups = Literal["refuse", "pooled"]


class Trace(NamedTuple):
    """Recorded states of an optimisation, one array per column; empty if nothing was optimised."""

    step: np.ndarray
    objective: np.ndarray
    effective_sample_size: np.ndarray
    threshold: np.ndarray


@overload
def calibrate(
    probs_cal: Any = ...,
    y_cal: Any = ...,
    probs_target: Any = ...,
    method: MethodName = ...,
    alpha: float = ...,
    random_state: Any = ...,
    *,
    calibration: Optional["Calibration"] = ...,
    logits: Union[bool, Literal["force"]] = ...,
    features_cal: Any = ...,
    features_target: Any = ...,
    ratios_cal: Any = ...,
    weights_cal: Any = ...,
    y_target: Any = ...,
    second: Any = ...,
    classes: Any = ...,
    per: None = ...,
    groups_cal: None = ...,
    groups_target: None = ...,
    **options: Unpack[MethodOptions],
) -> "Calibration": ...
@overload
def calibrate(
    probs_cal: Any = ...,
    y_cal: Any = ...,
    probs_target: Any = ...,
    method: MethodName = ...,
    alpha: float = ...,
    random_state: Any = ...,
    *,
    calibration: Optional["Calibration"] = ...,
    logits: Union[bool, Literal["force"]] = ...,
    features_cal: Any = ...,
    features_target: Any = ...,
    ratios_cal: Any = ...,
    weights_cal: Any = ...,
    y_target: Any = ...,
    second: Any = ...,
    classes: Any = ...,
    per: Optional[str] = ...,
    groups_cal: Any = ...,
    groups_target: Any = ...,
    small_groups: SmallGroups = ...,
    other_groups: OtherGroups = ...,
    **options: Unpack[MethodOptions],
) -> "GroupedCalibration": ...
def calibrate(
    probs_cal: Any = None,
    y_cal: Any = None,
    probs_target: Any = None,
    method: MethodName = DEFAULT_METHOD,
    alpha: float = 0.1,
    random_state: Any = 0,
    *,
    calibration: Optional["Calibration"] = None,
    logits: Union[bool, Literal["force"]] = False,
    features_cal: Any = None,
    features_target: Any = None,
    ratios_cal: Any = None,
    weights_cal: Any = None,
    y_target: Any = None,
    second: Any = None,
    per: Optional[str] = None,
    groups_cal: Any = None,
    groups_target: Any = None,
    small_groups: SmallGroups = "merge",
    other_groups: OtherGroups = "refuse",
    classes: Any = None,
    **options: Unpack[MethodOptions],
) -> Any:
    """Learns weights or thresholds once; they serve every alpha.

    Parameters
    ----------
    probs_cal : array (n, C)
        Class probabilities of the calibration data. Rows sum to one. Where tables (pandas, polars, pyarrow) name their columns,
        all later rows are matched by these names.
    y_cal : array (n,)
        Their labels: integers from 0, or names of the classes out of `classes`, else of the columns, else as many different words
        as there are columns, which then name these in sorted order.
    probs_target : array (m, C)
        Class probabilities of the target data: unlabeled points of the world the model now works in. Method "uncorrected"
        needs none.
    method : str
        See `evenkeel.method_names()`.
    alpha : float
        Miscoverage rate; any other can be asked for later.
    random_state : int
        Root of all randomness: the same seed and inputs give the same bits as the command line.
    calibration : Calibration
        A calibration that keeps its data, in place of `probs_cal` and `y_cal`: these are calibrated anew. Its score, its names of
        classes and of columns are kept; `alpha` and `random_state` are those given here.
    logits : bool or "force"
        Every matrix of probabilities given holds logits; a stable softmax is applied. Rows that are probabilities already are an
        error, unless "force" says that they are logits all the same.
    features_cal, features_target : array (n, d), (m, d)
        Features that some methods work on; without them they work on the vector of scores.
    ratios_cal : array (n,)
        Known likelihood ratios dQ/dP of the calibration points.
    weights_cal : array (n,)
        Weights of the calibration points for method "fixed".
    y_target : array (m,) or dict
        Labels of some target rows, drawn at random: one for each row with -1 or NaN where unknown, or a dict from row to
        label. With them method "auto" is "few-labels".
    second : sequence of pairs of arrays (n, C), (m, C)
        What other models say of the same rows: `[(probs_cal_B, probs_target_B), ...]`, for methods "auto" and "label-plan". They
        are asked how often the model is right on the target data.
    per : str, optional
        Whose coverage is to hold: "class" for that of each class, or a name for the groups of `groups_cal`. With it a
        `GroupedCalibration` is returned, without it a `Calibration`.
    groups_cal, groups_target : array (n,), (m,)
        The group of each point, texts or integers: the method is fitted for each of them by itself.
    small_groups : str
        Classes or groups with too few points for a threshold at the level: "merge" them, "refuse" them, or "all-labels".
    other_groups : str
        Rows to predict whose group has no calibration points: "refuse" them, or use the "pooled" threshold of all groups.
    classes : sequence of C names
        Names of the classes in the order of the columns.
    **options
        Options of the method and the score, named as in
        https://evenkeel.github.io/evenkeel/options.html and typed in `evenkeel._options`. An option that neither uses is an error.
    """
    made = fitted(
        probs_cal,
        y_cal,
        probs_target,
        method,
        alpha,
        random_state,
        calibration=calibration,
        logits=logits,
        features_cal=features_cal,
        ratios_cal=ratios_cal,
        weights_cal=weights_cal,
        features_target=features_target,
        y_target=y_target,
        second=second,
        per=_grouping(per, groups_cal, groups_target, small_groups, other_groups),
        classes=classes,
        **options,
    )
    _errors.warn_of(made.warnings_)
    return made


def fitted(
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any,
    method: Any,
    alpha: Any,
    random_state: Any,
    *,
    calibration: Optional["Calibration"] = None,
    logits: Union[bool, Literal["force"]] = False,
    features_cal: Any = None,
    ratios_cal: Any = None,
    weights_cal: Any = None,
    features_target: Any = None,
    y_target: Any = None,
    second: Any = None,
    per: Optional[Dict[str, Any]] = None,
    classes: Any = None,
    **options: Any,
) -> Any:
    """`calibrate` without its warnings, for calls that are steps of another."""
    if calibration is not None:
        if not isinstance(calibration, StoredCalibration):
            raise InvalidInputError(f"calibration is of type {type(calibration).__name__}; give a calibration, such as evenkeel.load reads")
        _refuse_beside_calibration(
            probs_cal=probs_cal, y_cal=y_cal, features_cal=features_cal, ratios_cal=ratios_cal, weights_cal=weights_cal, classes=classes
        )
    elif probs_cal is None or y_cal is None:
        raise InvalidInputError("give probs_cal and y_cal, or calibration")
    if probs_target is None and (calibration is not None or str(method) != "uncorrected"):
        raise InvalidParameterError(
            f"probs_target is missing; method {method} learns from unlabeled target data, or use uncorrected on probs_cal and y_cal"
        )
    if calibration is None:
        cal = _tables.table("probs_cal", probs_cal, ("y_cal", y_cal))
        columns, of, values = cal.columns, "probs_cal", cal.values
        # Rows that nothing is learned from: any will do.
        given = cal if probs_target is None else _tables.table("probs_target", probs_target)
        labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", cal.values.shape[1], classes, cal.columns)
    else:
        labels, values = None, None
        columns, of, names = calibration.columns_, "the calibration", calibration.classes_
        given = _tables.table("probs_target", probs_target)
    target = _tables.aligned("probs_target", given, columns, of)
    second_cal, second_target = _tables.second_models(second, columns, of)
    core = _evenkeel.calibrate(
        values,
        labels,
        None if calibration is None else calibration._core,
        target,
        _tables.encoded_target("y_target", y_target, len(target), names),
        _inputs.side_inputs("_cal", features_cal, ratios_cal, weights_cal, second=second_cal),
        _inputs.side_inputs("_target", features_target, second=second_target),
        per,
        columns,
        names,
        str(method),
        _inputs.number("alpha", alpha),
        _inputs.seed(random_state),
        _inputs.kind(logits),
        dict(options),
    )
    said = core.class_warning
    return _of_kind(core, [] if said is None else [said])


def _refuse_beside_calibration(**given: Any) -> None:
    """An error for what a calibration keeps, or has nothing to compare with."""
    for name, value in given.items():
        if value is not None:
            raise InvalidInputError(f"{name} has no use with calibration, which keeps its own data; leave one of the two out")


def _of_kind(core: _evenkeel.FittedCalibration, notes: Any = ()) -> Any:
    return Calibration(core, notes) if core.per == "one" else GroupedCalibration(core, notes)


def _grouping(
    per: Optional[str], groups_cal: Any, groups_target: Any, small_groups: str, other_groups: str
) -> Optional[Dict[str, Any]]:
    """Whose coverage is to hold, as the compiled part takes it; None where it is that of all rows."""
    if other_groups not in ("refuse", "pooled"):
        raise InvalidParameterError(f"other_groups is {other_groups!r}; it must be one of refuse, pooled")
    if (groups_cal is None) != (groups_target is None):
        missing = "groups_cal" if groups_cal is None else "groups_target"
        raise InvalidParameterError(f"{missing} is missing; give the groups of both data sets or of neither")
    if per is not None and not isinstance(per, str):
        raise InvalidParameterError(f"per is {per!r}; it must be \"class\" or a name for the groups")
    grouping = {"groups": None, "by": None, "small": small_groups, "pooled_others": other_groups == "pooled"}
    if groups_cal is None:
        if per not in (None, "class"):
            raise InvalidParameterError(f"per is {per!r}, which needs groups_cal and groups_target; give them, or per=\"class\"")
        if per is None and small_groups != "merge":
            raise InvalidParameterError("small_groups has no use without per; leave it out")
        if other_groups != "refuse":
            raise InvalidParameterError("other_groups has no use without groups_cal; leave it out")
        return None if per is None else grouping
    if per == "class":
        raise InvalidParameterError('per="class" takes no groups: the labels are its groups; leave groups_cal and groups_target out')
    groups = (_inputs.groups("groups_cal", groups_cal), _inputs.groups("groups_target", groups_target))
    return {**grouping, "groups": groups, "by": per}


def load(path: Union[str, "os.PathLike[str]"]) -> "Calibration":
    """Reads a calibration written by `Calibration.save` or by `evenkeel calibrate`.

    A file with a threshold for each class or group gives a `GroupedCalibration`, as `GroupedCalibration.load` does with its own type.
    """
    text = _files.read(path)
    try:
        found: Calibration = _of_kind(_evenkeel.FittedCalibration.from_json(text))
        return found
    except EvenkeelError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None


class Calibration(StoredCalibration):
    """Weighted calibration scores, from which thresholds and sets follow for any alpha.

    Made by `evenkeel.calibrate`, read by `evenkeel.load`; it can be pickled and copied, and does not change.
    """

    __slots__ = ()

    @property
    def weights_(self) -> np.ndarray:
        """Weights of the calibration points; they sum to one without the test point's share.

        In the order of the rows given to `calibrate`; a row that only helped to fit a weight function has weight 0. A
        calibration read from a file does not know the rows: its weights are in the order of increasing scores. Either
        way `scores_` has the same order.
        """
        return self._by_row(self._core.weights, 0.0)

    @property
    def scores_(self) -> np.ndarray:
        """Scores of the calibration points at their labels, in the order of `weights_`; NaN where a row has none."""
        return self._by_row(self._core.scores, np.nan)

    def _by_row(self, values: np.ndarray, absent: float) -> np.ndarray:
        rows = self._core.rows
        if rows is None:
            return values
        placed = np.full(self._core.row_count, absent)
        placed[rows] = values
        return placed

    @property
    def test_mass_(self) -> float:
        """The test point's share of the mass."""
        return self._core.test_mass

    @property
    def effective_sample_size_(self) -> float:
        """`1 / sum(weights_ ** 2)`."""
        return self._core.effective_sample_size

    @property
    def bound_before_(self) -> Optional[float]:
        """Bound on the distance of coverage from the level at equal weights; None if nothing was minimised."""
        return self._core.bound_before

    @property
    def bound_after_(self) -> Optional[float]:
        """The same at the learned weights."""
        return self._core.bound_after

    @property
    def total_gap_bound_before_(self) -> Optional[float]:
        """Bound on the total coverage gap (coverage on both data sets at the same threshold) at equal weights; None if nothing
        was minimised."""
        return self._core.total_gap_bound_before

    @property
    def total_gap_bound_after_(self) -> Optional[float]:
        """The same at the learned weights."""
        return self._core.total_gap_bound_after

    @property
    def trace_(self) -> Trace:
        """How the optimisation went."""
        return Trace(*self._core.trace)

    @property
    def steps_(self) -> int:
        """Optimisation steps taken."""
        return self._core.steps

    @property
    def stopped_(self) -> str:
        """Why the optimisation ended."""
        return self._core.stopped

    @property
    def account_(self) -> Optional[str]:
        """What was done and why, for methods that decide something themselves (auto, label-plan)."""
        return self._core.account

    @property
    def evidence_(self) -> Optional[Dict[str, Any]]:
        """What such a method measured on its way."""
        evidence = self._core.evidence
        return None if evidence is None else json.loads(evidence)

    def threshold(self, alpha: Optional[float] = None) -> Optional[float]:
        """The score up to which labels are in a set; infinite if every set holds every label.

        None for methods that give every point or every label a threshold of its own.
        """
        return self._core.threshold(_inputs.optional_number("alpha", alpha))

    def update(self, probs_target: Any, y_target: Any, *, logits: Union[bool, Literal["force"]] = False) -> "Calibration":
        """A calibration with more labels: bit for bit that of `calibrate` with all labels at once.

        For methods "auto" and "few-labels". `probs_target` are the target rows it was made with, which it does not keep;
        `y_target` holds the new labels of some of them, as in `calibrate`. This calibration does not change.
        """
        target = self._rows("probs_target", probs_target)
        labels = _tables.encoded_target("y_target", y_target, len(target), self.classes_)
        made = Calibration(self._core.update(target, labels, _inputs.kind(logits)))
        _errors.warn_of(made.warnings_)
        return made

    def _repr_html_(self) -> str:
        tables = []
        if self.threshold() is not None:
            rows = [(_format.percent(1 - rate), _format.threshold(self.threshold(rate))) for rate in (0.01, 0.05, 0.1, 0.2)]
            tables.append(_format.html_table(("level", "threshold"), rows))
        return _format.html_page(self._title(), self._sentences(), *tables, warnings=self.warnings_)
