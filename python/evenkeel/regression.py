"""Regression that does no harm: what a regressor says, the gate on its scores, and what is at risk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from evenkeel import _errors, _evenkeel, _format, _inputs
from evenkeel._documents import Record
from evenkeel._errors import IncompatibleError, InvalidInputError, InvalidParameterError
from evenkeel._pages import Evaluation
from evenkeel._sets import LabelSets
from evenkeel.calibration import Calibration

if TYPE_CHECKING:
    from typing_extensions import Literal

    RegressionScore = Literal["absolute", "normalised", "quantile"]

#: Features are compared only where there are at least this many rows for each of their columns.
ROWS_PER_FEATURE = 5
#: A random draw of labeled rows is called none this often.
DRAW_LEVEL = 0.01
#: A loss of less than this is none to be woken for.
SMALL_LOSS = 0.02
#: Labels whose interval holds the level and this much less say little.
SAYS_LITTLE = 0.15
#: How often chance alone may speak against a level that holds, for a person to be told.
RARE = 0.1
#: What the readings assume, by their names.
ASSUMPTIONS = {
    "uncorrected": "nothing changed",
    "calibrated": "the law of the residuals is kept at what the model says",
    "likelihood-ratio": "the law of the residuals is kept at x",
    "auto": "both of them, as far as the change is more than noise",
    "label-plan": "the law of y is kept; wrong under covariate shift",
    "ot": "the target scores lie between the model's belief and the uniform law (paper, eq 8)",
    "ot-exact": "the same, by the exact bound",
}


class Forecast(NamedTuple):
    """What a regressor says of some points: a score is `max(low - y, y - high) / scale`, with `low = high` for a plain one."""

    prediction: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: Optional[np.ndarray]
    kind: str

    @classmethod
    def plain(cls, prediction: np.ndarray, scale: Optional[np.ndarray] = None) -> "Forecast":
        return cls(prediction, prediction, prediction, scale, "absolute" if scale is None else "normalised")

    @classmethod
    def between(cls, low: np.ndarray, high: np.ndarray) -> "Forecast":
        return cls(low + (high - low) / 2, low, high, None, "quantile")

    def outputs(self) -> np.ndarray:
        """What the model says without labels: its prediction, and how wide it thinks the truth spreads; shape (n, 1) or (n, 2)."""
        if self.kind == "absolute":
            return self.prediction[:, np.newaxis]
        width = self.high - self.low if self.scale is None else self.scale
        return np.column_stack([self.prediction, width])

    def scores(self, y: np.ndarray) -> np.ndarray:
        raw = _evenkeel.interval_scores(self.low, self.high if self.kind == "quantile" else None, y)
        return raw if self.scale is None else raw / self.scale

    def interval(self, threshold: float) -> np.ndarray:
        """Ends of the intervals, shape (n, 2)."""
        reach = threshold if self.scale is None else threshold * self.scale
        return np.stack([self.low - reach, self.high + reach], axis=1)

    def rows(self, places: Sequence[int]) -> "Forecast":
        scale = None if self.scale is None else self.scale[places]
        return Forecast(self.prediction[places], self.low[places], self.high[places], scale, self.kind)


class Side(NamedTuple):
    """What is known of one data set without labels."""

    outputs: np.ndarray
    features: Optional[np.ndarray]

    def covariates(self, with_features: bool) -> np.ndarray:
        if not with_features or self.features is None:
            return np.ascontiguousarray(self.outputs)
        return np.ascontiguousarray(np.hstack([self.outputs, self.features]))


class Compared(NamedTuple):
    """Calibration scores and the covariates of both data sets, ready for the gate."""

    scores: np.ndarray
    cal: np.ndarray
    target: np.ndarray
    outputs: int
    notes: List[str]

    def gate(
        self, delta: float, permutations: Optional[int], seed: int, question: Optional[Tuple[float, float]] = None
    ) -> Tuple[np.ndarray, float, Dict[str, Any]]:
        """Weights, the test point's share, and what was found; `question` is a threshold and the level it should cover."""
        weights, test_mass, text = _evenkeel.gate_regression(
            self.scores, self.cal, self.target, self.outputs, delta, permutations, seed, question
        )
        found = json.loads(text)
        found["features"] = self.cal.shape[1] - self.outputs
        return weights, test_mass, found


