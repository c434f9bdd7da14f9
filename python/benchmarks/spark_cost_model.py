"""What `calibrate(sample=None)` costs on Spark: predicted from single steps, each measured alone, and then measured whole at three sizes.

    python python/benchmarks/spark_cost_model.py [--sizes ROWS ROWS ROWS] [--runs N] [--cores N]

Processor seconds of the JVM, the Python workers and the driver together, as in spark_rows.py. No constant is fitted to the sizes that
are predicted: steps are measured on a table of their own. Prints the tables of docs/cluster.md in Markdown.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# One thread a worker, as on Spark; read when the compiled part is first called.
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
from spark_rows import CLASSES, data, processor_seconds, quartiles

import evenkeel as ek

#: Rows that label plans keep: 2^21 numbers.
KEPT = 2**21 // CLASSES
PARTS = 8
#: The table on which rows are brought to Python, and the two jobs of which `partial`, `merge` and `end_pass` are measured: one keeps all
#: its rows, one few of them.
BROUGHT, FEW, MANY = 1_000_000, 100_000, 1_000_000
#: Shape of the Dirichlet law that rows are drawn from: that of the calibration data, and a shifted one.
SAME, SHIFTED = 0.5, 0.3


def calibration_data() -> tuple:
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.full(CLASSES, SAME), 1000).astype(np.float32)
    return probs, np.array([rng.choice(CLASSES, p=row / row.sum()) for row in probs.astype(float)])


def drawn(rows: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.dirichlet(np.full(CLASSES, SHIFTED), 4096).astype(np.float32)[rng.integers(4096, size=rows)]


def steps_here(cal: tuple, rows: int, runs: int) -> list:
    """For each pass of `auto` after a shift, without Spark: seconds a row of `partial`, a state of `merge`, of `end_pass`; bytes."""
    probs, found = drawn(rows), []
    job, again = ek.FitJob(*cal, rows=rows), True
    clock = time.process_time
    while again:
        plan, states, reading, merging = job.plan(), [], [], 0.0
        for number, keys in enumerate(np.array_split(np.arange(rows), PARTS)):
            batches = [(probs[piece], piece) for piece in np.array_split(keys, max(1, len(keys) // 10_000))]
            start = clock()
            states.append(ek.partial(plan, number, batches))
            reading.append((clock() - start) / len(keys))
        for state in states:
            start = clock()
            job.merge(state)
            merging += clock() - start
        start = clock()
        again = job.end_pass()
        if not again:
            job.finish()
        found.append({"row": statistics.median(reading), "merge": merging / PARTS, "end": clock() - start, "bytes": sum(map(len, states))})
    return found if runs == 1 else [
        {name: statistics.median(each[name] for each in same) for name in same[0]}
        for same in zip(found, *(steps_here(cal, rows, 1) for _ in range(runs - 1)))
    ]


def spent(work, runs: int, warm: int = 1) -> list:
    """Processor seconds of some runs."""
    found = []
    for run in range(warm + runs):
        before = processor_seconds()
        work()
        if run >= warm:
            found.append(processor_seconds() - before)
    return found


def steps_on_spark(spark, folder: Path, size: int, runs: int) -> dict:
    """Seconds of a job of so many parts, of a row that is brought to Python, of a byte that comes back, and of counting the rows."""
    blob = size // PARTS

    def swallowed(batches):
        import pyarrow

        for _ in batches:
            pass
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([b"-"], pyarrow.binary())], names=["state"])

    def filled(batches):
        import pyarrow

        for _ in batches:
            pass
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([np.random.default_rng(0).bytes(blob)], pyarrow.binary())], names=["state"])

    def collected(rows, by):
        return [bytes(row.state) for row in rows.mapInArrow(by, "state binary").collect()]

    tables = {}
    for name, rows in (("none", PARTS), ("many", BROUGHT)):
        (folder / name).mkdir()
        tables[name] = spark.read.parquet(data(rows, str(folder / name))).select("probs", "id")
    # The JVM compiles what runs often: the first runs are its.
    for _ in range(4):
        collected(tables["many"], swallowed)
    job = statistics.median(spent(lambda: collected(tables["none"], swallowed), runs))
    many = statistics.median(spent(lambda: collected(tables["many"], swallowed), runs))
    back = statistics.median(spent(lambda: collected(tables["none"], filled), runs))
    count = statistics.median(spent(lambda: tables["many"].count(), runs))
    return {"job": job, "row": (many - job) / BROUGHT, "byte": max(0.0, back - job) / size, "count": count}


class Model:
    """Seconds of a job by its steps: what grows with all rows, and what grows with those that are kept."""

    def __init__(self, spark: dict, few: list, many: list) -> None:
        self.spark, self.passes = spark, []
        share = KEPT / MANY
        for one, other in zip(few, many):
            kept = max(0.0, (one["row"] - other["row"]) / (1 - share))
            of_kept = lambda name: (other[name] - one[name]) / (KEPT - FEW)  # noqa: B023, E731
            self.passes.append({
                "row": one["row"] - kept,
                "kept": kept,
                "merge": (one["merge"] - FEW * of_kept("merge"), of_kept("merge")),
                "end": (one["end"] - FEW * of_kept("end"), of_kept("end")),
                "bytes": (one["bytes"] - FEW * of_kept("bytes"), of_kept("bytes")),
            })  # fmt: skip

    def seconds(self, rows: float, passes: int) -> float:
        kept, total = min(rows, KEPT), self.spark["count"]
        for each in self.passes[:passes]:
            merge, end, size = (max(0.0, each[name][0] + kept * each[name][1]) for name in ("merge", "end", "bytes"))
            total += self.spark["job"] + rows * (self.spark["row"] + each["row"]) + kept * each["kept"]
            total += PARTS * merge + end + size * self.spark["byte"]
        return total

    def table(self) -> str:
        lines = ["| step, measured alone | |", "|---|---|"]
        lines.append(f"| counting the rows | {self.spark['count']:.2f} s |")
        lines.append(f"| a job of {PARTS} parts without rows | {self.spark['job']:.2f} s |")
        lines.append(f"| a row of {CLASSES} classes from parquet to Python | {1e6 * self.spark['row']:.2f} us |")
        lines.append(f"| a megabyte of states to the driver | {1e9 * self.spark['byte']:.1f} ms |")
        for number, each in enumerate(self.passes, start=1):
            merge, end, size = (max(0.0, each[name][0] + KEPT * each[name][1]) for name in ("merge", "end", "bytes"))
            lines.append(f"| pass {number}: `partial`, a row | {1e6 * each['row']:.2f} us, {1e6 * each['kept']:.2f} us more if it is kept |")
            lines.append(f"| pass {number}: states of {PARTS} parts, {KEPT} rows kept | {size / 1e6:.1f} MB |")
            lines.append(f"| pass {number}: `merge` of a state, `end_pass` | {1e3 * merge:.1f} ms, {end:.2f} s |")
        return "\n".join(lines)


def measured(spark, cal: tuple, folder: Path, sizes: list, runs: int) -> Iterator[tuple]:
    """`(passes, rows, processor seconds)` of whole calibrations."""
    from evenkeel import distributed
    from evenkeel import spark as eks

    ended, taken = distributed.FitJob.end_pass, []
    distributed.FitJob.end_pass = lambda job: taken.append(1) or ended(job)
    for shape in (SAME, SHIFTED):
        for rows in sizes:
            place = folder / f"{shape}-{rows}"
            place.mkdir()
            df = spark.read.parquet(data(rows, str(place), shape))
            taken.clear()
            seconds = spent(lambda: eks.calibrate(df, *cal, "auto", key="id", sample=None), runs)  # noqa: B023
            yield len(taken) // (runs + 1), rows, seconds
    distributed.FitJob.end_pass = ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[400_000, 1_600_000, 3_200_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    from pyspark.sql import SparkSession

    begun = time.monotonic()
    cal = calibration_data()
    few, many = (steps_here(cal, rows, given.runs) for rows in (FEW, MANY))
    if not len(few) == len(many) == 2:
        sys.exit(f"error: {len(few)} and {len(many)} passes over the shifted rows, where two were expected")
    builder = SparkSession.builder.master(f"local[{given.cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "10000").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = Model(steps_on_spark(spark, folder, many[0]["bytes"], given.runs), few, many)
        print(f"\nlocal[{given.cores}], {given.runs} runs, load {os.getloadavg()[0]:.1f}\n\n{model.table()}\n", flush=True)
        print("| passes | rows | predicted, s | measured, s (quartiles) | predicted / measured |\n|---|---|---|---|---|", flush=True)
        for passes, rows, seconds in measured(spark, cal, folder, given.sizes, given.runs):
            low, middle, high = quartiles(seconds)
            said = model.seconds(rows, passes)
            print(f"| {passes} | {rows} | {said:.2f} | {middle:.2f} ({low:.2f}-{high:.2f}) | {said / middle:.2f} |", flush=True)
    spark.stop()
    hours = [model.seconds(1e10, passes) / 3600 for passes in (1, 2)]
    print(f"\n10^10 rows by the model: {hours[0]:.1f} core hours in one pass, {hours[1]:.1f} in two")
    print(f"took {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
