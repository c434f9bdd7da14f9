"""Calibration files, read and written as the command line does, in its words."""

from __future__ import annotations

import os
import tempfile
from typing import Union

from evenkeel._errors import FileError

Path = Union[str, "os.PathLike[str]"]


def read(path: Path) -> str:
    """The text of a calibration file."""
    name = os.fspath(path)
    advice = "give a file written by `evenkeel calibrate`"
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            raise FileError(f"{name}: is not a file; {advice}")
        with open(name, encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise FileError(f"{name}: cannot be read: stream did not contain valid UTF-8; {advice}") from None
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {error.strerror}; {advice}") from None
    except ValueError:  # a null character in the name
        raise FileError(f"{name!r}: cannot be read: the name is no path; {advice}") from None


def write(path: Path, text: str) -> None:
    """Writes a file that appears whole or not at all. A device or a pipe is written to directly."""
    name = os.fspath(path)
    if os.path.isdir(name):
        raise FileError(f"{name}: cannot be written: it is a directory; name a file in it")
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            return
        target = os.path.realpath(name)
        descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(target))
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(temporary, _permissions(target))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror}; {_advice(error)}") from None


def _permissions(target: str) -> int:
    """Those of the file that is replaced; of a new file those the process gives."""
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _advice(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "create the directory first"
    if error.strerror == "No space left on device":
        return "free some space or write elsewhere"
    return "check the path and its permissions"
