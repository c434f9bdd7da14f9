"""One session for the suite: starting Spark takes longer than most tests."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pyarrow.parquet
import pytest

sys.path.insert(0, str(Path(__file__).parent))

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
# Every JVM of the tests lives for a minute or two: to compile its code twice, by threads beside ours, costs more than it saves.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

import data  # noqa: E402


def pytest_configure(config) -> None:
    config.addinivalue_line("filterwarnings", "ignore::evenkeel.ShiftWarning")


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore", ResourceWarning)
    # Two threads, and up to four attempts of a task.
    builder = SparkSession.builder.master("local[2,4]").appName("evenkeel")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.driver.memory", "1g").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.sql.adaptive.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def parquet(tmp_path_factory) -> str:
    """The target rows as a parquet file."""
    path = str(tmp_path_factory.mktemp("rows") / "rows.parquet")
    pyarrow.parquet.write_table(data.table(label=data.test_y, group=[f"g{row % 3}" for row in range(data.ROWS)]), path)
    return path


@pytest.fixture(scope="session")
def files_of_one_machine(tmp_path_factory) -> dict:
    """SHA-256 of what the command line makes of the table in the order of its keys, for each case."""
    binary = os.environ.get("EVENKEEL_CLI")
    if not binary:
        pytest.fail("EVENKEEL_CLI is not set; run scripts/test-spark, which builds the command line")
    return data.by_command_line(binary, tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="session")
def df(spark, parquet):
    return spark.read.parquet(parquet)
