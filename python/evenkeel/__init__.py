"""Evenkeel: conformal prediction sets that stay honest when the world changes.

    import evenkeel as ek

    report = ek.check(probs_cal, y_cal, probs_target)      # is there a shift, what coverage is at risk, what to do
    cal = ek.calibrate(probs_cal, y_cal, probs_target)     # recalibrate without new labels
    sets = cal.predict_set(probs)                          # bool (n, C)

A few labels: `choose_rows` says which rows to label, `y_target` takes them, `coverage_interval`, `CoverageSequence` and `CoverageAlarm`
say what they prove. Estimators in MAPIE's shapes: `ShiftConformalClassifier`, `ShiftConformalRegressor`. Figures: `evenkeel.plot`. Data to try it
on: `evenkeel.datasets.demo()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from evenkeel._errors import (
    EvenkeelError,
    FileError,
    IncompatibleError,
    InvalidInputError,
    InvalidParameterError,
    ShiftWarning,
)
from evenkeel._evenkeel import __version__, method_names
from evenkeel import datasets, metrics
from evenkeel.calibration import Calibration, Trace, calibrate, load
from evenkeel.certify import (
    AlarmState,
    CoverageAlarm,
    CoverageSequence,
    SequenceState,
    choose_rows,
    coverage_interval,
    label_budget,
)
from evenkeel.distributed import CheckJob, EvaluateJob, FitJob, merge_states, partial
from evenkeel.grouped import GroupedCalibration
from evenkeel.comparison import Comparison, ComparisonRow, compare
from evenkeel.regression import RegressionReport, check_regression
from evenkeel.shift import ShiftReport, check

if TYPE_CHECKING:
    from evenkeel import plot, spark
    from evenkeel.classifier import ShiftConformalClassifier
    from evenkeel.regressor import ShiftConformalRegressor

__all__ = [
    "AlarmState",
    "Calibration",
    "CheckJob",
    "Comparison",
    "ComparisonRow",
    "CoverageAlarm",
    "CoverageSequence",
    "EvaluateJob",
    "EvenkeelError",
    "FileError",
    "FitJob",
    "GroupedCalibration",
    "IncompatibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "RegressionReport",
    "SequenceState",
    "ShiftConformalClassifier",
    "ShiftConformalRegressor",
    "ShiftReport",
    "ShiftWarning",
    "Trace",
    "__version__",
    "calibrate",
    "check",
    "check_regression",
    "choose_rows",
    "compare",
    "coverage_interval",
    "datasets",
    "label_budget",
    "load",
    "merge_states",
    "method_names",
    "metrics",
    "partial",
    "plot",
]

# scikit-learn takes a second to import, matplotlib and pyspark may be absent: all wait until they are asked for.
_LATER = {
    "ShiftConformalClassifier": "evenkeel.classifier",
    "ShiftConformalRegressor": "evenkeel.regressor",
    "plot": "evenkeel.plot",
    "spark": "evenkeel.spark",
}
#: What brings a package that is not required.
_EXTRAS = {"sklearn": "sklearn", "matplotlib": "plot"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'evenkeel' has no attribute {name!r}")
    import importlib

    try:
        module = importlib.import_module(_LATER[name])
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").split(".")[0])
        if extra is None:
            raise
        raise ModuleNotFoundError(
            f"evenkeel.{name} needs {missing.name}, which is not installed; run `pip install 'evenkeel-conformal[{extra}]'`",
            name=missing.name,
        ) from missing
    return module if name in ("plot", "spark") else getattr(module, name)


def __dir__() -> List[str]:
    return sorted(__all__)
