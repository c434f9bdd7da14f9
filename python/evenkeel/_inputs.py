"""Whatever frameworks call an array -> what the compiled part takes.

A contiguous NumPy array of float32 or float64 goes through untouched: the compiled part reads the very same memory.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from evenkeel import _arrow
from evenkeel._errors import InvalidInputError, InvalidParameterError


def matrix(argument: str, values: Any) -> np.ndarray:
    """A C-contiguous float32 or float64 matrix; `argument` names it in errors."""
    array = _as_numpy(argument, values)
    if array.ndim == 1 and array.dtype == object:
        array = _stacked(argument, array)
    if array.ndim == 1 and array.size:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise InvalidInputError(
            f"{argument}: it has shape {_shape(array)}; a matrix (rows, columns) or a vector (rows,) is needed, reshape it"
        )
    return _in_order(_number_type(argument, array))


class Columns(list):
    """The columns of a frame, contiguous vectors of one type and length, where they lie apart: the compiled part turns them round as it reads."""

    @property
    def shape(self) -> Tuple[int, int]:
        return len(self[0]), len(self)

    def taken(self, places: Sequence[int]) -> "Columns":
        """These columns, in this order."""
        return Columns(self[place] for place in places)


#: Frames of fewer cells are copied: telling columns apart would take longer.
_LEAST_CELLS_OF_COLUMNS = 4096


def columns_or_matrix(argument: str, values: Any) -> Union[np.ndarray, Columns]:
    """`matrix`, or the columns of a frame of pandas or polars that need no copy."""
    found = _columns_apart(values)
    return matrix(argument, values) if found is None else found


def _columns_apart(values: Any) -> Optional[Columns]:
    """The columns of a frame or of an array in Fortran's order; None where they are not plain floats of one type, or few."""
    if isinstance(values, np.ma.MaskedArray):
        return None
    if isinstance(values, np.ndarray):
        return _columns_of(np.asarray(values))
    shape: Any = getattr(values, "shape", ())
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 2 or shape[0] * shape[1] < _LEAST_CELLS_OF_COLUMNS:
        return None
    kinds = {str(kind) for kind in set(getattr(values, "dtypes", ()))}
    package = type(values).__module__.partition(".")[0]
    if package == "pandas" and kinds in ({"float32"}, {"float64"}):
        return _columns_of(np.asarray(values.to_numpy()))
    if package == "polars" and kinds in ({"Float32"}, {"Float64"}):
        try:
            return Columns(column.to_numpy(allow_copy=False) for column in values.get_columns())
        except (RuntimeError, ValueError, TypeError):  # In several pieces, or with nulls.
            return None
    return None


def _columns_of(array: np.ndarray) -> Optional[Columns]:
    """The columns of an array in Fortran's order."""
    apart = array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous
    plain = array.dtype in (np.float32, np.float64) and array.dtype.isnative and array.flags.aligned
    if not (apart and plain) or array.shape[1] < 2 or array.size < _LEAST_CELLS_OF_COLUMNS:
        return None
    return Columns(array.T)


