"""The project's own files agree: one version everywhere, a changelog with dates, metadata that a package index accepts."""

from __future__ import annotations

import re
from importlib import metadata

import evenkeel as ek


def found(pattern, path):
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.M)


def test_one_version(root):
    version = found(r'^version = "(.+)"$', root / "Cargo.toml")[0]
    assert ek.__version__ == version == metadata.version("evenkeel-conformal")
    assert set(found(r'^evenkeel(?:-\w+)? = \{ path = .*version = "(.+?)"', root / "Cargo.toml")) == {version}
    assert found(r"^version: (.+)$", root / "CITATION.cff") == [version]
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        ours = found(r'^name = "evenkeel[\w-]*"\nversion = "(.+)"$', root / lock)
        # The fuzzer is no part of a release.
        assert set(ours) - {"0.0.0"} == {version}, lock


def test_the_changelog_has_dates_in_order(root):
    heads = found(r"^## (.+)$", root / "CHANGELOG.md")
    assert heads[0] == "Unreleased"
    released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - (\d{4}-\d{2}-\d{2})", head) for head in heads[1:]]
    assert all(released), heads
    keys = [(tuple(map(int, one.groups()[:3])), one.group(4)) for one in released]
    assert keys == sorted(keys, reverse=True)


def test_the_package_page_is_complete():
    about = metadata.metadata("evenkeel-conformal")
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert about["Description-Content-Type"].startswith("text/markdown") and "evenkeel demo" in about.get_payload()
    urls = dict(line.split(", ", 1) for line in about.get_all("Project-URL"))
    assert {"Documentation", "Repository", "Changelog", "Issues"} <= set(urls)
    needed = [need for need in metadata.requires("evenkeel-conformal") if "extra ==" not in need]
    assert [re.match(r"[\w-]+", need).group() for need in needed] == ["numpy"]


def test_a_package_that_is_missing_is_named(monkeypatch):
    """scikit-learn and matplotlib are extras; who lacks one is told what to type."""
    import sys

    import pytest

    for name in [name for name in sys.modules if name == "sklearn" or name.startswith(("sklearn.", "evenkeel.classifier", "evenkeel._estimator"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'evenkeel-conformal\[sklearn\]'"):
        ek.ShiftConformalClassifier  # noqa: B018
