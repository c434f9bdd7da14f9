"""Speed and peak memory of prediction sets beside MAPIE and crepes, on a million rows of a hundred probabilities.

    python python/benchmarks/side_by_side.py [--rows 1000000] [--classes 100] [--calibration 1000]

Every package runs in a process of its own. Memory is what the process needed on top of the probabilities (float64) it was
given; time is of the calls alone, without imports and data.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LEVEL = 0.9


def data(rows: int, classes: int, seed: int):
    """Probabilities of a plausible classifier, and labels drawn from them."""
    draws = np.random.default_rng(seed)
    probs = draws.standard_gamma(0.1, (rows, classes))
    probs /= probs.sum(axis=1, keepdims=True)
    labels = (probs.cumsum(axis=1) < draws.random((rows, 1))).sum(axis=1).clip(max=classes - 1)
    return probs, labels


class Passing:
    """A fitted classifier whose inputs are its outputs, so that no model is timed."""

    def __init__(self, classes: int) -> None:
        self.classes_ = np.arange(classes)
        self.n_features_in_ = classes

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)

    def __sklearn_is_fitted__(self):
        return True


def evenkeel(probs, labels, many, method="uncorrected"):
    import evenkeel as ek

    yield
    cal = ek.calibrate(probs, labels, many, method=method)
    yield "calibrate"
    sets = cal.predict_set(many)
    yield "predict"
    yield sets


def evenkeel_ot(probs, labels, many):
    yield from evenkeel(probs, labels, many, "ot")


def mapie(probs, labels, many):
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Model(Passing, ClassifierMixin, BaseEstimator):
        pass

    yield
    model = SplitConformalClassifier(Model(probs.shape[1]), confidence_level=LEVEL, conformity_score="lac", prefit=True)
    model.conformalize(probs, labels)
    yield "calibrate"
    _, sets = model.predict_set(many)
    yield "predict"
    yield sets[:, :, 0]


def crepes(probs, labels, many):
    from crepes import ConformalClassifier
    from crepes.extras import hinge

    yield
    model = ConformalClassifier().fit(hinge(probs, np.arange(probs.shape[1]), labels))
    yield "calibrate"
    sets = model.predict_set(hinge(many), confidence=LEVEL, smoothing=False)
    yield "predict"
    yield sets.astype(bool)


PACKAGES = {"evenkeel, uncorrected": evenkeel, "evenkeel, ot": evenkeel_ot, "MAPIE": mapie, "crepes": crepes}


def peak() -> int:
    """Largest memory of this process so far, in kB (Linux). Not ru_maxrss: a child starts with its parent's."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text()).group(1))


def measure(name: str, folder: Path) -> dict:
    many = np.load(folder / "many.npy")
    probs, labels = np.load(folder / "probs.npy"), np.load(folder / "labels.npy")
    run = PACKAGES[name](probs, labels, many)
    next(run)
    before = peak()
    seconds, started = {}, time.perf_counter()
    for step in run:
        if not isinstance(step, str):
            sets = step
            break
        seconds[step] = time.perf_counter() - started
        started = time.perf_counter()
    grown = (peak() - before) / 1024
    return {**seconds, "megabytes": grown, "members": int(sets.sum())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--calibration", type=int, default=1000)
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a package may take")
    parser.add_argument("--package", choices=PACKAGES, help="measure one in this process and print JSON")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.package:
        print(json.dumps(measure(options.package, options.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        side_by_side(options, Path(folder))


def side_by_side(options: argparse.Namespace, folder: Path) -> None:
    # Made here and read there, so that making them does not count as memory of the package.
    np.save(folder / "many.npy", data(options.rows, options.classes, 1)[0])
    probs, labels = data(options.calibration, options.classes, 2)
    np.save(folder / "probs.npy", probs)
    np.save(folder / "labels.npy", labels)
    print(f"{options.rows} x {options.classes} probabilities, {options.calibration} calibration points, target {LEVEL:.0%}\n")
    print("| package | calibrate (s) | sets (s) | peak memory on top (MB) | labels in all sets |\n|---|---|---|---|---|")
    for name in PACKAGES:
        words = [sys.executable, Path(__file__), "--package", name, "--folder", folder]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            print(f"| {name} | not done after {options.timeout:.0f} s | | | |", flush=True)
            continue
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or [f"ended by signal {-done.returncode}"])[-1]
            print(f"| {name} | failed: {reason} | | | |")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"| {name} | {found['calibrate']:.3f} | {found['predict']:.2f} | {found['megabytes']:.0f} | {found['members']} |", flush=True)


if __name__ == "__main__":
    main()
