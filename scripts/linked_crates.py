"""What a release is made of, for `sbom` and `notices`: every crate that is linked into the program or the Python package.

From `cargo metadata`; neither what only tests need, nor what only builds.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("evenkeel-cli", "evenkeel-python")


class Linked:
    """The packages by their id, what each needs and by the names of which it is built, the two that are shipped, all that is linked into them."""

    def __init__(self, target: str) -> None:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
        data = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
        self.packages = {package["id"]: package for package in data["packages"]}
        self.needs = {
            node["id"]: sorted(need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"]))
            for node in data["resolve"]["nodes"]
        }
        self.builds_with = {
            node["id"]: {need["name"] for need in node["deps"] if any(kind["kind"] == "build" for kind in need["dep_kinds"])}
            for node in data["resolve"]["nodes"]
        }
        self.roots = [package["id"] for package in data["packages"] if package["name"] in SHIPPED and package["source"] is None]
        if len(self.roots) != len(SHIPPED):
            sys.exit(f"expected {SHIPPED} in this workspace")
        self.linked, waiting = set(), list(self.roots)
        while waiting:
            identifier = waiting.pop()
            if identifier not in self.linked:
                self.linked.add(identifier)
                waiting += self.needs[identifier]
