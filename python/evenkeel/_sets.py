"""Prediction sets as an array that knows what its columns are called."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np


class LabelSets(np.ndarray):
    """Bool (n, C), or (n, C, levels): which labels are in the sets. An array like any other, with `to_labels()`."""

    #: The classes, in the order of the columns: their names, or an estimator's `classes_`. None where they have none.
    classes: Optional[List[Any]]

    def __new__(cls, members: np.ndarray, classes: Optional[Sequence[Any]] = None) -> "LabelSets":
        sets = np.asarray(members, dtype=bool).view(cls)
        sets.classes = None if classes is None else list(classes)
        return sets

    def __array_finalize__(self, source: Any) -> None:
        self.classes = getattr(source, "classes", None)

    def __reduce__(self) -> Any:
        return LabelSets, (np.asarray(self), self.classes)

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        # What is computed from sets is no set.
        return array[()] if array.ndim == 0 else np.asarray(array)

    def to_labels(self, level: Optional[int] = None) -> List[List[Any]]:
        """The labels of every set: names where the classes have them, else numbers from 0.

        Of sets at several levels, `level` is the position of one.
        """
        members = np.asarray(self)
        if members.ndim == 3:
            if level is None and members.shape[2] != 1:
                raise ValueError(f"to_labels: there are sets at {members.shape[2]} levels; say which, as in to_labels(level=0)")
            members = members[:, :, 0 if level is None else level]
        elif level is not None:
            raise ValueError("to_labels: there is one level only; leave level out")
        if members.ndim != 2 or (self.classes is not None and members.shape[1] != len(self.classes)):
            raise ValueError("to_labels: these are not whole sets; take rows, not columns")
        names: Sequence[Any] = range(members.shape[1]) if self.classes is None else self.classes
        return [[names[int(place)] for place in np.flatnonzero(row)] for row in members]
