"""What the functions of `evenkeel.spark` give on another kind of Spark, as JSON on the last line of stdout.

    python elsewhere.py local-cluster PARQUET      two executors with a process each
    python elsewhere.py connect PARQUET            a Spark Connect server
"""

from __future__ import annotations

import json
import os
import sys
import warnings

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
warnings.simplefilter("ignore")

from pyspark.sql import SparkSession  # noqa: E402

import data  # noqa: E402
import evenkeel as ek  # noqa: E402
from evenkeel import spark as eks  # noqa: E402


def session(kind: str) -> SparkSession:
    builder = SparkSession.builder.appName("evenkeel").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.sql.adaptive.enabled", "false")
    if kind == "connect":
        return builder.remote("local[2]").getOrCreate()
    return builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "512m").getOrCreate()


def main() -> None:
    kind, parquet = sys.argv[1:]
    spark = session(kind)
    df = spark.read.parquet(parquet)
    rows = df.repartition(5)
    given = {"probs": "probs", "key": "id"}
    made = {name: eks.calibrate(rows, data.cal_probs, data.cal_y, sample=None, **given, **data.on_spark(name)) for name in data.ONE_OF_EACH}
    uncorrected = ek.calibrate(data.cal_probs, data.cal_y, data.target, "uncorrected")
    sets = eks.predict_set(rows, uncorrected).select("id", "set").orderBy("id").collect()
    evaluation = eks.evaluate(rows, uncorrected, by=None)
    groups = eks.evaluate(df.select("probs", "label", "group"), uncorrected, by="group").orderBy("group").collect()
    report = eks.check(rows, data.cal_probs, data.cal_y, sample=None, **given)
    sampled = eks.calibrate(rows, data.cal_probs, data.cal_y, **given)
    found = {
        "calibrate": {name: data.digest(cal) for name, cal in made.items()},
        "sampled": data.digest(sampled),
        "sets": [list(row.set) for row in sets],
        "evaluation": dict(evaluation),
        "groups": [[row.group, row.n, row.coverage] for row in groups],
        "estimate": report.coverage_estimate.to_dict(),
    }
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
