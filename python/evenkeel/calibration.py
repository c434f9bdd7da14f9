"""Score-first: probabilities in, a calibration out."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, Final, List, Literal, NamedTuple, Optional, Sequence, Tuple, Type, Union, overload

import numpy as np

from evenkeel import _errors, _evenkeel, _files, _format, _inputs, _tables
from evenkeel._errors import EvenkeelError, InvalidParameterError
from evenkeel._sets import LabelSets
from evenkeel.grouped import GroupedCalibration

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import MethodName, MethodOptions

#: What `calibrate` and the classifier do unless told otherwise.
DEFAULT_METHOD: Final = "auto"


class Trace(NamedTuple):
    """Recorded states of an optimisation, one array per column; empty if nothing was optimised."""

    step: np.ndarray
    objective: np.ndarray
    effective_sample_size: np.ndarray
    threshold: np.ndarray


@overload
def calibrate(
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any = ...,
    method: MethodName = ...,
    alpha: float = ...,
    random_state: Any = ...,
    *,
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
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any = ...,
    method: MethodName = ...,
    alpha: float = ...,
    random_state: Any = ...,
    *,
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
    small_groups: str = ...,
    other_groups: str = ...,
    **options: Unpack[MethodOptions],
) -> "GroupedCalibration": ...
def calibrate(
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any = None,
    method: MethodName = DEFAULT_METHOD,
    alpha: float = 0.1,
    random_state: Any = 0,
    *,
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
    small_groups: str = "merge",
    other_groups: str = "refuse",
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
        Options of the method and the score, named as in `docs/options.md` and typed in `evenkeel._options`. An option
        that neither uses is an error.
    """
    groups = _groups(per, groups_cal, groups_target, small_groups, other_groups)
    cal = _tables.table("probs_cal", probs_cal)
    if probs_target is None and str(method) != "uncorrected":
        raise InvalidParameterError(
            f"probs_target is missing; method {method} learns from unlabeled target data, or use uncorrected"
        )
    # Rows that nothing is learned from: any will do.
    given = cal if probs_target is None else _tables.table("probs_target", probs_target)
    target = _tables.aligned("probs_target", given, cal.columns, "probs_cal")
    labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", cal.values.shape[1], classes, cal.columns)
    second_cal, second_target = _tables.second_models(second, cal.columns, "probs_cal")
    data = (
        cal.values,
        labels,
        target,
        _tables.encoded_target("y_target", y_target, len(target), names),
        _inputs.side_inputs("_cal", features_cal, ratios_cal, weights_cal, second=second_cal),
        _inputs.side_inputs("_target", features_target, second=second_target),
    )
    settings = (
        str(method),
        _inputs.number("alpha", alpha),
        _inputs.seed(random_state),
        _inputs.kind(logits),
        dict(options),
    )
    made: Any
    if per is None and groups is None:
        core = _evenkeel.calibrate(*data, *settings)
        said = core.class_warning
        made = Calibration(core.named(cal.columns, names), [] if said is None else [said])
    else:
        by = None if groups is None else per
        grouped = _evenkeel.calibrate_grouped(*data, groups, by, small_groups, other_groups == "pooled", *settings)
        made = GroupedCalibration(grouped.named(cal.columns, names))
    _errors.warn_of(made.warnings_)
    return made


def _groups(
    per: Optional[str], groups_cal: Any, groups_target: Any, small_groups: str, other_groups: str
) -> Optional[Tuple[List[str], List[str]]]:
    """The groups of both data sets, or None where there are none."""
    if other_groups not in ("refuse", "pooled"):
        raise InvalidParameterError(f"other_groups is {other_groups!r}; it must be one of refuse, pooled")
    if (groups_cal is None) != (groups_target is None):
        missing = "groups_cal" if groups_cal is None else "groups_target"
        raise InvalidParameterError(f"{missing} is missing; give the groups of both data sets or of neither")
    if per is not None and not isinstance(per, str):
        raise InvalidParameterError(f"per is {per!r}; it must be \"class\" or a name for the groups")
    if groups_cal is None:
        if per not in (None, "class"):
            raise InvalidParameterError(f"per is {per!r}, which needs groups_cal and groups_target; give them, or per=\"class\"")
        if per is None and small_groups != "merge":
            raise InvalidParameterError("small_groups has no use without per; leave it out")
        if other_groups != "refuse":
            raise InvalidParameterError("other_groups has no use without groups_cal; leave it out")
        return None
    if per == "class":
        raise InvalidParameterError('per="class" takes no groups: the labels are its groups; leave groups_cal and groups_target out')
    return _inputs.groups("groups_cal", groups_cal), _inputs.groups("groups_target", groups_target)


def load(path: Union[str, "os.PathLike[str]"]) -> "Calibration":
    """Reads a calibration written by `Calibration.save` or by `evenkeel calibrate`.

    A file with a threshold for each class or group gives a `GroupedCalibration`, as `GroupedCalibration.load` does with its own type.
    """
    text = _files.read(path)
    try:
        if '"format":"evenkeel/calibration-per-' in text[:200]:
            return GroupedCalibration(_evenkeel.GroupedCalibration.from_json(text))  # type: ignore[return-value]
        return Calibration(_evenkeel.FittedCalibration.from_json(text))
    except EvenkeelError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None


