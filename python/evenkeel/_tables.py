"""Names of columns and classes: compared, never ignored.

pandas, polars and pyarrow tables name their columns. Where two tables of a call have names, they are matched by them; labels may be
words, by the names of the classes.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from evenkeel import _arrow, _inputs
from evenkeel._errors import InvalidInputError


class Table(NamedTuple):
    """A matrix, or columns that lie apart, and the names of the columns where they have names."""

    values: Any
    columns: Optional[List[str]]


def table(
    argument: str,
    values: Any,
    labels: Optional[Tuple[str, Any]] = None,
    read: Callable[[str, Any], Any] = _inputs.matrix,
) -> Table:
    """A matrix with the names of its columns; columns named 0, 1, 2, ... in any order are put in order.

    `labels` are those of its rows with their argument, for a message if the two were swapped. `read` makes the matrix.
    """
    values = _inputs.collected(values)
    columns = _columns(values)
    if labels is not None:
        _refuse_moved_rows(argument, values, *labels)
    _refuse_words(argument, values, columns)
    matrix = read(argument, values)
    if matrix.shape[1] == 1:
        if labels is not None and _inputs.array_of(*labels).ndim == 2:
            _inputs.labels(*labels, argument)  # Says so if it is them that have columns.
        raise InvalidInputError(
            f"{argument}: it has one number a row, and a column for each class is needed: for two classes "
            "np.column_stack([1 - p, p]), of logits np.column_stack([0 * z, z]), for a single row p.reshape(1, -1)"
        )
    if columns is None or len(columns) != matrix.shape[1] or len(columns) < 2:
        return Table(matrix, None)
    numbered = _places_by_number(argument, columns)
    return Table(matrix, columns) if numbered is None else Table(_taken(matrix, numbered), None)


def _places_by_number(argument: str, columns: Sequence[str]) -> Optional[List[int]]:
    """Where the columns 0, 1, 2, ... are, if they are called so; None for other names, an error for one that is there twice."""
    numbers = [str(place) for place in range(len(columns))]
    # The first of equal names, by walking back: a search for each name would take the square of their number.
    places = {name: place for place, name in reversed(list(enumerate(columns)))}
    if places.keys() == set(numbers):
        return [places[number] for number in numbers]
    twice = next((name for place, name in enumerate(columns) if places[name] != place), None)
    if twice is not None:
        # Taken for columns without names they would be taken in their order, and that may be another one.
        raise InvalidInputError(
            f"{argument}: two columns are called {twice!r}; give every class a column of its own name, or an array without names"
        )
    return None


def in_order(argument: str, given: Sequence[str], columns: Optional[Sequence[str]], other: str) -> List[str]:
    """Names of columns in the order in which `table` and `aligned` would put a table that has them."""
    if len(given) < 2:  # Of lists, maybe: no name of a class.
        return list(given)
    numbered = _places_by_number(argument, given)
    if numbered is not None:
        return [given[place] for place in numbered]
    if columns is None or list(columns) == list(given):
        return list(given)
    return [given[place] for place in _places_by_name(argument, given, columns, other)]


def _refuse_words(argument: str, values: Any, columns: Optional[List[str]]) -> None:
    """An error that names the columns which cannot be classes: ids, labels, dates."""
    if columns is None or len(columns) < 2:
        return
    kinds: Any = getattr(values, "dtypes", None)  # pandas, polars
    if kinds is None:
        kinds = getattr(getattr(values, "schema", None), "types", ())  # pyarrow
    words = ("str", "object", "category", "categorical", "enum", "date", "time", "duration", "large_string", "dictionary<values=string")
    kinds = list(kinds)
    may = {kind for kind in set(kinds) if str(kind).lower().startswith(words)}
    surely = [name for name, kind in zip(columns, kinds) if kind in may and _holds_words(values, name, columns)]
    if surely:
        raise InvalidInputError(
            f"{argument}: {_some(surely)} hold no numbers, and every column is taken for a class; give the columns of the classes alone"
        )


def _holds_words(values: Any, name: str, columns: List[str]) -> bool:
    """Whether a column that may hold anything holds something that is no number."""
    place = columns.index(name)
    column = values.iloc[:, place] if hasattr(values, "iloc") else values[place] if hasattr(values, "column_names") else values[:, place]
    cells = np.asarray(column)
    if cells.dtype.kind in "mM":
        return True
    try:
        cells.astype(float)
    except (TypeError, ValueError):
        return True
    return False


def _refuse_moved_rows(argument: str, values: Any, labels: str, y: Any) -> None:
    """An error for pandas objects with the same index in another order: by their positions every label would be that of another row."""
    one: Any = getattr(values, "index", None)
    two: Any = getattr(y, "index", None)
    if not (hasattr(one, "is_unique") and hasattr(two, "is_unique")) or len(one) != len(two) or one.equals(two):
        return
    if one.is_unique and two.is_unique and len(one.intersection(two)) == len(one):
        raise InvalidInputError(
            f"{argument} and {labels} have the same index in another order, and rows are matched by their position; put one in the order of "
            f"the other ({labels}.loc[{argument}.index]), or give arrays"
        )


def aligned(argument: str, given: Table, columns: Optional[Sequence[str]], other: str) -> Any:
    """The matrix with its columns in the order of `columns`, which `other` has; an error if they are not the same."""
    if columns is None or given.columns is None or list(columns) == given.columns:
        return given.values
    return _taken(given.values, _places_by_name(argument, given.columns, columns, other))


def _places_by_name(argument: str, given: Sequence[str], columns: Sequence[str], other: str) -> List[int]:
    """Where each of `columns` is among those given; an error if they are not the same."""
    places = {name: place for place, name in enumerate(given)}
    known = set(columns)
    missing = [name for name in columns if name not in places]
    surplus = [name for name in given if name not in known]
    if missing or surplus:
        found = [f"it has no column for {_some(missing)}"] if missing else []
        found += [f"{_some(surplus)} are not among the columns of {other}"] if surplus else []
        raise InvalidInputError(f"{argument}: {', and '.join(found)}; give the outputs of the same model")
    return [places[name] for name in columns]


def second_models(second: Any, columns: Optional[Sequence[str]], other: str) -> Tuple[list, list]:
    """Outputs of second models, as `_inputs.second_models` gives them, with their columns in the order of `columns`."""
    return _inputs.second_models(second, lambda name, values: aligned(name, table(name, values), columns, other))


def encoded(
    argument: str, y: Any, matrix: str, n_classes: int, classes: Any = None, columns: Optional[Sequence[str]] = None
) -> Tuple[np.ndarray, Optional[List[str]]]:
    """Labels as numbers of the classes, and the names of the classes where labels are words or names were given.

    Words are names out of `classes`, else of the columns, else as many different words as there are classes, which name them
    in sorted order.
    """
    named = _given_names(classes, n_classes)
    if named is not None and columns is not None:
        _refuse_another_order(named, columns, matrix)
    if named is None and columns is not None:
        named = _numbered(columns) or (list(columns) if _truths(columns) == [True, False] else None)
    given = _words(argument, y, named if named is not None else columns)
    if given is None and (named is None or not any(_means_number(name) for name in named)):
        numbers = _inputs.labels(argument, y, matrix)
        is_own = classes is None or (columns is not None and named == list(columns))
        if is_own and named is not None and _truths(named) == [True, False]:
            # Columns of yes and no in this order: 0 is the first of them, and the other by what it means.
            raise InvalidInputError(
                f"{argument} holds numbers, and the classes are {_some(named)}: 0 and 1 may mean either; give the labels as names or "
                "booleans, or name the classes in the order of the columns (classes=[...])"
            )
        # Numbers: also beside names that are words, which are then for what is shown.
        return numbers, named
    words = _inputs.labels(argument, y, matrix).tolist() if given is None else given
    if named is None:
        named = list(columns) if columns is not None else _distinct(argument, y, words, matrix, n_classes)
    return _looked_up(argument, words, named), named


def encoded_target(argument: str, values: Any, rows: int, names: Optional[Sequence[str]]) -> List[Tuple[int, int]]:
    """`(row, label)` of the labels known, which may be words where the classes have names; None and "" are unknown too."""
    if values is None or names is None:
        return _inputs.target_labels(argument, values, rows)
    place = {name: number for number, name in enumerate(names)}

    def number(row: Any, label: Any) -> Any:
        if label is None or (isinstance(label, str) and not label):
            return -1
        if isinstance(label, str):
            if label not in place:
                raise InvalidInputError(f"{argument}[{row}] is {label!r}, which names no class; the classes are {_some(names)}")
            return place[label]
        return label

    if hasattr(values, "items") and hasattr(values, "keys") and not hasattr(values, "to_numpy"):
        return _inputs.target_labels(argument, {row: number(row, label) for row, label in values.items()}, rows)
    words = _inputs.array_of(argument, values)
    if words.dtype.kind not in "OUST":
        return _inputs.target_labels(argument, values, rows)
    return _inputs.target_labels(argument, [number(row, label) for row, label in enumerate(words.tolist())], rows)


def _columns(values: Any) -> Optional[List[str]]:
    if isinstance(values, np.ndarray):
        return None
    found = getattr(values, "column_names", None)  # pyarrow
    if found is None and getattr(values, "ndim", 2) == 2:
        found = getattr(values, "columns", None)  # pandas, polars
    if found is None or not hasattr(found, "__iter__") or hasattr(values, "__next__"):
        return None
    return [str(name) for name in found]


def _taken(matrix: Any, places: List[int]) -> Any:
    if places == list(range(len(places))):
        return matrix
    return matrix.taken(places) if isinstance(matrix, _inputs.Columns) else np.ascontiguousarray(matrix[:, places])


def _given_names(classes: Any, n_classes: int) -> Optional[List[str]]:
    if classes is None:
        return None
    names = [_key(name) for name in _inputs.array_of("classes", classes).tolist()]
    if len(names) != n_classes:
        raise InvalidInputError(f"classes: {len(names)} names, but there are {n_classes} classes; give one for each column")
    if len(set(names)) != len(names) or not all(names):
        raise InvalidInputError("classes: every class needs a name of its own")
    return names


def _refuse_another_order(named: Sequence[str], columns: Sequence[str], matrix: str) -> None:
    """An error for names that are those of the columns, in another order."""
    moved = next((name for place, name in enumerate(named) if name in columns and columns[place] != name), None)
    if moved is not None:
        raise InvalidInputError(
            f"classes: the columns of {matrix} are {_some(columns)}, and classes has {moved} in another place; put the names in the order "
            "of the columns, or leave classes out"
        )


def _means_number(name: str) -> bool:
    return name.lstrip("-").isdigit()


def _numbered(columns: Sequence[str]) -> Optional[List[str]]:
    """The numbers of columns p_1, p_2, ..., unless these number the columns in their order: a label means the same either way then.

    Columns named 1, 2, 3: the label 1 is the class of the column 1.
    """
    stem = columns[0].rstrip("0123456789")
    numbers = [name[len(stem) :] for name in columns]
    if not all(name.startswith(stem) and number.isdigit() for name, number in zip(columns, numbers)):
        return None
    if any(name.rstrip("0123456789") != stem for name in columns):
        return None
    if len({int(number) for number in numbers}) != len(numbers):
        return None
    in_order = [int(number) for number in numbers] == list(range(len(numbers)))
    return None if stem and in_order else [str(int(number)) for number in numbers]


_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "positive", "pos"), True),
    **dict.fromkeys(("false", "f", "no", "n", "negative", "neg"), False),
}


def _truths(names: Sequence[str]) -> Optional[List[bool]]:
    """What two classes mean that are the answers to a question, in their order; None where they are not."""
    found = [_TRUTHS.get(name.strip().lower()) for name in names]
    return [one for one in found if one is not None] if sorted(found, key=str) == [False, True] else None


def _words(argument: str, y: Any, names: Optional[Sequence[str]]) -> Optional[List[Any]]:
    """The labels if they are words; None if they are numbers. True and False are words where classes are called so."""
    array = _inputs.array_of(argument, y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    values = array.tolist() if array.ndim == 1 else []
    is_boolean = array.dtype.kind == "b" or (
        array.dtype.kind == "O" and len(values) > 0 and all(isinstance(value, (bool, np.bool_)) for value in values)
    )
    if array.ndim == 1 and is_boolean and names is not None:
        truths = _truths(names)
        if truths is not None:
            return [names[truths.index(bool(label))] for label in values]
        if set(names) != {"0", "1"}:
            # A boolean is no more the first column than the second.
            raise InvalidInputError(
                f"{argument} holds booleans, and the classes are {_some(names)}; give the labels as these names, or as integers from 0 in "
                "the order of the columns"
            )
        return [str(int(label)) for label in values]
    if array.ndim != 1 or array.dtype.kind not in "OUST":
        return None
    if array.dtype.kind == "O" and not any(isinstance(word, (str, bytes)) for word in values):
        return None
    return values


def are_words(argument: str, y: Any) -> bool:
    """Whether labels are names of classes, and not numbers."""
    return _words(argument, y, None) is not None


def _distinct(argument: str, y: Any, words: Sequence[Any], matrix: str, n_classes: int) -> List[str]:
    categories = getattr(getattr(y, "cat", y), "categories", None)  # pandas: a class that does not occur is one all the same
    found = sorted({_key(word) for word in (words if categories is None else categories)})
    if len(found) != n_classes:
        found = sorted({_key(word) for word in words})
    if len(found) != n_classes:
        raise InvalidInputError(
            f"{argument} names {len(found)} classes ({_some(found)}) but {matrix} has {n_classes} columns; name the classes in the "
            "order of the columns (classes=[...])"
        )
    return found


def _looked_up(argument: str, words: Sequence[Any], names: Sequence[str]) -> np.ndarray:
    place = {name: number for number, name in enumerate(names)}
    found = np.empty(len(words), dtype=np.int64)
    for row, word in enumerate(words):
        # None is no label, also where a class is called so.
        number = None if word is None else place.get(_key(word))
        if number is None:
            raise _arrow.at_row(
                row,
                f"{argument}[{row}] is {word!r}, which names no class; the classes are {_some(names)}: remove the row, or give its label",
            )
        found[row] = number
    return found


def _key(word: Any) -> str:
    """A label as it is written: 3.0 and 3 are the same class."""
    if isinstance(word, bytes):
        return word.decode("utf-8", "replace")
    if isinstance(word, float) and word.is_integer():
        return str(int(word))
    return str(word)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(list(names)[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"
