"""The notebook on Spark: a run prints and draws what is stored."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re

import data

ROOT = data.DEMO.parents[1]
NAME = "rows_on_spark"


def loaded():
    """The script that makes the notebooks."""
    loader = importlib.machinery.SourceFileLoader("make_notebooks", str(ROOT / "scripts" / "make-notebooks"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_notebooks", loader))
    loader.exec_module(module)
    return module


def said(cell):
    """What a cell printed, with every number left out, and the kinds of what it displayed."""
    printed = "".join(output["text"] for output in cell.outputs if output.output_type == "stream")
    return re.sub(r"[-+]?\d[\d.,]*", "#", printed), [sorted(output["data"]) for output in cell.outputs if "data" in output]


def test_a_run_says_what_is_stored(tmp_path):
    import nbformat

    notebooks, folder = loaded(), ROOT / "python" / "examples"
    stored = nbformat.read(folder / f"{NAME}.ipynb", as_version=4)
    fresh = notebooks.notebook((folder / f"{NAME}.py").read_text(encoding="utf-8"))
    notebooks.without_java(notebooks.executed(fresh, tmp_path))
    code = [(kept, now) for kept, now in zip(stored.cells, fresh.cells) if now.cell_type == "code"]
    for kept, now in code:
        assert said(now) == said(kept), now.source
    assert any("image/png" in kinds for _, now in code for kinds in said(now)[1])
    text = "".join(output["text"] for _, now in code for output in now.outputs if output.output_type == "stream")
    assert "the bytes of one machine: True" in text
    before, after = (float(share) for share in re.findall(r"covers ([\d.]+)%", text))
    assert before < 80 < 85 < after