class Calibration:
    """Weighted calibration scores, from which thresholds and sets follow for any alpha.

    Made by `evenkeel.calibrate`, read by `evenkeel.load`; it can be pickled and copied, and does not change.
    """

    __slots__ = ("_alone", "_core", "_notes")

    def __init__(self, core: _evenkeel.FittedCalibration, notes: Sequence[str] = ()) -> None:
        self._core = core
        self._notes = list(notes)
        self._alone = False

    @property
    def method(self) -> str:
        """Name of the method that made it."""
        return self._core.method

    @property
    def score(self) -> str:
        """Name of the score function."""
        return self._core.score

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self._core.classes

    @property
    def classes_(self) -> Optional[List[str]]:
        """Names of the classes, in the order of the columns; None where they have none."""
        return self._core.class_names

    @property
    def columns_(self) -> Optional[List[str]]:
        """Columns of the tables it was made of, by which later rows are matched; None where they had no names."""
        return self._core.columns

    @property
    def alpha(self) -> float:
        """Miscoverage rate used when none is named."""
        return self._core.alpha

    @property
    def random_state(self) -> int:
        """Seed it was made with."""
        return self._core.seed

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
    def warnings_(self) -> List[str]:
        """What to know before trusting it."""
        return self._core.warnings + self._notes

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

    def predict_set(
        self,
        probs: Any,
        alpha: Optional[float] = None,
        *,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
    ) -> LabelSets:
        """Which labels are in the sets of rows of probabilities; bool (n, C), with `to_labels()`.

        `features` or `ratios` of the rows are needed where the calibration was made with them. `first_row` is the position
        of the first row in the stream the rows are part of: randomised scores draw by position, so a caller who predicts
        piece by piece counts the rows of earlier calls. Errors count rows from it too.
        """
        sets = self._sets(probs, [alpha], logits=logits, features=features, ratios=ratios, first_row=first_row)[0]
        return LabelSets(sets, self.classes_)

    def _sets(
        self,
        probs: Any,
        alphas: Sequence[Optional[float]],
        *,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
    ) -> List[np.ndarray]:
        """The sets of the same rows at several miscoverage rates."""
        matrix, first = self._rows("probs", probs), _inputs.count("first_row", first_row)
        side, are_logits = _inputs.side_inputs("", features, ratios), _inputs.kind(logits)
        rates = [_inputs.optional_number("alpha", alpha) for alpha in alphas]
        sets = [self._core.predict(matrix, side, rate, are_logits, first) for rate in rates]
        if len(matrix) == 1 and first == 0 and self._core.randomised:
            if self._alone:
                warnings.warn(
                    "a randomised score draws by the position of a row, and a single row was predicted at position 0 again, so "
                    "with the same draw; count rows with first_row, or predict them in one call",
                    UserWarning,
                    stacklevel=3,
                )
            self._alone = True
        return sets

    def evaluate(
        self,
        probs: Any,
        y: Any,
        alpha: Optional[float] = None,
        *,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
    ) -> Dict[str, Any]:
        """Coverage, sizes and gap on labeled rows, under the names of `evenkeel evaluate --json`.

        `features`, `ratios` and `first_row` are as in `predict_set`.
        """
        document = self._core.evaluate(
            self._rows("probs", probs),
            self._labels("y", y),
            _inputs.side_inputs("", features, ratios),
            _inputs.optional_number("alpha", alpha),
            _inputs.kind(logits),
            _inputs.count("first_row", first_row),
        )
        return json.loads(document)

    def update(self, probs_target: Any, y_target: Any, *, logits: Union[bool, Literal["force"]] = False) -> "Calibration":
        """A calibration with more labels: bit for bit that of `calibrate` with all labels at once.

        For methods "auto" and "few-labels". `probs_target` are the target rows it was made with, which it does not keep;
        `y_target` holds the new labels of some of them, as in `calibrate`. This calibration does not change.
        """
        target = self._rows("probs_target", probs_target)
        labels = _tables.encoded_target("y_target", y_target, len(target), self.classes_)
        return Calibration(self._core.update(target, labels, _inputs.kind(logits)))

    def _rows(self, argument: str, probs: Any) -> np.ndarray:
        """Rows with their columns in the order of the classes."""
        return _tables.aligned(argument, _tables.table(argument, probs), self.columns_, "the calibration")

    def _labels(self, argument: str, y: Any) -> np.ndarray:
        return _tables.encoded(argument, y, "probs", self.n_classes, self.classes_, self.columns_)[0]

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a file that `evenkeel.load` and `evenkeel predict` read."""
        _files.write(path, self._core.to_json() + "\n")

    def __reduce__(self) -> Any:
        rows = self._core.rows
        known = rows if rows is None else rows.tolist()
        return _restored, (type(self), self._core.to_json(), known, self._core.row_count, self._notes)

    def __copy__(self) -> "Calibration":
        return self  # It does not change.

    def __deepcopy__(self, memo: Any) -> "Calibration":
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Calibration):
            return NotImplemented
        return self._core.to_json() == other._core.to_json()

    def __hash__(self) -> int:
        return hash(self._core.to_json())

    def _title(self) -> str:
        return f"Calibration of {self.n_classes} classes, score {self.score}"

    def __repr__(self) -> str:
        lines = [f"<evenkeel.{self._title()}>", *self._core.sentences]
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings_])

    def _repr_html_(self) -> str:
        tables = []
        if self.threshold() is not None:
            rows = [(_format.percent(1 - rate), _format.threshold(self.threshold(rate))) for rate in (0.01, 0.05, 0.1, 0.2)]
            tables.append(_format.html_table(("level", "threshold"), rows))
        return _format.html_page(self._title(), self._core.sentences, *tables, warnings=self.warnings_)


def _restored(
    kind: Type[Calibration], text: str, rows: Optional[List[int]], row_count: int, notes: Sequence[str]
) -> Calibration:
    return kind(_evenkeel.FittedCalibration.from_json(text, rows, row_count), notes)
