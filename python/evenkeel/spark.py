"""Evenkeel on Spark: sets, coverage, checks and calibrations of rows that lie on a cluster.

    from evenkeel import spark as eks

    sets = eks.predict_set(df, cal, probs="probs")                             # lazily, a column more
    report = eks.check(df, cal_probs, cal_y, probs="probs", key="id")          # a sample on the driver
    cal = eks.calibrate(df, cal_probs, cal_y, probs="probs", key="id", sample=None)    # every row, in one or two jobs

Rows never leave the executors but for samples; what comes back are states (`evenkeel.distributed`). Only DataFrame calls are used, so
that Spark Connect works. Executors need this package and pyarrow. Each Python worker computes with one thread, as Spark runs one for
every core; `RAYON_NUM_THREADS` in the executors' environment says otherwise.
"""

from __future__ import annotations

import io
import json
import os
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from evenkeel import _arrow, _errors, _evenkeel, _files, _inputs, distributed
from evenkeel._errors import EvenkeelError, InvalidInputError, InvalidParameterError
from evenkeel._stored import StoredCalibration
from evenkeel.calibration import DEFAULT_METHOD, Calibration, _of_kind
from evenkeel.calibration import calibrate as calibrate_here
from evenkeel.distributed import CheckJob, Columns, EvaluateJob, FitJob, key_at
from evenkeel.shift import ShiftReport
from evenkeel.shift import check as check_here

try:
    from pyspark.sql import functions as F
except ImportError:
    raise EvenkeelError("evenkeel.spark needs pyspark 3.5 or newer and pyarrow; pip install 'pyspark>=3.5' pyarrow") from None

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["FolderSink", "calibrate", "check", "evaluate", "predict_set", "watch"]

#: Rows that come to the driver unless all are asked for: `auto` on so many is within a tenth of a point of `auto` on all.
SAMPLE = 200_000

#: What travels with every task should be small.
_LARGE_CLOSURE = 50_000_000

#: Above so many rows states are added up on the executors before they come to the driver.
_MANY_ROWS = 20_000_000


def predict_set(
    df: DataFrame,
    calibration: StoredCalibration,
    probs: Columns = "probs",
    alpha: Optional[float] = None,
    *,
    output: str = "set",
    format: Literal["labels", "size", "bitmap"] = "labels",
    key: Optional[str] = None,
    groups: Optional[str] = None,
    features: Optional[Columns] = None,
    ratios: Optional[str] = None,
    logits: Union[bool, Literal["force"]] = False,
) -> DataFrame:
    """The DataFrame with a column more, `output`: the set of each row. Lazily: nothing is read before an action.

    Parameters
    ----------
    probs : str or sequence of str
        A column of arrays of float or double, or of ML vectors (which leave as arrays), or one column for each class.
    format : str
        "labels" for `array<int>`, the numbers of the labels from 0; "size" for their number; "bitmap" for bytes in which label `y` is
        bit `y % 8` of byte `y // 8`.
    key : str
        A column of unique ids. Scores that draw at random need it: the draw of a row is that of its id, wherever it is read. Errors
        name it.
    groups : str
        The group of each row, for a calibration per group.
    features, ratios : str
        Where the calibration was made with them.
    """
    from pyspark.sql.types import ArrayType, BinaryType, IntegerType, StructField, StructType

    kinds: Dict[str, Any] = {"labels": ArrayType(IntegerType(), False), "size": IntegerType(), "bitmap": BinaryType()}
    if format not in kinds:
        raise InvalidParameterError(f"format is {format!r}; it must be labels, size or bitmap")
    if output in df.columns:
        raise InvalidParameterError(f"output is {output!r}, which the table has already; name another column")
    if calibration._core.randomised and key is None:
        raise InvalidParameterError("key is missing; this score draws at random, by the id of each row: name the column")
    df = _readable(df)
    _require(df, _named(probs), *([] if features is None else [_named(features)]), [key, groups, ratios])
    wanted = _Sets(
        text=_slim(calibration),
        columns=_in_order(probs, calibration.columns_),
        alpha=_inputs.optional_number("alpha", alpha),
        format=format,
        output=output,
        key=key,
        groups=groups,
        features=features,
        ratios=ratios,
        logits=logits,
    )
    schema = StructType([*df.schema.fields, StructField(output, kinds[format], True)])
    return df.mapInArrow(wanted.batches, schema)


