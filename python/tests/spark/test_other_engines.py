"""The code of docs/dask-and-ray.md, run as it stands there."""

from __future__ import annotations

import re

import numpy as np
import pyarrow.parquet
import pytest

import data
import evenkeel as ek

PAGE = data.DEMO.parents[1] / "docs" / "dask-and-ray.md"


def code(name: str) -> dict:
    """What the code block that defines `name` defines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    defined: dict = {}
    exec(next(block for block in blocks if f"def {name}(" in block), defined)
    return defined


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list:
    folder = tmp_path_factory.mktemp("parts")
    paths = [str(folder / f"{number}.parquet") for number in range(4)]
    rows = np.random.default_rng(0).permutation(data.ROWS)
    for path, part in zip(paths, np.array_split(rows, 4)):
        pyarrow.parquet.write_table(data.table().take(part), path)
    return paths


def test_dask(files):
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster):
        cal = code("calibrate_on_dask")["calibrate_on_dask"](files, data.cal_probs, data.cal_y, data.ROWS)
    assert cal.to_json() == ek.calibrate(data.cal_probs, data.cal_y, data.target).to_json()


def test_ray(files):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", object_store_memory=100_000_000)
    try:
        report = code("check_on_ray")["check_on_ray"](files, data.cal_probs, data.cal_y, data.ROWS)
        blocks_of_a_dataset_have_the_states_of_arrays(ray)
    finally:
        ray.shutdown()
    assert report.coverage_estimate == ek.check(data.cal_probs, data.cal_y, data.target).coverage_estimate


def blocks_of_a_dataset_have_the_states_of_arrays(ray):
    """What the page says of `to_arrow_refs`: lists of equal length are tensors there."""
    import ray.data

    plan = ek.FitJob(data.cal_probs, data.cal_y).plan()
    state = ray.remote(lambda number, block: ek.partial(plan, number, [block], key="id"))
    dataset = ray.data.from_items([{"id": row, "probs": data.target[row]} for row in range(20)])
    made = ray.get([state.remote(number, block) for number, block in enumerate(dataset.to_arrow_refs())])
    blocks = ray.get(dataset.to_arrow_refs())
    assert any("ensor" in str(block.schema.field("probs").type) for block in blocks)
    ids = [block.column("id").to_numpy() for block in blocks]
    assert sorted(np.concatenate(ids)) == list(range(20))
    assert made == [ek.partial(plan, number, [(data.target[keys], keys)]) for number, keys in enumerate(ids)]


def test_processes():
    cal = ek.calibrate(data.cal_probs, data.cal_y, data.target, "uncorrected")
    parts = [(data.test_probs[keys], keys, data.test_y[keys]) for keys in np.array_split(np.arange(data.ROWS), 3)]
    assert dict(code("evaluated")["evaluated"](cal, parts)) == dict(cal.evaluate(data.test_probs, data.test_y))
