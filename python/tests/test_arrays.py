"""Arrays go in without a copy where they can, and from any framework."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import evenkeel as ek
from evenkeel import _evenkeel, _inputs


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_compiled_part_reads_the_callers_memory(kind):
    array = np.full((1000, 10), 0.1, dtype=kind)
    assert _evenkeel.address(_inputs.matrix("probs", array)) == address(array)
    part = array[100:200]
    assert _evenkeel.address(_inputs.matrix("probs", part)) == address(part) == address(array) + 100 * 10 * array.itemsize


def test_what_is_not_contiguous_is_copied_once_and_gives_the_same(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
    expected = cal.predict_set(fog.probs_test)
    for same in (
        np.asfortranarray(fog.probs_test),
        np.repeat(fog.probs_test, 2, axis=0)[::2],
        np.repeat(fog.probs_test, 2, axis=1)[:, ::2],
        fog.probs_test.astype(">f4"),
        fog.probs_test[::-1][::-1],
    ):
        assert np.array_equal(cal.predict_set(same), expected)
    frozen = fog.probs_test.copy()
    frozen.flags.writeable = False
    assert np.array_equal(cal.predict_set(frozen), expected)


def test_predicting_takes_no_memory_for_the_probabilities():
    """Peak memory of 2 000 000 x 10 float64 (160 MB): the sets (20 MB) and little else on top."""
    script = textwrap.dedent("""
        import re
        import numpy as np, evenkeel as ek

        def peak():  # Not ru_maxrss: a child starts with its parent's.
            return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))

        probs = np.full((2_000_000, 10), 0.1)
        small = probs[:100]
        cal = ek.calibrate(small, np.zeros(100, dtype=int), small, method="uncorrected")
        before = peak()
        assert cal.predict_set(probs).shape == probs.shape
        cal.evaluate(probs, np.zeros(len(probs), dtype=int))
        ek.check(small, np.zeros(100, dtype=int), probs, permutations=19)
        ek.calibrate(small, np.zeros(100, dtype=int), probs, method="ot", steps=5)
        print(peak() - before)
    """)
    grown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    # A check keeps up to two million logits for its readings, beside the probabilities of the laws.
    assert 15e6 < int(grown) * 1024 < 160e6, f"{int(grown) // 1024} MB on top of the 160 MB of the caller"


class WithArray:
    """A stand-in for any framework that knows `__array__`."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class WithDlpack:
    """A stand-in for any framework that knows DLPack and nothing else."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **keywords):
        return self.values.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Tensor:
    """Behaves as a torch tensor that wants gradients: no array before it is detached."""

    def __init__(self, values, wants_gradients=True):
        self.values, self.wants_gradients = values, wants_gradients

    def detach(self):
        return Tensor(self.values, wants_gradients=False)

    def __dlpack__(self, **keywords):
        if self.wants_gradients:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        if self.wants_gradients:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.values, dtype=dtype)


class HalfTensor(Tensor):
    """Behaves as a torch tensor of bfloat16, which NumPy lacks."""

    def __dlpack__(self, **keywords):
        raise BufferError("Unsupported dtype bfloat16")

    def detach(self):
        return HalfTensor(self.values, wants_gradients=False)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self):
        return self.values


FRAMEWORKS = {
    "list": lambda values: values.tolist(),
    "pandas": pandas.DataFrame,
    "pandas nullable": lambda values: pandas.DataFrame(values).astype("Float32" if values.dtype == np.float32 else "Float64"),
    "polars": lambda values: polars.DataFrame(values, schema=[f"p{column}" for column in range(values.shape[1])]),
    "polars list column": lambda values: polars.Series(values.tolist(), dtype=polars.List(polars.Float32)),
    "polars array column": lambda values: polars.Series(values.tolist(), dtype=polars.Array(polars.Float32, values.shape[1])),
    "pandas list column": lambda values: pandas.Series(list(values)),
    "pandas table of lists": lambda values: pandas.DataFrame({"probs": list(values)}),
    "polars table of lists": lambda values: polars.DataFrame({"probs": values.tolist()}),
    "polars table of arrays": lambda values: polars.DataFrame({"probs": values}),
    "arrow table of lists": lambda values: pyarrow.table({"probs": values.tolist()}),
    "arrow fixed-size lists": lambda values: pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(values.ravel()), values.shape[1]),
    "arrow chunked lists": lambda values: pyarrow.chunked_array(
        [pyarrow.array(part.tolist(), pyarrow.list_(pyarrow.float32())) for part in (values[:7], values[7:])]
    ),
    "arrow table": lambda values: pyarrow.table({f"p{column}": values[:, column] for column in range(values.shape[1])}),
    "__array__": WithArray,
    "DLPack": WithDlpack,
    "torch with gradients": Tensor,
    "torch bfloat16": HalfTensor,
    "memoryview": memoryview,
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_framework_gives_the_same_sets(fog, name):
    make = FRAMEWORKS[name]
    expected = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=20)
    cal = ek.calibrate(make(fog.probs_cal), fog.y_cal, make(fog.probs_target), method="ot", steps=20)
    # A list holds Python floats: the same numbers as float64, and so the same scores.
    assert cal.threshold() == expected.threshold()
    assert np.array_equal(cal.predict_set(make(fog.probs_test[:50])), expected.predict_set(fog.probs_test[:50]))


NULLABLE = {"Float32": np.float32, "Float64": np.float64, "float[pyarrow]": np.float32, "double[pyarrow]": np.float64}


@pytest.mark.parametrize("kind", NULLABLE)
def test_frames_of_nullable_numbers_are_numpys_and_say_where_one_is_missing(fog, kind):
    values = fog.probs_test[:600].astype(NULLABLE[kind])
    frame = pandas.DataFrame(values).astype(kind)
    read = _inputs.columns_or_matrix("probs", frame)
    assert read.dtype == values.dtype and np.array_equal(read, values)
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected")
    assert np.array_equal(cal.predict_set(frame), cal.predict_set(values))
    frame.iloc[500, 3] = pandas.NA
    with pytest.raises(ek.InvalidInputError, match=r"probs: probabilities\[row 500, column 3\] is NaN; remove the point"):
        cal.predict_set(frame)
    # Beside columns that cannot lack values, and alone.
    mixed = pandas.DataFrame(values).astype({3: kind})
    assert _inputs.matrix("probs", mixed).dtype == values.dtype and np.array_equal(_inputs.matrix("probs", mixed), values)
    assert np.isnan(_inputs.vector("weights", frame[[3]])[500]) and np.isnan(_inputs.vector("weights", frame[3])[500])


def test_nullable_whole_numbers_stay_whole_but_in_a_matrix():
    whole = pandas.DataFrame({"a": [0, 1], "b": [1, 0]}, dtype="Int64")
    for column in (whole["a"], whole[["a"]]):  # Objects in old releases of pandas.
        assert all(isinstance(value, int) for value in _inputs.array_of("y", column).tolist())
    assert _inputs.groups("groups", whole["a"]) == ["0", "1"]
    assert np.array_equal(_inputs.matrix("probs", whole), [[0, 1], [1, 0]])
    whole.iloc[1, 0] = pandas.NA
    assert np.array_equal(_inputs.matrix("probs", whole), [[0, 1], [np.nan, 0]], equal_nan=True)
    assert np.array_equal(_inputs.labels("y", whole["a"], "probs"), [0, np.nan], equal_nan=True)
    for missing in (whole["a"], pandas.Series([True, None], dtype="boolean"), pandas.Series([1, pandas.NA], dtype=object)):
        with pytest.raises(ek.InvalidInputError, match=r"row 1 has no group"):
            _inputs.groups("groups", missing)


def test_dlpack_is_not_copied():
    array = np.full((100, 10), 0.1, dtype=np.float32)
    assert _evenkeel.address(_inputs.matrix("probs", WithDlpack(array))) == address(array)
    assert _evenkeel.address(_inputs.matrix("probs", Tensor(array))) == address(array)


@pytest.mark.parametrize(
    "make",
    [list, pandas.Series, polars.Series, pyarrow.array, lambda y: y.astype(np.uint8), lambda y: y.astype(np.uint64),
     lambda y: y.astype(float), lambda y: y[:, np.newaxis], Tensor, lambda y: pandas.DataFrame({"y": y}),
     lambda y: polars.DataFrame({"y": y}), lambda y: pyarrow.table({"y": y}), lambda y: pyarrow.array(y).dictionary_encode()],
)  # fmt: skip
def test_labels_of_every_kind(fog, make):
    expected = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
    assert ek.calibrate(fog.probs_cal, make(fog.y_cal), fog.probs_target, method="uncorrected") == expected


def unaligned(array):
    """The same values at addresses no processor likes."""
    shifted = np.frombuffer(b"\0" + array.tobytes(), dtype=array.dtype, offset=1).reshape(array.shape)
    assert not shifted.flags.aligned and shifted.flags.c_contiguous
    return shifted


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_values_at_odd_addresses_are_copied(fog, kind):
    probs, target = fog.probs_cal.astype(kind), fog.probs_target.astype(kind)
    weights = np.linspace(1, 2, 300)
    expected = ek.calibrate(probs, fog.y_cal, target, method="fixed", weights_cal=weights)
    for labels in (fog.y_cal.astype(np.int64), fog.y_cal.astype(float)):
        cal = ek.calibrate(
            unaligned(probs), unaligned(labels), unaligned(target), method="fixed", weights_cal=unaligned(weights)
        )
        assert cal == expected
    assert np.array_equal(cal.predict_set(unaligned(probs)), expected.predict_set(probs))


def test_float16_and_integers_are_widened():
    probs = np.eye(4)[np.arange(40) % 4]
    labels = np.arange(40) % 4
    expected = ek.calibrate(probs, labels, probs, method="uncorrected").threshold()
    for kind in (np.float16, np.int8, np.uint32, bool, np.longdouble):
        assert ek.calibrate(probs.astype(kind), labels, probs.astype(kind), method="uncorrected").threshold() == expected


def test_results_own_their_memory(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=5)
    weights = cal.weights_
    weights[:] = 0
    assert cal.weights_.sum() == pytest.approx(1)
    sets = cal.predict_set(fog.probs_test)
    assert sets.dtype == bool and sets.flags.c_contiguous and sets.flags.writeable