def evaluate(
    df: DataFrame,
    calibration: Calibration,
    probs: Columns = "probs",
    label: str = "label",
    alpha: Optional[float] = None,
    *,
    by: Optional[Columns] = None,
    key: Optional[str] = None,
    features: Optional[Columns] = None,
    logits: Union[bool, Literal["force"]] = False,
) -> Any:
    """Coverage, sizes and gap on labeled rows, as `Calibration.evaluate` gives them for all rows together.

    With `by`, a column or several, a DataFrame with a row for each group: its values, `n`, `coverage`, `mean_size`, `median_size`,
    `empty`, `full` and `total_coverage_gap`. It is computed on the executors, lazily. `key` is needed where scores draw at random.
    """
    if not isinstance(calibration, Calibration):
        raise InvalidParameterError("evaluate takes a calibration with one threshold; for one per class or group, predict sets and count")
    if calibration._core.randomised and key is None:
        raise InvalidParameterError("key is missing; this score draws at random, by the id of each row: name the column")
    grouped = [] if by is None else _named(by)
    df = _readable(df)
    needed = [*_named(probs), label, *grouped, *([] if key is None else [key]), *([] if features is None else _named(features))]
    _require(df, needed)
    job = EvaluateJob(calibration, alpha)
    part = _Rows(
        plan=_sized(job.plan()),
        probs=_in_order(probs, calibration.columns_),
        key=key,
        label=label,
        features=features,
        second=[],
        classes=calibration.classes_,
        logits=logits,
    )
    rows = df.select(*dict.fromkeys(needed))
    if by is None:
        for state in _states(rows, part):
            job.merge(state)
        return job.finish()
    # Each group on one executor, one group after the other: neither the driver nor a worker holds many.
    together = rows.repartition(*grouped).sortWithinPartitions(*grouped)
    groups = _Groups(part, grouped, _slim(calibration), _inputs.optional_number("alpha", alpha))
    return together.mapInArrow(groups.batches, _group_schema(df, grouped))


def check(
    df: DataFrame,
    cal_probs: Any = None,
    cal_y: Any = None,
    *,
    calibration: Optional[Calibration] = None,
    probs: Columns = "probs",
    key: Optional[str] = None,
    sample: Optional[int] = SAMPLE,
    alpha: Optional[float] = None,
    delta: float = 0.05,
    random_state: Any = _inputs.UNSET,
    y_target: Any = None,
    second: Sequence[Columns] = (),
    second_cal: Sequence[Any] = (),
    classes: Any = None,
    logits: Union[bool, Literal["force"]] = False,
    **options: Any,
) -> ShiftReport:
    """Is there a shift, how much coverage is at risk, what to do: `evenkeel.check` with the rows of `df` as target data.

    By default a uniform sample of `sample` rows comes to the driver, chosen by a hash of `key`, and all rows where there are no more.
    With `sample=None` every row counts, in one or two jobs over the table (more where the check is about a calibration with the plan
    score), and no row comes to the driver but labeled ones and those with the ids 0 to 255, which are shown as examples. A table that
    changes in between is an error.

    `y_target` is a dict from key to label; `second` names columns of the table that belong to `second_cal`, outputs of second models.
    """
    _both("second", second or None, second_cal or None)
    settings = {"alpha": alpha, "delta": delta, "random_state": random_state, "classes": classes, "logits": logits, **options}
    given = {"calibration": calibration} if calibration is not None else {"probs_cal": cal_probs, "y_cal": cal_y}
    if sample is not None:
        seed = 0 if random_state is _inputs.UNSET else _inputs.seed(random_state)
        columns = None if calibration is None else calibration.columns_
        if y_target is not None:
            _required_key(key)
        drawn = _sampled(df, probs, key, sample, seed, columns, None, second, y_target)
        return check_here(
            probs_target=drawn.probs,
            y_target=None if y_target is None else _positions(y_target, drawn.keys),
            second=list(zip(second_cal, drawn.second)) or None,
            **given,
            **settings,
        )
    key = _required_key(key)
    df = _readable(df)
    needed = [name for columns in (probs, *second) for name in _named(columns)] + [key]
    _require(df, needed)
    rows = df.select(*dict.fromkeys(needed))
    count = rows.count()
    job = CheckJob(rows=count, y_target=y_target, second_cal=second_cal, **given, **settings)
    part = _Rows(b"", _in_order(probs, job._columns), key, None, None, list(second), None, logits)
    return _run(job, rows, part, count)


