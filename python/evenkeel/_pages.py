"""Pages of results: the ones that the command line writes with `--html`."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence, Tuple

from evenkeel import _evenkeel, _files
from evenkeel._errors import EvenkeelError


class WithPage:
    """A result that has a page."""

    #: The call that makes such a result.
    _MAKER: ClassVar[str]
    #: What the page is made of; None in a result that went through pickle.
    page_: Optional[_evenkeel.Page]

    def to_html(
        self,
        path: Optional[_files.Path] = None,
        *,
        title: Optional[str] = None,
        class_names: Optional[Sequence[str]] = None,
    ) -> str:
        """The page that the command line writes with `--html`, as text; with `path` it is written there too.

        It is one file that loads nothing. `title` is the name of the model or the run at its head; `class_names` are those that the
        result knows unless they are given.
        """
        if self.page_ is None:
            raise EvenkeelError(f"this result went through pickle or was copied and has no page; call {self._MAKER} again")
        names = None if class_names is None else [str(name) for name in class_names]
        text = self.page_.html(title, datetime.date.today().isoformat(), names)
        if path is not None:
            _files.write(path, text)
        return text


class Evaluation(WithPage, Dict[str, Any]):
    """What `Calibration.evaluate` measured: a dict with the fields of `evenkeel evaluate --json`, and `to_html`."""

    _MAKER = "evaluate"

    def __init__(self, document: Mapping[str, Any], page: Optional[_evenkeel.Page] = None) -> None:
        super().__init__(document)
        self.page_ = page

    def __reduce__(self) -> Tuple[Any, ...]:
        return Evaluation, (dict(self),)
