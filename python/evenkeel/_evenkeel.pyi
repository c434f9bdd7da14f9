"""The compiled part; `python/tests/test_package.py` checks this file against it."""

from typing import Any, Dict, List, Optional, Tuple, Union, final

import numpy as np

__all__ = [
    "FittedCalibration",
    "Page",
    "RunningAlarm",
    "RunningCheck",
    "RunningEvaluation",
    "RunningFit",
    "RunningPart",
    "RunningSequence",
    "__version__",
    "address",
    "bin_labels",
    "binned_plan_weights",
    "calibrate",
    "calibrate_residuals",
    "calibrate_weighted",
    "check",
    "compare",
    "coverage",
    "coverage_interval",
    "gate_regression",
    "guaranteed_threshold",
    "interval_scores",
    "keys_of_texts",
    "label_budget",
    "merge_states",
    "method_names",
    "option_names",
    "options_of_method",
    "pull_to_labels",
    "random_draw_p_value",
    "reading_weights",
    "rows_to_label",
    "total_coverage_gap",
]

__version__: str

def method_names() -> List[str]: ...
def option_names() -> List[str]: ...
def options_of_method(method: str) -> List[str]: ...
def address(matrix: np.ndarray) -> int: ...
def calibrate(
    probs_cal: Optional[np.ndarray],
    y_cal: Optional[np.ndarray],
    calibration: Optional[FittedCalibration],
    probs_target: np.ndarray,
    target_labels: List[Tuple[int, int]],
    side_cal: Dict[str, Any],
    side_target: Dict[str, Any],
    per: Optional[Dict[str, Any]],
    columns: Optional[List[str]],
    classes: Optional[List[str]],
    method: str,
    alpha: float,
    seed: int,
    logits: str,
    options: Dict[str, Any],
) -> FittedCalibration: ...
@final
class Page:
    def html(self, title: Optional[str], date: Optional[str], class_names: Optional[List[str]]) -> str: ...

def check(
    probs_cal: Optional[np.ndarray],
    y_cal: Optional[np.ndarray],
    calibration: Optional[FittedCalibration],
    probs_target: np.ndarray,
    target_labels: List[Tuple[int, int]],
    side_cal: Dict[str, Any],
    side_target: Dict[str, Any],
    classes: Optional[List[str]],
    alpha: Optional[float],
    delta: float,
    permutations: Optional[int],
    seed: Optional[int],
    logits: str,
    options: Dict[str, Any],
) -> Tuple[str, List[List[str]], List[Tuple[np.ndarray, np.ndarray]], Page]: ...
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
    columns: Optional[List[str]],
    classes: Optional[List[str]],
    alpha: float,
    seed: int,
    logits: str,
    options: Dict[str, Any],
) -> Tuple[str, List[Dict[str, Any]], List[List[str]], List[str], Page]: ...
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
def interval_scores(low: np.ndarray, high: Optional[np.ndarray], y: np.ndarray) -> np.ndarray: ...
def gate_regression(
    scores: np.ndarray,
    covariates_cal: np.ndarray,
    covariates_target: np.ndarray,
    outputs: int,
    delta: float,
    permutations: Optional[int],
    seed: int,
    question: Optional[Tuple[float, float]],
) -> Tuple[np.ndarray, float, str]: ...
def random_draw_p_value(labeled: np.ndarray, others: np.ndarray, seed: int) -> float: ...
def reading_weights(
    scores: np.ndarray,
    covariates_cal: np.ndarray,
    covariates_target: np.ndarray,
    outputs: int,
    reading: str,
    seed: int,
) -> Tuple[np.ndarray, float]: ...
def binned_plan_weights(
    predictions_cal: np.ndarray, y_cal: np.ndarray, predictions_target: np.ndarray, bins: int
) -> Tuple[np.ndarray, float]: ...
def calibrate_weighted(
    scores: np.ndarray, weights: np.ndarray, test_mass: float, method: str, alpha: float, seed: int
) -> FittedCalibration: ...
def pull_to_labels(
    scores: np.ndarray, weights: np.ndarray, test_mass: float, labeled: np.ndarray, alpha: float
) -> Tuple[np.ndarray, np.ndarray, float, float]: ...
def guaranteed_threshold(labeled: np.ndarray, alpha: float, probability: Optional[float]) -> float: ...
@final
class FittedCalibration:
    @staticmethod
    def from_json(text: str, rows: Optional[List[int]] = None, row_count: int = 0) -> FittedCalibration: ...
    def to_json(self) -> str: ...
    def to_slim_json(self) -> str: ...
    @property
    def per(self) -> str: ...
    @property
    def document(self) -> str: ...
    def thresholds(self, alpha: Optional[float]) -> List[Tuple[str, Optional[float]]]: ...
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
    def total_gap_bound_before(self) -> Optional[float]: ...
    @property
    def total_gap_bound_after(self) -> Optional[float]: ...
    @property
    def steps(self) -> int: ...
    @property
    def stopped(self) -> str: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def class_warning(self) -> Optional[str]: ...
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
        self,
        probs: Union[np.ndarray, List[np.ndarray]],
        members: np.ndarray,
        side: Dict[str, Any],
        groups: Optional[List[str]],
        alpha: Optional[float],
        logits: str,
        first_row: int,
    ) -> None: ...
    def predict_lists(
        self,
        probs: Union[np.ndarray, List[np.ndarray]],
        keys: Optional[np.ndarray],
        side: Dict[str, Any],
        groups: Optional[List[str]],
        alpha: Optional[float],
        logits: str,
        first_row: int,
    ) -> Tuple[np.ndarray, np.ndarray]: ...
    def evaluate(
        self,
        probs: np.ndarray,
        y: np.ndarray,
        side: Dict[str, Any],
        groups: Optional[List[str]],
        alpha: Optional[float],
        logits: str,
        first_row: int,
    ) -> Tuple[str, Page]: ...

