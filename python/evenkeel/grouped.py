"""Coverage for each class or each group, not only on average."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Union

from evenkeel import _evenkeel, _files, _format, _inputs
from evenkeel._errors import EvenkeelError, IncompatibleError
from evenkeel._stored import StoredCalibration


class GroupedCalibration(StoredCalibration):
    """A threshold for each class, or a calibration for each group.

    Made by `evenkeel.calibrate(..., per="class")` or with `groups_cal` and `groups_target`, read by `evenkeel.load`; it can be
    pickled and copied, and does not change.
    """

    __slots__ = ()
    _NAME = "GroupedCalibration"

    @property
    def per(self) -> str:
        """Whose coverage holds: "class" or "group"."""
        return self._core.per

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

    @staticmethod
    def load(path: Union[str, "os.PathLike[str]"]) -> "GroupedCalibration":
        """Reads a file with a threshold for each class or group."""
        text = _files.read(path)
        try:
            core = _evenkeel.FittedCalibration.from_json(text)
        except EvenkeelError as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from None
        if core.per == "one":
            raise IncompatibleError(f"{os.fspath(path)}: it has one threshold for all classes and groups; use evenkeel.load")
        return GroupedCalibration(core)

    def _repr_html_(self) -> str:
        rows = [(str(name), _format.threshold(value)) for name, value in list(self.thresholds().items())[:30]]
        table = _format.html_table((self.per, "threshold"), rows)
        return _format.html_page(self._title(), self._sentences()[:1], table, warnings=self.warnings_)
