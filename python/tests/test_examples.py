"""The examples run, with nothing but the package: as scripts and as notebooks."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPT = FOLDER.parents[1] / "scripts" / "make-notebooks"


def loaded():
    """The script that makes the notebooks."""
    loader = importlib.machinery.SourceFileLoader("make_notebooks", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_notebooks", loader))
    loader.exec_module(module)
    return module


NOTEBOOKS = loaded()
NAMES = [path.stem for path in NOTEBOOKS.scripts()]
#: Run by the tests on Spark.
ON_SPARK = [path.stem for path in NOTEBOOKS.on_spark()]


def ran(name, *arguments, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", FOLDER / name, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def said(cell):
    """What a cell printed, with every number left out: a last digit may differ between machines."""
    text = "".join(output["text"] for output in cell.outputs if output.output_type == "stream")
    return re.sub(r"[-+]?\d[\d.,]*", "#", text)


def shown(cell):
    """Kinds of what a cell displays, and which streams it wrote to."""
    return [output.get("name") or sorted(output["data"]) for output in cell.outputs]


def coverages(text, start):
    """The shares of the lines that begin so and say what is covered."""
    lines = [line for line in text.splitlines() if line.startswith(start) and "covers" in line]
    return [float(re.search(r"covers ([\d.]+)%", line).group(1)) for line in lines]


def printed(name):
    """What a stored notebook printed."""
    stored = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    outputs = [output for cell in stored.cells for output in cell.get("outputs", ())]
    return "".join(output["text"] for output in outputs if output.output_type == "stream")


def test_every_example_is_tested():
    assert {path.name for path in FOLDER.glob("*.py")} == {*(f"{name}.py" for name in NAMES + ON_SPARK), "regression_on_real_data.py"}
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {*NAMES, *ON_SPARK}
    assert ON_SPARK == ["rows_on_spark"]
    assert {"images_under_corruption", "tabular_label_shift", "regression_under_covariate_shift", "few_labels", "thirty_nights"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_its_script_and_runs_anywhere(name, tmp_path):
    """Cells are those of the script, and a run prints and draws what is stored."""
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert "__file__" not in script and "/data/" not in script
    stored = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(stored)
    fresh = NOTEBOOKS.notebook(script)
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [(cell.cell_type, cell.source) for cell in fresh.cells]
    NOTEBOOKS.executed(fresh, tmp_path)
    for kept, now in zip(stored.cells, fresh.cells):
        if now.cell_type == "code":
            assert (shown(now), said(now)) == (shown(kept), said(kept)), now.source
    displays = [output for cell in fresh.cells for output in cell.get("outputs", ()) if output.output_type == "display_data"]
    assert displays and all("image/png" in output["data"] for output in displays)
    assert not list(tmp_path.iterdir())


def test_the_stored_outputs_tell_the_story():
    few = printed("few_labels")
    assert coverages(few, "in use")[0] < 31 and coverages(few, "fifty labels ")[0] > 85
    assert coverages(few, "fifty labels, guaranteed")[0] > 90 and "Guaranteed, if the labeled rows were drawn at random" in few
    images = printed("images_under_corruption")
    before, after = coverages(images, "uncorrected  level 90%"), coverages(images, "auto         level 90%")
    assert before[0] < 85 and after[0] > before[0] + 5
    regression = printed("regression_under_covariate_shift")
    assert len(coverages(regression, "tree, ")) == len(coverages(regression, "bins, ")) == 3
    assert coverages(regression, "tree, ot")[0] > coverages(regression, "tree, uncorrected")[0]
    assert "stolen are not among the columns" in printed("tabular_label_shift")
    nights = printed("thirty_nights")
    assert nights.count("exit code 1") == 1 and "ALARM (serious)" in nights and "Ada: proposal approved" in nights
    assert coverages(nights, "version 1")[0] < 60 and 80 < coverages(nights, "version 2")[0] < 95


@pytest.mark.parametrize("name", ON_SPARK)
def test_a_notebook_on_spark_is_its_script(name):
    stored, fresh = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4), NOTEBOOKS.notebook((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    nbformat.validate(stored)
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [(cell.cell_type, cell.source) for cell in fresh.cells]


@pytest.mark.parametrize("name", NAMES + ON_SPARK)
def test_no_warning_and_no_path_is_stored(name):
    """A page on a code host shows neither somebody's folders nor a stray message."""
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert '"stderr"' not in text and "ipykernel" not in text and "/tmp" not in text and "/home" not in text


def test_an_example_is_a_script_too(tmp_path):
    text = ran("stored_logits.py", folder=tmp_path)
    assert "Read back in another process" in text and "uncorrected" in text
    assert not list(tmp_path.iterdir())


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
