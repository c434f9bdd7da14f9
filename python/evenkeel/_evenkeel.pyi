"""The compiled part; `python/tests/test_package.py` checks this file against it."""

from typing import Any, Dict, List, Optional, Tuple, final

import numpy as np

__all__ = [
    "FittedCalibration",
    "RunningAlarm",
    "RunningSequence",
    "__version__",
    "address",
    "bin_labels",
    "calibrate",
    "calibrate_residuals",
    "CheckPage",
    "check",
    "compare",
    "coverage",
    "coverage_interval",
    "label_budget",
    "method_names",
    "option_names",
    "options_of_method",
    "rows_to_label",
    "total_coverage_gap",
]

__version__: str

def method_names() -> List[str]: ...
def option_names() -> List[str]: ...
def options_of_method(method: str) -> List[str]: ...
def address(matrix: np.ndarray) -> int: ...
def calibrate(
    probs_cal: np.ndarray,
    y_cal: np.ndarray,
    probs_target: np.ndarray,
    target_labels: List[Tuple[int, int]],
    side_cal: Dict[str, Any],
    side_target: Dict[str, Any],
    method: str,
    alpha: float,
    seed: int,
    logits: str,
    options: Dict[str, Any],
) -> FittedCalibration: ...
@final
class CheckPage:
    def html(self, title: Optional[str], date: Optional[str], class_names: Optional[List[str]]) -> str: ...

def check(
    probs_cal: Optional[np.ndarray],
    y_cal: Optional[np.ndarray],
    calibration: Optional[FittedCalibration],
    probs_target: np.ndarray,
    target_labels: List[Tuple[int, int]],
    alpha: Optional[float],
    delta: float,
    permutations: Optional[int],
    seed: Optional[int],
    logits: str,
    options: Dict[str, Any],
) -> Tuple[str, List[List[str]], List[Tuple[np.ndarray, np.ndarray]], CheckPage]: ...
def compare(
    probs_cal: np.ndarray,
    y_cal: np.ndarray,
    probs_target: np.ndarray,
    probs_test: np.ndarray,
    y_test: np.ndarray,
    side_cal: Dict[str, Any],
    side_target: Dict[str, Any],
    side_test: Dict[str, Any],
    methods: Optional[List[str]],
    alpha: float,
    seed: int,
    logits: str,
    options: Dict[str, Any],
) -> Tuple[str, List[Dict[str, Any]], List[List[str]], List[str]]: ...
def rows_to_label(rows: int, budget: int, seed: int) -> np.ndarray: ...
def coverage_interval(covered: int, labels: int, failure: float, chosen_with_labels: bool) -> Tuple[float, float]: ...
def label_budget(half_width: float, level: float, failure: float) -> int: ...
@final
class RunningSequence:
    def __new__(cls, failure: float) -> RunningSequence: ...
    @staticmethod
    def from_json(text: str) -> RunningSequence: ...
    def to_json(self) -> str: ...
    def update(self, covered: np.ndarray) -> None: ...
    @property
    def state(self) -> Tuple[int, int, float, float, bool]: ...

@final
class RunningAlarm:
    def __new__(cls, alpha: float, delta: float) -> RunningAlarm: ...
    @staticmethod
    def from_json(text: str) -> RunningAlarm: ...
    def to_json(self) -> str: ...
    def update(self, covered: np.ndarray) -> None: ...
    @property
    def state(self) -> Tuple[int, int, float, Optional[int]]: ...

def coverage(sets: np.ndarray, y: np.ndarray) -> float: ...
def total_coverage_gap(
    scores_cal: np.ndarray, scores_test: np.ndarray, weights: Optional[np.ndarray] = None
) -> float: ...
def bin_labels(y: np.ndarray, low: float, high: float, bins: int) -> Tuple[np.ndarray, np.ndarray]: ...
def calibrate_residuals(
    predictions_cal: np.ndarray,
    y_cal: np.ndarray,
    predictions_target: np.ndarray,
    bins: int,
    method: str,
    alpha: float,
    seed: int,
    options: Dict[str, Any],
) -> FittedCalibration: ...
@final
class FittedCalibration:
    @staticmethod
    def from_json(text: str, rows: Optional[List[int]] = None, row_count: int = 0) -> FittedCalibration: ...
    def to_json(self) -> str: ...
    def named(self, columns: Optional[List[str]], classes: Optional[List[str]]) -> FittedCalibration: ...
    @property
    def columns(self) -> Optional[List[str]]: ...
    @property
    def class_names(self) -> Optional[List[str]]: ...
    def update(
        self, probs_target: np.ndarray, target_labels: List[Tuple[int, int]], logits: str
    ) -> FittedCalibration: ...
    @property
    def method(self) -> str: ...
    @property
    def assumption(self) -> str: ...
    @property
    def score(self) -> str: ...
    @property
    def randomised(self) -> bool: ...
    @property
    def classes(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def test_mass(self) -> float: ...
    @property
    def effective_sample_size(self) -> float: ...
    @property
    def bound_before(self) -> Optional[float]: ...
    @property
    def bound_after(self) -> Optional[float]: ...
    @property
    def steps(self) -> int: ...
    @property
    def stopped(self) -> str: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def account(self) -> Optional[str]: ...
    @property
    def sentences(self) -> List[str]: ...
    @property
    def evidence(self) -> Optional[str]: ...
    @property
    def scores(self) -> np.ndarray: ...
    @property
    def weights(self) -> np.ndarray: ...
    @property
    def rows(self) -> Optional[np.ndarray]: ...
    @property
    def row_count(self) -> int: ...
    @property
    def trace(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
    def threshold(self, alpha: Optional[float] = None) -> Optional[float]: ...
    def predict(
        self, probs: np.ndarray, side: Dict[str, Any], alpha: Optional[float], logits: str, first_row: int
    ) -> np.ndarray: ...
    def evaluate(
        self,
        probs: np.ndarray,
        y: np.ndarray,
        side: Dict[str, Any],
        alpha: Optional[float],
        logits: str,
        first_row: int,
    ) -> str: ...
