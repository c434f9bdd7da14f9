"""Tables as people have them: columns by name, labels as words."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import evenkeel as ek

NAMES = ["top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]

KINDS = {
    "pandas": lambda columns: pandas.DataFrame(columns),
    "polars": lambda columns: polars.DataFrame(columns),
    "lazy": lambda columns: polars.DataFrame(columns).lazy(),
    "pyarrow": lambda columns: pyarrow.table(columns),
    "batch": lambda columns: pyarrow.RecordBatch.from_arrays([pyarrow.array(cells) for cells in columns.values()], list(columns)),
}


def columns(probs, order=None, names=NAMES):
    order = range(len(names)) if order is None else order
    return {names[place]: np.ascontiguousarray(probs[:, place]) for place in order}


def in_order(fog, order, method):
    """The same data as plain arrays with the classes in this order: rows are summed in it, to the last bit."""
    place = np.argsort(order)
    cal, target = (np.ascontiguousarray(probs.astype(float)[:, order]) for probs in (fog.probs_cal, fog.probs_target))
    return ek.calibrate(cal, place[fog.y_cal], target, method=method)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["uncorrected", "ot"])
def test_columns_are_matched_by_name_whatever_their_order(fog, kind, method, tmp_path):
    table = KINDS[kind]
    rng = np.random.default_rng(5)
    for _ in range(3):
        cal_order, target_order, test_order = (list(rng.permutation(10)) for _ in range(3))
        plain = in_order(fog, cal_order, method)
        # The calibration table's order is that of the classes, so labels are by name here.
        words = np.array(NAMES)[fog.y_cal]
        cal = ek.calibrate(
            table(columns(fog.probs_cal.astype(float), cal_order)),
            words,
            table(columns(fog.probs_target.astype(float), target_order)),
            method=method,
        )
        assert cal.threshold() == plain.threshold()
        assert cal.classes_ == cal.columns_ == [NAMES[place] for place in cal_order]
        sets = cal.predict_set(table(columns(fog.probs_test.astype(float), test_order)))
        assert np.array_equal(sets, plain.predict_set(fog.probs_test.astype(float)[:, cal_order]))
    cal.save(tmp_path / "cal.json")
    again = ek.load(tmp_path / "cal.json")
    assert again == cal and again.columns_ == cal.columns_
    assert np.array_equal(again.predict_set(table(columns(fog.probs_test.astype(float)))), sets)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_too_few_or_too_many_is_named(fog, kind):
    table = KINDS[kind]
    cal = ek.calibrate(table(columns(fog.probs_cal)), fog.y_cal, method="uncorrected")
    other = dict(columns(fog.probs_test))
    other["jumper"] = other.pop("pullover")
    with pytest.raises(ek.InvalidInputError, match="probs: it has no column for pullover, and jumper are not among"):
        cal.predict_set(table(other))
    few = columns(fog.probs_test, range(9))
    with pytest.raises(ek.InvalidInputError, match="no column for boot"):
        cal.predict_set(table(few))
    more = {**columns(fog.probs_target), "score": np.ascontiguousarray(fog.probs_target[:, 0])}
    with pytest.raises(ek.InvalidInputError, match="score are not among the columns of probs_cal"):
        ek.check(table(columns(fog.probs_cal)), fog.y_cal, table(more))
    # What cannot be a class is named.
    words = {**columns(fog.probs_test), "id": np.array([f"row {row}" for row in range(len(fog.probs_test))])}
    with pytest.raises(ek.InvalidInputError, match="probs: id hold no numbers"):
        cal.predict_set(table(words))
    # Without names on one side, the order is all there is.
    assert cal.predict_set(fog.probs_test).shape == fog.probs_test.shape


def test_columns_that_are_numbers_are_classes(fog):
    """DataFrame(columns=model.classes_) with classes 1 to 10: the label 1 is the class of the column 1."""
    plain = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected").threshold()
    table = pandas.DataFrame(fog.probs_cal, columns=range(1, 11))
    assert ek.calibrate(table, fog.y_cal + 1, method="uncorrected").threshold() == plain
    with pytest.raises(ek.InvalidInputError, match="names no class"):
        ek.calibrate(table, fog.y_cal, method="uncorrected")
    shuffled = pandas.DataFrame(fog.probs_cal)[[3, 1, 0, 2, *range(4, 10)]]
    assert ek.calibrate(shuffled, fog.y_cal, method="uncorrected").threshold() == plain


def test_labels_are_words_categories_or_booleans(fog):
    words = np.array(NAMES)[fog.y_cal]
    plain = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot")
    rank = np.argsort(NAMES)  # Words name the classes in sorted order.
    by_word = ek.calibrate(fog.probs_cal[:, rank], words, fog.probs_target[:, rank], method="ot")
    for same in (
        list(words),
        words.astype(object),
        pandas.Series(words),
        pandas.Series(pandas.Categorical(words)),
        polars.Series(words),
        pyarrow.array(list(words)),
    ):
        cal = ek.calibrate(fog.probs_cal[:, rank], same, fog.probs_target[:, rank], method="ot")
        assert cal == by_word and cal.classes_ == sorted(NAMES)
    sorted_plain = ek.calibrate(fog.probs_cal[:, rank], np.argsort(rank)[fog.y_cal], fog.probs_target[:, rank], method="ot")
    assert by_word.threshold() == sorted_plain.threshold()
    named = ek.calibrate(fog.probs_cal, words, fog.probs_target, method="ot", classes=NAMES)
    assert named.threshold() == plain.threshold() and named.classes_ == NAMES
    # Later labels are words too, and sets speak in them.
    y_test = np.array(NAMES)[fog.y_test]
    assert named.evaluate(fog.probs_test, y_test)["coverage"] == plain.evaluate(fog.probs_test, fog.y_test)["coverage"]
    sets = named.predict_set(fog.probs_test)
    assert ek.metrics.coverage(sets, y_test) == ek.metrics.coverage(np.asarray(sets), fog.y_test)
    assert ek.metrics.coverage(np.asarray(sets), y_test, classes=NAMES) == ek.metrics.coverage(sets, fog.y_test)
    assert sets[:2].to_labels() == [[NAMES[place] for place in np.flatnonzero(row)] for row in np.asarray(sets)[:2]]
    first = plain.predict_set(fog.probs_test[:1])
    assert first.to_labels() == [list(np.flatnonzero(np.asarray(first)[0]))]
    assert pickle.loads(pickle.dumps(sets)).to_labels() == sets.to_labels()
    known = {3: "boot", 5: "bag", 7: "top"}
    numbers = {row: NAMES.index(word) for row, word in known.items()}
    one = ek.calibrate(fog.probs_cal, words, fog.probs_target, y_target=known, classes=NAMES)
    assert one.threshold() == ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=numbers).threshold()
    two = np.column_stack([fog.probs_cal[:, 0], 1 - fog.probs_cal[:, 0]])
    truth = fog.y_cal == 0
    assert (
        ek.calibrate(two, ~truth, method="uncorrected").threshold()
        == ek.calibrate(two, np.where(truth, "a", "b"), method="uncorrected").threshold()
    )


def test_words_that_name_no_class_are_named(fog):
    words = np.array(NAMES)[fog.y_cal]
    row = int(np.flatnonzero(words == "coat")[0])
    wrong = words.astype(object)
    wrong[row] = "cow"
    with pytest.raises(ek.InvalidInputError, match=rf"y_cal\[{row}\] is 'cow', which names no class; the classes are top,"):
        ek.calibrate(fog.probs_cal, wrong, method="uncorrected", classes=NAMES)
    with pytest.raises(ek.InvalidInputError, match="y_cal names 11 classes .* but probs_cal has 10 columns"):
        ek.calibrate(fog.probs_cal, wrong, method="uncorrected")
    for classes, message in ((NAMES[:9], "9 names"), (NAMES[:9] + ["top"], "a name of its own")):
        with pytest.raises(ek.InvalidInputError, match=message):
            ek.calibrate(fog.probs_cal, words, method="uncorrected", classes=classes)


def test_the_command_line_reads_the_same_tables(fog, run, tmp_path):
    order = list(np.random.default_rng(0).permutation(10))
    frame = pandas.DataFrame(columns(fog.probs_cal.astype(float), order, [f"p_{name}" for name in NAMES]))
    frame.insert(4, "label", np.array(NAMES)[fog.y_cal])
    frame.insert(0, "id", [f"row {row}" for row in range(len(frame))])
    target = pandas.DataFrame(columns(fog.probs_target.astype(float), None, [f"p_{name}" for name in NAMES]))
    frame.to_csv(tmp_path / "cal.csv", index=False)
    frame.to_parquet(tmp_path / "cal.parquet")
    target.to_parquet(tmp_path / "target.parquet")
    plain = in_order(fog, order, "ot")
    for kind in ("csv", "parquet"):
        out = tmp_path / f"{kind}.json"
        ran = run(
            "calibrate", "--cal", tmp_path / f"cal.{kind}", "--label-col", "label", "--prob-cols", "p_*",
            "--target", tmp_path / "target.parquet", "--method", "ot", "--out", out,
        )  # fmt: skip
        assert ran.code == 0, ran.stderr
        cal = ek.load(out)
        assert cal.threshold() == plain.threshold()
        assert cal.classes_ == [NAMES[place] for place in order]
        ran = run(
            "predict", "--calibration", out, "--probs", tmp_path / f"cal.{kind}", "--prob-cols", "p_*", "--id-cols", "id,label",
            "--out", tmp_path / "sets.parquet",
        )  # fmt: skip
        assert ran.code == 0, ran.stderr
        sets = pandas.read_parquet(tmp_path / "sets.parquet")
        assert list(sets["id"]) == list(frame["id"]) and list(sets["label"]) == list(frame["label"])
        own = cal.predict_set(frame[[f"p_{NAMES[place]}" for place in order]])
        assert [list(labels) for labels in sets["labels"]] == own.to_labels()


def test_probabilities_are_not_taken_for_logits(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected")
    message = "probs: the first 10 rows are probabilities already: .* leave logits=True out, or give logits='force'"
    with pytest.raises(ek.InvalidInputError, match=message):
        cal.predict_set(fog.probs_test, logits=True)
    forced = cal.predict_set(fog.probs_test, logits="force").sum(axis=1)
    assert set(np.unique(forced)) <= {0, 10}  # The softmax of probabilities is nearly uniform: all labels or none.
    with pytest.raises(ek.InvalidInputError, match="probs_cal: the first 10 rows"):
        ek.check(fog.probs_cal, fog.y_cal, fog.probs_target, logits=True)


def test_warnings_are_pythons_too(fog):
    with pytest.warns(ek.ShiftWarning, match="a level of 10.0 %") as caught:
        cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", alpha=0.9)
    assert [str(one.message) for one in caught] == cal.warnings_
    assert caught[0].filename == __file__


def test_several_levels_are_measured_at_once(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected")
    levels = [cal.predict_set(fog.probs_test, alpha) for alpha in (0.05, 0.1, 0.2)]
    stacked = np.stack(levels, axis=2)
    assert ek.metrics.coverage(stacked, fog.y_test).tolist() == [ek.metrics.coverage(one, fog.y_test) for one in levels]
    assert ek.metrics.mean_set_size(stacked).tolist() == [ek.metrics.mean_set_size(one) for one in levels]


def test_uncorrected_needs_no_target_data(fog):
    alone = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected")
    assert alone.threshold() == ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected").threshold()
    with pytest.raises(ek.InvalidParameterError, match="probs_target is missing; method auto"):
        ek.calibrate(fog.probs_cal, fog.y_cal)


def test_columns_with_numbers_are_the_classes_of_these_numbers(fog):
    """p_1 to p_10: the label 1 is the class of p_1; p_3, p_1, p_0, ...: the label 0 is that of p_0."""
    plain = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected").threshold()
    from_one = pandas.DataFrame(fog.probs_cal, columns=[f"p_{place}" for place in range(1, 11)])
    cal = ek.calibrate(from_one, fog.y_cal + 1, method="uncorrected")
    assert cal.threshold() == plain and cal.classes_ == [str(place) for place in range(1, 11)]
    # Also where a class does not occur, so that no label is out of range.
    rows = fog.y_cal < 9
    some = ek.calibrate(from_one[rows], fog.y_cal[rows] + 1, method="uncorrected")
    assert some.threshold() == ek.calibrate(fog.probs_cal[rows], fog.y_cal[rows], method="uncorrected").threshold()
    order = [3, 1, 0, 2, *range(4, 10)]
    moved = pandas.DataFrame(fog.probs_cal[:, order], columns=[f"p_{place}" for place in order])
    assert ek.calibrate(moved, fog.y_cal, method="uncorrected").threshold() == plain
    with pytest.raises(ek.InvalidInputError, match=r"y_cal\[\d+\] is 0, which names no class"):
        ek.calibrate(from_one, fog.y_cal, method="uncorrected")
    # In their order they are what arrays have: numbers from 0, and no names.
    from_zero = pandas.DataFrame(fog.probs_cal, columns=[f"p_{place}" for place in range(10)])
    assert ek.calibrate(from_zero, fog.y_cal, method="uncorrected").classes_ is None


def test_classes_in_another_order_than_the_columns_are_refused(fog):
    table = pandas.DataFrame(fog.probs_cal, columns=NAMES)
    with pytest.raises(ek.InvalidInputError, match="classes has boot in another place; put the names in the order of the columns"):
        ek.calibrate(table, fog.y_cal, method="uncorrected", classes=NAMES[::-1])
    assert ek.calibrate(table, fog.y_cal, method="uncorrected", classes=NAMES).classes_ == NAMES
    assert ek.calibrate(table, fog.y_cal, method="uncorrected", classes=[name.upper() for name in NAMES]).classes_[9] == "BOOT"


def test_yes_and_no_mean_what_they_say(fog):
    two = np.column_stack([fog.probs_cal[:, 0], 1 - fog.probs_cal[:, 0]])
    first = fog.y_cal == 0
    plain = ek.calibrate(two, np.where(first, 0, 1), method="uncorrected").threshold()
    table = pandas.DataFrame(two, columns=["yes", "no"])
    assert ek.calibrate(table, first, method="uncorrected").threshold() == plain
    assert ek.calibrate(table, np.where(first, "yes", "no"), method="uncorrected").threshold() == plain
    with pytest.raises(ek.InvalidInputError, match="y_cal holds numbers, and the classes are yes, no: 0 and 1 may mean either"):
        ek.calibrate(table, first.astype(int), method="uncorrected")
    with pytest.raises(ek.InvalidInputError, match="y_cal holds booleans, and the classes are cat, dog"):
        ek.calibrate(pandas.DataFrame(two, columns=["cat", "dog"]), first, method="uncorrected")
    named = ek.calibrate(table, first.astype(int), method="uncorrected", classes=["yes", "other"])
    assert named.classes_ == ["yes", "other"]


def test_rows_of_pandas_in_two_orders_are_refused(fog):
    table, labels = pandas.DataFrame(fog.probs_cal, columns=NAMES), pandas.Series(fog.y_cal)
    plain = ek.calibrate(table, labels, method="uncorrected").threshold()
    moved = labels.sample(frac=1, random_state=1)
    with pytest.raises(ek.InvalidInputError, match="probs_cal and y_cal have the same index in another order"):
        ek.calibrate(table, moved, method="uncorrected")
    assert ek.calibrate(table, moved.loc[table.index], method="uncorrected").threshold() == plain
    # Another index says nothing of the order.
    assert ek.calibrate(table, labels.set_axis(labels.index + 7), method="uncorrected").threshold() == plain
    cal = ek.calibrate(table, labels, method="uncorrected")
    with pytest.raises(ek.InvalidInputError, match="probs and y have the same index in another order"):
        cal.evaluate(table, moved)


def test_a_stream_of_arrow_is_a_table(fog):
    arrow = pytest.importorskip("pyarrow")
    whole = arrow.table(columns(fog.probs_cal))
    expected = ek.calibrate(whole, fog.y_cal, method="uncorrected")
    stream = arrow.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=7))
    assert ek.calibrate(stream, fog.y_cal, method="uncorrected") == expected
