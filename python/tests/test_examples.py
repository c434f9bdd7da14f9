"""The examples run, with nothing but the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
DEBIAN = Path("/usr/share/datasets/fashion-mnist")


def ran(name, *arguments, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", FOLDER / name, *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def coverage(line):
    return float(re.search(r"covers ([\d.]+)%", line).group(1))


def coverages(text, method, target=""):
    return [coverage(line) for line in text.splitlines() if method in line and target in line and "covers" in line]


def test_every_example_is_tested():
    assert {path.name for path in FOLDER.glob("*.py")} == {
        "classifier_under_corruption.py", "regression_on_real_data.py", "regression_under_covariate_shift.py", "stored_logits.py"
    }  # fmt: skip


# With the Debian package the pixels are tried too; without it there is nothing to try them on.
@pytest.mark.parametrize("arguments", [(), *([("--images", DEBIAN)] if DEBIAN.exists() else [])], ids=["shipped", "pixels"][: 1 + DEBIAN.exists()])
def test_a_classifier_under_corruption(tmp_path, arguments):
    text = ran("classifier_under_corruption.py", *arguments, folder=tmp_path)
    assert "Coverage is probably about" in text
    (before,), (after,) = coverages(text, "uncorrected ", "90%"), coverages(text, "ot ", "90%")
    assert before < 85 and after > before + 5  # Coverage is lost, and some of it regained.


def test_stored_logits(tmp_path):
    text = ran("stored_logits.py", folder=tmp_path)
    assert "Read back in another process" in text and "uncorrected" in text
    assert not list(tmp_path.iterdir())


def test_regression_under_covariate_shift(tmp_path):
    text = ran("regression_under_covariate_shift.py", folder=tmp_path)
    assert len(coverages(text, "tree, ")) == len(coverages(text, "bins, ")) == 3
    assert coverages(text, "tree, ot")[0] > coverages(text, "tree, uncorrected")[0]


def test_regression_on_real_data(tmp_path):
    text = ran(
        "regression_on_real_data.py", "--repeats", "2", "--data-sets", "diabetes", "cancer, concavity", "cancer, texture",
        folder=tmp_path,
    )  # fmt: skip
    rows = {tuple(line.strip("| ").split(" | ")[:2]): line.strip("| ").split(" | ")[2:] for line in text.splitlines() if "|" in line}
    for shift in ("tilt", "none"):
        uncorrected, auto, *_ = (float(cell.strip("*")) for cell in rows["**mean**", shift][:-1])
        assert auto < uncorrected + 0.5
    # The noise of concavity grows with it, and that is what tilts change.
    uncorrected, auto = (float(cell) for cell in rows["cancer, concavity", "tilt"][:2])
    assert auto < uncorrected - 1
