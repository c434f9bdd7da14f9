"""Every method on a cluster of two hosts where one task is slow, so that Spark starts a copy of it; as JSON on the last line of stdout.

    python speculation.py MASTER PARQUET FOLDER

FOLDER/events gets Spark's event log, in which the copies can be counted.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import pyarrow.parquet  # noqa: E402
from pyspark import TaskContext  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import data  # noqa: E402
from evenkeel import spark as eks  # noqa: E402

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.adaptive.enabled": "false",
    # A task for each file.
    "spark.sql.files.minPartitionNum": "4",
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.5",
    # Longer than a task that does not hang.
    "spark.speculation.minTaskRuntime": "1s",
    # The slow one is ended soon after its copy is done: its core is needed.
    "spark.python.task.killTimeout": "100ms",
    # With it ends the process of its worker. The next one need not import everything again.
    "spark.python.daemon.module": "ready_daemon",
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent),
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}

#: Seconds that a slow task takes: far more than its copy.
SLOW = 120


class SlowOnce:
    """The rows as they are, but the task of partition 1 hangs in the second job of a calibration: the first only counts the rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def batches(self, batches):
        context = TaskContext.get()
        if context.partitionId() == 1 and context.attemptNumber() == 0:
            job = self.folder / context.getLocalProperty("spark.job.description")
            with job.open("a") as seen:
                seen.write(".")
            if job.read_text() == "..":
                time.sleep(SLOW)
        yield from batches


def main() -> None:
    master, parquet, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    events, files, seen = folder / "events", folder / "rows", folder / "seen"
    for made in (events, files, seen):
        made.mkdir()
    table = pyarrow.parquet.read_table(parquet)
    for number, part in enumerate(np.array_split(np.random.default_rng(7).permutation(len(table)), 4)):
        pyarrow.parquet.write_table(table.take(part), files / f"{number}.parquet")
    builder = SparkSession.builder.appName("evenkeel").master(master).config("spark.eventLog.dir", events.as_uri())
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.read.parquet(str(files))
    slow = rows.mapInArrow(SlowOnce(seen).batches, rows.schema)
    found = {}
    for name in data.ONE_OF_EACH:
        # The event log says of every stage which description its job had.
        spark.sparkContext.setJobDescription(name)
        given = {"probs": "probs", "key": "id", "sample": None, **data.on_spark(name)}
        found[name] = data.digest(eks.calibrate(slow, data.cal_probs, data.cal_y, **given))
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
