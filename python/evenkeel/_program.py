"""Where the program `evenkeel` of this environment is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import List, Optional


def program() -> Optional[str]:
    """Where the program is: beside this interpreter, in the user's folder of scripts, beside the package, or on the path."""
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    # Where pip puts it with `--target`: beside the package.
    beside = str(Path(__file__).resolve().parent.parent / "bin")
    folders: List[str] = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user), beside]
    for folder in folders:
        found = shutil.which("evenkeel", path=folder)
        if found is not None:
            return found
    return shutil.which("evenkeel")