def calibrate(
    df: DataFrame,
    cal_probs: Any,
    cal_y: Any,
    method: Any = DEFAULT_METHOD,
    alpha: float = 0.1,
    random_state: Any = 0,
    *,
    probs: Columns = "probs",
    key: Optional[str] = None,
    sample: Optional[int] = SAMPLE,
    features: Optional[Columns] = None,
    features_cal: Any = None,
    second: Sequence[Columns] = (),
    second_cal: Sequence[Any] = (),
    y_target: Any = None,
    per: Optional[str] = None,
    groups: Optional[str] = None,
    groups_cal: Any = None,
    logits: Union[bool, Literal["force"]] = False,
    classes: Any = None,
    **options: Any,
) -> Any:
    """Learns a calibration for the rows of `df`: `evenkeel.calibrate` with these as target data.

    By default a uniform sample of `sample` rows comes to the driver, chosen by a hash of `key`, and all rows where there are no more.
    With `sample=None` every row counts, in one or two jobs over the table (method "auto" needs two where there is a shift; `per` adds
    one or two), and no row comes to the driver. Where ids are the numbers of the rows from 0 the calibration has the bytes of `evenkeel calibrate` on the
    table in the order of the ids.

    `features` and `second` name columns of the table that belong to `features_cal` and `second_cal`. `y_target` is a dict from key to
    label. `per` is "class" for a threshold for each class, or the column with the group of each row, whose calibration rows are in
    `groups_cal` (`groups` names it where it is called otherwise in the table); the result is then a `GroupedCalibration`.
    `small_groups` and `other_groups` are those of `evenkeel.calibrate`.
    """
    if groups is None and groups_cal is not None and per not in (None, "class"):
        groups = per
    beside = {"features_cal": features_cal, "second_cal": second_cal}
    _both("features", features, features_cal)
    _both("second", second or None, second_cal or None)
    _both("groups", groups, groups_cal)
    if sample is not None:
        if y_target is not None:
            _required_key(key)
        drawn = _sampled(df, probs, key, sample, _inputs.seed(random_state), None, features, second, y_target, groups)
        labels = None if y_target is None else _positions(y_target, drawn.keys)
        pairs = [(cal, target) for cal, target in zip(second_cal, drawn.second)]
        return calibrate_here(
            cal_probs,
            cal_y,
            drawn.probs,
            method,
            alpha,
            random_state,
            logits=logits,
            classes=classes,
            features_cal=features_cal,
            features_target=drawn.features,
            second=pairs or None,
            y_target=labels,
            per=per,
            groups_cal=groups_cal,
            groups_target=drawn.groups,
            **options,
        )
    lists = [probs, *([] if features is None else [features]), *second]
    df = _readable(df)
    key = _required_key(key)
    needed = [name for columns in lists for name in _named(columns)] + [key] + ([] if groups is None else [groups])
    _require(df, needed)
    rows = df.select(*dict.fromkeys(needed))
    count = rows.count()
    settings = {"logits": logits, "classes": classes, "y_target": y_target, "per": per, "groups_cal": groups_cal, **beside, **options}
    job = FitJob(cal_probs, cal_y, method, alpha, random_state, count, **settings)
    part = _Rows(b"", _in_order(probs, job._columns), key, None, features, list(second), None, logits, groups)
    return _run(job, rows, part, count)


