"""Is there a shift, how much coverage is at risk, what to do: without labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

import numpy as np

from evenkeel import _evenkeel, _format, _inputs
from evenkeel._documents import Record

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from evenkeel._options import CheckOptions


class StepCurve(NamedTuple):
    """The CDF of a law: it rises at `scores` to `cdf`."""

    scores: np.ndarray
    cdf: np.ndarray


class ShiftReport(Record):
    """What `evenkeel.check` found: the document of `evenkeel check --json`; a threshold of None is infinite."""

    #: What `auto` makes of the target data; None where no shift was found.
    recommended: Optional[Record] = None
    #: CDFs of the calibration scores and of the laws around the target scores, for figures.
    laws_: Dict[str, StepCurve]
    #: The answer; whether its assumption can hold and which classes it is about; what is recommended.
    sentences_: List[List[str]]

    def _bounds(self) -> List[List[str]]:
        pairs = (("min-max (guaranteed)", self.bounds.min_max), ("f-u (assumed)", self.bounds.f_u))
        columns = ("weighted_cdf", "weighted_cdf_dkw", "wasserstein", "wasserstein_dkw")
        return [[name, *(f"{bounds[column]:.3f}" for column in columns)] for name, bounds in pairs]

    _BOUND_HEADER = ("bound on the total coverage gap", "weighted-CDF", "with DKW", "Wasserstein", "with DKW")

    def __repr__(self) -> str:
        answer, evidence, to_do = self.sentences_
        lines = [*answer, "", _format.table(self._BOUND_HEADER, self._bounds()), "", *evidence]
        return "\n".join([*lines, *(f"Warning: {warning}." for warning in self.warnings), *to_do])

    def _repr_html_(self) -> str:
        (first, *answer), evidence, to_do = self.sentences_
        bounds = _format.html_table(self._BOUND_HEADER, self._bounds())
        return _format.html_page(first, [*answer, *evidence, *to_do], bounds, warnings=self.warnings)


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

    `probs_cal` (n, C) and `y_cal` (n,) are labeled points of the calibration data, `probs_target` (m, C) unlabeled ones of
    the target data.
    `delta` is the failure probability of each confidence statement and the level of the shift test, which draws
    `permutations` relabelings (999 by default, or `2 / delta` if that is more). Options are those of the score, and
    `bound_grid`.
    """
    text, said, curves = _evenkeel.check(
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
    return ShiftReport(json.loads(text), laws_=laws, sentences_=said)