def compared(scores: np.ndarray, cal: Side, target: Side) -> Compared:
    """Features are left out, and a note says so, where there are too few rows to compare them."""
    notes = []
    use = cal.features is not None and target.features is not None
    if use:
        assert cal.features is not None and target.features is not None
        columns = cal.features.shape[1]
        if columns != target.features.shape[1]:
            raise InvalidInputError(
                f"the calibration data have {columns} features and the target data {target.features.shape[1]}; give the same"
            )
        rows = min(len(scores), len(target.features))
        if rows < ROWS_PER_FEATURE * columns:
            use = False
            notes.append(
                f"{columns} features are too many to compare with {rows} rows, so only what the model says was compared; give "
                "fewer with features_cal and features_target"
            )
    return Compared(scores, cal.covariates(use), target.covariates(use), cal.outputs.shape[1], notes)


def numeric_table(values: Any) -> Optional[np.ndarray]:
    """The inputs of a model as a table of numbers to compare, if they are one."""
    try:
        table = _inputs.matrix("X", values).astype(np.float64, copy=False)
    except InvalidInputError:
        return None  # Words, sparse or missing: nothing was asked for, so nothing is refused.
    return table if table.shape[1] > 0 and np.all(np.isfinite(table)) else None


def given_features(argument: str, values: Any, rows: int) -> np.ndarray:
    """Features that were given, which must be finite and one row for each point."""
    table = np.ascontiguousarray(_inputs.matrix(argument, values).astype(np.float64, copy=False))
    if len(table) != rows:
        raise InvalidInputError(f"{argument} has {len(table)} rows but there are {rows} points; give one for each")
    return table


