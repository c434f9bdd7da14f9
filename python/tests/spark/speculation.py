"""Every method on a cluster of two hosts where one task is slow, so that Spark starts a copy of it; as JSON on the last line of stdout.

    python speculation.py MASTER PARQUET EVENTS

EVENTS is a folder for Spark's event log, in which the copies can be counted.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
warnings.simplefilter("ignore")

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
    "spark.sql.shuffle.partitions": "4",
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "50ms",
    # The slow one is ended soon after its copy is done: its core is needed.
    "spark.python.task.killTimeout": "100ms",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}

#: Seconds that a slow task takes: far more than its copy.
SLOW = 60


def slow_once(batches):
    """The rows as they are; partition 1 waits, but not in a copy or another attempt."""
    context = TaskContext.get()
    if context.partitionId() == 1 and context.attemptNumber() == 0:
        time.sleep(SLOW)
    yield from batches


def main() -> None:
    master, parquet, events = sys.argv[1:]
    builder = SparkSession.builder.appName("evenkeel").master(master).config("spark.eventLog.dir", f"file://{events}")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.read.parquet(parquet).repartition(4)
    slow = rows.mapInArrow(slow_once, rows.schema)
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
