"""The same tables through every door give the same bits, and columns in another order the same answer or a refusal."""

from __future__ import annotations

import gzip

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as draw

import evenkeel as ek

NAMES = ["top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]

#: The same examples on every run: a failure is found again.
SEEDED = {"max_examples": 25, "deadline": None, "derandomize": True, "database": None}

#: Kinds of tables that name their columns, made from a matrix and names.
TABLES = {
    "pandas": lambda matrix, names: pandas.DataFrame(matrix, columns=names),
    "pandas, by arrow": lambda matrix, names: pandas.DataFrame(matrix, columns=names).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda matrix, names: polars.DataFrame(np.ascontiguousarray(matrix), schema=list(names), orient="row"),
    "polars, lazy": lambda matrix, names: polars.DataFrame(np.ascontiguousarray(matrix), schema=list(names), orient="row").lazy(),
    "pyarrow": lambda matrix, names: pyarrow.table([np.ascontiguousarray(column) for column in matrix.T], names=list(names)),
    "pyarrow, in chunks": lambda matrix, names: pyarrow.concat_tables(
        pyarrow.table([np.ascontiguousarray(column) for column in part.T], names=list(names)) for part in np.array_split(matrix, 3)
    ),
    "pyarrow, a batch": lambda matrix, names: pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(np.ascontiguousarray(column)) for column in matrix.T], names=list(names)
    ),
}
#: Kinds of arrays that do not.
ARRAYS = {
    "numpy": lambda matrix: matrix,
    "columns first": np.asfortranarray,
    "lists": lambda matrix: matrix.tolist(),
    "a column of lists": lambda matrix: polars.Series(matrix.tolist()),
    "arrow lists": lambda matrix: pyarrow.array(matrix.tolist()),
}


def thresholds(cal):
    return [cal.threshold(alpha) for alpha in (0.02, 0.1, 0.3)]


@pytest.mark.parametrize("method", ["uncorrected", "auto", "ot", "label-shift"])
def test_every_door_gives_the_same_thresholds_to_the_bit(fog, method, run, tmp_path):
    """NumPy, pandas, polars, LazyFrame and pyarrow here; npy, csv, csv.gz and parquet on the command line."""
    cal, target, words = fog.probs_cal.astype(float), fog.probs_target.astype(float), np.array(NAMES)[fog.y_cal]
    expected = thresholds(ek.calibrate(cal, fog.y_cal, target, method=method))
    for name, array in ARRAYS.items():
        assert thresholds(ek.calibrate(array(cal), fog.y_cal, array(target), method=method)) == expected, name
    for name, table in TABLES.items():
        made = ek.calibrate(table(cal, NAMES), words, table(target, NAMES), method=method)
        assert thresholds(made) == expected and made.classes_ == NAMES, name
    files = {"cal": pandas.DataFrame(cal, columns=NAMES), "target": pandas.DataFrame(target, columns=NAMES)}
    files["cal"]["label"] = words
    for name, frame in files.items():
        np.save(tmp_path / f"{name}.npy", cal if name == "cal" else target)
        # repr gives every float back to the bit, in any of these.
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress((tmp_path / f"{name}.csv").read_bytes()))
        frame.to_parquet(tmp_path / f"{name}.parquet")
    np.save(tmp_path / "labels.npy", fog.y_cal)
    for kind in ("npy", "csv", "csv.gz", "parquet"):
        labeled = ["--cal", tmp_path / f"cal.{kind}", "--label-col", "label"]
        if kind == "npy":
            labeled = ["--cal-probs", tmp_path / "cal.npy", "--cal-labels", tmp_path / "labels.npy"]
        out = tmp_path / "cal.json"
        said = run("calibrate", *labeled, "--unlabeled", tmp_path / f"target.{kind}", "--method", method, "--out", out)
        assert said.code == 0, said.stderr
        assert thresholds(ek.load(out)) == expected, kind


orders = draw.permutations(range(10))


@settings(**SEEDED)
@given(kinds=draw.tuples(*[draw.sampled_from([*TABLES, *ARRAYS])] * 3), order=draw.tuples(orders, orders, orders), words=draw.booleans())
def test_shuffled_columns_give_the_same_answer_or_a_refusal(fog, kinds, order, words):
    """Where all tables have names any order will do; an array without names has the order of the calibration data."""

    def given_as(kind, probs, places):
        shuffled = probs.astype(float)[:, list(places)]
        return TABLES[kind](shuffled, [NAMES[place] for place in places]) if kind in TABLES else ARRAYS[kind](shuffled)

    of_cal = list(order[0])
    # Arrays without names are given in the order of the calibration table: anything else could not be told apart.
    places = [of_cal, *(list(one) if kind in TABLES and kinds[0] in TABLES else of_cal for kind, one in zip(kinds[1:], order[1:]))]
    cal, target, test = (
        given_as(kind, probs, place)
        for kind, probs, place in zip(kinds, (fog.probs_cal, fog.probs_target, fog.probs_test[:200]), places)
    )
    position = np.argsort(of_cal)
    labels = np.array(NAMES)[fog.y_cal] if words else position[fog.y_cal]
    classes = [NAMES[place] for place in of_cal] if words and kinds[0] not in TABLES else None
    made = ek.calibrate(cal, labels, target, method="uncorrected", classes=classes)
    plain = ek.calibrate(fog.probs_cal.astype(float)[:, of_cal], position[fog.y_cal], method="uncorrected")
    assert made.threshold() == plain.threshold()
    sets = made.predict_set(test)
    assert np.array_equal(sets, plain.predict_set(fog.probs_test[:200].astype(float)[:, of_cal]))
    report = ek.check(cal, labels, target, classes=classes)
    assert report.threshold == made.threshold()


