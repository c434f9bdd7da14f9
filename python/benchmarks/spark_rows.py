"""Rows per processor second on a local Spark: scan, an empty mapInArrow, ours, and a NumPy pandas_udf; and from one core to two.

    python python/benchmarks/spark_rows.py [ROWS] [--cores N]... [--runs N] [--fit]

Processor seconds of the JVM and of the Python workers: what else runs on the machine matters less for them than for the clock. Each thing
is run twice to warm up and then `--runs` times, in turns, so that what changes meanwhile changes for all; medians count, with the quartiles
beside them. What ours costs over an empty mapInArrow is the median over the turns of one over the other, each turn by itself. Results go to
Spark's `noop` sink. At the end stands the table of docs/cluster.md, in Markdown. `--fit` measures `calibrate(sample=None)` instead:
processor seconds of all processes, seconds of the driver's own thread, bytes of the states, and the most memory that the driver took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet

import evenkeel as ek

CLASSES = 10
WARM = 2
#: Turns in which the slowest takes part.
FEW = 3
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """Of all processes below this one, and of this one."""
    times, parents = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        times[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS  # With those of children that have ended.

    def ours(process: int) -> bool:
        while process in parents:
            if process == os.getpid():
                return True
            process = parents[process]
        return False

    return sum(seconds for process, seconds in times.items() if ours(process))


def data(rows: int, folder: str, shape: float = 0.5) -> str:
    """Eight files of rows, drawn from a Dirichlet law."""
    rng = np.random.default_rng(0)
    pool = rng.dirichlet(np.full(CLASSES, shape), 4096).astype(np.float32)
    for part in range(8):
        values = pool[rng.integers(len(pool), size=rows // 8)]
        offsets = np.arange(0, values.size + 1, CLASSES, dtype=np.int32)
        lists = pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(values.ravel()))
        ids = np.arange(part * (rows // 8), (part + 1) * (rows // 8))
        pyarrow.parquet.write_table(pyarrow.table({"id": ids, "probs": lists}), f"{folder}/{part}.parquet")
    return folder


def measured(rows: int, works: dict, runs: int, slow: tuple = ()) -> dict:
    """Processor seconds and seconds of each, by turns."""
    found: dict = {name: [] for name in works}
    for run in range(WARM + runs):
        for name, work in works.items():
            if name in slow and not WARM - 1 <= run < WARM + FEW:
                continue
            before, start = processor_seconds(), time.perf_counter()
            work()
            if run >= WARM:
                found[name].append((processor_seconds() - before, time.perf_counter() - start))
    for name, turns in found.items():
        spent, wall = [turn[0] for turn in turns], statistics.median(turn[1] for turn in turns)
        low, middle, high = quartiles(spent)
        print(
            f"  {name:<24} {middle:7.2f} CPU s ({low:.2f}-{high:.2f}, {len(turns)} runs) {1e6 * middle / rows:6.2f} us a row"
            f" {rows / middle / 1e6:6.2f} M rows per CPU s {wall:7.2f} s wall {rows / wall / 1e6:6.2f} M rows per s",
            flush=True,
        )
    return found


def quartiles(values: list) -> list:
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def over(found: dict, name: str, than: str) -> None:
    low, middle, high = quartiles([100 * (one[0] / other[0] - 1) for one, other in zip(found[name], found[than])])
    print(f"  {name} over {than}: {middle:+.1f} % (quartiles {low:+.1f} to {high:+.1f}, {len(found[name])} turns)", flush=True)


def table(rows: int, found: dict) -> str:
    """What was found with each number of cores, as a table in Markdown."""
    lines = ["| | " + " | ".join(f"`local[{cores}]`, us a row (quartiles) | million rows per processor second | million rows per second" for cores in found) + " |"]
    lines.append("|---" * (1 + 3 * len(found)) + "|")
    for name in next(iter(found.values())):
        cells = []
        for turns in (each[name] for each in found.values()):
            low, middle, high = (1e6 * value / rows for value in quartiles([turn[0] for turn in turns]))
            wall = statistics.median(turn[1] for turn in turns)
            cells.append(f"{middle:.2f} ({low:.2f}-{high:.2f}) | {1 / middle:.2f} | {rows / wall / 1e6:.2f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def one(rows: int, cores: int, folder: str, runs: int, fit: bool) -> dict:
    from pyspark.sql import SparkSession, functions as F

    from evenkeel import spark as eks

    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "10000").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    df = spark.read.parquet(folder)
    rng = np.random.default_rng(1)
    cal_probs = rng.dirichlet(np.full(CLASSES, 0.5), 1000).astype(np.float32)
    cal_y = np.array([rng.choice(CLASSES, p=row / row.sum()) for row in cal_probs.astype(float)])
    print(f"{rows} rows of {CLASSES} classes, local[{cores}]", flush=True)
    if fit:
        found = fitted(rows, df, (cal_probs, cal_y), runs)
        spark.stop()
        return found
    cal = ek.calibrate(cal_probs, cal_y, cal_probs, "uncorrected")
    lists = df.select("probs")
    noop = lambda frame: frame.write.format("noop").mode("overwrite").save()  # noqa: E731
    threshold = cal.threshold()

    @F.pandas_udf("array<int>")
    def by_numpy(probs: pandas.Series) -> pandas.Series:
        members = 1 - np.stack(probs.to_numpy()) <= threshold
        return pandas.Series([np.flatnonzero(row) for row in members])

    works = {
        "scan": lambda: noop(lists),
        "empty mapInArrow": lambda: noop(lists.mapInArrow(lambda batches: batches, lists.schema)),
        "predict_set": lambda: noop(eks.predict_set(lists, cal)),
        "predict_set, sizes": lambda: noop(eks.predict_set(lists, cal, format="size")),
    }
    works["NumPy pandas_udf"] = lambda: noop(lists.select(by_numpy("probs")))
    found = measured(rows, works, runs, slow=("NumPy pandas_udf",))
    for name in ("predict_set", "predict_set, sizes"):
        over(found, name, "empty mapInArrow")
    spark.stop()
    return found


def fitted(rows: int, df, cal, runs: int) -> dict:
    """Every row, in two jobs: what it costs, and what comes back."""
    from evenkeel import distributed, spark as eks

    held: list = []
    merge, begun = distributed._Job.merge, time.thread_time

    def counted(job, state):
        start = begun()
        merge(job, state)
        held[-1][0] += len(state)
        held[-1][1] += begun() - start

    distributed._Job.merge = counted

    def run():
        held.append([0, 0.0])
        eks.calibrate(df, *cal, "auto", key="id", sample=None)

    found = measured(rows, {"calibrate auto": run}, runs)
    size, spent = statistics.median(one[0] for one in held), statistics.median(one[1] for one in held)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"  states of both passes {size / 1e6:.1f} MB, merging {spent:.2f} s, most memory of the driver's Python {most:.0f} MB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=2_000_000)
    parser.add_argument("--cores", type=int, action="append")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--data", help=argparse.SUPPRESS)
    parser.add_argument("--found", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.data:
        found = one(given.rows, given.cores[0], given.data, given.runs, given.fit)
        Path(given.found).write_text(json.dumps(found))
        return
    begun, found = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as place:
        folder, out = f"{place}/rows", f"{place}/found.json"
        os.mkdir(folder)
        data(given.rows, folder)
        for cores in given.cores or [1, 2]:
            # A JVM of its own for each: sessions of one process share theirs.
            words = [sys.executable, __file__, str(given.rows), "--cores", str(cores), "--runs", str(given.runs), "--data", folder, "--found", out]
            subprocess.run(words + (["--fit"] if given.fit else []), check=True)
            found[cores] = json.loads(Path(out).read_text())
    print(f"\n{given.rows} rows, {given.runs} runs, load {os.getloadavg()[0]:.1f}\n\n{table(given.rows, found)}")
    print(f"\ntook {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
