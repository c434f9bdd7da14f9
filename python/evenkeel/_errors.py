"""Exceptions, in the words of the command line. Where its messages name a file, these name the argument."""

from __future__ import annotations

import warnings
from typing import Iterable

__all__ = [
    "EvenkeelError",
    "FileError",
    "IncompatibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "ShiftWarning",
]


class EvenkeelError(Exception):
    """Everything this package raises on purpose."""


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
    for sentence in sentences:
        warnings.warn(sentence, ShiftWarning, stacklevel=3)


for _error in (EvenkeelError, InvalidInputError, InvalidParameterError, IncompatibleError, FileError, ShiftWarning):
    _error.__module__ = "evenkeel"
