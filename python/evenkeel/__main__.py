"""`python -m evenkeel ...`: the program `evenkeel` of this environment, whatever the path says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import List, Optional


def program() -> Optional[str]:
    """Where the program is: beside this interpreter, in the user's folder of scripts, or on the path."""
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    folders: List[str] = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user)]
    for folder in folders:
        found = shutil.which("evenkeel", path=folder)
        if found is not None:
            return found
    return shutil.which("evenkeel")


def main() -> int:
    """Runs the program with the arguments given, and ends as it does."""
    found = program()
    if found is None:
        print(
            "error: the program `evenkeel` is not in this environment: wheels hold it, packages built from source do not; "
            "install a wheel, or run `cargo install evenkeel-cli`",
            file=sys.stderr,
        )
        return 2
    arguments = [found, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(found, arguments)
    # Windows has no exec: the new process would outlive the one that the shell waits for.
    return subprocess.run(arguments, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
