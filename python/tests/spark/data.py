"""The same data in every process of the tests: the demo's images, with what methods may need beside them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow

DEMO = Path(__file__).resolve().parents[3] / "data" / "demo"
ROWS = 600
CAL = 300


def read(name: str) -> np.ndarray:
    return np.load(DEMO / f"{name}.npy")


cal_probs, cal_y = np.ascontiguousarray(read("calibration_probs")[:CAL]), read("calibration_labels")[:CAL]
target = np.ascontiguousarray(read("fog_3_unlabeled")[:ROWS])
test_probs, test_y = read("fog_3_test_probs")[:ROWS], read("fog_3_test_labels")[:ROWS].astype(np.int64)

_rng = np.random.default_rng(5)
features_cal, features = _rng.normal(size=(CAL, 2)), _rng.normal(0.3, 1.0, size=(ROWS, 2))
second_cal, second = _rng.dirichlet(np.ones(10), CAL), _rng.dirichlet(np.ones(10), ROWS)
weights_cal = _rng.uniform(0.5, 1.5, CAL)
some_labels = {int(row): int(_rng.integers(10)) for row in _rng.choice(ROWS, 20, replace=False)}

#: Methods that need nothing beside the rows, with options.
METHODS = {
    "auto": ("auto", {}),
    "label-plan": ("label-plan", {}),
    "ot": ("ot", {"steps": 30}),
    "uncorrected": ("uncorrected", {}),
    "qtc": ("qtc", {}),
    "ecp": ("ecp", {}),
    "label-shift": ("label-shift", {}),
    "likelihood-ratio": ("likelihood-ratio", {}),
    "conditional": ("conditional", {"gamma": 1.0, "lambda_": 0.05}),
    "ot, randomised": ("ot", {"score": "aps", "randomised": True, "steps": 10}),
}


def lists(values: np.ndarray) -> pyarrow.Array:
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(values.ravel()))


def table(probs: np.ndarray = target, **columns) -> pyarrow.Table:
    """Rows with their numbers as ids, lists, and a column for each class."""
    given = {"id": np.arange(len(probs)), "probs": lists(probs), **columns}
    given.update({f"p{place}": pyarrow.array(np.ascontiguousarray(column)) for place, column in enumerate(probs.T)})
    return pyarrow.table(given)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
