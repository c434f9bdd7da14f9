"""Arrow in and out: columns are read where they lie, by their offsets; sets leave as lists made in the compiled part.

Anything with `__arrow_c_array__` or `__arrow_c_stream__` is read, through pyarrow, which is not installed with this package: `pip
install pyarrow`. Data of pyarrow itself need nothing more.
"""

from __future__ import annotations

import sys
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from evenkeel import _evenkeel
from evenkeel._errors import EvenkeelError, InvalidInputError


def pyarrow(what: str) -> Any:
    """The package, or an error that says what it is needed for."""
    try:
        import pyarrow
    except ImportError:
        raise EvenkeelError(f"{what} needs pyarrow, which is not installed; pip install pyarrow") from None
    return pyarrow


def of(argument: str, values: Any) -> Optional[Any]:
    """The values as pyarrow has them, without a copy; None where they are not Arrow's, or NumPy reads them as well."""
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        return values if hasattr(values, "column_names") or hasattr(values, "null_count") else None
    capsule = hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    if not capsule or module == "pandas" or isinstance(values, np.ndarray):
        return None
    if module == "polars":
        # Plain columns of polars are NumPy arrays already; lists of it would become an object each.
        lists = any(str(kind).startswith(("List", "Array")) for kind in _kinds(values))
        if not lists or "pyarrow" not in sys.modules and not _installed():
            return None
    pa = pyarrow(f"{argument}: reading Arrow data of {module}")
    if hasattr(values, "__arrow_c_array__"):
        return _imported(argument, lambda: pa.array(values), lambda: pa.record_batch(values))
    return _imported(argument, lambda: pa.chunked_array(values), lambda: pa.table(values))


def _kinds(values: Any) -> list:
    """Types of the columns of a table or a column of polars."""
    return list(values.dtypes) if hasattr(values, "dtypes") else [getattr(values, "dtype", "")]


def _installed() -> bool:
    import importlib.util

    return importlib.util.find_spec("pyarrow") is not None


def _imported(argument: str, *ways: Any) -> Any:
    """A column or a table: which of the two a capsule holds only reading it tells."""
    reason: Optional[Exception] = None
    for way in reversed(ways):  # Tables first: a table read as a column is a column of structs.
        try:
            return way()
        except (TypeError, ValueError) as error:  # pyarrow's errors are these too.
            reason = error
    raise InvalidInputError(f"{argument}: its Arrow data cannot be read ({reason}); give a column of numbers or of lists of numbers")


def as_numpy(argument: str, values: Any) -> np.ndarray:
    """A table of numbers, a column of numbers, or a column of lists of equal length; read in place but for several chunks."""
    if hasattr(values, "column_names"):  # Table, RecordBatch
        columns = [as_numpy(argument, column) for column in values.columns]
        if len(columns) == 1:
            return columns[0]
        return side_by_side(columns) if columns else np.empty((0, 0))
    values = _plain(values)
    if not hasattr(values.type, "value_type"):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    rows = len(values)
    if values.null_count:
        row = first_null(values)
        raise at_row(row, f"{argument}: the list of row {row} is null; remove the point or impute finite values")
    if rows == 0:
        return np.empty((0, 0))
    width = _width(argument, values)
    flat = values.flatten()  # The numbers of these rows and no others, where they lie.
    if flat.null_count:
        row = first_null(flat) // max(width, 1)
        raise at_row(row, f"{argument}: a number in the list of row {row} is null; remove the point or impute a finite value")
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(rows, width)


def _plain(column: Any) -> Any:
    """A column as one array whose values lie there themselves: chunks put together, codes and runs written out, and of tensors and other
    types with a name of their own what they are stored as (Ray's tensors of one dimension are lists)."""
    if hasattr(column, "combine_chunks"):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    while True:
        if hasattr(column, "dictionary_decode"):
            column = column.dictionary_decode()
        elif getattr(column, "storage", None) is not None:
            column = column.storage
        elif hasattr(column.type, "run_end_type"):
            import pyarrow.compute

            column = pyarrow.compute.run_end_decode(column)
        else:
            return column


#: Rows that are written at a time: so many lie in the cache for all columns.
_ROWS_AT_A_TIME = 4096


