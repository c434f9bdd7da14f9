"""Coverage for each class or each group, not only on average."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Literal, Optional, Sequence, Union

import numpy as np

from evenkeel import _evenkeel, _files, _format, _inputs, _tables
from evenkeel._errors import EvenkeelError, IncompatibleError
from evenkeel._sets import LabelSets


class GroupedCalibration:
    """A threshold for each class, or a calibration for each group.

    Made by `evenkeel.calibrate(..., per="class")` or with `groups_cal` and `groups_target`, read by `evenkeel.load`; it can be
    pickled and copied, and does not change.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _evenkeel.GroupedCalibration) -> None:
        self._core = core

    @property
    def per(self) -> str:
        """Whose coverage holds: "class" or "group"."""
        return self._core.per

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
        """What to know before trusting it: which classes or groups were merged among it."""
        return self._core.warnings

    @property
    def lines_(self) -> List[Dict[str, Any]]:
        """A dict for each class or group, under the names of `evenkeel calibrate --json`: its points, threshold and standing."""
        document = json.loads(self._core.document)
        return document["per_class" if self.per == "class" else "per_group"]

    def thresholds(self, alpha: Optional[float] = None) -> Dict[Any, Optional[float]]:
        """The threshold of each class (by its number) or group (by its name); infinite where every label is taken.

        None for methods that give every point or every label of a group a threshold of its own.
        """
        found = self._core.thresholds(_inputs.optional_number("alpha", alpha))
        if self.per == "class":
            return {int(name): value for name, value in found}
        return dict(found)

    def threshold(self, alpha: Optional[float] = None) -> None:
        """Always None: each class or group has its own, see `thresholds`."""
        _inputs.optional_number("alpha", alpha)
        return None

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
    ) -> LabelSets:
        """Which labels are in the sets of rows of probabilities; bool (n, C), with `to_labels()`.

        `groups` holds the group of each row, for a calibration per group. The rest is as in `Calibration.predict_set`.
        """
        sets = self._sets(
            probs, [alpha], groups=groups, logits=logits, features=features, ratios=ratios, first_row=first_row
        )
        return LabelSets(sets[0], self.classes_)

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
        matrix, first = self._rows(probs), _inputs.count("first_row", first_row)
        side, are_logits = _inputs.side_inputs("", features, ratios), _inputs.kind(logits)
        names = None if groups is None else _inputs.groups("groups", groups)
        rates = [_inputs.optional_number("alpha", alpha) for alpha in alphas]
        return [self._core.predict(matrix, side, names, rate, are_logits, first) for rate in rates]

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
    ) -> Dict[str, Any]:
        """Coverage and sizes on labeled rows, under the names of `evenkeel evaluate --json`, with a line for each group."""
        document = self._core.evaluate(
            self._rows(probs),
            _tables.encoded("y", y, "probs", self.n_classes, self.classes_, self.columns_)[0],
            _inputs.side_inputs("", features, ratios),
            None if groups is None else _inputs.groups("groups", groups),
            _inputs.optional_number("alpha", alpha),
            _inputs.kind(logits),
            _inputs.count("first_row", first_row),
        )
        return json.loads(document)

    def _rows(self, probs: Any) -> np.ndarray:
        """Rows with their columns in the order of the classes."""
        return _tables.aligned("probs", _tables.table("probs", probs), self.columns_, "the calibration")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a file that `evenkeel.load` and `evenkeel predict` read."""
        _files.write(path, self._core.to_json() + "\n")

    @staticmethod
    def load(path: Union[str, "os.PathLike[str]"]) -> "GroupedCalibration":
        """Reads a file with a threshold for each class or group."""
        text = _files.read(path)
        try:
            core = _evenkeel.GroupedCalibration.from_json(text)
        except EvenkeelError as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from None
        if core.per == "one":
            raise IncompatibleError(f"{os.fspath(path)}: it has one threshold for all classes and groups; use evenkeel.load")
        return GroupedCalibration(core)

    def __reduce__(self) -> Any:
        return _restored, (self._core.to_json(),)

    def __copy__(self) -> "GroupedCalibration":
        return self  # It does not change.

    def __deepcopy__(self, memo: Any) -> "GroupedCalibration":
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedCalibration):
            return NotImplemented
        return self._core.to_json() == other._core.to_json()

    def __hash__(self) -> int:
        return hash(self._core.to_json())

    def _title(self) -> str:
        return f"GroupedCalibration of {self.n_classes} classes, score {self.score}"

    def __repr__(self) -> str:
        lines = [f"<evenkeel.{self._title()}>", *self._core.sentences]
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings_])

    def _repr_html_(self) -> str:
        rows = [(str(name), _format.threshold(value)) for name, value in list(self.thresholds().items())[:30]]
        table = _format.html_table((self.per, "threshold"), rows)
        return _format.html_page(self._title(), self._core.sentences[:1], table, warnings=self.warnings_)


def _restored(text: str) -> GroupedCalibration:
    return GroupedCalibration(_evenkeel.GroupedCalibration.from_json(text))
