"""The data that ship with the package are those of the command line's demo."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import evenkeel as ek

DEBIAN = Path("/usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz")


@pytest.fixture(scope="module")
def demo():
    return ek.datasets.demo()


def test_the_demo_is_that_of_the_command_line_to_the_bit(demo, root):
    def stored(name):
        return np.load(root / "data" / "demo" / f"{name}.npy")

    def same(ours, name):
        theirs = stored(name)
        return ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()

    assert same(demo.probs_cal, "calibration_probs") and same(demo.y_cal, "calibration_labels")
    assert list(demo.conditions) == ["clean", "gaussian_noise_1", "fog_3", "motion_blur_5", "shear_5"]
    for name, condition in demo.conditions.items():
        assert same(condition.probs_target, f"{name}_unlabeled") and same(condition.probs_test, f"{name}_test_probs")
        assert same(condition.y_test, f"{name}_test_labels")
        assert (condition.probs_target.shape, condition.y_target.shape) == ((1000, 10), (1000,))
        assert condition.y_target.dtype == np.int64 and demo[name] is condition and condition.name == name and condition.what


def test_the_fifty_labels_are_those_of_the_tutorial(demo, root):
    rows, labels = np.loadtxt(root / "data" / "demo" / "fifty_labels.csv", delimiter=",", skiprows=1, dtype=int).T
    assert demo.fifty_rows.tolist() == rows.tolist()
    assert demo["shear_5"].y_target[rows].tolist() == labels.tolist()


@pytest.mark.skipif(not DEBIAN.exists(), reason="the labels of Fashion-MNIST are not on this machine")
def test_target_labels_are_those_of_the_images(demo, root):
    labels = np.frombuffer(gzip.decompress(DEBIAN.read_bytes()), np.uint8, offset=8)
    assert demo["clean"].y_target.tolist() == labels[np.load(root / "data" / "demo" / "unlabeled_ids.npy")].tolist()


def test_names_are_those_of_the_command_line(demo, root):
    source = (root / "crates" / "evenkeel-cli" / "src" / "commands" / "demo.rs").read_text(encoding="utf-8")
    assert ", ".join(f'"{name}"' for name in demo.class_names) in " ".join(source.split())
    for condition in demo.conditions.values():
        assert f'("{condition.name}", "{condition.what}")' in source


def test_the_demo_reads_well_and_is_ones_own(demo):
    assert "1000 calibration rows" in repr(demo) and "fog" in repr(demo["fog_3"])
    with pytest.raises(KeyError, match="no condition of the demo; there are clean"):
        demo["rain"]
    other = ek.datasets.demo()
    other.probs_cal[:] = 0  # Theirs to change, and nobody else's.
    other["clean"].y_test[:] = 0
    assert ek.datasets.demo().probs_cal.any() and other["fog_3"].y_test.any() and demo["clean"].y_test.any()


def test_the_demo_runs_through(demo):
    blur = demo["motion_blur_5"]
    in_use = ek.calibrate(demo.probs_cal, demo.y_cal, demo["clean"].probs_target)
    labels = {int(row): int(blur.y_target[row]) for row in demo.fifty_rows}
    repaired = in_use.update(blur.probs_target, labels)
    before, after = (one.evaluate(blur.probs_test, blur.y_test)["coverage"] for one in (in_use, repaired))
    assert before < 0.31 and after > 0.87


def test_a_wheel_with_the_program_has_the_same_probabilities(demo, binary, monkeypatch):
    from evenkeel import datasets

    monkeypatch.setattr(datasets, "program", lambda: binary)
    arrays = datasets._probabilities_of_program()
    assert arrays["probs_cal"].tobytes() == demo.probs_cal.tobytes()
    for name, condition in demo.conditions.items():
        assert arrays[f"{name}_target"].tobytes() == condition.probs_target.tobytes()
        assert arrays[f"{name}_test"].tobytes() == condition.probs_test.tobytes()
