"""The shipped demo data, and the command line to compare with."""

from __future__ import annotations

import os

# scikit-learn leaves out its checks of array API inputs without this.
os.environ["SCIPY_ARRAY_API"] = "1"

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"


def pytest_configure(config) -> None:
    # Tests that are about warnings catch them; in all others they would bury what matters.
    config.addinivalue_line("filterwarnings", "ignore::evenkeel.ShiftWarning")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def fog() -> SimpleNamespace:
    """300 labeled clean images, 300 unlabeled foggy ones, 2000 labeled foggy ones."""

    def read(name: str) -> np.ndarray:
        return np.load(DEMO / f"{name}.npy")

    return SimpleNamespace(
        probs_cal=np.ascontiguousarray(read("calibration_probs")[:300]),
        y_cal=read("calibration_labels")[:300],
        probs_target=np.ascontiguousarray(read("fog_3_unlabeled")[:300]),
        probs_test=read("fog_3_test_probs"),
        y_test=read("fog_3_test_labels"),
    )


def built(*what: str) -> str:
    """Builds a program of this repository and says where it is."""
    done = subprocess.run(
        ["cargo", "build", "-q", "--message-format=json", *what], cwd=ROOT, check=True, capture_output=True, text=True
    )
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return next(message["executable"] for message in messages if message.get("executable"))


@pytest.fixture(scope="session")
def binary() -> str:
    """The command line, built from this repository."""
    return os.environ.get("EVENKEEL_CLI") or built("-p", "evenkeel-cli")


@pytest.fixture(scope="session")
def library() -> str:
    """The example that prints what the Rust library learns from raw arrays."""
    return os.environ.get("EVENKEEL_BITS") or built("-p", "evenkeel", "--example", "calibration_bits")


@pytest.fixture(scope="session")
def run(binary):
    """Runs the command line; gives exit code, stdout and stderr."""

    def call(*arguments: object) -> SimpleNamespace:
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, check=False)
        return SimpleNamespace(code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    return call


@pytest.fixture
def fog_files(fog, tmp_path) -> SimpleNamespace:
    """The same data as files."""
    files = {}
    for name, array in vars(fog).items():
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], array)
    return SimpleNamespace(**files)
