"""Types, stubs, and the two project files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import evenkeel as ek

PACKAGE = Path(ek.__file__).parent


def module(name, *arguments, folder):
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_stubs_describe_the_compiled_part(tmp_path):
    code, said = module("mypy.stubtest", "evenkeel._evenkeel", folder=tmp_path)
    assert code == 0, said


def test_the_types_hold(tmp_path):
    assert (PACKAGE / "py.typed").exists()
    code, said = module("mypy", "--strict", "--ignore-missing-imports", "--allow-subclassing-any", "--no-warn-return-any", "--disable-error-code",
                        "type-arg", "-p", "evenkeel", folder=tmp_path)  # fmt: skip
    assert code == 0, said


def test_a_callers_mistake_is_seen(tmp_path):
    (tmp_path / "caller.py").write_text(
        "import evenkeel as ek\n"
        "cal = ek.load('cal.json')\n"
        "ok: float = cal.effective_sample_size_\n"
        "wrong: str = cal.effective_sample_size_\n"
        "ek.ShiftConformalClassifier(None, confidence=0.9)\n"
    )
    code, said = module("mypy", "--ignore-missing-imports", "caller.py", folder=tmp_path)
    assert code == 1 and "caller.py:4: error" in said and "caller.py:5: error" in said and "caller.py:3" not in said


CALLS = """
import numpy as np
import evenkeel as ek

probs, labels = np.full((3, 2), 0.5), np.zeros(3, dtype=int)
ek.calibrate(probs, labels, probs, method="ot", alpha=0.1, random_state=3, steps=3, objective="wasserstein", score="aps")
ek.calibrate(probs, labels, probs, method="conditional", lambda_="cv", gamma=1.0)
ek.calibrate(probs, labels, probs, per="class", small_groups="all-labels").thresholds()
ek.calibrate(probs, labels, probs, y_target={1: 0}, guarantee="average", classes=["a", "b"])
ek.check(probs, labels, probs, score="raps", raps_k=2, bound_grid=100)
ek.compare(probs, labels, probs, probs, labels, methods=["ot", "oracle"], steps=3).to_html("page.html")
ek.ShiftConformalClassifier(None, method="label-plan", conformity_score="raps", assume="matched", method_options={"raps_k": 3})
ek.ShiftConformalClassifier(None, method="likelihood-ratio", method_options={"features_cal": probs, "features_target": probs})
ek.ShiftConformalRegressor(None, method="calibrated", conformity_score="quantile", method_options={"permutations": 99})
demo = ek.datasets.demo()
shape: tuple[int, ...] = demo["fog_3"].probs_target.shape
names: list[str] = demo.class_names
page: str = ek.load("cal.json").evaluate(probs, labels).to_html("page.html", title="mine")
words: list[list[object]] = ek.load("cal.json").predict_set(probs).to_labels()
ek.calibrate(probs, labels, probs, method="ott")  # wrong
ek.calibrate(probs, labels, probs, method="ot", stpes=3)  # wrong
ek.calibrate(probs, labels, probs, method="ot", steps="many")  # wrong
ek.calibrate(probs, labels, probs, method="ot", sandwich="f_u")  # wrong
ek.calibrate(probs, labels, probs, method="oracle")  # wrong
ek.calibrate(probs, labels, probs, logits="yes")  # wrong
ek.calibrate(probs, labels, probs, per="class", small_groups="drop")  # wrong
ek.calibrate(probs, labels, probs, per="class", other_groups="drop")  # wrong
ek.calibrate(probs, labels, probs).thresholds()  # wrong
ek.check(probs, labels, probs, steps=3)  # wrong
ek.check(probs, labels, probs, score="LAC")  # wrong
ek.compare(probs, labels, probs, probs, labels, methods=["ot", "best"])  # wrong
ek.compare(probs, labels, probs, probs, labels, stpes=3)  # wrong
ek.ShiftConformalClassifier(None, method="best")  # wrong
ek.ShiftConformalClassifier(None, conformity_score="LAC")  # wrong
ek.ShiftConformalClassifier(None, assume="nothing")  # wrong
ek.ShiftConformalClassifier(None, method_options={"stpes": 3})  # wrong
ek.ShiftConformalClassifier(None, method_options={"steps": "many"})  # wrong
ek.ShiftConformalRegressor(None, method="best")  # wrong
ek.ShiftConformalRegressor(None, conformity_score="residual")  # wrong
ek.datasets.demo().probs_call  # wrong
ek.datasets.demo()["fog_3"].labels  # wrong
"""


def mistakes(said, name):
    """Lines of a file in which a checker found an error."""
    return {int(line) for line in re.findall(rf"{name}:(\d+)(?::\d+)?(?: -|:) error", said)}


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_checker_finds_every_misspelled_name_and_no_other(tmp_path, checker):
    """The types of methods and options, which are made from the core's table."""
    if checker == "pyright" and shutil.which("node") is None:
        pytest.skip("pyright needs node")
    (tmp_path / "calls.py").write_text(CALLS)
    arguments = {"mypy": ("--strict", "--ignore-missing-imports"), "pyright": ("--pythonpath", sys.executable)}[checker]
    _, said = module(checker, *arguments, "calls.py", folder=tmp_path)
    assert mistakes(said, "calls.py") == {row for row, line in enumerate(CALLS.splitlines(), 1) if line.endswith("# wrong")}, said


def test_assumptions_are_those_of_the_option_table():
    """The estimator spells them out, since the table has no name for them."""
    from evenkeel import _options, classifier

    table = get_type_hints(_options.MethodOptions)["assume"]
    own = get_type_hints(classifier.ShiftConformalClassifier.__init__, {**vars(_options), **vars(classifier)})["assume"]
    assert own == table


def test_both_project_files_say_the_same(root):
    """One for `pip install .`, one for `pip install ./python`; they differ in where the files are."""

    def lines(path):
        kept = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        return [line for line in kept if not line.startswith(("python-source", "manifest-path", "readme", "data"))]

    assert lines(root / "pyproject.toml") == lines(root / "python" / "pyproject.toml")


def test_importing_waits_with_what_is_slow():
    """scikit-learn and matplotlib are imported when they are asked for."""
    code = "import sys, evenkeel; sys.exit(any(name in sys.modules for name in ('sklearn', 'matplotlib', 'pandas')))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_exported_is_there():
    for name in ek.__all__:
        assert getattr(ek, name) is not None
        assert name in dir(ek)
    assert ek.__version__.count(".") == 2
    assert "ot" in ek.method_names()
