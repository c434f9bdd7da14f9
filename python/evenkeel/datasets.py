"""Data that ship with the package: no download, the same bits on every machine.

```python
demo = ek.datasets.demo()
fog = demo["fog_3"]
ek.check(demo.probs_cal, demo.y_cal, fog.probs_target)
```
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

import numpy as np

from evenkeel._errors import EvenkeelError
from evenkeel._program import program

__all__ = ["Demo", "DemoCondition", "demo"]

_CLASSES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
_CONDITIONS = {
    "clean": "no shift",
    "gaussian_noise_1": "mild noise",
    "fog_3": "fog",
    "motion_blur_5": "heavy motion blur",
    "shear_5": "heavy shear",
}


@dataclass(frozen=True, eq=False, repr=False)
class DemoCondition:
    """What the classifier says of images under one condition."""

    #: `clean`, `gaussian_noise_1`, `fog_3`, `motion_blur_5` or `shear_5`.
    name: str
    #: The same in words.
    what: str
    #: Target data: class probabilities (1000, 10), float32.
    probs_target: np.ndarray
    #: Their labels (1000,), int64, which nobody has in production: to look up what somebody who labels a row would say.
    y_target: np.ndarray
    #: More rows under the same condition (2000, 10), float32, to measure coverage on.
    probs_test: np.ndarray
    #: Their labels (2000,), int64.
    y_test: np.ndarray

    def __repr__(self) -> str:
        rows = f"{len(self.y_target)} target rows, {len(self.y_test)} test rows"
        return f"<evenkeel.datasets.DemoCondition {self.name} ({self.what}), {rows}>"


@dataclass(frozen=True, eq=False, repr=False)
class Demo:
    """Outputs of a classifier on Fashion-MNIST: clean images to calibrate on, and five conditions it may meet."""

    #: Calibration data: class probabilities of clean images (1000, 10), float32.
    probs_cal: np.ndarray
    #: Their labels (1000,), int64.
    y_cal: np.ndarray
    #: Names of the ten classes, in the order of the columns.
    class_names: List[str]
    #: The conditions by their names.
    conditions: Dict[str, DemoCondition]
    #: Fifty target rows, drawn at random once: those of the `fifty_labels.csv` that `evenkeel demo` writes.
    fifty_rows: np.ndarray

    def __getitem__(self, name: str) -> DemoCondition:
        """A condition by its name."""
        if name not in self.conditions:
            raise KeyError(f"{name!r} is no condition of the demo; there are {', '.join(self.conditions)}")
        return self.conditions[name]

    def __repr__(self) -> str:
        rows = f"{len(self.class_names)} classes, {len(self.y_cal)} calibration rows"
        return f"<evenkeel.datasets.Demo of {rows}; conditions {', '.join(self.conditions)}>"


def demo() -> Demo:
    """The data of `evenkeel demo`, to the bit: what a classifier of clothes says of clean and of spoilt photographs.

    Calibration data are clean images; target and test data of a condition are other images, spoilt in one way. No image plays two
    roles, and a role has the same images under every condition. Rows are in random order, so the first hundred are a sample too.
    The arrays are yours to change. Made from Fashion-MNIST (Zalando SE, MIT licence); no image is contained.
    """
    here = Path(__file__)
    with np.load(here.with_name("demo_labels.npz")) as stored:
        labels = {name: stored[name].astype(np.int64) for name in stored.files}
    probs = here.with_name("demo_probs.npz")
    if probs.exists():
        with np.load(probs) as stored:
            arrays = {name: stored[name] for name in stored.files}
    else:
        arrays = _probabilities_of_program()
    conditions = {
        name: DemoCondition(
            name, what, arrays[f"{name}_target"], labels["y_target"].copy(), arrays[f"{name}_test"], labels["y_test"].copy()
        )
        for name, what in _CONDITIONS.items()
    }
    return Demo(arrays["probs_cal"], labels["y_cal"], list(_CLASSES), conditions, labels["fifty_rows"])


def _probabilities_of_program() -> Dict[str, np.ndarray]:
    """A wheel with the program inside has the probabilities once, in the program."""
    try:
        found = program()
    except EvenkeelError as error:
        raise EvenkeelError(f"the probabilities of the demo are in the program: {error}") from None
    names = {"probs_cal": "calibration_probs"}
    for name in _CONDITIONS:
        names.update({f"{name}_target": f"{name}_unlabeled", f"{name}_test": f"{name}_test_probs"})
    with tempfile.TemporaryDirectory() as folder:
        command = [found, "demo", "--quiet", "--data", folder]
        try:
            wrote = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        except OSError as error:
            raise EvenkeelError(f"the data of the demo: {found} cannot be run: {error}; install the wheel again") from None
        if wrote.returncode != 0:
            raise EvenkeelError(f"the data of the demo: {found} ended with exit code {wrote.returncode}: {wrote.stderr.strip()}")
        absent = [file for file in names.values() if not (Path(folder) / f"{file}.npy").is_file()]
        if absent:
            raise EvenkeelError(
                f"the data of the demo: {found} ended well and wrote no {absent[0]}.npy, so it is another program of that name; "
                "remove it, or install the wheel of evenkeel-conformal again"
            )
        return {name: np.load(Path(folder) / f"{file}.npy") for name, file in names.items()}
