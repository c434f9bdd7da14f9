"""The fits of `ot` beside the same fits written in PyTorch with autograd, in one run.

    python python/benchmarks/beside_pytorch.py [--points 300] [--runs 5]

Free-form step   eq 7 on a grid of K points, kernel density of the calibration scores, one step of Adam. Everything that does not
                 change is computed before in both: PyTorch is timed with dense matrices of the kernel and of the indicator.
Exact minimiser  the exact bound at its minimum, against 1000 steps of Adam on the same bound, which only come near it.

Times are of the processor, one thread, the fastest of the runs.
"""

from __future__ import annotations

import argparse
import os
import time

for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import torch

import evenkeel as ek

CLASSES = 10
ADAM_STEPS = 1000


def rows(count: int, sharpness: float, seed: int):
    """Softmax rows of a classifier that is mostly right, and the true classes."""
    draws = np.random.default_rng(seed)
    labels = draws.integers(0, CLASSES, count)
    logits = sharpness * draws.random((count, CLASSES))
    logits[np.arange(count), labels] += sharpness
    probs = np.exp(logits)
    return probs / probs.sum(axis=1, keepdims=True), labels


def fastest(runs: int, call) -> float:
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def laws(target: np.ndarray, at: np.ndarray):
    """CDFs at some scores of a label drawn from the model, and of one drawn uniformly."""
    scores, masses = (1.0 - target).ravel(), target.ravel() / len(target)
    order = np.argsort(scores)
    reached = np.searchsorted(scores[order], at, side="right")
    lower = np.concatenate([[0.0], np.cumsum(masses[order])])[reached]
    return torch.tensor(lower), torch.tensor(reached / len(scores))


def torch_grid_step(scores: np.ndarray, target: np.ndarray, points: int):
    """A step of Adam on eq 7, as a function."""
    grid = np.linspace(0.0, 1.0, points)
    lower, upper = laws(target, grid)
    spread = 0.2 * scores.std(ddof=1) * len(scores) ** -0.2
    kernel = np.exp(-0.5 * ((grid[:, None] - scores[None, :]) / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi))
    kernel, indicator = torch.tensor(kernel), torch.tensor((scores[None, :] <= grid[:, None]).astype(float))
    logits = torch.zeros(len(scores), dtype=torch.float64, requires_grad=True)
    adam, width = torch.optim.Adam([logits], lr=0.01), 1.0 / (points - 1)

    def step() -> None:
        adam.zero_grad()
        weights = torch.softmax(logits, 0)
        density, cdf = kernel @ weights, indicator @ weights
        loss = 0.5 * width * (density * ((cdf - upper).abs() + (cdf - lower).abs() + lower - upper)).sum()
        loss.backward()
        adam.step()

    return step


def torch_exact_step(scores: np.ndarray, target: np.ndarray):
    """A step of Adam on the exact bound, as a function."""
    scores = np.sort(scores)
    lower, upper = laws(target, scores)
    logits = torch.zeros(len(scores), dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([logits], lr=0.01)

    def area(reached: torch.Tensor, law: torch.Tensor) -> torch.Tensor:
        """The integral of `|u - law|` from `law` to where the weights have come."""
        away = reached - law
        return 0.5 * away * away.abs()

    def step() -> None:
        adam.zero_grad()
        weights = torch.softmax(logits, 0)
        after = torch.cumsum(weights, 0)
        before = after - weights
        gaps = area(after, upper) - area(before, upper) + area(after, lower) - area(before, lower)
        loss = 0.5 * (gaps + (lower - upper) * weights).sum()
        loss.backward()
        adam.step()

    return step


def repeated(call, times: int):
    def run() -> None:
        for _ in range(times):
            call()

    return run


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--points", type=int, default=300)
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    torch.set_num_threads(1)
    import warnings

    warnings.simplefilter("ignore")
    probs_cal, y_cal = rows(given.points, 6.0, 1)
    target, _ = rows(given.points, 3.0, 2)
    scores = 1.0 - probs_cal[np.arange(given.points), y_cal]

    def fit(**options) -> None:
        ek.calibrate(probs_cal, y_cal, target, method="ot", random_state=0, **options)

    print(f"PyTorch {torch.__version__}, n = m = {given.points}, {CLASSES} classes\n")
    print("| | evenkeel us | PyTorch us | ratio (aim 60) |\n|---|---|---|---|")
    for points in (100, 1000):
        few, many = 500, 2500
        ours = [fastest(given.runs, lambda: fit(objective="paper-grid", grid=points, steps=steps)) for steps in (few, many)]
        ours = (ours[1] - ours[0]) / (many - few)
        theirs = fastest(given.runs, repeated(torch_grid_step(scores, target, points), 200)) / 200
        print(f"| a free-form step, K = {points} | {1e6 * ours:.2f} | {1e6 * theirs:.0f} | {theirs / ours:.0f} |", flush=True)
    ours = fastest(10 * given.runs, fit)
    theirs = fastest(given.runs, repeated(torch_exact_step(scores, target), ADAM_STEPS))
    print(f"| the exact minimiser, a whole fit; {ADAM_STEPS} steps of Adam | {1e6 * ours:.0f} | {1e6 * theirs:.0f} | {theirs / ours:.0f} |")


if __name__ == "__main__":
    main()
