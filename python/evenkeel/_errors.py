"""Exceptions, in the words of the command line. Where its messages name a file, these name the argument."""

from __future__ import annotations

__all__ = [
    "EvenkeelError",
    "FileError",
    "IncompatibleError",
    "InvalidInputError",
    "InvalidParameterError",
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


for _error in (EvenkeelError, InvalidInputError, InvalidParameterError, IncompatibleError, FileError):
    _error.__module__ = "evenkeel"
