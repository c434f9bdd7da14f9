"""Is there a shift, how much coverage is at risk, what to do: without labels."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np

from evenkeel import _evenkeel, _inputs, _format

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import CheckOptions


class _Fields:
    """Attributes that can also be read like the JSON they stand for."""

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None


@dataclass(frozen=True)
class ShiftTest(_Fields):
    """Distances of the model's confidences and predicted classes, yesterday against today, and a permutation p-value."""

    statistic: float
    p_value: float
    detected: bool
    permutations: int
    confidence_distance: float
    class_distance: float


@dataclass(frozen=True)
class ConfidentInterval(_Fields):
    """Where the coverage of the law behind the points lies, at a confidence level."""

    level: float
    guaranteed: Tuple[float, float]
    assumed: Tuple[float, float]


@dataclass(frozen=True)
class CoverageInterval(_Fields):
    """Where today's coverage lies: whatever the labels are, and if model and uniform labels enclose the truth."""

    guaranteed: Tuple[float, float]
    assumed: Tuple[float, float]
    with_confidence: ConfidentInterval


@dataclass(frozen=True)
class GapBounds(_Fields):
    """Bounds on the total coverage gap: eq 7, eq 8, and both with the DKW correction."""

    weighted_cdf: float
    wasserstein: float
    weighted_cdf_dkw: float
    wasserstein_dkw: float


@dataclass(frozen=True)
class SandwichBounds(_Fields):
    """Bounds from both pairs of laws around today's scores."""

    min_max: GapBounds
    f_u: GapBounds


@dataclass(frozen=True)
class Dominance(_Fields):
    """Whether a pair of laws is ordered."""

    holds: bool
    largest_violation: float
    at: Optional[float]


@dataclass(frozen=True)
class DominanceReport(_Fields):
    """The pair whose order is assumed."""

    f_u: Dominance


@dataclass(frozen=True)
class StepCurve(_Fields):
    """The CDF of a law: it rises at `scores` to `cdf`."""

    scores: np.ndarray
    cdf: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class ShiftReport(_Fields):
    """What `evenkeel.check` found, under the names of `evenkeel check --json`; a threshold of None is infinite."""

    n: int
    m: int
    classes: int
    alpha: float
    delta: float
    shift: ShiftTest
    threshold: Optional[float]
    coverage_interval: CoverageInterval
    bounds: SandwichBounds
    dominance: DominanceReport
    bound_grid: int
    advice: str
    warnings: List[str]
    #: CDFs of the calibration scores and of the laws around today's, for figures.
    laws_: Dict[str, StepCurve] = field(default_factory=dict)
    #: Shift or not, what coverage to expect, what to do, and whether the assumed laws are ordered.
    sentences_: List[str] = field(default_factory=list)

    def to_dict(self) -> Dict[str, Any]:
        """The document `evenkeel check --json` prints, without the `recommended` that it adds after a shift."""
        document = asdict(self)
        del document["laws_"], document["sentences_"]
        return json.loads(json.dumps(document))  # tuples -> lists, as in JSON

    def _bound_rows(self) -> List[List[str]]:
        pairs = (("min-max (guaranteed)", self.bounds.min_max), ("f-u (assumed)", self.bounds.f_u))
        return [
            [
                name,
                f"{bound.weighted_cdf:.3f}",
                f"{bound.weighted_cdf_dkw:.3f}",
                f"{bound.wasserstein:.3f}",
                f"{bound.wasserstein_dkw:.3f}",
            ]
            for name, bound in pairs
        ]

    _BOUND_HEADER = ("bound on the total coverage gap", "weighted-CDF", "with DKW", "Wasserstein", "with DKW")

    def __repr__(self) -> str:
        *answer, order = self.sentences_
        lines = [*answer, "", _format.table(self._BOUND_HEADER, self._bound_rows()), "", order]
        return "\n".join(lines + [f"Warning: {warning}." for warning in self.warnings])

    def _repr_html_(self) -> str:
        bounds = _format.html_table(self._BOUND_HEADER, self._bound_rows())
        first, *more = self.sentences_
        return _format.html_page(first, more, bounds, warnings=self.warnings)


def check(
    probs_cal: Any,
    y_cal: Any,
    probs_target: Any,
    alpha: float = 0.1,
    delta: float = 0.05,
    random_state: Any = 0,
    *,
    logits: bool = False,
    permutations: Optional[int] = None,
    **options: Unpack[CheckOptions],
) -> ShiftReport:
    """Is there a shift, how much coverage is at risk, what to do.

    `probs_cal` (n, C) and `y_cal` (n,) are labeled points of yesterday, `probs_target` (m, C) unlabeled ones of today.
    `delta` is the failure probability of each confidence statement and the level of the shift test, which draws
    `permutations` relabelings (999 by default, or `2 / delta` if that is more). Options: `score`,
    `randomised`, `raps_lambda`, `raps_k`, `bound_grid`.
    """
    text, sentences, curves = _evenkeel.check(
        _inputs.matrix("probs_cal", probs_cal),
        _inputs.labels("y_cal", y_cal, "probs_cal"),
        _inputs.matrix("probs_target", probs_target),
        _inputs.number("alpha", alpha),
        _inputs.number("delta", delta),
        None if permutations is None else _inputs.count("permutations", permutations),
        _inputs.seed(random_state),
        _inputs.flag("logits", logits),
        dict(options),
    )
    names = ("calibration", "min_max_lower", "min_max_upper", "f_u_lower", "f_u_upper")
    laws = {name: StepCurve(*curve) for name, curve in zip(names, curves)}
    return _report(json.loads(text), laws, sentences)


def _report(document: Dict[str, Any], laws: Dict[str, StepCurve], sentences: List[str]) -> ShiftReport:
    interval = document["coverage_interval"]
    confident = interval["with_confidence"]
    return ShiftReport(
        **{
            **document,
            "shift": ShiftTest(**document["shift"]),
            "coverage_interval": CoverageInterval(
                guaranteed=tuple(interval["guaranteed"]),
                assumed=tuple(interval["assumed"]),
                with_confidence=ConfidentInterval(
                    level=confident["level"],
                    guaranteed=tuple(confident["guaranteed"]),
                    assumed=tuple(confident["assumed"]),
                ),
            ),
            "bounds": SandwichBounds(**{name: GapBounds(**bound) for name, bound in document["bounds"].items()}),
            "dominance": DominanceReport(f_u=Dominance(**document["dominance"]["f_u"])),
        },
        laws_=laws,
        sentences_=sentences,
    )