def side_by_side(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Vectors as the columns of a matrix; a few thousand rows at a time, which takes half the time of `np.column_stack`."""
    if any(column.ndim != 1 or column.dtype.kind not in "fiub" or len(column) != len(columns[0]) for column in columns):
        return np.column_stack(columns)
    rows = len(columns[0])
    matrix = np.empty((rows, len(columns)), dtype=np.result_type(*columns))
    for start in range(0, rows, _ROWS_AT_A_TIME):
        block = matrix[start : start + _ROWS_AT_A_TIME]
        for place, column in enumerate(columns):
            block[:, place] = column[start : start + _ROWS_AT_A_TIME]
    return matrix


def _width(argument: str, values: Any) -> int:
    """Entries of each list, which must be as many in all."""
    fixed = getattr(values.type, "list_size", None)
    if fixed is not None:
        return int(fixed)
    if hasattr(values, "sizes"):  # list_view
        widths = np.asarray(values.sizes)
    else:
        widths = np.diff(np.asarray(values.offsets))
    first = int(widths[0])
    if (widths != first).any():
        row = int(np.flatnonzero(widths != first)[0])
        raise at_row(
            row,
            f"{argument}: its lists have {int(widths.min())} to {int(widths.max())} entries, the first {first} and that of row {row} "
            f"{int(widths[row])}; give rows of equal length",
        )
    return first


def first_null(values: Any) -> int:
    """Position of the first null of an Arrow array."""
    return int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])


def at_row(row: int, message: str) -> InvalidInputError:
    """An error about a row, which callers that know it by another name can name."""
    error = InvalidInputError(message)
    error.row = row
    return error


def list_array(offsets: np.ndarray, labels: np.ndarray) -> Any:
    """An Arrow list array over offsets and labels, without a copy."""
    pa = pyarrow('format="labels"')
    of_lists = pa.ListArray if offsets.dtype == np.int32 else pa.LargeListArray
    return of_lists.from_arrays(pa.array(offsets), pa.array(labels))


def keys(argument: str, values: Any) -> np.ndarray:
    """Unique ids of rows as the compiled part takes them.

    Whole numbers are the keys themselves, negative ones as 2**64 less; of texts the key is the first eight bytes of their SHA-256, low
    byte first.
    """
    column = of(argument, values)
    if column is not None:
        column = _plain(column)
        if column.null_count:
            row = first_null(column)
            raise at_row(row, f"{argument}: the key of row {row} is null; every row needs a unique one")
        if str(column.type) in ("string", "large_string", "string_view"):
            return _of_arrow_texts(column)
        values = column.to_numpy(zero_copy_only=False)
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidInputError(f"{argument}: keys are one per row, a vector")
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array.astype(np.int64 if array.dtype.kind == "i" else np.uint64, copy=False)).view(np.uint64)
    given = array.tolist()
    if array.dtype.kind in "OUST" and all(isinstance(key, str) for key in given):
        texts = [key.encode() for key in given]
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        return _evenkeel.keys_of_texts(offsets, np.frombuffer(b"".join(texts), np.uint8))
    whole = [isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -(2**63) <= key < 2**64 for key in given]
    if given and all(whole):
        return np.array([int(key) % 2**64 for key in given], dtype=np.uint64)
    if not given:
        raise InvalidInputError(f"{argument}: it holds elements of type {array.dtype}; keys are whole numbers or texts")
    # The first that is neither, or the first that is not what the first one is.
    neither = next((row for row, key in enumerate(given) if not whole[row] and not isinstance(key, str)), None)
    if neither is None:
        row = next(row for row in range(len(given)) if whole[row] != whole[0])
        raise at_row(row, f"{argument}: the key of row {row} is {given[row]!r}, that of row 0 {given[0]!r}; give whole numbers alone, or texts")
    raise at_row(
        neither,
        f"{argument}: the key of row {neither} is {given[neither]!r}; keys are whole numbers or texts, a unique one for each row, and numbers have "
        "at most 64 bits",
    )


def codes(argument: str, column: Any) -> Tuple[list, np.ndarray]:
    """The different values of a column, and the place of its value there for each row."""
    if hasattr(column, "combine_chunks"):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not hasattr(column, "dictionary_decode"):
        column = _plain(column)
    if column.null_count:
        row = first_null(column)
        raise at_row(row, f"{argument}: row {row} has no group (null); give every row one")
    coded = column if hasattr(column, "dictionary_decode") else column.dictionary_encode()
    return coded.dictionary.to_pylist(), np.ascontiguousarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.uint32)


def _of_arrow_texts(column: Any) -> np.ndarray:
    pa = pyarrow("keys")
    column = column.cast(pa.large_string())
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64, count=len(column) + 1, offset=8 * column.offset)
    texts = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return _evenkeel.keys_of_texts(places, texts)
