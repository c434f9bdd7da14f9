"""Calibration files, read and written as the command line does, in its words."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import time
from typing import Optional, Tuple, Union

from evenkeel._errors import FileError

try:
    import fcntl
except ImportError:  # not on Windows, where files are not removed while they are open
    fcntl = None  # type: ignore[assignment]

Path = Union[str, "os.PathLike[str]"]

_START = time.time_ns()
_COUNT = itertools.count()
_TEMPORARY = re.compile(r"\.evenkeel-[0-9]+-[0-9a-f]+-[0-9]+\.tmp")


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
        directory = os.path.dirname(target)
        _remove_abandoned(directory)
        descriptor, temporary = _create(directory)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                # The bytes are on the disk before the name is: a power cut must not leave an empty file where a good one was.
                os.fsync(file.fileno())
                os.chmod(temporary, _permissions(target))
                # Before the file is closed, which ends the lock.
                os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        _sync_directory(directory)
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror}; {_advice(error)}") from None


def _create(directory: str) -> Tuple[int, str]:
    """A new, locked file that nobody else has; named as the command line names its own, which then tidies up after us."""
    while True:
        path = os.path.join(directory, f".evenkeel-{os.getpid()}-{_START:x}-{next(_COUNT)}.tmp")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        # False where someone who looked through the directory took the new file for abandoned and removes it.
        if _lock(descriptor) is not False and os.path.exists(path):
            return descriptor, path
        os.close(descriptor)


def _remove_abandoned(directory: str) -> None:
    """Removes temporary files whose writers were killed: those that nobody holds a lock on."""
    # Housekeeping for someone else: what cannot be listed, opened, locked or removed stays.
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    with open(entry.path, "rb") as file:
                        if _lock(file.fileno()):
                            os.unlink(entry.path)


def _lock(descriptor: int) -> Optional[bool]:
    """Whether the lock is ours, which ends with the process; none where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return None


def _sync_directory(directory: str) -> None:
    """Brings the new name to the disk, where a directory can be opened and synced."""
    if os.name != "posix":
        return
    with contextlib.suppress(PermissionError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(descriptor)


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
