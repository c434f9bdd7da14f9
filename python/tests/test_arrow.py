"""Arrow in and out: columns are read where they lie, nulls are refused with their row, sets leave as lists."""

from __future__ import annotations

import numpy as np
import polars
import pyarrow
import pytest

import evenkeel as ek
from evenkeel import _evenkeel, _inputs


class ByArray:
    """Nothing but the array interface of a capsule."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self.data.__arrow_c_array__(requested_schema)


class ByStream:
    """Nothing but the stream interface of a capsule."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def lists(values, kind=pyarrow.list_):
    offsets = np.arange(0, values.size + 1, values.shape[1])
    of = pyarrow.LargeListArray if kind is pyarrow.large_list else pyarrow.ListArray
    offsets = pyarrow.array(offsets, pyarrow.int64() if kind is pyarrow.large_list else pyarrow.int32())
    return of.from_arrays(offsets, pyarrow.array(values.ravel()))


def fixed(values):
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(values.ravel()), values.shape[1])


#: Forms of a matrix, and whether they are read without a copy.
FORMS = {
    "list": (lists, True),
    "large list": (lambda values: lists(values, pyarrow.large_list), True),
    "fixed-size list": (fixed, True),
    "one chunk": (lambda values: pyarrow.chunked_array([lists(values)]), True),
    "slice of lists": (lambda values: lists(np.concatenate([values[:3], values, values[:2]]))[3:-2], True),
    "slice of fixed-size lists": (lambda values: fixed(np.concatenate([values[:3], values, values[:2]]))[3:-2], True),
    "table of lists": (lambda values: pyarrow.table({"p": lists(values)}), True),
    "record batch of lists": (lambda values: pyarrow.RecordBatch.from_arrays([lists(values)], names=["p"]), True),
    "array capsule": (lambda values: ByArray(lists(values)), True),
    "array capsule of a batch": (lambda values: ByArray(pyarrow.RecordBatch.from_arrays([lists(values)], names=["p"])), True),
    "stream capsule": (lambda values: ByStream(pyarrow.chunked_array([lists(values)])), True),
    "stream capsule of a table": (lambda values: ByStream(pyarrow.table({"p": lists(values)})), True),
    "chunks": (lambda values: pyarrow.chunked_array([lists(values[:3]), lists(values[3:])]), False),
    "columns": (lambda values: pyarrow.table({f"p{place}": column for place, column in enumerate(values.T.copy())}), False),
    "columns of a capsule": (
        lambda values: ByStream(pyarrow.table({f"p{place}": column for place, column in enumerate(values.T.copy())})), False),
    "polars lists": (lambda values: polars.Series(values.tolist(), dtype=polars.List(polars.Float64)), False),
    "polars arrays": (lambda values: polars.Series(values.astype(float)), False),
    "polars frame of lists": (lambda values: polars.DataFrame({"p": polars.Series(values.tolist())}), False),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_every_form_is_the_same_matrix(fog, form, kind):
    make, in_place = FORMS[form]
    values = np.ascontiguousarray(fog.probs_target[:40], dtype=kind)
    given = make(values)
    matrix = _inputs.matrix("probs", given)
    assert matrix.shape == values.shape and (matrix == values).all()
    if in_place:
        assert matrix.dtype == kind
        # Twice, so that a copy would lie in two places.
        assert _evenkeel.address(matrix) == _evenkeel.address(_inputs.matrix("probs", given))
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, "uncorrected")
    assert (cal.predict_set(given) == cal.predict_set(values)).all()