def target_values(argument: str, values: Any, rows: int) -> Dict[int, float]:
    """Known `y` by target row: of a vector with NaN where unknown, or of a dict from row to value."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        pairs = [(row, float(value)) for row, value in values.items()]
    else:
        known = _inputs.vector(argument, values)
        if len(known) != rows:
            raise InvalidInputError(
                f"{argument} has {len(known)} values but X_target has {rows} rows; give one for each, NaN where unknown, or a "
                "dict from row to value"
            )
        pairs = [(row, value) for row, value in enumerate(known.tolist()) if not np.isnan(value)]
    found: Dict[int, float] = {}
    for row, value in pairs:
        if isinstance(row, bool) or int(row) != row or not 0 <= row < rows:
            raise InvalidInputError(f"{argument}: {row!r} is no row of X_target; rows run from 0 to {rows - 1}")
        if not np.isfinite(value):
            raise InvalidInputError(f"{argument}[{row}] is {value}; leave out what is not known")
        found[int(row)] = value
    return found


def account(found: Dict[str, Any]) -> str:
    """What the gate did and why, in a sentence or two."""
    shift = found["shift"]
    test = f"p {_p_value(shift['p_value'])}"
    if found["decision"] == "no-shift":
        return f"No shift was found ({test}): split conformal prediction, whose coverage is guaranteed without one."
    changed = (
        f"A shift was found ({test}). Under it the law of the scores changes by {100 * found['change']:.1f} points, of which "
        f"noise explains {100 * found['noise']:.1f}"
    )
    if found["decision"] == "no-change-of-scores":
        return f"{changed}: split conformal prediction is kept."
    return (
        f"{changed}: {_format.percent(found['strength'])} of the change is followed, with {found['effective_sample_size']:.0f} "
        f"effective points of {found['n']}."
    )


def _p_value(value: float) -> str:
    return f"= {value:.3f}" if value >= 0.001 else "< 0.001"


class ResidualCalibration(Calibration):
    """Weighted scores of a regressor: thresholds are how far intervals reach, and there are no label sets."""

    __slots__ = ()

    @property
    def score(self) -> str:
        """Always "absolute"."""
        return "absolute"

    @property
    def n_classes(self) -> int:
        """Number of bins of `y` that served as candidate labels."""
        return self._core.classes

    def predict_set(self, *_: Any, **__: Any) -> LabelSets:
        """Refused: there are no labels."""
        raise IncompatibleError("a calibration of residuals gives no sets of labels; use the regressor's predict_interval")

    def _sets(self, *_: Any, **__: Any) -> List[np.ndarray]:
        return [self.predict_set()]

    def evaluate(self, *_: Any, **__: Any) -> Evaluation:
        """Refused: there are no labels."""
        raise IncompatibleError(
            "a calibration of residuals gives no sets of labels; measure the regressor's intervals with evenkeel.metrics"
        )

    def save(self, path: Any) -> None:
        """Refused: the file would be read as one of label scores."""
        raise IncompatibleError("a calibration of residuals has no file of its own; pickle the regressor")

    def _title(self) -> str:
        return f"Calibration of absolute residuals, {self.n_classes} bins of y"


class GatedCalibration(ResidualCalibration):
    """The same by a method of its own: `auto`, a reading, or labels. `evidence_` holds what was found."""

    __slots__ = ("_about",)

    def __init__(self, core: Any, notes: Sequence[str], about: Dict[str, Any]) -> None:
        super().__init__(core, notes)
        self._about = about

    @property
    def method(self) -> str:
        """Name of the method that made it."""
        return str(self._about["method"])

    @property
    def score(self) -> str:
        """ "absolute", "normalised" or "quantile"."""
        return str(self._about["score"])

    @property
    def n_classes(self) -> int:
        """0: there are no classes, and no bins."""
        return 0

    @property
    def account_(self) -> Optional[str]:
        """What was done and why."""
        return str(self._about["account"])

    @property
    def evidence_(self) -> Optional[Dict[str, Any]]:
        """What was found; None for a method that looks at nothing."""
        found = self._about["evidence"]
        return None if found is None else dict(found)

    @property
    def labels_used_(self) -> int:
        """Labels of target rows that it was made with; their scores stand behind those of the calibration points."""
        return len(self._about["labeled"])

    def threshold(self, alpha: Optional[float] = None) -> float:
        """How far intervals reach; infinite if too few points are left to say."""
        rate = self.alpha if alpha is None else _inputs.number("alpha", alpha)
        found = self._core.threshold(rate)
        own = np.inf if found is None else float(found)
        if self._about["guarantee"] is None:
            return own
        probability = None if self._about["guarantee"] == "average" else self._about["guarantee"]
        return max(own, _evenkeel.guaranteed_threshold(np.array(self._about["labeled"]), rate, probability))

    def _state(self) -> Any:
        return (*super()._state(), self._about)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GatedCalibration):
            return NotImplemented
        return self._core.to_json() == other._core.to_json() and self._about == other._about

    def __hash__(self) -> int:
        return hash(self._core.to_json())

    def _title(self) -> str:
        words = {"absolute": "absolute residuals", "normalised": "normalised residuals", "quantile": "quantile scores"}
        return f"Calibration of {words[self.score]}, method {self.method}"

    def _sentences(self) -> List[str]:
        reach = f"At {_format.percent(1 - self.alpha)} intervals reach {_format.threshold(self.threshold())}"
        unit = {"absolute": "in units of y", "normalised": "scales", "quantile": "beyond the predicted quantiles"}[self.score]
        return [str(self._about["account"]), f"{reach} {unit}."]

    def _repr_html_(self) -> str:
        rows = [(_format.percent(1 - rate), _format.threshold(self.threshold(rate))) for rate in (0.01, 0.05, 0.1, 0.2)]
        table = _format.html_table(("level", "threshold"), rows)
        return _format.html_page(self._title(), self._sentences(), table, warnings=self.warnings_)


def checked_guarantee(guarantee: Any) -> Any:
    """None, "average" or a probability."""
    if guarantee is None or guarantee == "none":
        return None
    if guarantee == "average":
        return guarantee
    number = _inputs.number("guarantee", guarantee)
    if not 0 < number < 1:
        raise InvalidParameterError(f"guarantee is {number!r}; it must be None, \"average\" or a probability between 0 and 1")
    return number


class RegressionReport(Record):
    """What `check_regression` and `ShiftConformalRegressor.check` found; a threshold of None is infinite."""

    #: What labels show; None without any.
    coverage_measured: Optional[Record] = None
    #: Whether the verdict is theirs.
    decided_by_labels: bool = False

    _READINGS = ("reading", "coverage", "sampling error", "counts", "assumes")

    def _reading_rows(self) -> List[List[str]]:
        return [
            [
                reading.name,
                _format.percent(reading.coverage),
                "" if reading.sampling_error is None else _format.percent(reading.sampling_error),
                "yes" if reading.counts else "no",
                ASSUMPTIONS[reading.name],
            ]
            for reading in self.readings
        ]

    def _sentences(self) -> List[str]:
        estimate, found = self.coverage_estimate, self.coverage_measured
        asked = f"Intervals that should cover {_format.percent(self.level)} of the target data cover"
        assumed = f"{_format.percent(estimate.value)} ({_format.percent_range((estimate.low, estimate.high))}, assumed)"
        if found is None:
            return [f"{asked} an estimated {assumed}: {self.verdict}.", self.account, self.advice]
        measured = (
            f"{_format.percent(found.value)} ({_format.percent_range((found.low, found.high))} with "
            f"{_format.percent(found.confidence)} confidence)"
        )
        if self.decided_by_labels:
            said = [f"{asked} {found.covered} of {found.k} labels, {measured}: {self.verdict}.", f"Without the labels: {assumed}. {self.account}"]
        else:
            said = [f"{asked} an estimated {assumed}: {self.verdict}.", self.account, f"Measured on {found.k} labels: {measured}; they do not decide."]
        return [*said, self.advice]

    def __repr__(self) -> str:
        return "\n".join([*self._sentences(), *(f"Warning: {warning}." for warning in self.warnings)])

    def explain(self) -> str:
        """The answer with the readings it rests on, and what each assumes."""
        return "\n".join([repr(self), "", _format.table(self._READINGS, self._reading_rows(), left=(0, 3, 4))])

    def _repr_html_(self) -> str:
        first, *others = self._sentences()
        table = _format.html_table(self._READINGS, self._reading_rows())
        return _format.html_page(first, others, table, warnings=self.warnings)


def report(
    data: Compared,
    threshold: float,
    alpha: float,
    delta: float,
    permutations: Optional[int],
    seed: int,
    beside: Dict[str, float],
    labeled: Sequence[float],
    chosen_with_labels: bool = False,
    picked: Optional[str] = None,
) -> RegressionReport:
    """What is at risk at a threshold; `beside` holds the coverage under readings that do not count, `labeled` scores of labels.

    A threshold that was chosen with labels, perhaps these, needs the wider interval that holds at every threshold. `picked` says that
    the labeled rows do not look drawn at random: such labels decide nothing.
    """
    level = 1.0 - alpha
    _, _, found = data.gate(delta, permutations, seed, (threshold, level))
    assessment = found.pop("assessment")
    readings = [{**reading, "counts": _counts(reading["name"], found["decision"])} for reading in assessment["readings"]]
    readings += [
        {"name": name, "coverage": value, "sampling_error": None, "effective_sample_size": None, "standing": "assumed", "counts": False}
        for name, value in beside.items()
    ]
    verdict, measured, decided = assessment["verdict"], None, False
    if len(labeled):
        covered = int(np.sum(np.asarray(labeled) <= threshold))
        low, high = _evenkeel.coverage_interval(covered, len(labeled), delta, chosen_with_labels)
        measured = {
            "k": len(labeled),
            "covered": covered,
            "value": covered / len(labeled),
            "low": low,
            "high": high,
            "confidence": 1.0 - delta,
        }
        estimate = assessment["value"]
        if picked is None and _labels_decide(measured, level, estimate, chosen_with_labels):
            verdict = _verdict_of_labels(measured, level)
            decided = True
    warnings = [*data.notes, *([] if picked is None else [picked])]
    if found["decision"] != "no-shift" and not len(labeled):
        warnings.append("that residuals at a point are what they were cannot be seen without labels")
    document = {
        "n": found["n"],
        "m": found["m"],
        "features": found["features"],
        "alpha": alpha,
        "level": level,
        "threshold": None if np.isinf(threshold) else threshold,
        "shift": found["shift"],
        "decision": found["decision"],
        "strength": found["strength"],
        "change": found["change"],
        "noise": found["noise"],
        "effective_sample_size": found["effective_sample_size"],
        "coverage_estimate": {
            "value": assessment["value"],
            "low": assessment["low"],
            "high": assessment["high"],
            "reading": "uncorrected" if found["decision"] == "no-shift" else "auto",
            "standing": "assumed",
        },
        "readings": readings,
        "verdict": verdict,
        "loss": assessment["loss"],
        "account": account(found),
        "advice": _advice(verdict, found["decision"], decided),
        "warnings": warnings,
    }
    if measured is not None:
        document["coverage_measured"] = measured
        document["decided_by_labels"] = decided
    return RegressionReport(document)


def _counts(name: str, decision: str) -> bool:
    return name == "auto" if decision == "no-shift" else name != "uncorrected"


def _labels_decide(measured: Dict[str, Any], level: float, estimate: float, chosen_with_labels: bool) -> bool:
    """Whether labels exclude the level, coverage far below it or the estimate, or are rarer than one in ten where the level holds."""
    low, high = measured["low"], measured["high"]
    rare = False
    if not chosen_with_labels:
        rare = _evenkeel.coverage_interval(measured["covered"], measured["k"], 2 * RARE, False)[1] < level - 1e-9
    return high < level or low >= level - SAYS_LITTLE or rare or not low <= estimate <= high


def _verdict_of_labels(measured: Dict[str, Any], level: float) -> str:
    """As `check` decides for a classifier."""
    large = measured["value"] < level - SMALL_LOSS
    if measured["high"] < level and large:
        return "loss"
    if measured["high"] >= level and not large and measured["low"] >= level - SAYS_LITTLE:
        return "ok"
    return "watch"


def not_random(side: Side, places: Sequence[int], seed: int) -> Optional[str]:
    """What to warn of where the labeled rows do not look like a random draw of the target rows."""
    rest = np.setdiff1d(np.arange(len(side.outputs)), places)
    if not len(places) or not len(rest):
        return None
    columns = 0 if side.features is None else side.features.shape[1]
    rows = side.covariates(min(len(places), len(rest)) >= ROWS_PER_FEATURE * columns)
    p_value = _evenkeel.random_draw_p_value(np.ascontiguousarray(rows[list(places)]), np.ascontiguousarray(rows[rest]), seed)
    if p_value > DRAW_LEVEL:
        return None
    return (
        f"labels-not-random: the {len(places)} labeled rows do not look drawn at random from the target rows (p {_p_value(p_value)}), so "
        "what they show may not hold for the others; evenkeel.choose_rows says which to label"
    )


def _advice(verdict: str, decision: str, decided_by_labels: bool) -> str:
    if verdict == "ok" and decided_by_labels:
        return "Keep the intervals: the labels agree with the level."
    if verdict == "ok" and decision == "no-shift":
        return "Keep the intervals."
    if verdict == "ok":
        return "Keep the intervals; the shift does not seem to cost coverage."
    if verdict == "loss" and decided_by_labels:
        return "Conformalize with this target data and these labels (y_target)."
    if verdict == "loss":
        return "Conformalize with this target data, or label some of it and give y_target."
    more = "more" if decided_by_labels else "some"
    return f"Label {more} target rows, evenkeel.choose_rows says which, and give them as y_target."


def check_regression(
    predictions_cal: Any,
    y_cal: Any,
    predictions_target: Any,
    alpha: float = 0.1,
    delta: float = 0.05,
    random_state: Any = 0,
    *,
    features_cal: Any = None,
    features_target: Any = None,
    scale_cal: Any = None,
    scale_target: Any = None,
    y_target: Any = None,
    bins: int = 50,
    permutations: Optional[int] = None,
) -> RegressionReport:
    """Is there a shift, how much coverage do a regressor's intervals lose, what to do.

    `predictions_cal` (n,) with `y_cal` (n,) are of the calibration data, `predictions_target` (m,) of the target data. Two columns
    are lower and upper quantiles, calibrated as in conformalised quantile regression. `scale_cal` and `scale_target` are positive
    scales by which residuals are divided. `features_cal` (n, d) and `features_target` (m, d) are compared too.
    `y_target` holds some known `y` of the target data: one for each row with NaN where unknown, or a dict from row to value.
    The question is about the threshold of split conformal prediction at `alpha`. `delta` is the level of the shift test, which draws
    `permutations` relabelings (999 by default), and the failure probability of what labels show.
    """
    cal = _given_forecast("predictions_cal", predictions_cal, "scale_cal", scale_cal)
    target = _given_forecast("predictions_target", predictions_target, "scale_target", scale_target)
    if cal.kind != target.kind:
        raise InvalidInputError(
            f"predictions of the calibration data are {cal.kind} and those of the target data {target.kind}; give the same of both"
        )
    y, seed = _inputs.vector("y_cal", y_cal), _inputs.seed(random_state)
    rate, failure = _inputs.number("alpha", alpha), _inputs.number("delta", delta)
    scores = cal.scores(y)
    sides = []
    for argument, features, said in (("features_cal", features_cal, cal), ("features_target", features_target, target)):
        table = None if features is None else given_features(argument, features, len(said.prediction))
        sides.append(Side(said.outputs(), table))
    if (features_cal is None) != (features_target is None):
        raise InvalidInputError("features of one data set only; give features_cal and features_target, or neither")
    n = len(scores)
    core = _evenkeel.calibrate_weighted(scores, np.ones(n), 1 / (n + 1), "uncorrected", rate, seed)
    threshold = core.threshold(None)
    assert threshold is not None
    known = target_values("y_target", y_target, len(target.prediction))
    rows = sorted(known)
    labeled = target.rows(rows).scores(np.array([known[row] for row in rows])) if rows else np.zeros(0)
    beside = {}
    if cal.kind == "absolute":
        beside = plain_readings(scores, cal.prediction, y, target.prediction, _inputs.count("bins", bins), threshold, rate, seed)
    draws = None if permutations is None else _inputs.count("permutations", permutations)
    picked = not_random(sides[1], rows, seed)
    found = report(compared(scores, *sides), threshold, rate, failure, draws, seed, beside, labeled.tolist(), picked=picked)
    _errors.warn_of(found.warnings)
    return found


def _given_forecast(argument: str, values: Any, scale_argument: str, scale: Any) -> Forecast:
    table = _inputs.matrix(argument, values).astype(np.float64, copy=False)
    if table.shape[1] == 2:
        if scale is not None:
            raise InvalidInputError(f"{argument} holds two quantiles, which have their own width; leave {scale_argument} out")
        return Forecast.between(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]))
    if table.shape[1] != 1:
        raise InvalidInputError(f"{argument} has {table.shape[1]} columns; give one prediction, or two quantiles, for each point")
    prediction = np.ascontiguousarray(table[:, 0])
    return Forecast.plain(prediction, None if scale is None else checked_scale(scale_argument, scale, len(prediction)))


def checked_scale(argument: str, values: Any, rows: int) -> np.ndarray:
    """Positive finite scales, one for each point."""
    scale = _inputs.vector(argument, values)
    if len(scale) != rows:
        raise InvalidInputError(f"{argument} has {len(scale)} entries but there are {rows} points; give one for each")
    bad = np.flatnonzero(~(np.isfinite(scale) & (scale > 0)))
    if bad.size:
        raise InvalidInputError(f"{argument}[{bad[0]}] is {scale[bad[0]]}; scales must be positive and finite")
    return scale


def plain_readings(
    scores: np.ndarray,
    predictions_cal: np.ndarray,
    y_cal: np.ndarray,
    predictions_target: np.ndarray,
    bins: int,
    threshold: float,
    alpha: float,
    seed: int,
) -> Dict[str, float]:
    """Coverage of a threshold under the readings by bins of `y`, which are told and do not count."""
    if len(np.unique(y_cal)) < 2 or np.isinf(threshold):
        return {}  # No bins over one value; and everything covers everything.
    plan, _ = _evenkeel.binned_plan_weights(predictions_cal, y_cal, predictions_target, bins)
    found = {"label-plan": min(1.0, float(plan[scores <= threshold].sum()))}
    paper = {"objective": "wasserstein", "steps": 10, "learning_rate": 0.1, "bandwidth_factor": 1.0}
    for name, options in (("ot", paper), ("ot-exact", {"objective": "exact"})):
        core = _evenkeel.calibrate_residuals(predictions_cal, y_cal, predictions_target, bins, "ot", alpha, seed, options)
        found[name] = min(1.0, float(core.weights[core.scores <= threshold].sum()))
    return found
