"""What the README and the documentation show in Python runs, and their pictures are those that the program's numbers give."""

from __future__ import annotations

import filecmp
import re
import subprocess
import sys
import warnings

import pytest

import evenkeel as ek

PAGES = ["README.md", "python/README.md", "docs/quickstart.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(root, page, tmp_path, monkeypatch):
    text = (root / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ek.ShiftWarning)
        for block in blocks:
            exec(compile(block, page, "exec"), names)  # noqa: S102
    # The last line of each is a result: prediction sets, or a repair.
    assert names["sets"].shape[1] == 10


def test_the_quickstart_says_what_it_prints(root):
    """Numbers in its comments are those of the run."""
    text = (root / "docs" / "quickstart.md").read_text(encoding="utf-8")
    demo = ek.datasets.demo()
    fog = demo["fog_3"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ek.ShiftWarning)
        cal = ek.calibrate(demo.probs_cal, demo.y_cal, fog.probs_target)
    said = re.search(r"# (0\.\d+): too careful", text).group(1)
    assert f"{ek.metrics.coverage(cal.predict_set(fog.probs_test), fog.y_test):.4f}" == said


def test_pictures_are_those_of_the_program(root, binary, tmp_path):
    subprocess.run([sys.executable, root / "scripts" / "make-figures", binary, tmp_path], check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 9
    same, other, errors = filecmp.cmpfiles(tmp_path, root / "docs" / "figures", names, shallow=False)
    assert (sorted(same), other, errors) == (names, [], []), "scripts/make-figures writes them anew"