def watch(
    stream: DataFrame,
    calibration: Calibration,
    sink: Callable[[ShiftReport, str], Any],
    *,
    query: str,
    checkpoint: str,
    probs: Columns = "probs",
    key: Optional[str] = None,
    sample: Optional[int] = SAMPLE,
    trigger: Optional[Dict[str, Any]] = None,
    **settings: Any,
) -> Any:
    """Checks every batch of a stream against a calibration in use; returns the running `StreamingQuery`.

    `sink(report, idempotency_key)` gets what `check` finds of each batch. The key is `query` and the number of the batch: Spark may
    hand a batch over again after a failure, and a sink that has seen the key does nothing. `FolderSink` is such a sink. `checkpoint` is
    the directory in which Spark remembers which batches are done. A batch without rows is passed over.
    """
    if not query or not isinstance(query, str):
        raise InvalidParameterError("query is missing; name the query: with the number of the batch it makes the key of each report")
    text = calibration.to_json()

    def each(batch: DataFrame, epoch: int) -> None:
        if batch.isEmpty():
            return
        again = _of_kind(_evenkeel.FittedCalibration.from_json(text))
        report = check(batch, calibration=again, probs=probs, key=key, sample=sample, **settings)
        sink(report, f"{query}-{epoch}")

    writer = stream.writeStream.queryName(query).option("checkpointLocation", checkpoint).foreachBatch(each)
    return (writer.trigger(**trigger) if trigger else writer).start()