def test_nulls_and_lists_of_another_length_are_refused_with_their_row(fog):
    good = [[0.1] * 10] * 3
    cases = {
        "the list of row 2 is null": pyarrow.array([*good[:2], None, good[0]]),
        "a number in the list of row 1 is null": pyarrow.array([good[0], [*good[0][:-1], None]]),
        "that of row 2 9;": pyarrow.array([*good[:2], good[0][:-1]]),
    }
    for message, values in cases.items():
        for form in (values, pyarrow.chunked_array([values]), values.cast(pyarrow.large_list(pyarrow.float32())), ByArray(values)):
            with pytest.raises(ek.InvalidInputError, match=message) as caught:
                _inputs.matrix("probs", form)
            assert caught.value.row is not None
    with pytest.raises(ek.InvalidInputError, match="the list of row 1 is null"):
        _inputs.matrix("probs", pyarrow.array([good[0], None], pyarrow.list_(pyarrow.float64(), 10)))
    with pytest.raises(ek.InvalidInputError, match="probs: "):
        _inputs.matrix("probs", ByArray(pyarrow.array(["a", "b"])))


@pytest.mark.parametrize("options", [{}, {"score": "aps", "randomised": True}, {"method": "label-shift"}, {"method": "conditional"}])
def test_sets_as_lists_are_the_sets(fog, options):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, **{"method": "uncorrected", **options})
    probs = fog.probs_test[:50]
    members = np.asarray(cal.predict_set(probs, 0.05))
    made = cal.predict_set(probs, 0.05, format="labels")
    assert made.type == pyarrow.list_(pyarrow.int32())
    assert made.to_pylist() == [np.flatnonzero(row).tolist() for row in members]
    assert cal.predict_set(probs, 0.05, format="size").tolist() == members.sum(axis=1).tolist()
    # Rows that do not follow each other draw by their keys.
    order = np.random.default_rng(0).permutation(50)
    keyed = cal.predict_set(probs[order], 0.05, format="labels", keys=order).to_pylist()
    assert keyed == [made.to_pylist()[row] for row in order]


def test_sets_of_groups_as_lists(fog):
    groups = np.where(np.arange(300) % 3, "a", "b")
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, "uncorrected", groups_cal=groups, groups_target=groups)
    made = cal.predict_set(fog.probs_target, groups=groups, format="labels").to_pylist()
    assert made == cal.predict_set(fog.probs_target, groups=groups).to_labels()
    with pytest.raises(ek.EvenkeelError):
        cal.predict_set(fog.probs_target, groups=groups, format="labels", keys=np.arange(300))


def test_other_formats_and_keys_without_use_are_refused(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, "uncorrected")
    with pytest.raises(ek.InvalidParameterError, match="format is 'sets'"):
        cal.predict_set(fog.probs_test, format="sets")
    with pytest.raises(ek.InvalidParameterError, match="keys are for"):
        cal.predict_set(fog.probs_test, keys=np.arange(len(fog.probs_test)))
    with pytest.raises(ek.InvalidInputError, match="fewer keys than rows"):
        cal.predict_set(fog.probs_test, format="labels", keys=[1, 2])
    bad = fog.probs_test[:3].copy()
    bad[1, 1] = np.nan
    with pytest.raises(ek.InvalidInputError) as caught:
        cal.predict_set(bad)
    assert caught.value.row == 1


def test_tensors_and_runs_are_read(fog):
    """Ray keeps lists of equal length as tensors, and Arrow repeated values as runs."""
    values = np.ascontiguousarray(fog.probs_target[:6])
    tensors = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(values)
    for given in (tensors, pyarrow.chunked_array([tensors[:2], tensors[2:]]), pyarrow.table({"p": tensors})):
        assert (_inputs.matrix("probs", given) == values).all()
    runs = pyarrow.RunEndEncodedArray.from_arrays([2, 6], [7, 9])
    assert _inputs.vector("ratios", runs).tolist() == [7, 7, 9, 9, 9, 9]
    assert _inputs.group_codes("groups", pyarrow.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]))[1].tolist() == [0, 0, 1]
    plan = ek.FitJob(fog.probs_cal, fog.y_cal).plan()
    ids = pyarrow.RunEndEncodedArray.from_arrays([1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5])
    table = pyarrow.table({"id": ids, "probs": tensors})
    assert ek.partial(plan, 0, [table], key="id") == ek.partial(plan, 0, [(values, np.arange(6))])
