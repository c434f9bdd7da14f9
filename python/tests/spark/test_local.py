"""Spark gives the bytes of one machine, for any partitions and whatever fails on the way."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import data
import evenkeel as ek
from evenkeel import spark as eks

GIVEN = {"probs": "probs", "key": "id"}


def cut(df, partitions):
    """The rows shuffled into so many partitions; one keeps their order."""
    return df.coalesce(1) if partitions == 1 else df.repartition(partitions)


def expected(name):
    return ek.calibrate(data.cal_probs, data.cal_y, data.target, **data.here(name))


def calibrated(rows, name):
    return eks.calibrate(rows, data.cal_probs, data.cal_y, sample=None, **GIVEN, **data.on_spark(name))


def test_every_method_is_a_case():
    for names in (data.CASES, data.ONE_OF_EACH):
        assert {data.CASES[name][0] for name in names} == set(ek.method_names())


@pytest.mark.parametrize("partitions", [1, 2, 5, 40])
def test_any_shuffled_partitions_have_the_bytes_of_the_command_line(df, files_of_one_machine, partitions):
    rows = cut(df, partitions).cache()
    found = {name: data.digest(calibrated(rows, name)) for name in (data.ONE_OF_EACH if partitions == 40 else data.CASES)}
    rows.unpersist()
    assert found == {name: files_of_one_machine[name] for name in found}


def test_tasks_that_fail_at_their_first_attempt_change_nothing(df, files_of_one_machine):
    # Inside, so that it travels whole: executors do not know this file.
    def fails_once(batches):
        """The first task of every job fails at its first attempt, after it has read its rows."""
        from pyspark import TaskContext

        context = TaskContext.get()
        read = list(batches)
        if context.attemptNumber() == 0 and context.partitionId() == 0:
            raise RuntimeError("a task that fails at its first attempt")
        yield from read

    rows = cut(df.drop("label", "group"), 3)
    flaky = rows.mapInArrow(fails_once, rows.schema)
    found = {name: data.digest(calibrated(flaky, name)) for name in data.ONE_OF_EACH}
    assert found == {name: files_of_one_machine[name] for name in found}


def test_samples_that_hold_every_row_have_the_bytes_of_one_machine(df):
    for name in ("auto", "likelihood-ratio on features", "auto, second model", "auto, labels", "fixed", "auto, each class", "auto, each group"):
        cal = eks.calibrate(cut(df, 3), data.cal_probs, data.cal_y, sample=10_000, **GIVEN, **data.on_spark(name))
        assert cal.to_json() == expected(name).to_json(), name


def test_labels_and_second_models_in_a_check(df):
    labels = {row: int(data.target[row].argmax()) for row in data.some_labels}
    in_use = ek.calibrate(data.cal_probs, data.cal_y, data.cal_probs[::2], "label-plan", score="plan")
    for given, here in (
        ({"y_target": labels}, {"y_target": labels}),
        ({"second": ["b"], "second_cal": [data.second_cal]}, {"second": [(data.second_cal, data.second)]}),
        ({"calibration": in_use, "y_target": labels}, {"calibration": in_use, "y_target": labels}),
    ):
        cal = {} if "calibration" in given else {"cal_probs": data.cal_probs, "cal_y": data.cal_y}
        one = {} if "calibration" in given else {"probs_cal": data.cal_probs, "y_cal": data.cal_y}
        for sample in (None, 10_000):
            found = eks.check(cut(df, 3), **cal, sample=sample, **GIVEN, **given)
            assert found.to_dict() == ek.check(probs_target=data.target, **one, **here).to_dict()


def test_a_check_of_every_row_and_one_of_a_sample(df):
    here = ek.check(data.cal_probs, data.cal_y, data.target).to_dict()
    every = eks.check(cut(df, 5), data.cal_probs, data.cal_y, sample=None, **GIVEN).to_dict()
    sampled = eks.check(cut(df, 5), data.cal_probs, data.cal_y, **GIVEN).to_dict()
    # No more rows than the sample: the whole table, in the order of the keys.
    assert json.dumps(every) == json.dumps(sampled) == json.dumps(here)
    few = [eks.check(cut(df, parts), data.cal_probs, data.cal_y, sample=200, **GIVEN) for parts in (1, 5)]
    assert few[0].m == 200 and few[0].to_dict() == few[1].to_dict()
    cal = ek.calibrate(data.cal_probs, data.cal_y, data.target)
    assert eks.check(df, calibration=cal, **GIVEN) == ek.check(calibration=cal, probs_target=data.target)


@pytest.mark.parametrize("probs", ["probs", [f"p{place}" for place in range(10)]])
def test_sets_of_lists_and_columns(df, probs):
    cal = expected("auto")
    frame = eks.predict_set(cut(df, 3), cal, probs, 0.05)
    assert frame.schema["set"].dataType.simpleString() == "array<int>" and frame.columns[:-1] == df.columns
    found = [list(row.set) for row in frame.orderBy("id").select("set").collect()]
    assert found == cal.predict_set(data.target, 0.05).to_labels()
    sizes = eks.predict_set(df, cal, probs, 0.05, format="size", output="n").orderBy("id").select("n").collect()
    assert [row.n for row in sizes] == [len(labels) for labels in found]
    bits = eks.predict_set(df, cal, probs, 0.05, format="bitmap").orderBy("id").select("set").collect()
    members = np.unpackbits(np.frombuffer(b"".join(bytes(row.set) for row in bits), np.uint8).reshape(-1, 2), axis=1, bitorder="little")
    assert (members[:, :10] == np.asarray(cal.predict_set(data.target, 0.05))).all()


def test_ml_vectors_are_read_as_arrays(spark, df):
    from pyspark.ml.functions import array_to_vector

    vectors = df.select("id", array_to_vector("probs").alias("probs"))
    cal = expected("auto")
    found = eks.predict_set(vectors, cal).orderBy("id").collect()
    assert [list(row.set) for row in found] == cal.predict_set(data.target).to_labels()
    assert eks.calibrate(vectors, data.cal_probs, data.cal_y, sample=None, **GIVEN).to_json() == cal.to_json()


def test_randomised_scores_draw_by_the_key(df):
    cal = expected("ot, randomised")
    with pytest.raises(ek.InvalidParameterError, match="key is missing"):
        eks.predict_set(df, cal)
    here = cal.predict_set(data.target).to_labels()
    for format in ("labels", "bitmap"):
        found = [row.set for row in eks.predict_set(cut(df, 4), cal, key="id", format=format).orderBy("id").collect()]
        if format == "labels":
            assert [list(labels) for labels in found] == here
        else:
            bits = np.unpackbits(np.frombuffer(b"".join(map(bytes, found)), np.uint8).reshape(-1, 2), axis=1, bitorder="little")
            assert [np.flatnonzero(row).tolist() for row in bits] == here
    evaluation = eks.evaluate(cut(df, 4), cal, key="id")
    assert dict(evaluation) == dict(cal.evaluate(data.target, data.test_y))


def test_an_evaluation_of_all_rows_and_of_groups(df):
    cal = expected("auto")
    assert dict(eks.evaluate(cut(df, 5), cal)) == dict(cal.evaluate(data.target, data.test_y))
    found = eks.evaluate(cut(df, 5), cal, alpha=0.2, by="group").orderBy("group").collect()
    assert [row.group for row in found] == ["g0", "g1", "g2"]
    for place, row in enumerate(found):
        chosen = np.arange(data.ROWS) % 3 == place
        here = cal.evaluate(data.target[chosen], data.test_y[chosen], 0.2)
        names = ("n", "coverage", "mean_size", "median_size", "empty", "full", "total_coverage_gap")
        assert [row[name] for name in names] == [here[name] for name in names]


def test_rows_without_a_group_are_one_group(spark, df):
    from pyspark.sql import functions as F

    # Batches of 7 rows, so that groups go over their ends. NaN equals no NaN, and is one group all the same.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    cal = expected("uncorrected")
    shares = df.withColumn("share", F.when(F.col("id") % 3 == 0, F.lit(float("nan"))).when(F.col("id") % 3 == 1, F.lit(0.5)))
    try:
        found = {repr(row.share): row.n for row in eks.evaluate(shares, cal, by="share").collect()}
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert found == {"nan": 200, "0.5": 200, "None": 200}


def test_predicting_is_lazy(df):
    calls = df.sparkSession.sparkContext.accumulator(0)

    def counted(batches):
        for batch in batches:
            calls.add(1)
            yield batch

    rows = df.select("id", "probs")
    frame = eks.predict_set(rows.mapInArrow(counted, rows.schema), expected("uncorrected"))
    assert calls.value == 0
    assert frame.count() == data.ROWS and calls.value > 0


def test_errors_name_the_key_and_the_partition(spark, tmp_path):
    bad = data.target.copy()
    bad[17, 3] = np.nan
    path = str(tmp_path / "rows.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"id": [f"row-{row}" for row in range(data.ROWS)], "probs": data.lists(bad)}), path)
    df = spark.read.parquet(path).repartition(3, "id")
    with pytest.raises(Exception, match="partition [0-2], key 'row-17': .*(NaN|not finite)"):
        eks.predict_set(df, expected("auto"), key="id").collect()
    with pytest.raises(Exception, match="partition [0-2], key 'row-17': .*(NaN|not finite)"):
        eks.calibrate(df, data.cal_probs, data.cal_y, sample=None, **GIVEN)


def test_mistakes_are_found_on_the_driver(df):
    cal = expected("auto")
    with pytest.raises(ek.InvalidParameterError, match="there is no column 'scores'; there are id, probs"):
        eks.predict_set(df, cal, "scores")
    with pytest.raises(ek.InvalidParameterError, match="output is 'id'"):
        eks.predict_set(df, cal, output="id")
    with pytest.raises(ek.InvalidParameterError, match="format is 'sets'"):
        eks.predict_set(df, cal, format="sets")
    with pytest.raises(ek.InvalidParameterError, match="key is missing"):
        eks.calibrate(df, data.cal_probs, data.cal_y, sample=None)
    with pytest.raises(ek.InvalidParameterError, match="features_cal is missing"):
        eks.calibrate(df, data.cal_probs, data.cal_y, features="probs", **GIVEN)
    with pytest.raises(ek.InvalidParameterError, match="sample is 0"):
        eks.calibrate(df, data.cal_probs, data.cal_y, sample=0, **GIVEN)
    with pytest.raises(ek.InvalidInputError, match="no rows"):
        eks.calibrate(df.where("id < 0"), data.cal_probs, data.cal_y, sample=None, **GIVEN)
    with pytest.warns(UserWarning, match="the same partitioning only"):
        eks.calibrate(df, data.cal_probs, data.cal_y, probs="probs")


def test_a_table_that_changes_between_the_passes_is_an_error(spark, df):
    from pyspark.sql import functions as F

    # Other rows at every read, as a model that is served anew would give.
    volatile = F.udf(lambda probs: probs[::-1] if int.from_bytes(os.urandom(1), "big") < 99 else probs, "array<float>").asNondeterministic()
    with pytest.raises(ek.InvalidInputError, match="a later pass read 600 target rows, an earlier one 600"):
        eks.calibrate(df.select("id", volatile("probs").alias("probs")), data.cal_probs, data.cal_y, sample=None, **GIVEN)


def test_a_state_that_comes_twice_or_was_cut_is_an_error(df, monkeypatch):
    states = eks._states
    for change, words in (
        (lambda found: [*found, found[0]], "part [0-2] was given twice"),
        (lambda found: [found[0][: len(found[0]) // 2], *found[1:]], "checksum does not fit"),
        (lambda found: [found[0][:20], *found[1:]], "its end is missing"),
    ):
        monkeypatch.setattr(eks, "_states", lambda rows, part, change=change: change(list(states(rows, part))))
        with pytest.raises(ek.EvenkeelError, match=words):
            calibrated(cut(df, 3), "auto")


def test_a_stream_is_checked_batch_by_batch_and_only_once(spark, tmp_path):
    source, out = tmp_path / "in", tmp_path / "reports"
    source.mkdir()
    for number, part in enumerate(np.array_split(np.arange(data.ROWS), 3)):
        pyarrow.parquet.write_table(data.table().take(part), str(source / f"{number}.parquet"))
    cal = ek.calibrate(data.cal_probs, data.cal_y, data.target)
    schema = spark.read.parquet(str(source)).schema

    def run(sink):
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
        settings = {"query": "fog", "checkpoint": str(tmp_path / "checkpoint"), "trigger": {"availableNow": True}, **GIVEN}
        query = eks.watch(stream, cal, sink, **settings)
        query.awaitTermination()

    run(eks.FolderSink(out))
    written = sorted(path.name for path in out.iterdir())
    assert written == ["fog-0.json", "fog-1.json", "fog-2.json"]
    assert sum(json.loads((out / name).read_text())["m"] for name in written) == data.ROWS
    before = {name: (out / name).read_bytes() for name in written}
    # The same batches again, as after a crash: Spark has forgotten them, the sink has not.
    import shutil

    shutil.rmtree(tmp_path / "checkpoint")
    seen = []

    def sink(report, key):
        seen.append(key)
        eks.FolderSink(out)(report, key)

    run(sink)
    assert sorted(seen) == ["fog-0", "fog-1", "fog-2"]
    assert {name: (out / name).read_bytes() for name in written} == before


def test_equal_rows_count_one_by_one(spark, tmp_path):
    rng = np.random.default_rng(2)
    rows = 30_000
    probs = rng.dirichlet(np.full(10, 0.3), rows)
    probs[: rows // 5] = np.eye(10)[rng.integers(10, size=3)][rng.integers(3, size=rows // 5)]
    path = str(tmp_path / "rows.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"id": np.arange(rows), "probs": data.lists(probs)}), path)
    cal = eks.calibrate(spark.read.parquet(path).repartition(6), data.cal_probs, data.cal_y, sample=None, **GIVEN)
    assert cal.to_json() == ek.calibrate(data.cal_probs, data.cal_y, probs).to_json()
    of_cal = np.bincount(data.cal_probs.argmax(axis=1), minlength=10) / data.CAL
    distance = 0.5 * np.abs(np.bincount(probs.argmax(axis=1), minlength=10) / rows - of_cal).sum()
    assert abs(cal.evidence_["test"]["class_distance"] - distance) < 0.02


def test_states_added_up_on_the_executors_are_the_same(df, monkeypatch):
    monkeypatch.setattr(eks, "_MANY_ROWS", 100)
    cal = eks.calibrate(cut(df, 7), data.cal_probs, data.cal_y, sample=None, **GIVEN)
    assert cal.to_json() == expected("auto").to_json()


def failure(action):
    """What a call or an action is refused with, from the driver or an executor."""
    with pytest.raises(Exception) as caught:
        action()
    return str(caught.value)


@pytest.fixture(scope="module")
def pets(spark):
    """Two classes whose names are not in the order of the alphabet: a frame of the calibration data, their labels, and rows on Spark."""
    rng = np.random.default_rng(1)
    probs = rng.dirichlet([1, 1], 400)
    numbers = (rng.random(400) < probs[:, 1]).astype(int)
    words = np.array(["dog", "cat"])[numbers]
    columns = {"id": range(400), "dog": probs[:, 0], "cat": probs[:, 1], "bird": probs[:, 0], "label": words, "g": numbers}
    return pandas.DataFrame(probs, columns=["dog", "cat"]), words, spark.createDataFrame(pandas.DataFrame(columns)).coalesce(1)


def test_labels_that_are_words_are_those_of_the_calibration(pets):
    frame, words, rows = pets
    # Labels that are numbers: only the columns say what the words mean.
    cal = ek.calibrate(frame, (words == "cat").astype(int), None, "uncorrected")
    here = cal.evaluate(frame, words)
    assert here["coverage"] > 0.85
    for probs in (["dog", "cat"], ["cat", "dog"]):
        assert dict(eks.evaluate(rows, cal, probs=probs)) == dict(here)
    found = {row.g: row.coverage for row in eks.evaluate(rows, cal, probs=["dog", "cat"], by="g").collect()}
    assert found == {g: cal.evaluate(frame[words == word], words[words == word])["coverage"] for g, word in enumerate(["dog", "cat"])}


def test_columns_of_another_model_are_refused(pets):
    frame, words, rows = pets
    cal, given = ek.calibrate(frame, words, None, "uncorrected"), {"probs": ["dog", "bird"], "key": "id"}
    for call in (
        lambda: eks.predict_set(rows, cal, **given),
        lambda: eks.evaluate(rows, cal, **given),
        lambda: eks.check(rows, calibration=cal, sample=None, **given),
        lambda: eks.calibrate(rows, frame, words, sample=None, **given),
        lambda: eks.calibrate(rows, frame, words, **given),
    ):
        with pytest.raises(ek.InvalidInputError, match="no column for cat, and bird are not among the columns"):
            call()


@pytest.fixture(scope="module")
def few(spark):
    """120 rows in 3 partitions, whose ids are texts."""
    table = data.table(data.target[:120].copy(), label=data.test_y[:120], g=[f"g{row % 3}" for row in range(120)])
    table = table.set_column(0, "id", pyarrow.array([f"row-{row}" for row in range(120)]))
    rows = spark.createDataFrame(table.to_pandas()).repartition(3, "id").cache()
    rows.count()
    return rows


def broken(rows, **columns):
    """The rows with other values in the row `row-17`."""
    from pyspark.sql import functions as F

    for name, value in columns.items():
        rows = rows.withColumn(name, F.when(F.col("id") == "row-17", F.expr(value)).otherwise(F.col(name)))
    return rows


def test_errors_name_the_key_whatever_is_wrong(few):
    cal, where = expected("uncorrected"), "partition [0-2], key 'row-17': "
    words = failure(lambda: eks.calibrate(broken(few, probs="null"), data.cal_probs, data.cal_y, "uncorrected", sample=None, **GIVEN))
    assert re.search(where + ".*is null", words), words
    words = failure(lambda: eks.calibrate(broken(few, probs="transform(probs, x -> float('nan'))"), data.cal_probs, data.cal_y, **GIVEN))
    assert re.search("the sample, key 'row-17': ", words), words
    words = failure(lambda: eks.evaluate(broken(few, label="null"), cal, key="id"))
    assert re.search(where + ".*remove the row, or give its label", words), words
    # Without a key there is none to be named.
    assert re.search("partition [0-2]: label: ", failure(lambda: eks.evaluate(broken(few, label="null"), cal)))
    groups = {"groups_cal": data.groups_cal, "groups_target": data.groups, "per": "region", "method": "uncorrected", "other_groups": "pooled"}
    grouped = ek.calibrate(data.cal_probs, data.cal_y, data.target, **groups)
    words = failure(lambda: eks.predict_set(broken(few, g="null"), grouped, groups="g", key="id").collect())
    assert re.search(where + ".*no group", words), words


def test_the_partition_of_a_group_is_that_of_its_rows(few):
    from pyspark.sql import functions as F

    # All rows in one group that does not hash to partition 0, which all groups were said to be of.
    rows = few.withColumn("one", F.concat(F.substring("id", 1, 3), F.lit("2")))
    (place,) = rows.repartition("one").select(F.spark_partition_id()).distinct().first()
    assert place > 0
    bad = broken(rows, probs="transform(probs, x -> float('nan'))")
    words = failure(lambda: eks.evaluate(bad, expected("uncorrected"), key="id", by="one").collect())
    assert f"partition {place}, key 'row-17': " in words, words


def test_null_vectors_are_refused_with_their_key(few):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    vectors = few.select("id", F.when(F.col("id") != "row-17", array_to_vector("probs")).alias("probs"))
    words = failure(lambda: eks.predict_set(vectors, expected("uncorrected"), key="id").collect())
    assert re.search("partition [0-2], key 'row-17': .*is null", words), words


def test_ids_that_are_there_twice_are_an_error(few):
    rows = broken(few, id="'row-16'")
    labels = {"row-16": 1, "row-3": 2}
    for given in ({}, {"y_target": labels}):
        with pytest.raises(ek.InvalidInputError, match="key 'row-16' was given twice; .*remove one of the rows"):
            eks.check(rows, data.cal_probs, data.cal_y, **GIVEN, **given)
    with pytest.raises(ek.InvalidInputError, match="was given twice.*: 'row-16'"):
        eks.calibrate(rows, data.cal_probs, data.cal_y, sample=None, **GIVEN)
    # Labeled rows come beside the sample, once each.
    assert eks.check(few, data.cal_probs, data.cal_y, sample=10, y_target=labels, **GIVEN).m in (10, 11, 12)


def test_any_name_of_a_column_will_do(few):
    names = {"id": "row.id", "probs": "my`probs", "label": "true label", "g": "a.b", "p0": "p.0"}
    rows = few.select(*(few[name].alias(called) for name, called in names.items()))
    cal, given = expected("uncorrected"), {"probs": "my`probs", "key": "row.id"}
    sets = eks.predict_set(rows, cal, **given)
    assert sets.columns == [*names.values(), "set"]
    found = {row[0]: list(row[5]) for row in sets.collect()}
    assert found == {f"row-{row}": labels for row, labels in enumerate(cal.predict_set(data.target[:120]).to_labels())}
    groups = eks.evaluate(rows, cal, label="true label", by="a.b", **given)
    assert groups.columns[0] == "a.b" and {row[0]: row.n for row in groups.collect()} == {"g0": 40, "g1": 40, "g2": 40}
    made = [eks.calibrate(rows, data.cal_probs, data.cal_y, "uncorrected", sample=sample, **given).to_json() for sample in (None, 1000)]
    assert made[0] == made[1]
    assert eks.check(rows, data.cal_probs, data.cal_y, y_target={"row-3": 1}, **given).m == 120


def test_ratios_reach_the_evaluation(df):
    from pyspark.sql import functions as F

    cal = ek.calibrate(data.cal_probs, data.cal_y, data.target, "likelihood-ratio", ratios_cal=data.weights_cal)
    rows = df.withColumn("r", 0.5 + F.col("id") / 600)
    here = cal.evaluate(data.target, data.test_y, ratios=0.5 + np.arange(data.ROWS) / 600)
    assert dict(eks.evaluate(rows, cal, ratios="r")) == dict(here)


def test_many_groups_of_one_row_take_little_time(df):
    """The plan was read anew for each: five milliseconds a group."""
    import time

    cal = expected("auto")
    part = eks._Rows(ek.EvaluateJob(cal).plan(), ["probs", "label", "id"], "probs", None, "label", None, [], False)
    groups = eks._Groups(part, ["id"], cal._core.to_slim_json(), None)
    batch = data.table(label=data.test_y).select(["probs", "label", "id"]).combine_chunks().to_batches()[0]
    began = time.process_time()
    (found,) = groups.batches(iter([batch]))
    assert time.process_time() - began < 1.5
    assert found.column("id").to_pylist() == list(range(data.ROWS)) and set(found.column("n").to_pylist()) == {1}


def test_more_mistakes_are_found_on_the_driver(spark, df):
    cal = expected("uncorrected")
    ratios = ek.calibrate(data.cal_probs, data.cal_y, data.target, "likelihood-ratio", ratios_cal=data.weights_cal)
    learned = expected("likelihood-ratio on features")
    grouped = ek.calibrate(data.cal_probs, data.cal_y, data.target, **data.here("auto, each group"))
    for words, call in (
        ("by names 'N', and the result", lambda: eks.evaluate(df.withColumnRenamed("group", "N"), cal, by="N")),
        ("by names 'group' twice", lambda: eks.evaluate(df, cal, by=["group", "group"])),
        ("by names no columns", lambda: eks.evaluate(df, cal, by=[])),
        ("by names 'x', a column of array<double>", lambda: eks.evaluate(df, cal, by="x")),
        ("two columns 'group'", lambda: eks.evaluate(df.select("probs", "label", "group", "group"), cal, by="group")),
        ("output is 'set', which the table has already", lambda: eks.predict_set(df.withColumnRenamed("group", "SET"), cal)),
        ("alpha is 2.0", lambda: eks.predict_set(df, cal, alpha=2.0)),
        ("alpha is 2.0", lambda: eks.evaluate(df, cal, alpha=2.0, by="group")),
        ("logits is 'yes'", lambda: eks.predict_set(df, cal, logits="yes")),
        ("needs ratios", lambda: eks.predict_set(df, ratios)),
        ("needs ratios", lambda: eks.evaluate(df, ratios)),
        ("does not use ratios", lambda: eks.predict_set(df, cal, ratios="p0")),
        ("needs features", lambda: eks.evaluate(df, learned, by="group")),
        ("does not use features", lambda: eks.predict_set(df, cal, features="x")),
        ("the calibration is one for each group", lambda: eks.predict_set(df, grouped)),
        ("groups have no use here", lambda: eks.predict_set(df, cal, groups="region")),
        ("calibration is str", lambda: eks.predict_set(df, "cal.json")),
        ("sample is True", lambda: eks.calibrate(df, data.cal_probs, data.cal_y, sample=True, **GIVEN)),
    ):
        with pytest.raises(ek.EvenkeelError, match=re.escape(words)):
            call()
    assert eks.predict_set(df, learned, features="x").columns[-1] == "set"
    assert eks.predict_set(df, grouped, groups="region").columns[-1] == "set"
    given = {"checkpoint": "unused", "query": "fog", **GIVEN}
    for words, change in (
        ("there is no column 'scores'", {"probs": "scores"}),
        ("leave / and \\ out", {"query": "../x"}),
        ("leave / and \\ out", {"query": "..\\x"}),
        ("alpha is 2.0", {"alpha": 2.0}),
        ("permutation is no argument of check", {"permutation": 9}),
        ("sample is 0", {"sample": 0}),
    ):
        with pytest.raises(ek.InvalidParameterError, match=re.escape(words)):
            eks.watch(df, cal, eks.FolderSink("unused"), **{**given, **change})
    with pytest.raises(ek.InvalidParameterError, match="watch takes a calibration with one threshold"):
        eks.watch(df, grouped, eks.FolderSink("unused"), **given)