class FolderSink:
    """Writes each report of `watch` as `KEY.json` into a folder; one that is there already is left as it is."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        self.folder = os.fspath(folder)

    def __call__(self, report: ShiftReport, idempotency_key: str) -> None:
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"{idempotency_key}.json")
        if not os.path.exists(path):
            _files.write(path, json.dumps(report.to_dict()) + "\n")


# On the driver


def _named(columns: Columns) -> List[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _in_order(columns: Columns, names: Optional[Sequence[str]]) -> Columns:
    """Columns of probabilities in the order of the classes, where those have the names of columns."""
    if isinstance(columns, str) or names is None or sorted(columns) != sorted(names):
        return columns
    return list(names)


def _require(df: DataFrame, *columns: Iterable[Optional[str]]) -> None:
    """An error now for columns that are not there, not on an executor later."""
    missing = [name for group in columns for name in group if name is not None and name not in df.columns]
    if missing:
        raise InvalidParameterError(f"there is no column {missing[0]!r}; there are {', '.join(df.columns)}")


def _readable(df: DataFrame) -> DataFrame:
    """The table with ML vectors as arrays of doubles: Arrow knows no vectors."""
    vectors = [field.name for field in df.schema.fields if type(field.dataType).__name__ == "VectorUDT"]
    if vectors:
        from pyspark.ml.functions import vector_to_array

        for name in vectors:
            df = df.withColumn(name, vector_to_array(F.col(name)))
    return df


def _required_key(key: Optional[str]) -> str:
    if key is None:
        raise InvalidParameterError("key is missing; name the column with a unique id of each row")
    return key


def _both(name: str, target: Any, cal: Any) -> None:
    if (target is None) != (cal is None):
        missing = name if target is None else f"{name}_cal"
        raise InvalidParameterError(f"{missing} is missing; give both {name} and {name}_cal, or neither")


def _slim(calibration: StoredCalibration) -> str:
    return _sized(calibration._core.to_slim_json())


def _sized(travels: Any) -> Any:
    if len(travels) > _LARGE_CLOSURE:
        warnings.warn(
            f"{len(travels) // 1_000_000} MB travel with every task; calibrate on fewer points", UserWarning, stacklevel=_errors.caller_level()
        )
    return travels


def _run(job: Any, rows: DataFrame, part: "_Rows", count: int) -> Any:
    """Passes over the table until the job has seen enough."""
    if count == 0:
        raise InvalidInputError("the table has no rows; give at least one")
    part.tree = count > _MANY_ROWS
    while True:
        part.plan = _sized(job.plan())
        # Columns that a pass does not look at are not read.
        needed = rows.select(*part.keys_and_groups()) if getattr(job, "reads_groups_only", False) else rows
        for state in _states(needed, part):
            job.merge(state)
        if not job.end_pass():
            return job.finish()


def _states(rows: DataFrame, part: "_Rows") -> Iterator[bytes]:
    """What each partition leaves behind. Rows of a result come once for each partition, whatever is tried twice."""
    states = rows.mapInArrow(part.state, "state binary")
    if part.tree:
        states = states.repartition(16).mapInArrow(_Merge(part.plan).batches, "state binary")
    return (bytes(row.state) for row in states.collect())


class _Drawn:
    """A sample of the rows, in the order of the keys."""

    def __init__(
        self, table: Any, probs: Columns, key: str, features: Optional[Columns], second: Sequence[Columns], groups: Optional[str]
    ) -> None:
        keys = table.column(key)
        order = np.argsort(_arrow.keys("key", keys), kind="stable")
        table = table.take(order)
        # A table where columns are classes: they are matched by their names.
        self.probs = distributed.matrix_of(table, "probs", probs) if isinstance(probs, str) else table.select(list(probs))
        self.features = None if features is None else distributed.matrix_of(table, "features", features)
        self.second = [distributed.matrix_of(table, "second", columns) for columns in second]
        self.groups = None if groups is None else table.column(groups)
        self.keys = table.column(key)


def _sampled(
    df: DataFrame,
    probs: Columns,
    key: Optional[str],
    sample: int,
    seed: int,
    names: Optional[Sequence[str]],
    features: Optional[Columns] = None,
    second: Sequence[Columns] = (),
    labeled: Any = None,
    groups: Optional[str] = None,
) -> _Drawn:
    size = _inputs.count("sample", sample)
    if size == 0:
        raise InvalidParameterError("sample is 0; give the number of rows that may come to the driver, or None for every row there")
    lists = [probs, *([] if features is None else [features]), *second]
    df = _readable(df)
    needed = [name for columns in lists for name in _named(columns)] + ([] if groups is None else [groups])
    _require(df, needed, [key])
    if key is None:
        warnings.warn(
            "without key the sample is chosen by the position of rows, and is the same for the same partitioning only; name a column of "
            "unique ids",
            UserWarning,
            stacklevel=_errors.caller_level(),
        )
        key = "__evenkeel_row"
        df = df.withColumn(key, F.monotonically_increasing_id())
    rows = df.select(*dict.fromkeys([*needed, key]))
    # Spark's whole numbers have a sign; a seed has none.
    signed = seed - 2**64 if seed >= 2**63 else seed
    drawn = rows.orderBy(F.xxhash64(F.col(key), F.lit(signed)), F.col(key)).limit(size)
    if labeled:
        # Labeled rows count whatever the sample: they are few, and what they show is why they were labeled.
        drawn = drawn.union(rows.where(F.col(key).isin(list(labeled)))).dropDuplicates([key])
    return _Drawn(_collected(drawn), _in_order(probs, names), key, features, second, groups)


def _collected(df: DataFrame) -> Any:
    """A table on the driver, by way of Arrow and without pandas, also on Spark Connect and Spark 3.5."""
    pa = _arrow.pyarrow("evenkeel.spark")
    streams = [bytes(row.batch) for row in df.mapInArrow(_as_stream, "batch binary").collect()]
    tables = [pa.ipc.open_stream(io.BytesIO(stream)).read_all() for stream in streams]
    if not tables:
        raise InvalidInputError("the table has no rows; give at least one")
    return pa.concat_tables(tables)


def _positions(labels: Any, keys: Any) -> Dict[int, Any]:
    place = {key: position for position, key in enumerate(keys.to_pylist())}
    missing = next((key for key in labels if key not in place), None)
    if missing is not None:
        raise InvalidInputError(f"y_target: there is no row with the key {missing!r}")
    return {place[key]: label for key, label in labels.items()}


def _group_schema(df: DataFrame, grouped: Sequence[str]) -> Any:
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    numbers = [("n", LongType()), ("coverage", DoubleType()), ("mean_size", DoubleType()), ("median_size", DoubleType())]
    numbers += [("empty", LongType()), ("full", LongType()), ("total_coverage_gap", DoubleType())]
    return StructType([*(df.schema[name] for name in grouped), *(StructField(name, kind, True) for name, kind in numbers)])


# On the executors


def _alone() -> None:
    """One thread for each worker, unless the environment says otherwise; before the first call of the compiled part."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _as_stream(batches: Iterator[Any]) -> Iterator[Any]:
    """Each batch as a row of bytes."""
    import pyarrow as pa

    for batch in batches:
        out = io.BytesIO()
        with pa.ipc.new_stream(out, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([out.getvalue()], pa.binary())], names=["batch"])


