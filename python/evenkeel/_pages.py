"""Pages of results: the ones that the command line writes with `--html`."""

from __future__ import annotations

import datetime
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from evenkeel import _evenkeel, _files
from evenkeel._errors import EvenkeelError


def write(
    page: Optional[_evenkeel.Page],
    maker: str,
    path: Optional[_files.Path],
    title: Optional[str],
    class_names: Optional[Sequence[str]],
) -> str:
    """The page as text; with `path` it is written there too. `maker` is the call that makes such a result."""
    if page is None:
        raise EvenkeelError(f"this result went through pickle or was copied and has no page; call {maker} again")
    names = None if class_names is None else [str(name) for name in class_names]
    text = page.html(title, datetime.date.today().isoformat(), names)
    if path is not None:
        _files.write(path, text)
    return text


class Evaluation(Dict[str, Any]):
    """What `Calibration.evaluate` measured: a dict with the fields of `evenkeel evaluate --json`, and `to_html`."""

    def __init__(self, document: Mapping[str, Any], page: Optional[_evenkeel.Page] = None) -> None:
        super().__init__(document)
        self._page = page

    def to_html(
        self,
        path: Optional[_files.Path] = None,
        *,
        title: Optional[str] = None,
        class_names: Optional[Sequence[str]] = None,
    ) -> str:
        """The page that `evenkeel evaluate --html` writes, as text; with `path` it is written there too.

        `title` is the name of the model or the run at its head; `class_names` are those of the calibration unless they are given.
        """
        return write(self._page, "evaluate", path, title, class_names)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Evaluation, (dict(self),)
