"""Exceptions, in the words of the command line. Where its messages name a file, these name the argument."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Iterable, Optional

__all__ = [
    "EvenkeelError",
    "FileError",
    "IncompatibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "ShiftWarning",
]


#: Where the files of this package are.
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class EvenkeelError(Exception):
    """Everything this package raises on purpose."""

    #: The row at fault, counted from 0 in the array that was given; None where it is about no single row.
    row: Optional[int] = None

    #: The key it is about, where that is no row at hand: given twice, or of a row that did not come. Of a text id, its hash.
    key: Optional[int] = None


class InvalidInputError(EvenkeelError, ValueError):
    """The data are not what they should be."""


class InvalidParameterError(EvenkeelError, ValueError):
    """A setting is out of its range."""


class IncompatibleError(EvenkeelError, ValueError):
    """The pieces do not fit each other."""


class FileError(EvenkeelError, OSError, ValueError):
    """A calibration file that cannot be read or written."""


class ShiftWarning(UserWarning):
    """What to know before trusting a result; the same sentences stand in its `warnings_`."""


def warn_of(sentences: Iterable[str]) -> None:
    """Warns of each, at the line that called the package."""
    level = caller_level()
    for sentence in sentences:
        warnings.warn(sentence, ShiftWarning, stacklevel=level)


def caller_level() -> int:
    """The `stacklevel` at which the function that asks warns of the line that called the package, however deep it is in it."""
    frame: Optional[FrameType] = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


for _error in (EvenkeelError, InvalidInputError, InvalidParameterError, IncompatibleError, FileError, ShiftWarning):
    _error.__module__ = "evenkeel"