@lru_cache(maxsize=4)
def _loaded(text: str) -> StoredCalibration:
    return _of_kind(_evenkeel.FittedCalibration.from_json(text))


class _Sets:
    """The sets of batches of rows."""

    def __init__(self, **wanted: Any) -> None:
        self.wanted = wanted

    def batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        _alone()
        wanted = self.wanted
        calibration, key = _loaded(wanted["text"]), wanted["key"]
        for batch in batches:
            try:
                sets = self._of(pa, calibration, batch)
            except EvenkeelError as error:
                keys = None if key is None else batch.column(key)
                raise _located(error, keys) from None
            yield pa.RecordBatch.from_arrays([*batch.columns, sets], names=[*batch.schema.names, wanted["output"]])

    def _of(self, pa: Any, calibration: StoredCalibration, batch: Any) -> Any:
        wanted = self.wanted

        def column(name: str) -> Any:
            return None if wanted[name] is None else batch.column(wanted[name])

        kinds = {"labels": pa.list_(pa.int32()), "size": pa.int32(), "bitmap": pa.binary()}
        if batch.num_rows == 0:
            return pa.array([], kinds[wanted["format"]])
        features = None if wanted["features"] is None else distributed.matrix_of(batch, "features", wanted["features"])
        given = {"groups": column("groups"), "features": features, "ratios": column("ratios"), "logits": wanted["logits"]}
        probs = distributed.matrix_of(batch, "probs", wanted["columns"])
        if wanted["format"] == "bitmap":
            if wanted["key"] is not None and calibration._core.randomised:
                members = _members(calibration.predict_set(probs, wanted["alpha"], format="labels", keys=column("key"), **given), calibration)
            else:
                members = np.asarray(calibration.predict_set(probs, wanted["alpha"], **given))
            packed = np.packbits(members, axis=1, bitorder="little")
            return pa.array([row.tobytes() for row in packed], pa.binary())
        keys = column("key") if calibration._core.randomised else None
        sets = calibration.predict_set(probs, wanted["alpha"], format=wanted["format"], keys=keys, **given)
        return sets if wanted["format"] == "labels" else pa.array(sets, pa.int32())


def _members(lists: Any, calibration: StoredCalibration) -> np.ndarray:
    """Bool (n, C) of lists of labels."""
    members = np.zeros((len(lists), calibration.n_classes), dtype=bool)
    rows = np.repeat(np.arange(len(lists)), np.diff(np.asarray(lists.offsets)))
    members[rows, np.asarray(lists.values)] = True
    return members