def merge_states(states: List[bytes], plan: Optional[bytes]) -> bytes: ...
def keys_of_texts(offsets: np.ndarray, data: np.ndarray) -> np.ndarray: ...
@final
class RunningFit:
    @staticmethod
    def begin(
        probs_cal: np.ndarray,
        y_cal: np.ndarray,
        target_labels: List[Tuple[int, int]],
        side_cal: Dict[str, Any],
        side_target: Dict[str, Any],
        per: Optional[Dict[str, Any]],
        columns: Optional[List[str]],
        classes: Optional[List[str]],
        method: str,
        alpha: float,
        seed: int,
        logits: str,
        rows: Optional[int],
        options: Dict[str, Any],
    ) -> RunningFit: ...
    @property
    def reads_groups_only(self) -> bool: ...
    @property
    def rows(self) -> int: ...
    def plan(self) -> bytes: ...
    def merge(self, state: bytes) -> None: ...
    def end_pass(self) -> bool: ...
    def finish(self) -> FittedCalibration: ...

@final
class RunningCheck:
    @staticmethod
    def begin(
        probs_cal: Optional[np.ndarray],
        y_cal: Optional[np.ndarray],
        calibration: Optional[FittedCalibration],
        target_labels: List[Tuple[int, int]],
        side_cal: Dict[str, Any],
        classes: Optional[List[str]],
        alpha: Optional[float],
        delta: float,
        permutations: Optional[int],
        seed: Optional[int],
        logits: str,
        rows: Optional[int],
        options: Dict[str, Any],
    ) -> RunningCheck: ...
    @property
    def rows(self) -> int: ...
    def plan(self) -> bytes: ...
    def merge(self, state: bytes) -> None: ...
    def end_pass(self) -> bool: ...
    def finish(self) -> Tuple[str, List[List[str]], List[Tuple[np.ndarray, np.ndarray]], Page]: ...

@final
class RunningEvaluation:
    @staticmethod
    def begin(calibration: FittedCalibration, alpha: Optional[float]) -> RunningEvaluation: ...
    def again(self) -> RunningEvaluation: ...
    def plan(self) -> bytes: ...
    def merge(self, state: bytes) -> None: ...
    def finish(self) -> Tuple[str, Page]: ...

@final
class RunningPart:
    @staticmethod
    def begin(plan: bytes, number: int) -> RunningPart: ...
    def again(self, number: int) -> RunningPart: ...
    @property
    def columns(self) -> Optional[List[str]]: ...
    @property
    def class_names(self) -> Optional[List[str]]: ...
    @property
    def classes(self) -> int: ...
    @property
    def needs_labels(self) -> bool: ...
    @property
    def needs_groups(self) -> bool: ...
    @property
    def reads_groups_only(self) -> bool: ...
    def add(
        self,
        probs: np.ndarray,
        keys: np.ndarray,
        side: Dict[str, Any],
        labels: Optional[np.ndarray],
        groups: Optional[Tuple[List[str], np.ndarray]],
        logits: str,
    ) -> None: ...
    def add_groups(self, keys: np.ndarray, groups: Tuple[List[str], np.ndarray]) -> None: ...
    def state(self) -> bytes: ...
