"""The same data in every process of the tests: the demo's images, with what methods may need beside them."""

from __future__ import annotations

import hashlib
import subprocess
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

groups_cal = np.array(["few", "rare", "north", "south", "west"])[np.r_[np.repeat([0, 1], 7), _rng.integers(2, 5, CAL - 14)]]
groups = np.array(["north", "south", "west", "few", "rare", "new"])[_rng.choice(6, p=[0.4, 0.3, 0.2, 0.04, 0.04, 0.02], size=ROWS)]

#: What a calibration is made of: method, options, what stands beside the rows, whose coverage is to hold. Every method is there.
CASES = {
    "auto": ("auto", {}),
    "auto, its own plan": ("auto", {"score": "plan"}),
    "auto, second model": ("auto", {}, "second"),
    "auto, labels": ("auto", {}, "labels"),
    "label-plan": ("label-plan", {}),
    "few-labels": ("few-labels", {}, "labels"),
    "ot": ("ot", {"steps": 30}),
    "ot, randomised": ("ot", {"score": "aps", "randomised": True, "steps": 10}),
    "uncorrected": ("uncorrected", {}),
    "likelihood-ratio": ("likelihood-ratio", {}),
    "likelihood-ratio on features": ("likelihood-ratio", {}, "features"),
    "ecp": ("ecp", {}),
    "qtc": ("qtc", {}),
    "conditional": ("conditional", {"gamma": 1.0, "lambda_": 0.05}),
    "label-shift": ("label-shift", {}),
    "fixed": ("fixed", {}, "weights"),
    "auto, each class": ("auto", {}, "class"),
    "few-labels, each class": ("few-labels", {}, "labels", "class"),
    "auto, each group": ("auto", {}, "groups"),
    "ot, each group": ("ot", {"steps": 10}, "groups"),
    "few-labels, each group": ("few-labels", {}, "labels", "groups"),
}


def here(name: str) -> dict:
    """Arguments of `evenkeel.calibrate` after the three tables."""
    method, options, *beside = CASES[name]
    given: dict = {
        "features": {"features_cal": features_cal, "features_target": features},
        "second": {"second": [(second_cal, second)]},
        "weights": {"weights_cal": weights_cal},
        "labels": {"y_target": some_labels},
        "class": {"per": "class"},
        "groups": {"per": "region", "groups_cal": groups_cal, "groups_target": groups},
    }
    return {"method": method, **options, **{word: value for part in beside for word, value in given[part].items()}}


def on_spark(name: str) -> dict:
    """The same for `evenkeel.spark.calibrate`, with the columns of `table`."""
    method, options, *beside = CASES[name]
    given: dict = {
        "features": {"features_cal": features_cal, "features": "x"},
        "second": {"second_cal": [second_cal], "second": ["b"]},
        "weights": {"weights_cal": weights_cal},
        "labels": {"y_target": some_labels},
        "class": {"per": "class"},
        "groups": {"per": "region", "groups_cal": groups_cal},
    }
    return {"method": method, **options, **{word: value for part in beside for word, value in given[part].items()}}


def on_command_line(name: str, folder: Path) -> list:
    """The same for `evenkeel calibrate`, with files in `folder`."""
    method, options, *beside = CASES[name]
    words: list = ["--method", method]
    for option, value in options.items():
        words += [f"--{option.rstrip('_')}", *([] if value is True else [str(value)])]
    given = {
        "features": ["--cal-features", "features_cal.npy", "--unlabeled-features", "features.npy"],
        "second": ["--second-cal-probs", "second_cal.npy", "--second-probs", "second.npy"],
        "weights": ["--weights-file", "weights_cal.npy"],
        "labels": ["--target-labels", "some_labels.csv"],
        "class": ["--per", "class"],
        "groups": ["--per", "region", "--cal-groups", "groups_cal.csv", "--unlabeled-groups", "groups.csv"],
    }
    for part in beside:
        words += [str(folder / word) if "." in word else word for word in given[part]]
    return words


def write_files(folder: Path) -> None:
    """The tables, in the order of the keys."""
    arrays = {"cal_probs": cal_probs, "cal_y": cal_y, "target": target, "features_cal": features_cal, "features": features,
              "second_cal": second_cal, "second": second, "weights_cal": weights_cal}  # fmt: skip
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    known = [str(some_labels.get(row, "")) for row in range(ROWS)]
    (folder / "some_labels.csv").write_text("\n".join(["label", *known]) + "\n")
    for name, names in (("groups_cal", groups_cal), ("groups", groups)):
        (folder / f"{name}.csv").write_text("\n".join(["region", *names]) + "\n")


def by_command_line(binary: str, folder: Path) -> dict:
    """SHA-256 of the calibration file of `evenkeel calibrate` for each case."""
    write_files(folder)
    found = {}
    for name in CASES:
        out = folder / "cal.json"
        words = [binary, "calibrate", "--cal-probs", folder / "cal_probs.npy", "--cal-labels", folder / "cal_y.npy",
                 "--unlabeled", folder / "target.npy", "--out", out, *on_command_line(name, folder)]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")
        found[name] = hashlib.sha256(out.read_bytes()).hexdigest()
    return found


def lists(values: np.ndarray) -> pyarrow.Array:
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(values.ravel()))


def table(probs: np.ndarray = target, **columns) -> pyarrow.Table:
    """Rows with their numbers as ids, lists, and a column for each class."""
    given = {"id": np.arange(len(probs)), "probs": lists(probs), **columns}
    if len(probs) == ROWS:
        given.update(x=lists(features), b=lists(second), region=groups)
    given.update({f"p{place}": pyarrow.array(np.ascontiguousarray(column)) for place, column in enumerate(probs.T)})
    return pyarrow.table(given)


def digest(calibration) -> str:
    """SHA-256 of a calibration's file, as the command line and `save` write it."""
    return hashlib.sha256((calibration.to_json() + "\n").encode()).hexdigest()
