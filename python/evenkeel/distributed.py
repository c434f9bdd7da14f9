"""Jobs whose rows lie with other processes: a plan goes out, states come back, on any engine.

    job = ek.FitJob(probs_cal, y_cal, method="auto", alpha=0.1, rows=m)
    while True:
        plan = job.plan()                                                      # bytes, to every worker
        states = [ek.partial(plan, number, batches, key="id") for ...]         # anywhere, in any order, as often as it takes
        for state in states:
            job.merge(state)
        if not job.end_pass():
            break
    cal = job.finish()                                                         # the bytes of `ek.calibrate` on the same rows

A state that comes twice, is damaged or belongs to another job is an error, and so is a table that changes between the passes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from evenkeel import _arrow, _errors, _evenkeel, _inputs, _tables
from evenkeel._errors import EvenkeelError, InvalidInputError, InvalidParameterError
from evenkeel._pages import Evaluation
from evenkeel.calibration import DEFAULT_METHOD, Calibration, OtherGroups, SmallGroups, _grouping, _of_kind
from evenkeel.grouped import GroupedCalibration
from evenkeel.shift import ShiftReport, report_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import CheckOptions, MethodName, MethodOptions

Columns = Union[str, Sequence[str]]

#: Column of keys where any will do: errors do not show them.
NO_KEY = "__evenkeel_row"


class _Job:
    """What a driver does, whatever the job."""

    _running: Any

    #: Whether a state was merged since the last pass ended, and whether all have ended.
    _merged: bool = False
    _over: bool = False

    #: The labels' ids that are texts, by their keys.
    _texts: Mapping[int, str] = {}

    def plan(self) -> bytes:
        """What workers need for this pass: give it to `evenkeel.partial`."""
        return self._running.plan()

    def merge(self, state: Any) -> None:
        """Takes the state of a part, or several from `evenkeel.merge_states`. One that is refused leaves the job as it was."""
        self._running.merge(_bytes("state", state))
        self._merged = True

    def _end_pass(self) -> bool:
        if not self._merged and not self._over:
            raise InvalidParameterError("no state was merged in this pass; merge those of all parts, then end it")
        try:
            again = self._running.end_pass()
        except EvenkeelError as error:
            raise _of_key(error, self._texts) from None
        self._merged, self._over = False, not again
        return again


class FitJob(_Job):
    """A calibration whose target rows lie elsewhere; see `evenkeel.distributed`.

    Parameters are those of `evenkeel.calibrate`. `rows` is the number of all target rows: with it the states of all parts together take
    hardly more room than those of one, and another number of rows is an error. `y_target` is a dict from key to label, `second_cal` the
    outputs of second models on the calibration rows; their outputs on target rows, features and groups are given to `evenkeel.partial`.

    With `per="class"`, methods that fit a label law read the rows once or twice more. With `groups_cal`, a first pass counts the rows of
    each group; it looks at keys and groups only.
    """

    def __init__(
        self,
        probs_cal: Any,
        y_cal: Any,
        method: MethodName = DEFAULT_METHOD,
        alpha: float = 0.1,
        random_state: Any = 0,
        rows: Optional[int] = None,
        *,
        logits: Union[bool, Literal["force"]] = False,
        features_cal: Any = None,
        ratios_cal: Any = None,
        weights_cal: Any = None,
        y_target: Optional[Mapping[Any, Any]] = None,
        second_cal: Sequence[Any] = (),
        per: Optional[str] = None,
        groups_cal: Any = None,
        small_groups: SmallGroups = "merge",
        other_groups: OtherGroups = "refuse",
        classes: Any = None,
        **options: Unpack[MethodOptions],
    ) -> None:
        if per not in (None, "class") and groups_cal is None:
            raise InvalidParameterError(f"per is {per!r}, which needs groups_cal, and groups in every batch; give them, or per=\"class\"")
        cal = _tables.table("probs_cal", probs_cal, ("y_cal", y_cal))
        if rows is not None:
            _refuse_all_rows_here(method, options, _inputs.count("rows", rows), cal.values.shape[1])
        labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", cal.values.shape[1], classes, cal.columns)
        second = _second("second_cal", second_cal, cal.columns, "probs_cal")
        self._running = _evenkeel.RunningFit.begin(
            cal.values,
            labels,
            _labels_by_key("y_target", y_target, names),
            _inputs.side_inputs("_cal", features_cal, ratios_cal, weights_cal, second=second),
            # Only which of them there will be is looked at: that the target rows come with the same.
            _inputs.side_inputs("_target", features_cal, second=second),
            # The groups of target rows come with these.
            _grouping(per, groups_cal, None if groups_cal is None else np.zeros(0, dtype="U1"), small_groups, other_groups),
            cal.columns,
            names,
            str(method),
            _inputs.number("alpha", alpha),
            _inputs.seed(random_state),
            _inputs.kind(logits),
            None if rows is None else _inputs.count("rows", rows),
            dict(options),
        )
        self._texts = _texts_by_key(y_target)
        self._columns = cal.columns
        self._made: Union[Calibration, GroupedCalibration, None] = None

    def end_pass(self) -> bool:
        """Ends a pass over the rows; True if all rows are needed once more, with a new plan."""
        return self._end_pass()

    @property
    def reads_groups_only(self) -> bool:
        """Whether this pass looks at keys and groups only: `evenkeel.partial` then needs no probabilities."""
        return self._running.reads_groups_only

    def finish(self) -> Any:
        """The calibration, once `end_pass` has given False: the bytes of `evenkeel.calibrate` on the same rows with the same keys."""
        if self._made is None:
            core = self._running.finish()
            said = core.class_warning
            self._made = _of_kind(core, [] if said is None else [said])
            _errors.warn_of(self._made.warnings_)
        return self._made


class CheckJob(_Job):
    """A check whose target rows lie elsewhere; see `evenkeel.distributed`.

    Parameters are those of `evenkeel.check`; `rows`, `y_target` and `second_cal` are as in `FitJob`. Rows with labels come to the driver,
    and so do those with the keys 0 to 255, of which the report shows examples: where keys are row numbers, those of one process.
    """

    def __init__(
        self,
        probs_cal: Any = None,
        y_cal: Any = None,
        alpha: Optional[float] = None,
        delta: float = 0.05,
        random_state: Any = _inputs.UNSET,
        rows: Optional[int] = None,
        *,
        calibration: Optional[Calibration] = None,
        y_target: Optional[Mapping[Any, Any]] = None,
        classes: Any = None,
        logits: Union[bool, Literal["force"]] = False,
        permutations: Optional[int] = None,
        second_cal: Sequence[Any] = (),
        **options: Unpack[CheckOptions],
    ) -> None:
        if calibration is not None and (probs_cal is not None or y_cal is not None):
            raise InvalidInputError("calibration keeps its own data; give it, or probs_cal and y_cal, not both")
        if calibration is None and (probs_cal is None or y_cal is None):
            raise InvalidInputError("give probs_cal and y_cal, or calibration")
        if calibration is None:
            cal = _tables.table("probs_cal", probs_cal, ("y_cal", y_cal))
            values, columns = cal.values, cal.columns
            labels, names = _tables.encoded("y_cal", y_cal, "probs_cal", values.shape[1], classes, columns)
        else:
            values, labels = None, None
            columns, names = calibration.columns_, calibration.classes_
        self._running = _evenkeel.RunningCheck.begin(
            values,
            labels,
            None if calibration is None else calibration._core,
            _labels_by_key("y_target", y_target, names),
            _inputs.side_inputs("_cal", second=_second("second_cal", second_cal, columns, "probs_cal" if calibration is None else "the calibration")),
            names,
            None if alpha is None else _inputs.number("alpha", alpha),
            _inputs.number("delta", delta),
            None if permutations is None else _inputs.count("permutations", permutations),
            None if random_state is _inputs.UNSET else _inputs.seed(random_state),
            _inputs.kind(logits),
            None if rows is None else _inputs.count("rows", rows),
            dict(options),
        )
        self._texts = _texts_by_key(y_target)
        self._columns = columns

    def end_pass(self) -> bool:
        """Ends a pass over the rows; True if all rows are needed once more, with a new plan."""
        return self._end_pass()

    def finish(self) -> ShiftReport:
        """The report, once `end_pass` has given False: that of `evenkeel.check` on the same rows with the same keys."""
        return report_of(*self._running.finish())


class EvaluateJob(_Job):
    """Coverage, sizes and gap of a calibration on labeled rows that lie elsewhere. One pass."""

    def __init__(self, calibration: Calibration, alpha: Optional[float] = None) -> None:
        if not isinstance(calibration, Calibration):
            raise InvalidParameterError(
                "EvaluateJob takes a calibration with one threshold; for one per class or group, predict sets and count, or evaluate "
                "on one machine"
            )
        self._running = _evenkeel.RunningEvaluation.begin(calibration._core, _inputs.optional_number("alpha", alpha))

    def again(self) -> "EvaluateJob":
        """The same job without any rows, for another group of rows: their states have the same plan."""
        job = EvaluateJob.__new__(EvaluateJob)
        job._running = self._running.again()
        return job

    def end_pass(self) -> bool:
        """False: rows are needed once."""
        return False

    def finish(self) -> Evaluation:
        """The evaluation, as `Calibration.evaluate` gives it for all rows together."""
        document, page = self._running.finish()
        evaluation = Evaluation(json.loads(document), page)
        _errors.warn_of(evaluation.get("warnings", ()))
        return evaluation


def partial(
    plan: Any,
    part_id: int,
    batches: Iterable[Any],
    *,
    probs: Columns = "probs",
    key: Optional[str] = None,
    label: Optional[str] = None,
    groups: Optional[str] = None,
    features: Optional[Columns] = None,
    ratios: Optional[str] = None,
    second: Sequence[Columns] = (),
    classes: Optional[Sequence[str]] = None,
    logits: Union[bool, Literal["force"]] = False,
) -> bytes:
    """What some of the rows leave behind, for `merge` of the job whose `plan` this is.

    Parameters
    ----------
    plan : bytes
        From the job's `plan()`; a new one for every pass.
    part_id : int
        A number of its own for each part of a pass, from 0. A part that is made again has the same number; two states of one number
        are refused.
    batches : iterable
        Arrow record batches or tables, `(probs, keys)` or `(probs, keys, labels)`, or dicts with the names `probs`, `keys`, `labels`,
        `groups`, `features`, `ratios` and `second`. They are read one after the other.
    probs : str or sequence of str
        In Arrow batches, the column of lists of probabilities, or one column for each class, in the order of the classes. The columns of an
        `EvaluateJob` are matched by name with those of the calibration, where it has names. A frame with names as `probs` of a dict or
        tuple is put in this order; where the plan does not know one it is needed.
    key : str
        In Arrow batches, the column of unique ids: whole numbers or texts. They choose samples and address random draws, so that two
        rows of one key are a mistake, and a hash of the row's content is no id. Where they are the numbers of the rows from 0 the result
        has the bytes of one process that reads the rows in that order. Of a text the key is the first eight bytes of its SHA-256.
    label : str
        The column of true labels, for an `EvaluateJob`. Where labels are words the calibration's names of classes or columns say which;
        where it has none, `classes` names the classes in the order of the columns.
    groups : str
        The column with the group of each row, texts or integers, for a `FitJob` with `groups_cal`.
    features, ratios, second : str or sequence of str
        Columns of features; the column of likelihood ratios, where the calibration of an `EvaluateJob` needs them; for each second model
        its column or columns of probabilities.
    logits : bool or "force"
        As in the job.
    """
    part = _evenkeel.RunningPart.begin(_bytes("plan", plan), _inputs.count("part_id", part_id))
    chosen = Chosen(probs, key, label, groups, features, ratios, list(second))
    return state_of(part, f"part {part_id}", batches, chosen, classes, logits)


def state_of(
    part: _evenkeel.RunningPart, where: str, batches: Any, chosen: "Chosen", classes: Optional[Sequence[str]], logits: Any
) -> bytes:
    """The state of a part once it has read its batches; `where` names it in errors."""
    kind = _inputs.kind(logits)
    for batch in _each(batches):
        try:
            if part.reads_groups_only:
                keys, groups = chosen.keys_and_groups(batch)
                if len(keys):
                    part.add_groups(_arrow.keys("key", keys), _inputs.group_codes("groups", groups))
                continue
            given = chosen.of(batch, part)
            if len(given.probs):
                _add(part, given, kind, classes)
        except EvenkeelError as error:
            raise located(error, where, chosen.keys_of(batch)) from None
    return part.state()


def merge_states(states: Iterable[Any], plan: Optional[bytes] = None) -> bytes:
    """Several states of one pass as one, for `merge` or another `merge_states`.

    With the `plan` of the pass they are added up and take the room of one; without it they are only put together.
    """
    return _evenkeel.merge_states([_bytes("state", state) for state in states], None if plan is None else _bytes("plan", plan))


class _Batch(NamedTuple):
    """Columns of a batch, not yet read."""

    probs: np.ndarray
    keys: Any
    labels: Any
    groups: Any
    features: Any
    ratios: Any
    second: List[Any]


class Chosen(NamedTuple):
    """Which columns of Arrow batches are what."""

    probs: Columns
    key: Optional[str]
    label: Optional[str]
    groups: Optional[str]
    features: Optional[Columns]
    ratios: Optional[str]
    second: List[Columns]

    def of(self, batch: Any, part: _evenkeel.RunningPart) -> _Batch:
        if isinstance(batch, Mapping):
            return self._of_dict(batch, part)
        if isinstance(batch, (tuple, list)):
            if len(batch) not in (2, 3):
                raise InvalidInputError("a batch is (probs, keys) or (probs, keys, labels), a dict, or an Arrow record batch")
            probs, keys, *labels = batch
            return _Batch(self._ordered(probs, part), keys, labels[0] if labels else None, None, None, None, [])
        table = self._table(batch)
        columns = self.probs if isinstance(self.probs, str) else _tables.in_order("probs", list(self.probs), part.columns, "the calibration")
        return _Batch(
            matrix_of(table, "probs", columns),
            column_of(table, "key", self.key or ""),
            None if self.label is None else column_of(table, "label", self.label),
            None if self.groups is None else column_of(table, "groups", self.groups),
            None if self.features is None else matrix_of(table, "features", self.features),
            None if self.ratios is None else column_of(table, "ratios", self.ratios),
            [matrix_of(table, f"second[{place}]", columns) for place, columns in enumerate(self.second)],
        )

    def _of_dict(self, batch: Mapping[Any, Any], part: _evenkeel.RunningPart) -> _Batch:
        known = ("probs", "keys", "labels", "groups", "features", "ratios", "second")
        unknown = [name for name in batch if name not in known]
        if unknown or "probs" not in batch or "keys" not in batch:
            raise InvalidInputError(
                f"a batch has the names {', '.join(map(str, batch))}; it needs probs and keys, and may have {', '.join(known[2:])}"
            )
        labels, groups, features, ratios = (batch.get(name) for name in ("labels", "groups", "features", "ratios"))
        second = list(batch.get("second", ()))
        return _Batch(self._ordered(batch["probs"], part), batch["keys"], labels, groups, features, ratios, second)

    def _ordered(self, probs: Any, part: _evenkeel.RunningPart) -> np.ndarray:
        """A matrix with the columns in the order of the classes; an error for names of which nobody says the order."""
        found = _tables.table("probs", probs)
        if part.columns is not None:
            return _tables.aligned("probs", found, part.columns, "the calibration")
        if not isinstance(self.probs, str):
            return _tables.aligned("probs", found, list(self.probs), "the argument probs")
        # The calibration of an evaluation is known to have no names; the plans of other jobs do not tell those of the calibration data.
        if found.columns is not None and not part.needs_labels:
            names = ", ".join(found.columns[:20])
            raise InvalidInputError(
                f"probs: its columns are called {names}, and the plan does not say in which order the calibration data have them; name them in "
                "that order (probs=[...] of partial), or give an array in it"
            )
        return found.values

    def keys_of(self, batch: Any) -> Any:
        """The keys of a batch that may be of no use otherwise; none where there are none to be found."""
        if isinstance(batch, Mapping):
            return batch.get("keys", ())
        if isinstance(batch, (tuple, list)):
            return batch[1] if len(batch) > 1 else ()
        table: Any = _arrow.of("batches", batch)
        return table.column(self.key) if self.key != NO_KEY and self.key in getattr(table, "column_names", ()) else ()

    def keys_and_groups(self, batch: Any) -> Tuple[Any, Any]:
        """What a pass that counts groups reads."""
        if isinstance(batch, Mapping):
            if "keys" not in batch or "groups" not in batch:
                raise InvalidInputError(f"a batch has the names {', '.join(map(str, batch))}; it needs keys and groups")
            return batch["keys"], batch["groups"]
        if isinstance(batch, (tuple, list)):
            raise InvalidInputError("a batch has no groups; give a dict with groups, or an Arrow record batch and the name of its column")
        table = self._table(batch)
        if self.groups is None:
            raise InvalidParameterError("groups is missing; name the column with the group of each row")
        return column_of(table, "key", self.key or ""), column_of(table, "groups", self.groups)

    def _table(self, batch: Any) -> Any:
        table = _arrow.of("batches", batch)
        if table is None or not hasattr(table, "column_names"):
            raise InvalidInputError(
                f"a batch is {type(batch).__name__}; give (probs, keys) or (probs, keys, labels), a dict, or an Arrow record batch"
            )
        if self.key is None:
            raise InvalidParameterError("key is missing; name the column with the unique id of each row")
        return table


def _each(batches: Any) -> Iterator[Any]:
    """Batches one after the other; a table is one, however it is handed over, but for a reader of batches."""
    capsule = hasattr(batches, "__arrow_c_stream__") or hasattr(batches, "__arrow_c_array__")
    if hasattr(batches, "column_names") or isinstance(batches, Mapping) or (capsule and not hasattr(batches, "read_next_batch")):
        return iter([batches])
    try:
        return iter(batches)
    except TypeError:
        raise InvalidInputError(
            f"batches is {type(batches).__name__}; give a list or an iterator of batches, each (probs, keys) or (probs, keys, labels), a dict, "
            "or an Arrow record batch"
        ) from None


def column_of(table: Any, argument: str, name: str) -> Any:
    """A column of an Arrow table or batch by its name."""
    if name not in table.column_names:
        raise InvalidParameterError(f"{argument}: there is no column {name!r}; there are {', '.join(table.column_names)}")
    return table.column(name)


def matrix_of(table: Any, argument: str, columns: Columns) -> np.ndarray:
    """A column of lists, or several columns of numbers, as a matrix; read in place where that is one column."""
    if isinstance(columns, str):
        return _inputs.matrix(f"{argument} (column {columns})", column_of(table, argument, columns))
    if not columns:
        raise InvalidParameterError(f"{argument}: no columns are named; name one of lists, or one for each class")
    parts = [_inputs.array_of(f"{argument} (column {name})", column_of(table, argument, name)) for name in columns]
    return _inputs.matrix(argument, _arrow.side_by_side(parts))


def _add(part: _evenkeel.RunningPart, given: _Batch, kind: str, classes: Optional[Sequence[str]]) -> None:
    keys = _arrow.keys("key", given.keys)
    labels = None
    if given.labels is not None:
        labels = _numbers(part, given.labels, classes)
    second = [(f"second[{place}]", _inputs.matrix(f"second[{place}]", values).astype(np.float64)) for place, values in enumerate(given.second)]
    side = _inputs.side_inputs("", given.features, given.ratios, second=second)
    if len(keys) != len(given.probs):
        raise InvalidInputError(f"key: there are {len(keys)} keys and {len(given.probs)} rows; give one for each")
    groups = None if given.groups is None else _inputs.group_codes("groups", given.groups)
    part.add(given.probs, keys, side, labels, groups, kind)


def _numbers(part: _evenkeel.RunningPart, labels: Any, classes: Optional[Sequence[str]]) -> np.ndarray:
    """Labels of a batch as numbers of the classes, by the names that the calibration has, or else `classes`."""
    names, columns = part.class_names, part.columns
    if classes is not None:
        # Those given must not contradict the calibration's own.
        names, columns = list(classes), columns if columns is not None else names
    if names is None and columns is None and _tables.are_words("label", labels):
        # Not from the words of a batch: which of them it holds says nothing about the order of the columns.
        raise InvalidInputError(
            "label: labels are words, and the calibration names no classes; name the classes in the order of the columns (classes=[...])"
        )
    return _tables.encoded("label", labels, "probs", part.classes, names, columns)[0]


def located(error: EvenkeelError, where: str, keys: Any) -> EvenkeelError:
    """The error with a place and the key of the row it is about: row numbers of a batch tell nobody anything."""
    if error.row is not None:
        try:
            where += f", key {key_at(keys, error.row)!r}"
        except (IndexError, TypeError, ValueError):
            pass  # Fewer keys than rows, or none that can be read: the error itself is still the one to show.
    named = type(error)(f"{where}: {error}")
    named.row, named.key = error.row, error.key
    return named


def key_at(keys: Any, row: int) -> Any:
    """The key of a row of a batch, as it is called there. By position: `keys[row]` of pandas would look for a label of its index."""
    column = _arrow.of("key", keys)
    key = (np.asarray(keys) if column is None else column)[row]
    return key.as_py() if hasattr(key, "as_py") else key.item() if hasattr(key, "item") else key


#: Keys below are ids themselves: of a hundred thousand hashes one or two are as small.
_LEAST_HASH = 2**48


def _of_key(error: EvenkeelError, texts: Mapping[int, str]) -> EvenkeelError:
    """An error about a key with the text it is the hash of, where that is known, and else a word about hashes."""
    if error.key is None or (error.key not in texts and error.key < _LEAST_HASH):
        return error
    words = f"{error.key} is the id {texts[error.key]!r}" if error.key in texts else f"where ids are texts, {error.key} is the hash of one"
    named = type(error)(f"{error} ({words})")
    named.row, named.key = error.row, error.key
    return named


def _texts_by_key(labels: Optional[Mapping[Any, Any]]) -> Dict[int, str]:
    """The text ids of labels by their keys."""
    texts = [text for text in labels or () if isinstance(text, str)]
    return dict(zip(_arrow.keys("y_target", np.asarray(texts)).tolist(), texts)) if texts else {}


#: What the states of a fit may take on the driver: as much as those of any other method for some hundred parts.
_MOST_BYTES_OF_ROWS = 200_000_000


def _refuse_all_rows_here(method: Any, options: Mapping[str, Any], rows: int, classes: int) -> None:
    """An error for fits whose states hold every row, where there are many."""
    keeping = (("sampling", "sampled"), ("objective", "wasserstein"))
    reason = next((f"{name}={value!r}" for name, value in keeping if options.get(name) == value), None)
    size = rows * 8 * (classes + 1)
    if str(method) == "ot" and reason is not None and size > _MOST_BYTES_OF_ROWS:
        raise InvalidParameterError(
            f"ot with {reason} needs every row on the driver: {rows} rows of {classes} classes are {size / 1e9:.1f} GB, and at most "
            f"{_MOST_BYTES_OF_ROWS / 1e9:.1f} are taken; leave {reason.partition('=')[0]} out, or calibrate on a sample"
        )


def _second(argument: str, second: Any, columns: Optional[Sequence[str]], of: str) -> list:
    """Outputs of second models on the calibration rows, each with its name."""
    found = []
    for place, values in enumerate(second or ()):
        name = f"{argument}[{place}]"
        matrix = _tables.aligned(name, _tables.table(name, values), columns, of)
        found.append((name, np.ascontiguousarray(matrix, dtype=np.float64)))
    return found


def _labels_by_key(argument: str, labels: Optional[Mapping[Any, Any]], names: Optional[Sequence[str]]) -> list:
    """`(key, label)` of the labels known."""
    if labels is None:
        return []
    if not isinstance(labels, Mapping):
        raise InvalidInputError(f"{argument}: give a dict from key to label; rows that lie elsewhere have no position here")
    # By position first, which checks the labels, then under the rows' keys.
    known = _tables.encoded_target(argument, dict(enumerate(labels.values())), len(labels), names)
    if not known:
        return []
    keys = _arrow.keys(argument, np.asarray(list(labels)))
    return [(int(keys[place]), label) for place, label in known]


def _bytes(argument: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise InvalidParameterError(f"{argument} is {type(value).__name__}; give the bytes of plan(), partial() or merge_states()")
