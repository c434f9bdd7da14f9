"""Speculation that really happens: a task that hangs is run a second time, on another host, and no byte changes.

Spark starts no copy of a task on the host where the first one runs. To its scheduler every loopback address is a host, so that a master
and two workers on 127.0.0.1, 127.0.0.2 and 127.0.0.3 are a cluster of two.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

import data

HERE = Path(__file__).parent
#: Seconds that a process of the cluster may take to come up.
PATIENCE = 90


@contextmanager
def daemon(folder: Path, host: str, name: str, *words):
    """A process of the cluster, listening on one loopback address; its log, to be read while it runs."""
    log = folder / f"{name}-{host}.log"
    spark = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(spark), "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m"}
    words = [spark / "bin" / "spark-class", f"org.apache.spark.deploy.{name.lower()}.{name}", "--host", host, "--port", "0", "--webui-port", "0", *words]
    with log.open("w") as out:
        process = subprocess.Popen(words, env=environment, stdout=out, stderr=out, cwd=folder)
    try:
        yield process, log
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def awaited(process: subprocess.Popen, log: Path, pattern: str) -> str:
    """What the log says where it fits the pattern, once it does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = re.search(pattern, log.read_text())
        if found:
            return found.group(1)
        time.sleep(0.1)
    pytest.fail(f"{log.name} does not say {pattern!r}: {log.read_text()[-2000:]}")


@pytest.fixture
def master(tmp_path):
    """The address of a cluster of two hosts with a core each."""
    # spark-class executes java, so that ending the process ends the daemon; the daemon ends its executors.
    with daemon(tmp_path, "127.0.0.1", "Master") as running:
        address = awaited(*running, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        words = ("--cores", "1", "--memory", "700m", "--work-dir", tmp_path / "work", address)
        with daemon(tmp_path, "127.0.0.2", "Worker", *words) as one, daemon(tmp_path, "127.0.0.3", "Worker", *words) as two:
            for worker in (one, two):
                awaited(*worker, "(Successfully registered with master)")
            yield address


def copies(events: Path) -> Counter:
    """How many copies of tasks came to their end before the task did, by the description of their job."""
    log = [json.loads(line) for path in events.iterdir() for line in path.read_text().splitlines()]
    described = {}
    for event in log:
        if event["Event"] == "SparkListenerStageSubmitted":
            described[event["Stage Info"]["Stage ID"]] = event.get("Properties", {}).get("spark.job.description")
    ended = [event for event in log if event["Event"] == "SparkListenerTaskEnd"]
    hosts = {event["Task Info"]["Host"] for event in ended}
    assert hosts == {"127.0.0.2", "127.0.0.3"}, hosts
    won = [event for event in ended if event["Task Info"]["Speculative"] and event["Task End Reason"]["Reason"] == "Success"]
    return Counter(described[event["Stage ID"]] for event in won)


def test_copies_of_slow_tasks_change_no_byte(master, parquet, files_of_one_machine, tmp_path):
    words = [sys.executable, HERE / "speculation.py", master, parquet, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {name: files_of_one_machine[name] for name in data.ONE_OF_EACH}
    ran = copies(tmp_path / "events")
    assert all(ran[name] >= 1 for name in data.ONE_OF_EACH), ran
