"""Where the program `evenkeel` of this environment is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Iterator, List

from evenkeel._errors import EvenkeelError
from evenkeel._evenkeel import __version__

_DISTRIBUTION = "evenkeel-conformal"
_NAME, _SCRIPTS = ("evenkeel.exe", "Scripts") if sys.platform == "win32" else ("evenkeel", "bin")
#: The folder that holds this package: site-packages, or what stands in its place.
_SITE = Path(__file__).resolve().parent.parent
#: A program that does not say its version in this time is another one.
_SECONDS_TO_SAY_VERSION = 10


def program() -> str:
    """Where the program is: where its wheel was installed, beside the package or this interpreter, or on the path.

    What the wheel is not known to have put there may be another project's: it must say that it is of this version.
    """
    passed_over: List[str] = []
    seen = set()
    for file in _of_the_wheel():
        seen.add(file)
        if os.access(file, os.X_OK):
            return str(file)
        passed_over.append(_not_executable(file))
    for file in _elsewhere():
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        if not os.access(file, os.X_OK):
            passed_over.append(_not_executable(file))
            continue
        says = _version_of(file)
        if says == f"evenkeel {__version__}":
            return str(file)
        passed_over.append(f"{file} is another program: evenkeel --version should say evenkeel {__version__}, and it says {says!r}")
    raise EvenkeelError(
        "; ".join(["the program `evenkeel` of this package was not found", *passed_over])
        + "; wheels hold it, packages built from source do not: install a wheel with its scripts, or run `cargo install evenkeel-cli`"
    )


def _of_the_wheel() -> Iterator[Path]:
    """Where the installer of the wheel put it, as it wrote down."""
    # Not at the top: whoever imports the package rarely asks for its program.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution(_DISTRIBUTION)
    except PackageNotFoundError:
        return
    if Path(str(installed.locate_file("evenkeel"))).resolve().parent != _SITE:
        return  # Of another environment: these sources were put before it on Python's path.
    for listed in installed.files or ():
        if listed.name == _NAME:
            file = Path(os.path.abspath(str(installed.locate_file(listed))))
            if file.is_file():
                yield file


def _elsewhere() -> Iterator[Path]:
    """Other places, the likelier ones first."""
    # `--target` puts it into TARGET/bin, `--prefix` into PREFIX/bin beside PREFIX/lib/python3.x/site-packages. No farther up: the
    # parents of a folder of one's own are other people's.
    for parent in [_SITE, *_SITE.parents][:4]:
        yield parent / _SCRIPTS / _NAME
    # Where PEX puts it.
    yield _SITE / ".prefix" / _SCRIPTS / _NAME
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    for folder in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user)):
        yield Path(folder, _NAME)
    # Not by `shutil.which`, which looks into the current folder first on Windows.
    for folder in os.get_exec_path():
        if os.path.isabs(folder):
            yield Path(folder, _NAME)


def _not_executable(file: Path) -> str:
    return f"{file} may not be run, as where a folder was unpacked without permissions; allow it with `chmod +x {shlex.quote(str(file))}`"


def _version_of(file: Path) -> str:
    """What a program says of its version."""
    try:
        said = subprocess.run(
            [str(file), "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS_TO_SAY_VERSION,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    # Of a stranger: any bytes, and any number of them.
    return said.stdout[:200].decode(errors="replace").strip()
