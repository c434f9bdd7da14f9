"""The same on executors in processes of their own, and on Spark Connect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import data
import evenkeel as ek

HERE = Path(__file__).parent


@pytest.mark.parametrize("kind", ["local-cluster", "connect"])
def test_other_kinds_of_spark_give_the_same(kind, parquet, files_of_one_machine):
    done = subprocess.run([sys.executable, HERE / "elsewhere.py", kind, parquet], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["sampled"] == files_of_one_machine["auto"]
    assert found["calibrate"] == {name: files_of_one_machine[name] for name in data.ONE_OF_EACH}
    uncorrected = ek.calibrate(data.cal_probs, data.cal_y, data.target, "uncorrected")
    assert found["sets"] == uncorrected.predict_set(data.target).to_labels()
    assert found["evaluation"] == dict(uncorrected.evaluate(data.target, data.test_y))
    for place, (group, count, coverage) in enumerate(found["groups"]):
        rows = np.arange(data.ROWS) % 3 == place
        alone = uncorrected.evaluate(data.target[rows], data.test_y[rows])
        assert (group, count, coverage) == (f"g{place}", alone["n"], alone["coverage"])
    report = ek.check(data.cal_probs, data.cal_y, data.target)
    assert found["estimate"] == report.coverage_estimate.to_dict()
