"""What every calibration is, whatever thresholds it has: named, used, stored and compared alike."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, ClassVar, List, Literal, Optional, Sequence, Tuple, TypeVar, Union, overload

import numpy as np

from evenkeel import _arrow, _errors, _evenkeel, _files, _inputs, _tables
from evenkeel._errors import InvalidParameterError
from evenkeel._pages import Evaluation
from evenkeel._sets import LabelSets

Self = TypeVar("Self", bound="StoredCalibration")


class StoredCalibration:
    """A calibration with one threshold, or with one for each class or group. It does not change."""

    __slots__ = ("_alone", "_core", "_notes")

    #: What it is called where it is shown.
    _NAME: ClassVar[str] = "Calibration"

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
    def warnings_(self) -> List[str]:
        """What to know before trusting it."""
        return self._core.warnings + self._notes

    @overload
    def predict_set(
        self,
        probs: Any,
        alpha: Optional[float] = ...,
        *,
        groups: Any = ...,
        logits: Union[bool, Literal["force"]] = ...,
        features: Any = ...,
        ratios: Any = ...,
        first_row: int = ...,
        format: Literal["bool"] = ...,
        keys: None = ...,
    ) -> LabelSets: ...
    @overload
    def predict_set(
        self,
        probs: Any,
        alpha: Optional[float] = ...,
        *,
        groups: Any = ...,
        logits: Union[bool, Literal["force"]] = ...,
        features: Any = ...,
        ratios: Any = ...,
        first_row: int = ...,
        format: Literal["labels", "size"],
        keys: Any = ...,
    ) -> Any: ...
    def predict_set(
        self,
        probs: Any,
        alpha: Optional[float] = None,
        *,
        groups: Any = None,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
        format: Literal["bool", "labels", "size"] = "bool",
        keys: Any = None,
    ) -> Any:
        """Which labels are in the sets of rows of probabilities; bool (n, C), with `to_labels()`.

        `format="labels"` gives an Arrow array of lists instead, the numbers of the labels from 0, and `format="size"` the number of
        labels in each set; both take `keys`, unique ids by which randomised scores draw where rows do not follow each other.

        `groups` holds the group of each row, for a calibration per group. `features` or `ratios` of the rows are needed where the
        calibration was made with them. `first_row` is the position of the first row in the stream the rows are part of: randomised
        scores draw by position, so a caller who predicts piece by piece counts the rows of earlier calls. Errors count rows from it
        too.
        """
        if format not in ("bool", "labels", "size"):
            raise InvalidParameterError(f"format is {format!r}; it must be bool, labels or size")
        side = {"groups": groups, "features": features, "ratios": ratios, "first_row": first_row}
        if format != "bool":
            offsets, labels = self._lists(probs, alpha, keys, logits=logits, **side)
            return _arrow.list_array(offsets, labels) if format == "labels" else np.diff(offsets)
        if keys is not None:
            raise InvalidParameterError('keys are for format="labels" and format="size"; leave them out')
        return LabelSets(self._sets(probs, [alpha], logits=logits, **side)[0], self.classes_)

    def _lists(
        self, probs: Any, alpha: Optional[float], keys: Any, *, groups: Any, logits: Any, features: Any, ratios: Any, first_row: int
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Where the labels of each set begin among all labels, and these."""
        return self._core.predict_lists(
            self._table("probs", probs),
            None if keys is None else _arrow.keys("keys", keys),
            _inputs.side_inputs("", features, ratios),
            None if groups is None else _inputs.groups("groups", groups),
            _inputs.optional_number("alpha", alpha),
            _inputs.kind(logits),
            _inputs.count("first_row", first_row),
        )

    def _sets(
        self,
        probs: Any,
        alphas: Sequence[Optional[float]],
        *,
        groups: Any = None,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
    ) -> List[np.ndarray]:
        """The sets of the same rows at several miscoverage rates."""
        table, first = self._table("probs", probs), _inputs.count("first_row", first_row)
        side, are_logits = _inputs.side_inputs("", features, ratios), _inputs.kind(logits)
        names = None if groups is None else _inputs.groups("groups", groups)
        rates = [_inputs.optional_number("alpha", alpha) for alpha in alphas]
        sets = []
        for rate in rates:
            # Made here, so that NumPy asks for large pages of memory; every cell is written.
            members = np.empty((table.shape[0], self.n_classes), np.uint8)
            self._core.predict(table, members, side, names, rate, are_logits, first)
            sets.append(members.view(np.bool_))
        if table.shape[0] == 1 and first == 0 and self._core.randomised:
            if self._alone:
                warnings.warn(
                    "a randomised score draws by the position of a row, and a single row was predicted at position 0 again, so "
                    "with the same draw; count rows with first_row, or predict them in one call",
                    UserWarning,
                    stacklevel=_errors.caller_level(),
                )
            self._alone = True
        return sets

    def evaluate(
        self,
        probs: Any,
        y: Any,
        alpha: Optional[float] = None,
        *,
        groups: Any = None,
        logits: Union[bool, Literal["force"]] = False,
        features: Any = None,
        ratios: Any = None,
        first_row: int = 0,
    ) -> Evaluation:
        """Coverage, sizes and gap on labeled rows, under the names of `evenkeel evaluate --json`; with `to_html(path)`.

        `groups`, `features`, `ratios` and `first_row` are as in `predict_set`.
        """
        document, page = self._core.evaluate(
            self._rows("probs", probs, ("y", y)),
            _tables.encoded("y", y, "probs", self.n_classes, self.classes_, self.columns_)[0],
            _inputs.side_inputs("", features, ratios),
            None if groups is None else _inputs.groups("groups", groups),
            _inputs.optional_number("alpha", alpha),
            _inputs.kind(logits),
            _inputs.count("first_row", first_row),
        )
        evaluation = Evaluation(json.loads(document), page)
        _errors.warn_of(evaluation.get("warnings", ()))
        return evaluation

    def _table(self, argument: str, probs: Any) -> Any:
        """`_rows`, or columns that lie apart, which a pass turns round as it reads them."""
        found = _tables.table(argument, probs, read=_inputs.columns_or_matrix)
        return _tables.aligned(argument, found, self.columns_, "the calibration")

    def _rows(self, argument: str, probs: Any, labels: Optional[Tuple[str, Any]] = None) -> np.ndarray:
        """Rows with their columns in the order of the classes."""
        return _tables.aligned(argument, _tables.table(argument, probs, labels), self.columns_, "the calibration")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a file that `evenkeel.load` and `evenkeel predict` read."""
        _files.write(path, self._core.to_json() + "\n")

    def to_json(self) -> str:
        """The text of that file."""
        return self._core.to_json()

    def __reduce__(self) -> Any:
        return restored, (type(self), *self._state())

    def _state(self) -> Any:
        """What `restored` takes to make the same again."""
        rows = self._core.rows
        return self._core.to_json(), rows if rows is None else rows.tolist(), self._core.row_count, self._notes

    def __copy__(self: Self) -> Self:
        return self  # It does not change.

    def __deepcopy__(self: Self, memo: Any) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredCalibration):
            return NotImplemented
        return self._core.to_json() == other._core.to_json()

    def __hash__(self) -> int:
        return hash(self._core.to_json())

    def _title(self) -> str:
        return f"{self._NAME} of {self.n_classes} classes, score {self.score}"

    def _sentences(self) -> List[str]:
        return self._core.sentences

    def __repr__(self) -> str:
        lines = [f"<evenkeel.{self._title()}>", *self._sentences()]
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings_])


def restored(kind: Any, text: str, rows: Optional[List[int]], row_count: int, notes: Sequence[str], *more: Any) -> Any:
    """A calibration of a type from the text of its file, and from what a file does not keep."""
    return kind(_evenkeel.FittedCalibration.from_json(text, rows, row_count), notes, *more)
