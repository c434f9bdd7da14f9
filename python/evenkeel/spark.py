"""Evenkeel on Spark: sets, coverage, checks and calibrations of rows that lie on a cluster.

    from evenkeel import spark as eks

    sets = eks.predict_set(df, cal, probs="probs")                             # lazily, a column more
    report = eks.check(df, cal_probs, cal_y, probs="probs", key="id")          # a sample on the driver
    cal = eks.calibrate(df, cal_probs, cal_y, probs="probs", key="id", sample=None)    # every row, in one or two jobs

Samples and states come to the driver (`evenkeel.distributed`); states of a calibration or check on every row hold some of the rows themselves,
up to 2^21 probabilities. Only DataFrame calls are used, so that Spark Connect works. Executors need this package and pyarrow. Each Python
worker computes with one thread, as Spark runs one for every core; `RAYON_NUM_THREADS` in the executors' environment says otherwise.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import warnings
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from evenkeel import _arrow, _errors, _evenkeel, _files, _inputs, _options, _tables, distributed
from evenkeel._errors import EvenkeelError, InvalidInputError, InvalidParameterError
from evenkeel._stored import StoredCalibration
from evenkeel.calibration import DEFAULT_METHOD, Calibration, _of_kind
from evenkeel.calibration import calibrate as calibrate_here
from evenkeel.distributed import NO_KEY, CheckJob, Columns, EvaluateJob, FitJob, key_at, located
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

    if not isinstance(calibration, StoredCalibration):
        raise InvalidParameterError(f"calibration is {type(calibration).__name__}; give what evenkeel.calibrate or evenkeel.load gives")
    kinds: Dict[str, Any] = {"labels": ArrayType(IntegerType(), False), "size": IntegerType(), "bitmap": BinaryType()}
    if format not in kinds:
        raise InvalidParameterError(f"format is {format!r}; it must be labels, size or bitmap")
    # Spark tells no capitals apart where it looks for a column.
    if output.lower() in map(str.lower, df.columns):
        raise InvalidParameterError(f"output is {output!r}, which the table has already; name another column")
    if calibration._core.randomised and key is None:
        raise InvalidParameterError("key is missing; this score draws at random, by the id of each row: name the column")
    _require(df, _named(probs), *([] if features is None else [_named(features)]), [key, groups, ratios])
    _try(calibration, alpha, groups, features, ratios, logits)
    rows = _readable(df)
    wanted = _Sets(
        names=df.columns,
        text=_slim(calibration),
        columns=_in_order(probs, calibration.columns_, "the calibration"),
        alpha=_inputs.optional_number("alpha", alpha),
        format=format,
        output=output,
        key=key,
        groups=groups,
        features=features,
        ratios=ratios,
        logits=logits,
    )
    named = [StructField(name, field.dataType, field.nullable, field.metadata) for name, field in zip(df.columns, rows.schema.fields)]
    return rows.mapInArrow(wanted.batches, StructType([*named, StructField(output, kinds[format], True)]))


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
    ratios: Optional[str] = None,
    logits: Union[bool, Literal["force"]] = False,
) -> Any:
    """Coverage, sizes and gap on labeled rows, as `Calibration.evaluate` gives them for all rows together.

    With `by`, a column or several, a DataFrame with a row for each group: its values, `n`, `coverage`, `mean_size`, `median_size`,
    `empty`, `full` and `total_coverage_gap`. It is computed on the executors, lazily. `key` is needed where scores draw at random, and
    errors name it. Labels may be words where the calibration has names of classes or columns. `features` and `ratios` are needed where the
    calibration was made with them.
    """
    if not isinstance(calibration, Calibration):
        raise InvalidParameterError("evaluate takes a calibration with one threshold; for one per class or group, predict sets and count")
    if calibration._core.randomised and key is None:
        raise InvalidParameterError("key is missing; this score draws at random, by the id of each row: name the column")
    grouped = [] if by is None else _named(by)
    beside = [name for name in (key, ratios) if name is not None]
    table = _Table(df, [*_named(probs), label, *grouped, *beside, *([] if features is None else _named(features))])
    schema = None if by is None else _group_schema(table, grouped)
    _try(calibration, alpha, None, features, ratios, logits)
    job = EvaluateJob(calibration, alpha)
    columns = _in_order(probs, calibration.columns_, "the calibration")
    part = _Rows(_sized(job.plan()), table.names, columns, key, label, features, [], logits, ratios=ratios)
    if schema is None:
        for state in _states(table, part):
            job.merge(state)
        return job.finish()
    # Each group on one executor, one group after the other: neither the driver nor a worker holds many.
    plain = [table.plain(name) for name in grouped]
    together = table.rows.repartition(*plain).sortWithinPartitions(*plain)
    groups = _Groups(part, grouped, _slim(calibration), _inputs.optional_number("alpha", alpha))
    return together.mapInArrow(groups.batches, schema)


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
    score). Up to 2^21 probabilities (210 000 rows of ten classes) come to the driver inside the states, with their ids; of more rows only sums
    and samples of that size. Labeled rows come too, and those with the ids 0 to 255, which are shown as examples. A table that changes in
    between is an error.

    `y_target` is a dict from key to label; `second` names columns of the table that belong to `second_cal`, outputs of second models.
    """
    _both("second", second or None, second_cal or None)
    settings = {"alpha": alpha, "delta": delta, "random_state": random_state, "classes": classes, "logits": logits, **options}
    given = {"calibration": calibration} if calibration is not None else {"probs_cal": cal_probs, "y_cal": cal_y}
    if sample is not None:
        seed = 0 if random_state is _inputs.UNSET else _inputs.seed(random_state)
        if y_target is not None:
            _required_key(key)
        drawn = _sampled(df, probs, key, sample, seed, None, second, y_target)
        labels = None if y_target is None else _positions(y_target, drawn.keys)
        pairs = list(zip(second_cal, drawn.second)) or None
        with _key_of_row(drawn):
            return check_here(probs_target=drawn.probs, y_target=labels, second=pairs, **given, **settings)
    key = _required_key(key)
    table = _Table(df, [*(name for columns in (probs, *second) for name in _named(columns)), key])
    count = table.rows.count()
    job = CheckJob(rows=count, y_target=y_target, second_cal=second_cal, **given, **settings)
    columns = _in_order(probs, job._columns, "the calibration" if calibration is not None else "cal_probs")
    part = _Rows(b"", table.names, columns, key, None, None, list(second), logits)
    return _run(job, table, part, count)


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
    one or two). Up to 2^21 probabilities (210 000 rows of ten classes) come to the driver inside the states, with their ids; of more rows only
    sums and samples of that size. Where ids are the numbers of the rows from 0 the calibration has the bytes of `evenkeel calibrate` on
    the table in the order of the ids. `ot` with `sampling="sampled"` or `objective="wasserstein"` needs all rows on the driver, and refuses more
    than 0.2 GB of them.

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
        drawn = _sampled(df, probs, key, sample, _inputs.seed(random_state), features, second, y_target, groups)
        labels = None if y_target is None else _positions(y_target, drawn.keys)
        pairs = [(cal, target) for cal, target in zip(second_cal, drawn.second)]
        with _key_of_row(drawn):
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
    key = _required_key(key)
    table = _Table(df, [*(name for columns in lists for name in _named(columns)), key, *([] if groups is None else [groups])])
    count = table.rows.count()
    settings = {"logits": logits, "classes": classes, "y_target": y_target, "per": per, "groups_cal": groups_cal, **beside, **options}
    job = FitJob(cal_probs, cal_y, method, alpha, random_state, count, **settings)
    columns = _in_order(probs, job._columns, "cal_probs")
    part = _Rows(b"", table.names, columns, key, None, features, list(second), logits, groups)
    return _run(job, table, part, count)


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
    the directory in which Spark remembers which batches are done. A batch without rows is passed over. `settings` are arguments of `check`.
    """
    if not query or not isinstance(query, str):
        raise InvalidParameterError("query is missing; name the query: with the number of the batch it makes the key of each report")
    if "/" in query or "\\" in query:
        # A sink that names files by the key would write elsewhere.
        raise InvalidParameterError(f"query is {query!r}; it is part of the names of reports: leave / and \\ out")
    if not isinstance(calibration, Calibration):
        raise InvalidParameterError("watch takes a calibration with one threshold; watch the rows of each group with a calibration of their own")
    _require(stream, _named(probs), [key], *(_named(columns) for columns in settings.get("second", ())))
    _in_order(probs, calibration.columns_, "the calibration")
    known = {*inspect.signature(check).parameters, *_options.CheckOptions.__annotations__}
    unknown = next((name for name in settings if name not in known - {"df", "options", "cal_probs", "cal_y", "calibration"}), None)
    if unknown is not None:
        raise InvalidParameterError(f"{unknown} is no argument of check that watch takes; leave it out")
    _inputs.kind(settings.get("logits", False))
    calibration._core.thresholds(_inputs.optional_number("alpha", settings.get("alpha")))
    if sample is not None:
        _size(sample)
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


def _in_order(columns: Columns, names: Optional[Sequence[str]], other: str) -> Columns:
    """Columns of probabilities in the order of the classes, where those have the names of columns; an error for other columns."""
    return columns if isinstance(columns, str) else _tables.in_order("probs", list(columns), names, other)


def _require(df: DataFrame, *columns: Iterable[Optional[str]]) -> None:
    """An error now for columns that are not there, not on an executor later."""
    needed = [name for group in columns for name in group if name is not None]
    missing = next((name for name in needed if name not in df.columns), None)
    if missing is not None:
        raise InvalidParameterError(f"there is no column {missing!r}; there are {', '.join(df.columns)}")
    twice = next((name for name in needed if df.columns.count(name) > 1), None)
    if twice is not None:
        raise InvalidParameterError(f"there are two columns {twice!r}; give each a name of its own")


def _numbered(df: DataFrame) -> DataFrame:
    """The table with its columns called c0, c1, ..., and ML vectors as arrays of doubles, as Arrow knows no vectors.

    Spark takes a dot in a name for a field of a struct, in its own functions on Arrow batches too.
    """
    rows = df.toDF(*(f"c{place}" for place in range(len(df.columns))))
    for field in rows.schema.fields:
        if type(field.dataType).__name__ == "VectorUDT":
            from pyspark.ml.functions import vector_to_array

            # Spark's function fails at a null without a word about which.
            column = F.col(field.name)
            rows = rows.withColumn(field.name, F.when(column.isNotNull(), vector_to_array(column)))
    return rows


def _readable(df: DataFrame) -> DataFrame:
    """The table itself where Spark and Arrow take it as it is, which needs no step more on the way to Python; else with numbered columns."""
    plain = all("." not in name and "`" not in name for name in df.columns) and len(set(df.columns)) == len(df.columns)
    vectors = any(type(field.dataType).__name__ == "VectorUDT" for field in df.schema.fields)
    return df if plain and not vectors else _numbered(df)


class _Table:
    """Some columns of a table, called c0, c1, ... on the way to Python and by their `names` there."""

    def __init__(self, df: DataFrame, needed: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(needed))
        _require(df, self.names)
        places = {name: place for place, name in enumerate(df.columns)}
        self.rows = _numbered(df).select(*(F.col(f"c{places[name]}").alias(f"c{at}") for at, name in enumerate(self.names)))

    def plain(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    def only(self, names: Sequence[str]) -> "_Table":
        """The same with these columns alone: others are not read."""
        fewer = _Table.__new__(_Table)
        fewer.names = list(names)
        fewer.rows = self.rows.select(*(F.col(self.plain(name)).alias(f"c{at}") for at, name in enumerate(names)))
        return fewer

    def with_numbers(self, name: str) -> None:
        """A column more, a number for each row that holds for this partitioning."""
        self.rows = self.rows.withColumn(f"c{len(self.names)}", F.monotonically_increasing_id())
        self.names.append(name)


def _try(
    calibration: StoredCalibration, alpha: Any, groups: Optional[str], features: Optional[Columns], ratios: Optional[str], logits: Any
) -> None:
    """Predicts one row here: settings out of range, and columns that are missing or have no use, are errors now and not on an executor."""
    kind = _inputs.kind(logits)
    classes = calibration.n_classes
    known = [name for name, _ in calibration._core.thresholds(_inputs.optional_number("alpha", alpha))]
    width = len(features) if features is not None and not isinstance(features, str) else 1
    try:
        calibration.predict_set(
            np.full((1, classes), 1 / classes if kind == "probabilities" else 0.0),
            alpha,
            format="size",
            groups=None if groups is None else known[:1],
            features=None if features is None else np.zeros((1, width)),
            ratios=None if ratios is None else np.ones(1),
            logits=logits,
            keys=[0] if calibration._core.randomised else None,
        )
    except InvalidInputError:
        # How many numbers the lists of a column hold is not known here; all else is.
        if not isinstance(features, str):
            raise


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


def _run(job: Any, table: _Table, part: "_Rows", count: int) -> Any:
    """Passes over the table until the job has seen enough."""
    if count == 0:
        raise InvalidInputError("the table has no rows; give at least one")
    part.tree = count > _MANY_ROWS
    while True:
        part.plan = _sized(job.plan())
        # Columns that a pass does not look at are not read.
        needed = table.only(part.keys_and_groups()) if getattr(job, "reads_groups_only", False) else table
        for state in _states(needed, part):
            job.merge(state)
        try:
            again = job.end_pass()
        except EvenkeelError as error:
            raise _of_text(error, table, part.key) from None
        if not again:
            return job.finish()


def _of_text(error: EvenkeelError, table: _Table, key: Optional[str]) -> EvenkeelError:
    """An error about a key with the text that it is the hash of, which is looked for in the table."""
    if error.key is None or key is None or table.rows.schema[table.plain(key)].dataType.typeName() != "string":
        return error
    text = F.col(table.plain(key))
    digest = F.substring(F.sha2(text.cast("binary"), 256), 1, 16)
    found = table.rows.where(digest == error.key.to_bytes(8, "little").hex()).select(text.alias("text")).first()
    return error if found is None else type(error)(f"{error}: {found.text!r}")


def _states(table: _Table, part: "_Rows") -> Iterator[bytes]:
    """What each partition leaves behind. Rows of a result come once for each partition, whatever is tried twice."""
    part.names = table.names
    states = table.rows.mapInArrow(part.state, "state binary")
    if part.tree:
        states = states.repartition(16).mapInArrow(_Merge(part.plan).batches, "state binary")
    return (bytes(row.state) for row in states.collect())


class _Drawn:
    """A sample of the rows, in the order of the keys."""

    def __init__(
        self, table: Any, probs: Columns, key: str, features: Optional[Columns], second: Sequence[Columns], groups: Optional[str]
    ) -> None:
        hashed = _arrow.keys("key", table.column(key))
        order = np.argsort(hashed, kind="stable")
        twice = np.flatnonzero(np.diff(hashed[order]) == 0)
        if twice.size:
            found = key_at(table.column(key), int(order[twice[0]]))
            raise InvalidInputError(f"key {found!r} was given twice; ids must be unique: remove one of the rows, or name another column (key=...)")
        table = table.take(order)
        self.keys = table.column(key)
        try:
            # A table where columns are classes: they are matched by their names.
            self.probs = distributed.matrix_of(table, "probs", probs) if isinstance(probs, str) else table.select(list(probs))
            self.features = None if features is None else distributed.matrix_of(table, "features", features)
            self.second = [distributed.matrix_of(table, "second", columns) for columns in second]
        except EvenkeelError as error:
            raise located(error, "the sample", self.keys) from None
        self.groups = None if groups is None else table.column(groups)


@contextmanager
def _key_of_row(drawn: _Drawn) -> Iterator[None]:
    """Errors about a row of the sample name its key."""
    try:
        yield
    except EvenkeelError as error:
        if error.row is None or not str(error).startswith(("probs_target", "features_target", "groups_target", "second")):
            raise
        raise located(error, "the sample", drawn.keys) from None


def _size(sample: Any) -> int:
    size = _inputs.count("sample", sample)
    if size == 0:
        raise InvalidParameterError("sample is 0; give the number of rows that may come to the driver, or None for every row there")
    return size


def _sampled(
    df: DataFrame,
    probs: Columns,
    key: Optional[str],
    sample: int,
    seed: int,
    features: Optional[Columns] = None,
    second: Sequence[Columns] = (),
    labeled: Any = None,
    groups: Optional[str] = None,
) -> _Drawn:
    size = _size(sample)
    lists = [probs, *([] if features is None else [features]), *second]
    needed = [*(name for columns in lists for name in _named(columns)), *(name for name in (groups, key) if name is not None)]
    table = _Table(df, needed)
    if key is None:
        warnings.warn(
            "without key the sample is chosen by the position of rows, and is the same for the same partitioning only; name a column of "
            "unique ids",
            UserWarning,
            stacklevel=_errors.caller_level(),
        )
        key = NO_KEY
        table.with_numbers(key)
    rows, of_key = table.rows, F.col(table.plain(key))
    # Spark's whole numbers have a sign; a seed has none.
    signed = seed - 2**64 if seed >= 2**63 else seed
    drawn = rows.orderBy(F.xxhash64(of_key, F.lit(signed)), of_key).limit(size)
    if labeled:
        # Labeled rows count whatever the sample: they are few, and what they show is why they were labeled. Two rows of one id both
        # come, so that they are seen; `isin` is neither true nor false of a null, which is to be seen too.
        known = of_key.isin([label.item() if isinstance(label, np.generic) else label for label in labeled])
        drawn = drawn.where(~known | of_key.isNull()).union(rows.where(known))
    return _Drawn(_collected(drawn, table.names), probs, key, features, second, groups)


def _collected(df: DataFrame, names: Sequence[str]) -> Any:
    """A table on the driver, by way of Arrow and without pandas, also on Spark Connect and Spark 3.5."""
    pa = _arrow.pyarrow("evenkeel.spark")
    streams = [bytes(row.batch) for row in df.mapInArrow(_as_stream, "batch binary").collect()]
    tables = [pa.ipc.open_stream(io.BytesIO(stream)).read_all() for stream in streams]
    if not tables:
        raise InvalidInputError("the table has no rows; give at least one")
    return pa.concat_tables(tables).rename_columns(list(names))


def _positions(labels: Any, keys: Any) -> Dict[int, Any]:
    place = {key: position for position, key in enumerate(keys.to_pylist())}
    missing = next((key for key in labels if key not in place), None)
    if missing is not None:
        raise InvalidInputError(f"y_target: there is no row with the key {missing!r}")
    return {place[key]: label for key, label in labels.items()}


def _group_schema(table: _Table, grouped: Sequence[str]) -> Any:
    """What an evaluation of groups gives; an error for columns that cannot be its groups."""
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    if not grouped:
        raise InvalidParameterError("by names no columns; name one or several, or leave it out for all rows together")
    twice = next((name for name in grouped if grouped.count(name) > 1), None)
    if twice is not None:
        raise InvalidParameterError(f"by names {twice!r} twice; name it once")
    taken = next((name for name in grouped if name.lower() in _Groups._NUMBERS), None)
    if taken is not None:
        raise InvalidParameterError(f"by names {taken!r}, and the result has a column of that name for its numbers; rename it in the table")
    kinds = {name: table.rows.schema[table.plain(name)].dataType for name in grouped}
    nested = next((name for name in grouped if kinds[name].typeName() in ("array", "map", "struct", "variant")), None)
    if nested is not None:
        raise InvalidParameterError(f"by names {nested!r}, a column of {kinds[nested].simpleString()}; groups are numbers, texts, dates or booleans")

    numbers = [("n", LongType()), ("coverage", DoubleType()), ("mean_size", DoubleType()), ("median_size", DoubleType())]
    numbers += [("empty", LongType()), ("full", LongType()), ("total_coverage_gap", DoubleType())]
    return StructType([*(StructField(name, kinds[name], True) for name in grouped), *(StructField(name, kind, True) for name, kind in numbers)])


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


def _renamed(batch: Any, names: Sequence[str]) -> Any:
    """The batch with the names that its columns have in the table."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(batch.columns, names=list(names))


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
            batch = _renamed(batch, wanted["names"])
            try:
                sets = self._of(pa, calibration, batch)
            except EvenkeelError as error:
                raise located(error, f"partition {_partition()}", () if key is None else batch.column(key)) from None
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
        names: Sequence[str],
        probs: Columns,
        key: Optional[str],
        label: Optional[str],
        features: Optional[Columns],
        second: List[Columns],
        logits: Any,
        groups: Optional[str] = None,
        ratios: Optional[str] = None,
    ) -> None:
        self.plan = plan
        self.names = names
        self.key = key
        self.logits = logits
        self.chosen = distributed.Chosen(probs, key or NO_KEY, label, groups, features, ratios, second)

    def keys_and_groups(self) -> List[str]:
        """The columns that a pass over groups reads."""
        return [name for name in (self.key, self.chosen.groups) if name is not None]

    def state(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        _alone()
        state = self.of(_evenkeel.RunningPart.begin(self.plan, _partition()), (_renamed(batch, self.names) for batch in batches))
        yield pa.RecordBatch.from_arrays([pa.array([state], pa.binary())], names=["state"])

    def of(self, part: _evenkeel.RunningPart, batches: Iterable[Any]) -> bytes:
        """The state of a part that reads these batches. Errors name the partition, which is the part but where groups are."""
        keyed = (self._keyed(batch) for batch in batches)
        return distributed.state_of(part, f"partition {_partition()}", keyed, self.chosen, None, self.logits)

    def _keyed(self, batch: Any) -> Any:
        """The batch with keys: where nothing is drawn any will do."""
        if self.key is not None:
            return batch
        import pyarrow as pa

        return pa.RecordBatch.from_arrays([*batch.columns, pa.array(np.arange(batch.num_rows))], names=[*batch.schema.names, NO_KEY])


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
        # Read once: for a group of a few rows that would take longer than all else.
        first, part = EvaluateJob(calibration, self.alpha), _evenkeel.RunningPart.begin(self.rows.plan, 0)
        open_group: Any = None
        job: Optional[EvaluateJob] = None
        number, found, schema = 0, [], None
        for batch in batches:
            batch = _renamed(batch, self.rows.names)
            schema = batch.schema
            for group, rows in self._runs(batch):
                if job is None or not _same_group(group, open_group):
                    if job is not None:
                        found.append((open_group, job.finish()))
                    open_group, job, number = group, first.again(), 0
                job.merge(self.rows.of(part.again(number), [rows]))
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
