"""One table through every door: the same thresholds to the bit, whatever its form and the order of its columns and rows, or a refusal."""

from __future__ import annotations

import gzip
import json
import subprocess

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evenkeel as ek

CLASSES = ["cat", "dog", "eel", "fox"]


def world(rows: int, seed: int) -> tuple:
    """Probabilities in whole parts of 1024, whose sums are exact in any order, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(1, 1023, size=(rows, len(CLASSES) - 1)), axis=1)
    ends = np.column_stack([np.zeros(rows, int), cuts, np.full(rows, 1024)])
    probs = np.diff(ends, axis=1) / 1024
    return probs, np.array([rng.choice(len(CLASSES), p=row) for row in probs])


PROBS, LABELS = world(120, 1)
TARGET, _ = world(90, 2)


def frame(probs: np.ndarray) -> pandas.DataFrame:
    table = pandas.DataFrame(probs, columns=[f"p_{name}" for name in CLASSES])
    table.insert(0, "id", [f"{row:04d}" for row in range(len(table))])
    table["when"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.arange(len(table)), unit="h")
    table["segment"] = np.where(np.arange(len(table)) % 3 == 0, "north", "south")
    table["amount"] = np.arange(len(table)) * 0.25
    return table


#: Labels as people have them.
LABEL_KINDS = {
    "words": lambda y: np.array(CLASSES)[y],
    "numbers": lambda y: y,
    "small": lambda y: y.astype("uint8"),
    "floats": lambda y: y.astype(float),
    "categories": lambda y: pandas.Categorical.from_codes(y, CLASSES),
    "unused": lambda y: pandas.Categorical(np.array(CLASSES)[y], categories=["asp", *reversed(CLASSES), "yak"]),
}


def written_arrow(table: pandas.DataFrame, path, stream: bool = False, compression=None) -> None:
    arrow = pyarrow.Table.from_pandas(table, preserve_index=False)
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    make = pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file
    with make(str(path), arrow.schema, options=options) as writer:
        for batch in arrow.to_batches(max_chunksize=17):
            writer.write_batch(batch)


def written_folder(table: pandas.DataFrame, path) -> None:
    """Parts below folders that name a column, one of the parts without rows, and the notes of the program that wrote them."""
    pyarrow.parquet.write_to_dataset(
        pyarrow.Table.from_pandas(table.assign(part=np.arange(len(table)) // 50), preserve_index=False),
        path,
        partition_cols=["part"],
        basename_template="part-{i}.parquet",
    )
    table[:0].to_parquet(path / "part=0" / "empty.parquet")
    (path / "_SUCCESS").write_text("")


def parquet_of(codec: str):
    return lambda table, path: table.to_parquet(path, compression=codec, row_group_size=31)


def zipped(compress):
    return lambda table, path: path.write_bytes(compress(table.to_csv(index=False).encode()))


def zstd(data: bytes) -> bytes:
    return pyarrow.compress(data, codec="zstd", asbytes=True)


FORMS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "semicolon.csv": lambda table, path: table.to_csv(path, index=False, sep=";", lineterminator="\r\n", encoding="utf-8-sig"),
    "quoted.csv": lambda table, path: table.to_csv(path, index=False, quoting=1),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "csv.gz": zipped(gzip.compress),
    "csv.zst": zipped(zstd),
    "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True, double_precision=15),
    "jsonl.gz": lambda table, path: table.to_json(path, orient="records", lines=True, double_precision=15, compression="gzip"),
    "none.parquet": parquet_of("none"),
    "snappy.parquet": parquet_of("snappy"),
    "gzip.parquet": parquet_of("gzip"),
    "zstd.parquet": parquet_of("zstd"),
    "lz4.parquet": parquet_of("lz4"),
    "brotli.parquet": parquet_of("brotli"),
    "pq": lambda table, path: polars.from_pandas(table).write_parquet(path),
    "arrow": written_arrow,
    "zstd.arrow": lambda table, path: written_arrow(table, path, compression="zstd"),
    "lz4.arrow": lambda table, path: written_arrow(table, path, compression="lz4"),
    "arrows": lambda table, path: written_arrow(table, path, stream=True),
    "feather": lambda table, path: pyarrow.feather.write_feather(table, path),
    "zstd.feather": lambda table, path: pyarrow.feather.write_feather(table, path, compression="zstd"),
    "folder": written_folder,
}

#: Tables in memory.
KINDS = {
    "pandas": lambda table: table,
    "polars": polars.from_pandas,
    "lazy": lambda table: polars.from_pandas(table).lazy(),
    "pyarrow": lambda table: pyarrow.Table.from_pandas(table, preserve_index=False),
    "batch": lambda table: pyarrow.RecordBatch.from_pandas(table, preserve_index=False),
}

METHODS = ["uncorrected", "ot", "label-plan"]


@pytest.fixture(scope="module")
def expected() -> dict:
    """The thresholds of plain arrays."""
    return {method: ek.calibrate(PROBS, LABELS, TARGET, method=method).threshold() for method in METHODS}


def of_files(run, cal, target, method, out, *more) -> object:
    return run(
        "calibrate", "--cal", cal, "--label-col", "label", "--prob-cols", "p_*", "--unlabeled", target, "--method", method,
        "--json", "--out", out, *more,
    )  # fmt: skip


def threshold(ran) -> float:
    assert ran.code == 0, ran.stderr
    return json.loads(ran.stdout)["threshold"]


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_form(run, tmp_path, expected, form):
    cal, target = tmp_path / f"cal.{form}", tmp_path / f"target.{form}"
    FORMS[form](frame(PROBS).assign(label=np.array(CLASSES)[LABELS]), cal)
    FORMS[form](frame(TARGET), target)
    for method in METHODS:
        assert threshold(of_files(run, cal, target, method, tmp_path / "cal.json")) == expected[method], method
    assert ek.load(tmp_path / "cal.json").threshold() == expected[METHODS[-1]]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "folder"])
def test_stdin_of_every_form(binary, tmp_path, expected, form):
    cal, target = tmp_path / "cal.csv", tmp_path / f"target.{form}"
    FORMS["csv"](frame(PROBS).assign(label=LABELS), cal)
    FORMS[form](frame(TARGET), target)
    command = [binary, "calibrate", "--cal", cal, "--label-col", "label", "--prob-cols", "p_*", "--unlabeled", "-", "--json"]
    with target.open("rb") as text:
        ran = subprocess.run(
            [*map(str, command), "--method", "label-plan", "--out", str(tmp_path / "cal.json")], stdin=text, capture_output=True, check=True
        )
    assert json.loads(ran.stdout)["threshold"] == expected["label-plan"]


@pytest.mark.parametrize("form", ["npy", "npz"])
def test_arrays_in_files(run, tmp_path, expected, form):
    for name, array in {"cal": PROBS, "labels": LABELS, "target": TARGET}.items():
        np.save(tmp_path / f"{name}.npy", array)
    np.savez_compressed(tmp_path / "all.npz", cal=PROBS, labels=LABELS, target=TARGET)
    place = (lambda name: tmp_path / f"{name}.npy") if form == "npy" else (lambda name: f"{tmp_path}/all.npz:{name}")
    for method in METHODS:
        ran = run(
            "calibrate", "--cal-probs", place("cal"), "--cal-labels", place("labels"), "--unlabeled", place("target"),
            "--method", method, "--json", "--out", tmp_path / "cal.json",
        )  # fmt: skip
        assert threshold(ran) == expected[method]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", LABEL_KINDS)
def test_tables_in_memory(expected, kind, labels):
    columns = [f"p_{name}" for name in CLASSES]
    cal, target = (KINDS[kind](frame(probs)[columns].rename(columns=lambda name: name[2:])) for probs in (PROBS, TARGET))
    for method in METHODS:
        assert ek.calibrate(cal, LABEL_KINDS[labels](LABELS), target, method=method).threshold() == expected[method]


@pytest.mark.parametrize("labels", LABEL_KINDS)
@pytest.mark.parametrize("form", ["csv", "jsonl", "snappy.parquet", "feather"])
def test_labels_of_every_kind(run, tmp_path, expected, form, labels):
    cal, target = tmp_path / f"cal.{form}", tmp_path / f"target.{form}"
    FORMS[form](frame(PROBS).assign(label=LABEL_KINDS[labels](LABELS)), cal)
    FORMS[form](frame(TARGET), target)
    assert threshold(of_files(run, cal, target, "ot", tmp_path / "cal.json")) == expected["ot"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "snappy.parquet", "arrow", "feather", "memory"])
@pytest.mark.parametrize("names", [("False", "True"), ("True", "False"), ("true", "false"), ("no", "yes"), ("yes", "no"), ("1", "0")])
def test_booleans_are_the_classes_that_are_called_so(run, tmp_path, form, names):
    """Whatever the order of the two columns: read as 0 and 1 they would be the classes of the other."""
    two = np.column_stack([PROBS[:, 0], 1 - PROBS[:, 0]])
    first = LABELS == 0
    meant = [name.lower() in ("true", "yes", "1") for name in names]
    labels = np.where(first, meant[0], meant[1])
    plain = ek.calibrate(two, np.where(first, 0, 1), method="uncorrected").threshold()
    if form == "memory":
        table = pandas.DataFrame(two, columns=list(names))
        if set(names) != {"0", "1"}:
            assert ek.calibrate(table, labels, method="uncorrected").threshold() == plain
        return
    table = pandas.DataFrame(two, columns=[f"p_{name}" for name in names]).assign(label=labels)
    path = tmp_path / f"cal.{form}"
    FORMS[form](table, path)
    ran = run(
        "calibrate", "--cal", path, "--label-col", "label", "--prob-cols", "p_*", "--method", "uncorrected", "--json",
        "--out", tmp_path / "cal.json",
    )  # fmt: skip
    assert threshold(ran) == plain


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1),
    forms=st.tuples(st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(FORMS))),
    labels=st.sampled_from(sorted(LABEL_KINDS)),
    stray=st.sampled_from(["none", "cal", "target", "both"]),
    chosen=st.booleans(),
)
def test_any_order_of_columns_and_rows_in_any_form(run, tmp_path_factory, expected, seed, forms, labels, stray, chosen):
    """The same threshold where the columns are chosen; otherwise the same or a refusal, never another."""
    folder = tmp_path_factory.mktemp("any")
    rng = np.random.default_rng(seed)
    cal = frame(PROBS).assign(label=LABEL_KINDS[labels](LABELS))
    target = frame(TARGET)
    tables = {"cal": cal, "target": target}
    for name, form in zip(tables, forms):
        table = tables[name].iloc[rng.permutation(len(tables[name]))].reset_index(drop=True)
        if not chosen:
            table = table.drop(columns=["id", "when", "segment", "amount"])
        if stray in (name, "both"):
            table["score"] = rng.random(len(table))
        table = table[list(rng.permutation(table.columns))]
        # Labels that are numbers count the columns, so that their order is that of the classes.
        if name == "cal" and labels in ("numbers", "small", "floats"):
            others = [column for column in table.columns if not column.startswith("p_")]
            table = table[[*others, *(f"p_{name}" for name in CLASSES)]]
        FORMS[form](table, folder / f"{name}.{form}")
    files = [str(folder / f"{name}.{form}") for name, form in zip(tables, forms)]
    choice = ["--prob-cols", "p_*"] if chosen else []
    ran = run(
        "calibrate", "--cal", files[0], "--label-col", "label", *choice, "--unlabeled", files[1], "--method", "uncorrected",
        "--json", "--out", folder / "cal.json",
    )  # fmt: skip
    if chosen or (stray == "none" and labels in ("numbers", "small", "floats")):
        assert threshold(ran) == expected["uncorrected"]
    elif ran.code == 0:
        assert threshold(ran) == expected["uncorrected"] and stray in ("none",)
    else:
        assert ran.code == 2 and json.loads(ran.stdout)["error"]["kind"] in ("data", "incompatible"), ran.stdout