@settings(**SEEDED)
@given(
    kinds=draw.tuples(*[draw.sampled_from(sorted(TABLES))] * 2),
    order=orders,
    change=draw.sampled_from(["renamed", "missing", "surplus", "twice"]),
    place=draw.integers(0, 9),
)
def test_tables_of_other_classes_are_refused(fog, kinds, order, change, place):
    if change == "twice" and kinds[1].startswith("polars"):
        return  # polars has no such tables.
    names, probs = [NAMES[one] for one in order], fog.probs_target.astype(float)[:, list(order)]
    if change == "renamed":
        names[place] = "jumper"
    elif change == "missing":
        names, probs = [*names[:place], *names[place + 1 :]], np.delete(probs, place, axis=1)
        probs = probs / probs.sum(axis=1, keepdims=True)
    elif change == "surplus":
        names, probs = [*names, "score"], np.column_stack([probs, np.zeros(len(probs))])
    else:
        names[place] = names[place - 1]
    cal = TABLES[kinds[0]](fog.probs_cal.astype(float), NAMES)
    if change == "twice" and kinds[1] == "pandas, by arrow":
        return  # Its conversion needs names that differ.
    target = TABLES[kinds[1]](probs, names)
    for call in (lambda: ek.calibrate(cal, fog.y_cal, target), lambda: ek.check(cal, fog.y_cal, target)):
        with pytest.raises(ek.InvalidInputError, match="probs_target"):
            call()


@settings(**SEEDED)
@given(kind=draw.sampled_from(sorted(TABLES)), seed=draw.integers(0, 2**32 - 1))
def test_shuffled_rows_give_the_same_threshold(fog, kind, seed):
    """Of rows with their labels, and of target rows: a calibration is of sets of points, not of lists."""
    random = np.random.default_rng(seed)
    rows, others = random.permutation(300), random.permutation(300)
    cal = TABLES[kind](fog.probs_cal.astype(float)[rows], NAMES)
    target = TABLES[kind](fog.probs_target.astype(float)[others], NAMES)
    made = ek.calibrate(cal, np.array(NAMES)[fog.y_cal[rows]], target, method="label-shift")
    plain = ek.calibrate(fog.probs_cal.astype(float), fog.y_cal, fog.probs_target.astype(float), method="label-shift")
    assert thresholds(made) == thresholds(plain)


def polars_in_pieces(matrix, names):
    """A frame whose columns are in three chunks each."""
    parts = [polars.DataFrame(part, schema=list(names), orient="row") for part in np.array_split(matrix, 3)]
    return polars.concat(parts, rechunk=False)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 7, 8, 10, 17, 70])
def test_columns_that_lie_apart_are_turned_round_as_they_are_read(classes, kind):
    """Frames and arrays in Fortran's order have the sets of the same rows one after the other, at every width and length."""
    draws = np.random.default_rng(classes)
    probs = draws.dirichlet(np.full(classes, 0.4), 9001).astype(kind)
    labels = draws.integers(0, classes, 200)
    names = [f"class {place}" for place in range(classes)]
    cal = ek.calibrate(probs[:200], labels, method="uncorrected", alpha=0.3)
    expected = np.asarray(cal.predict_set(np.ascontiguousarray(probs)))
    assert np.array_equal(expected, (1.0 - probs.astype(float) / probs.astype(float).sum(1, keepdims=True)) <= cal.threshold())
    lists = cal.predict_set(probs, format="size")
    made = [np.asfortranarray(probs), pandas.DataFrame(probs), pandas.DataFrame(probs, columns=names),
            polars.DataFrame(probs, schema=names, orient="row"), polars_in_pieces(probs, names)]  # fmt: skip
    for table in made:
        for rows in (9001, 4700):
            assert np.array_equal(cal.predict_set(table[:rows]), expected[:rows])
        assert np.array_equal(cal.predict_set(table, format="size"), lists)
    named = ek.calibrate(pandas.DataFrame(probs[:200], columns=names), labels, method="uncorrected", alpha=0.3)
    for table in made[2:]:
        assert np.array_equal(named.predict_set(table[names[::-1]]), expected)


def test_bad_rows_of_columns_that_lie_apart_are_named():
    draws = np.random.default_rng(3)
    probs = draws.dirichlet(np.ones(10), 9000)
    cal = ek.calibrate(probs[:200], draws.integers(0, 10, 200), method="uncorrected")
    wrong = np.tile(probs[7123], (5, 1))
    wrong[:3, 4] = [np.nan, -0.5, 0.9]
    # Their sums are one.
    wrong[3] = [-0.25, 1.25] + [0.0] * 8
    wrong[4] = [-1e-5, 0.5 + 1e-5, 0.5] + [0.0] * 7
    for row in wrong:
        for kind in (np.float32, np.float64):
            bad = probs.astype(kind)
            bad[7123] = row
            for table in (np.asfortranarray(bad), pandas.DataFrame(bad), polars.DataFrame(bad)):
                with pytest.raises(ek.InvalidInputError, match="row 7123"):
                    cal.predict_set(table)
    gap = polars.DataFrame(probs).with_columns(polars.when(polars.arange(9000) == 41).then(None).otherwise(polars.col("column_4")).alias("column_4"))
    with pytest.raises(ek.InvalidInputError, match="row 41"):
        cal.predict_set(gap)
    with pytest.raises(ek.InvalidInputError, match="probs: it has 9 columns|9"):
        cal.predict_set(pandas.DataFrame(probs[:, :9]))
