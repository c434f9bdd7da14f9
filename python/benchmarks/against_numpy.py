"""How long sets, checks and calibrations take in Python: sets beside a plain sum of the same array, small tables in milliseconds.

    python python/benchmarks/against_numpy.py [--megabytes 64] [--runs 15]

Times are of the processor (`time.process_time`), one thread, the fastest of the runs: other work on the machine counts little.
The ratio to `np.sum(p)` and to NumPy's own `(1 - p) <= t` is within one run. pandas and polars are left out where they are not
installed.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("RAYON_NUM_THREADS", "1")

import numpy as np

import evenkeel as ek

CLASSES = (10, 100, 1000)
#: The most that a call may take, in sums of the same array.
MOST_SUMS = {10: 3.0, 100: 2.0, 1000: 2.0}
MOST_SUMS_OF_FRAMES = 4.0


def rows(count: int, classes: int, seed: int, sharpness: float = 1.0):
    """Softmax outputs of a classifier whose true class stands out, and the true classes."""
    draws = np.random.default_rng(seed)
    labels = draws.integers(0, classes, count)
    logits = draws.normal(0.0, 1.5, (count, classes))
    logits[np.arange(count), labels] += 6.0
    logits *= sharpness
    probs = np.exp(logits - logits.max(axis=1, keepdims=True))
    return probs / probs.sum(axis=1, keepdims=True), labels


def fastest(runs: int, *calls):
    """Processor seconds of each call, the fastest of the runs; the calls take turns, so that all meet the same machine."""
    best = [float("inf")] * len(calls)
    for _ in range(runs):
        for place, call in enumerate(calls):
            start = time.process_time()
            kept = call()
            best[place] = min(best[place], time.process_time() - start)
            del kept
    return best


def sets(megabytes: int, runs: int) -> None:
    print("| classes | type | np.sum ms | predict_set / np.sum (aim) | (1 - p) <= t / np.sum | pandas / np.sum (aim) | polars / np.sum (aim) |")
    print("|---|---|---|---|---|---|---|")
    for classes in CLASSES:
        probs_cal, y_cal = rows(1000, classes, 1)
        cal = ek.calibrate(probs_cal, y_cal, probs_cal, method="uncorrected")
        threshold = cal.threshold()
        for kind in (np.float32, np.float64):
            count = (megabytes << 20) // np.dtype(kind).itemsize // classes
            drawn, _ = rows(min(count, 2_000_000 // classes), classes, 2)
            probs = np.ascontiguousarray(np.resize(drawn.astype(kind), (count, classes)))
            calls = [lambda: np.sum(probs), lambda: cal.predict_set(probs), lambda: (1 - probs) <= threshold]
            calls += [lambda frame=frame: cal.predict_set(frame) for frame in frames(probs)]
            times = fastest(runs, *calls)
            ratios = [f"{seconds / times[0]:.2f}" for seconds in times[1:]]
            ratios += ["-"] * (4 - len(ratios))
            aims = ["", f" ({MOST_SUMS[classes]:.0f})", "", f" ({MOST_SUMS_OF_FRAMES:.0f})", f" ({MOST_SUMS_OF_FRAMES:.0f})"]
            cells = [f"{ratio}{aim}" for ratio, aim in zip(ratios, aims[1:])]
            print(f"| {classes} | {np.dtype(kind).name} | {1e3 * times[0]:.1f} | {' | '.join(cells)} |", flush=True)


def frames(probs: np.ndarray):
    """The same rows as frames, in the order of the columns of the table; none of packages that are not installed."""
    try:
        import pandas

        yield pandas.DataFrame(probs)
    except ImportError:
        return
    try:
        import polars

        yield polars.DataFrame(probs, schema=[str(column) for column in range(probs.shape[1])])
    except ImportError:
        return


def small_tables(runs: int) -> None:
    print("\n| call | no shift ms | shift ms | aim ms |\n|---|---|---|---|")
    for name, n, aim in [("ek.check, n = 300", 300, 2.5), ("ek.check, n = 2000", 2000, 7.0), ("ek.calibrate auto, n = 300", 300, 2.0)]:
        probs_cal, y_cal = rows(n, 10, 1)
        found = []
        for sharpness in (1.0, 0.5):
            target, _ = rows(300, 10, 2, sharpness)
            if "auto" in name:
                call = lambda: ek.calibrate(probs_cal, y_cal, target, method="auto", random_state=0)
            else:
                call = lambda: ek.check(probs_cal, y_cal, target, random_state=0)
            found.append(1e3 * fastest(20 * runs, call)[0])
        print(f"| {name}, 300 target rows, 10 classes | {found[0]:.2f} | {found[1]:.2f} | {aim} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--megabytes", type=int, default=64)
    options.add_argument("--runs", type=int, default=15)
    given = options.parse_args()
    import warnings

    warnings.simplefilter("ignore")
    sets(given.megabytes, given.runs)
    small_tables(given.runs)


if __name__ == "__main__":
    main()