class _Rows:
    """The rows of a partition, as a part of a job reads them."""

    #: Whether states are added up on the executors first.
    tree = False

    def __init__(
        self,
        plan: bytes,
        probs: Columns,
        key: Optional[str],
        label: Optional[str],
        features: Optional[Columns],
        second: List[Columns],
        classes: Optional[Sequence[str]],
        logits: Any,
        groups: Optional[str] = None,
    ) -> None:
        self.plan = plan
        self.key = key
        self.chosen = {"probs": probs, "label": label, "features": features, "second": second, "classes": classes, "logits": logits}
        self.chosen["groups"] = groups

    def keys_and_groups(self) -> List[str]:
        """The columns that a pass over groups reads."""
        return [name for name in (self.key, self.chosen["groups"]) if isinstance(name, str)]

    def state(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        _alone()
        number = _partition()
        state = self._of(number, (self._keyed(batch) for batch in batches))
        yield pa.RecordBatch.from_arrays([pa.array([state], pa.binary())], names=["state"])

    def _of(self, number: int, batches: Iterable[Any]) -> bytes:
        try:
            return distributed.partial(self.plan, number, batches, key=self.key or _NO_KEY, **self.chosen)
        except EvenkeelError as error:
            # The part is the partition; the key is named already.
            raise type(error)(str(error).replace(f"part {number}", f"partition {number}", 1)) from None

    def _keyed(self, batch: Any) -> Any:
        """The batch with keys: where nothing is drawn any will do."""
        if self.key is not None:
            return batch
        import pyarrow as pa

        return batch.append_column(_NO_KEY, pa.array(np.arange(batch.num_rows)))


#: Column of keys where none is needed.
_NO_KEY = "__evenkeel_row"


class _Merge:
    """States of one pass, added up."""

    def __init__(self, plan: bytes) -> None:
        self.plan = plan

    def batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        _alone()
        states = [state for batch in batches for state in batch.column("state").to_pylist()]
        if states:
            merged = distributed.merge_states(states, self.plan)
            yield pa.RecordBatch.from_arrays([pa.array([merged], pa.binary())], names=["state"])


class _Groups:
    """The evaluation of each group of a partition, whose rows stand together."""

    _NUMBERS: Tuple[str, ...] = ("n", "coverage", "mean_size", "median_size", "empty", "full", "total_coverage_gap")

    def __init__(self, rows: _Rows, grouped: Sequence[str], text: str, alpha: Optional[float]) -> None:
        self.rows, self.grouped, self.text, self.alpha = rows, list(grouped), text, alpha

    def batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        _alone()
        calibration: Any = _loaded(self.text)
        open_group: Any = None
        job: Optional[EvaluateJob] = None
        number, found, schema = 0, [], None
        for batch in batches:
            schema = batch.schema
            for group, rows in self._runs(batch):
                if job is None or not _same_group(group, open_group):
                    if job is not None:
                        found.append((open_group, job.finish()))
                    open_group, job, number = group, EvaluateJob(calibration, self.alpha), 0
                job.merge(self.rows._of(number, [self.rows._keyed(rows)]))
                number += 1
            if len(found) >= 1000:
                yield self._batch(pa, schema, found)
                found = []
        if job is not None:
            found.append((open_group, job.finish()))
        if found:
            yield self._batch(pa, schema, found)

    def _runs(self, batch: Any) -> Iterator[Tuple[Tuple[Any, ...], Any]]:
        """Rows of one group after the other."""
        if batch.num_rows == 0:
            return
        changes = np.zeros(batch.num_rows, dtype=bool)
        changes[0] = True
        for name in self.grouped:
            codes = np.asarray(batch.column(name).dictionary_encode(null_encoding="encode").indices)
            changes[1:] |= codes[1:] != codes[:-1]
        starts = np.flatnonzero(changes)
        for start, end in zip(starts, [*starts[1:], batch.num_rows]):
            rows = batch.slice(int(start), int(end - start))
            yield tuple(rows.column(name)[0].as_py() for name in self.grouped), rows

    def _batch(self, pa: Any, schema: Any, found: List[Tuple[Tuple[Any, ...], Any]]) -> Any:
        values = [pa.array([group[place] for group, _ in found], schema.field(name).type) for place, name in enumerate(self.grouped)]
        for name in self._NUMBERS:
            kind = pa.int64() if name in ("n", "empty", "full") else pa.float64()
            values.append(pa.array([evaluation[name] for _, evaluation in found], kind))
        return pa.RecordBatch.from_arrays(values, names=[*self.grouped, *self._NUMBERS])


def _same_group(one: Tuple[Any, ...], other: Tuple[Any, ...]) -> bool:
    """Whether two rows are of one group; NaN is a group to Spark, though no NaN equals another."""
    return all(mine == theirs or (mine != mine and theirs != theirs) for mine, theirs in zip(one, other))


def _located(error: EvenkeelError, keys: Any) -> EvenkeelError:
    """The error with the partition, and the key of the row it is about."""
    where = f"partition {_partition()}"
    if keys is not None and error.row is not None and error.row < len(keys):
        where += f", key {key_at(keys, error.row)!r}"
    return type(error)(f"{where}: {error}")