def vector(argument: str, values: Any) -> np.ndarray:
    """A contiguous float64 vector."""
    array = _as_numpy(argument, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidInputError(f"{argument}: it has shape {_shape(array)}; a vector (rows,) is needed, reshape it")
    return _in_order(_number_type(argument, array).astype(np.float64, copy=False))


def labels(argument: str, values: Any, matrix_argument: str) -> np.ndarray:
    """An int64 or float64 vector of labels; `matrix_argument` names the matrix whose rows they label."""
    array = _as_numpy(argument, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2:
        raise InvalidInputError(
            f"{argument} has {array.shape[1]} columns, but labels are one integer per row; "
            f"were {matrix_argument} and {argument} swapped?"
        )
    if array.ndim != 1:
        raise InvalidInputError(f"{argument}: it has shape {_shape(array)}; a vector (rows,) is needed, reshape it")
    if array.dtype.kind in "iub" and array.dtype != np.uint64:
        return _in_order(array.astype(np.int64, copy=False))
    try:
        return _in_order(_number_type(argument, array).astype(np.float64, copy=False))
    except InvalidInputError:
        found = _short(array.tolist()[0]) if array.size else f"elements of type '{array.dtype.str}'"
        raise InvalidInputError(
            f"{argument}: it holds {found}, which is no label; labels are integers from 0, booleans, or names of the classes "
            "(classes=[...])"
        ) from None


#: What a keyword has that was not given.
UNSET: Any = object()


def target_labels(argument: str, values: Any, rows: int) -> List[Tuple[int, int]]:
    """`(row, label)` of the labels known: of a vector with -1 or NaN where unknown, or of a dict from row to label."""
    if values is None:
        return []
    if isinstance(values, Mapping):
        pairs = list(values.items())
        known = labels(argument, [label for _, label in pairs], "probs_target") if pairs else np.zeros(0, np.int64)
        places = [row for row, _ in pairs]
    else:
        known = labels(argument, values, "probs_target")
        if len(known) != rows:
            raise InvalidInputError(
                f"{argument} has {len(known)} labels but probs_target has {rows} rows; give one for each, -1 where unknown, "
                "or a dict from row to label"
            )
        places = list(range(rows))
    found = []
    for row, label in zip(places, known):
        if np.isnan(label) or label == -1:
            continue
        if int(label) != label or label < 0:
            raise InvalidInputError(f"{argument}[{row}] is {label}; labels are integers from 0, -1 where unknown")
        if isinstance(row, bool) or int(row) != row or row < 0:
            raise InvalidInputError(f"{argument}: {row!r} is no row; rows are integers from 0")
        found.append((int(row), int(label)))
    return found


def groups(argument: str, values: Any) -> List[str]:
    """Names of groups, one per row: texts, categories, booleans or integers."""
    array = _as_numpy(argument, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidInputError(f"{argument}: it has shape {_shape(array)}; groups are one per row")
    if array.dtype.kind == "f":
        gaps = np.flatnonzero(np.isnan(array))
        if gaps.size:
            raise _arrow.at_row(int(gaps[0]), f"{argument}: row {gaps[0]} has no group (NaN); give every row one")
        raise InvalidInputError(f"{argument}: it holds floats; groups are texts or integers (array.astype(int))")
    names = []
    for row, value in enumerate(array.tolist()):
        # pd.NA is neither equal to itself nor not.
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise _arrow.at_row(row, f"{argument}: row {row} has no group ({value}); give every row one")
        if not isinstance(value, (str, int)):
            raise _arrow.at_row(row, f"{argument}: row {row} is {_short(value)}; groups are texts or integers")
        names.append(str(value))
    return names


def group_codes(argument: str, values: Any) -> Tuple[List[str], np.ndarray]:
    """Names of groups, and the place of its name there for each row: a name is looked at once, however many rows it has."""
    column = _arrow.of(argument, values)
    if column is None:
        names, codes = np.unique(np.asarray(groups(argument, values), dtype=object), return_inverse=True)
        return [str(name) for name in names], np.ascontiguousarray(codes.reshape(-1), dtype=np.uint32)
    found, codes = _arrow.codes(argument, column)
    return groups(argument, found) if found else [], codes


def array_of(argument: str, values: Any) -> np.ndarray:
    """Any array as NumPy's, whatever it holds."""
    return _as_numpy(argument, values)


def _in_order(array: np.ndarray) -> np.ndarray:
    """Values one after the other at addresses a processor reads; copied only if they are not."""
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def seed(random_state: Any) -> int:
    """A seed between 0 and 2**64 - 1; `None` draws one, generators give their next number."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**63 - 1, dtype=np.int64))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    try:
        number = operator.index(random_state)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise InvalidParameterError(f"random_state is {_short(random_state)}; it must be a whole number from 0 to 2**64 - 1")
    return number


def collected(values: Any) -> Any:
    """A table of polars that was not computed yet, or one of Arrow that was not read yet, as one that was; anything else as it is."""
    if type(values).__name__ == "LazyFrame" and hasattr(values, "collect"):
        return values.collect()
    if type(values).__name__ == "RecordBatchReader" and hasattr(values, "read_all"):
        return values.read_all()
    return values


def _as_numpy(argument: str, values: Any) -> np.ndarray:
    values = collected(values)
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.getmaskarray(values).any():
            row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
            raise InvalidInputError(f"{argument}: row {row} is masked; remove the point or impute a finite value")
        return np.asarray(values.data)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    column = _arrow.of(argument, values)
    if column is not None:
        return _arrow.as_numpy(argument, column)
    if hasattr(values, "to_numpy"):  # pandas, polars
        values = _lone_column(values)
        floats = _floats_of_nullable(values)
        return np.asarray(values.to_numpy() if floats is None else values.to_numpy(dtype=floats, na_value=np.nan))
    if hasattr(values, "detach"):  # torch: a tensor that wants gradients has no array of its own
        values = values.detach()
        if getattr(getattr(values, "device", None), "type", "cpu") != "cpu":
            values = values.cpu()
    if hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            pass  # Another device or a type NumPy lacks, such as bfloat16: __array__ may know a way.
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        if hasattr(values, "float"):  # torch.bfloat16
            return np.asarray(values.float())
        raise InvalidInputError(f"{argument}: cannot be made an array ({error}); give rows of equal length") from None


def _lone_column(values: Any) -> Any:
    """The column of a table that has but one, which may hold lists; other tables and columns as they are."""
    if getattr(values, "ndim", 2) != 2 or len(getattr(values, "columns", ())) != 1:
        return values
    return values.iloc[:, 0] if hasattr(values, "iloc") else values.to_series(0)


def _floats_of_nullable(values: Any) -> Optional[np.dtype]:
    """The floats that hold the numbers of a pandas frame whose types know `pd.NA`, which to_numpy makes objects; None for all others.

    A column alone of whole numbers or booleans stays whole, if none is missing: it may be labels or groups.
    """
    if type(values).__module__.partition(".")[0] != "pandas":
        return None
    frame = getattr(values, "ndim", 1) == 2
    kinds = set(values.dtypes) if frame else {getattr(values, "dtype", None)}
    if all(isinstance(kind, np.dtype) for kind in kinds):
        return None
    numbers: List[Any] = [kind if isinstance(kind, np.dtype) else getattr(kind, "numpy_dtype", None) for kind in kinds]
    if any(kind is None or kind.kind not in "fiub" for kind in numbers):
        return None
    if all(kind.kind == "f" for kind in numbers):
        return np.result_type(*numbers)
    return np.dtype(np.float64) if frame or values.isna().any() else None


def _stacked(argument: str, array: np.ndarray) -> np.ndarray:
    """A column of lists, as polars and pandas keep them."""
    if not all(hasattr(item, "__len__") and not isinstance(item, (str, bytes)) for item in array):
        return array.reshape(-1, 1)
    widths = {len(item) for item in array}
    if len(widths) > 1:
        raise InvalidInputError(f"{argument}: its rows have {min(widths)} to {max(widths)} entries; give rows of equal length")
    return np.stack([np.asarray(item) for item in array]) if array.size else np.empty((0, 0))


def _number_type(argument: str, array: np.ndarray) -> np.ndarray:
    kind, native = array.dtype.kind, array.dtype.newbyteorder("=")
    if kind == "f" and array.dtype.itemsize in (4, 8):
        return array.astype(native, copy=False)
    if kind == "f":
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    if kind in "iub":
        return array.astype(np.float64)
    if kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"{argument}: it holds Python objects that are not numbers; give float16/32/64, integers or booleans"
            ) from None
    if kind == "V":
        raise InvalidInputError(f"{argument}: it holds records with several fields; give one plain array of numbers")
    raise InvalidInputError(
        f"{argument}: elements of type '{array.dtype.str}' cannot be read; give float16/32/64, integers or booleans"
    )


def _shape(array: np.ndarray) -> str:
    return "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"


def number(argument: str, value: Any) -> float:
    """A setting that is a number; whether it is in its range the core says."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(f"{argument} is {_short(value)}; it must be a number") from None


def flag(argument: str, value: Any) -> bool:
    """A setting that is True or False; words such as "no" would count as True."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidParameterError(f"{argument} is {_short(value)}; it must be True or False")


def kind(logits: Any) -> str:
    """What the numbers of matrices are, in a word of the compiled part."""
    if isinstance(logits, str) and logits == "force":
        return "force"
    if isinstance(logits, (bool, np.bool_)):
        return "logits" if logits else "probabilities"
    raise InvalidParameterError(f"logits is {_short(logits)}; it must be True, False or 'force'")


def _short(value: Any) -> str:
    """A value in a message; Python refuses to spell integers of thousands of digits."""
    try:
        words = repr(value)
    except ValueError:
        return f"an {type(value).__name__} of too many digits"
    return words if len(words) <= 80 else f"{words[:77]}..."


def optional_number(argument: str, value: Any) -> Any:
    """The same, or None."""
    return None if value is None else number(argument, value)


def count(argument: str, value: Any) -> int:
    """A setting that is a whole number from 0."""
    try:
        # True would count as 1.
        whole = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = -1
    if not 0 <= whole < 2**63:
        raise InvalidParameterError(f"{argument} is {_short(value)}; it must be a whole number from 0")
    return whole


def side_inputs(where: str, features: Any = None, ratios: Any = None, weights: Any = None, second: Any = ()) -> dict:
    """What stands beside the probabilities of some points; `where` ends the names of the arguments ("_cal").

    `second` holds the outputs of second models as `second_models` gives them.
    """
    return {
        "features": None if features is None else _features(f"features{where}", features),
        "ratios": None if ratios is None else vector(f"ratios{where}", ratios),
        "weights": None if weights is None else vector(f"weights{where}", weights),
        "second": list(second),
    }


def second_models(second: Any, read: Callable[[str, Any], np.ndarray]) -> Tuple[list, list]:
    """Outputs of second models for the calibration rows and for the target rows, each with its name.

    `second` is a sequence of pairs, one for each model; None is none. `read` makes a matrix of each.
    """
    if second is None:
        return [], []
    try:
        pairs = [tuple(pair) for pair in second]
    except TypeError:
        pairs = [()]
    cal: List[Tuple[str, np.ndarray]] = []
    target: List[Tuple[str, np.ndarray]] = []
    for index, pair in enumerate(pairs):
        if len(pair) != 2:
            raise InvalidInputError(
                f"second[{index}] is no pair; give (probs_cal, probs_target) of every second model: second=[(cal_B, target_B)]"
            )
        for place, (values, into) in enumerate(zip(pair, (cal, target))):
            name = f"second[{index}][{place}]"
            into.append((name, _in_order(read(name, values).astype(np.float64, copy=False))))
    return cal, target


def _features(argument: str, values: Any) -> np.ndarray:
    return _in_order(matrix(argument, values).astype(np.float64, copy=False))
