"""Processor nanoseconds a row to read Arrow columns of ten classes, beside the prediction itself.

    python python/benchmarks/arrow_columns.py [ROWS]

The best of several runs: what is measured takes milliseconds, and other programs only ever make it slower.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow

import evenkeel as ek
from evenkeel import _inputs

CLASSES = 10


def nanoseconds(work, rows: int) -> float:
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return 1e9 * best / rows


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.full(CLASSES, 0.5), 1000).astype(np.float32)[rng.integers(1000, size=rows)]
    flat = pyarrow.array(values.ravel())
    lists = pyarrow.ListArray.from_arrays(pyarrow.array(np.arange(0, values.size + 1, CLASSES, dtype=np.int32)), flat)
    large = pyarrow.LargeListArray.from_arrays(pyarrow.array(np.arange(0, values.size + 1, CLASSES)), flat)
    half = rows // 2
    forms = {
        "NumPy": values,
        "list": lists,
        "large list": large,
        "fixed-size list": pyarrow.FixedSizeListArray.from_arrays(flat, CLASSES),
        "list, two chunks": pyarrow.chunked_array([lists[:half], lists[half:]]),
        "table of lists": pyarrow.table({"p": lists}),
        "ten float columns": pyarrow.table({f"p{place}": column for place, column in enumerate(values.T.copy())}),
    }
    print(f"{rows} rows of {CLASSES} classes, ns a row")
    for name, form in forms.items():
        print(f"  read {name:<18} {nanoseconds(lambda form=form: _inputs.matrix('probs', form), rows):8.1f}")
    cal = ek.calibrate(values[:500], rng.integers(CLASSES, size=500), values[:500], "uncorrected")
    for format in ("bool", "labels", "size"):
        print(f"  predict_set, {format:<12} {nanoseconds(lambda format=format: cal.predict_set(lists, format=format), rows):8.1f}")


if __name__ == "__main__":
    main()
