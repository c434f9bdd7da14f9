"""`python -m evenkeel ...`: the program `evenkeel` of this environment, whatever the path says."""

from __future__ import annotations

import os
import subprocess
import sys

from evenkeel._errors import EvenkeelError
from evenkeel._program import program


def main() -> int:
    """Runs the program with the arguments given, and ends as it does."""
    try:
        found = program()
    except EvenkeelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    arguments = [found, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(found, arguments)
    # Windows has no exec: the new process would outlive the one that the shell waits for.
    return subprocess.run(arguments, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
