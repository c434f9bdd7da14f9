"""What labels of the target data certify, whatever the model and the shift; all of it for rows drawn at random."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from evenkeel import _evenkeel, _format, _inputs
from evenkeel._errors import InvalidInputError, InvalidParameterError


def choose_rows(m: int, budget: int, random_state: Any = 0) -> np.ndarray:
    """`budget` of the rows `0..m` to label, drawn at random and in random order: those of `evenkeel label --seed`.

    A larger budget begins with the rows of a smaller one, so that labels already there are never wasted.

    Examples
    --------
    >>> import evenkeel as ek
    >>> ek.choose_rows(1000, 5)
    array([174, 367, 861, 716, 926])
    """
    rows, wanted = _inputs.count("m", m), _inputs.count("budget", budget)
    return _evenkeel.rows_to_label(rows, wanted, _inputs.seed(random_state))


def coverage_interval(
    covered: int, k: int, confidence: float = 0.95, chosen_with_labels: bool = False
) -> Tuple[float, float]:
    """The exact interval of a coverage of which `covered` of `k` labels lay in their sets: Clopper-Pearson.

    With `chosen_with_labels` the threshold may have been chosen with the same labels, in whatever way: the interval is wider
    and holds for all thresholds at once.

    Examples
    --------
    >>> import evenkeel as ek
    >>> low, high = ek.coverage_interval(45, 50)
    >>> print(f"{low:.3f} {high:.3f}")
    0.782 0.967
    """
    return _evenkeel.coverage_interval(
        _inputs.count("covered", covered),
        _inputs.count("k", k),
        _failure("confidence", confidence),
        _inputs.flag("chosen_with_labels", chosen_with_labels),
    )


def label_budget(half_width: float, level: float = 0.9, confidence: float = 0.95) -> int:
    """How many labels tell a coverage near `level` to within `half_width`, a share: 0.05 is plus or minus 5 points.

    Examples
    --------
    >>> import evenkeel as ek
    >>> ek.label_budget(0.05)
    155
    """
    number = _inputs.number
    return _evenkeel.label_budget(
        number("half_width", half_width), number("level", level), _failure("confidence", confidence)
    )


class SequenceState(NamedTuple):
    """What is known after some labels."""

    #: Labels seen.
    labels: int
    #: Those that lay in their sets.
    covered: int
    #: Lowest coverage; it never falls.
    low: float
    #: Highest coverage; it never rises.
    high: float
    #: Whether one coverage explains all labels; if not, it changed along the way.
    holds: bool


class CoverageSequence:
    """An interval for a coverage that holds after every label at once: look whenever you like, stop when you know enough.

    Parameters
    ----------
    confidence : float
        Probability with which all intervals hold together.

    Examples
    --------
    >>> import evenkeel as ek
    >>> sequence = ek.CoverageSequence()
    >>> state = sequence.update([True] * 45 + [False] * 5)
    >>> state.labels, state.covered, state.holds
    (50, 45, True)
    """

    def __init__(self, confidence: float = 0.95) -> None:
        self.confidence = _inputs.number("confidence", confidence)
        self._core = _evenkeel.RunningSequence(_failure("confidence", confidence))

    @property
    def state(self) -> SequenceState:
        """What is known so far."""
        return SequenceState(*self._core.state)

    def update(self, covered: Any) -> SequenceState:
        """Takes the next label, or several in their order: whether each lay in its set."""
        self._core.update(_bools(covered))
        return self.state

    def __getstate__(self) -> Tuple[float, str]:
        return self.confidence, self._core.to_json()

    def __setstate__(self, state: Tuple[float, str]) -> None:
        self.confidence, text = state
        self._core = _evenkeel.RunningSequence.from_json(text)

    def __repr__(self) -> str:
        labels, covered, low, high, _ = self.state
        percent = _format.percent
        return f"<CoverageSequence: {covered} of {labels} covered, {percent(low)} to {percent(high)}>"


class AlarmState(NamedTuple):
    """What is known after some labels."""

    #: Labels seen.
    labels: int
    #: Those that did not lie in their sets.
    misses: int
    #: Evidence against "coverage is at least the level".
    e_value: float
    #: Number of the label at which the alarm went off; None if it has not.
    fired_at: Optional[int]

    @property
    def fired(self) -> bool:
        """Whether the alarm went off. Once it has, it stays on."""
        return self.fired_at is not None


class CoverageAlarm:
    """Goes off once labels show that coverage fell below the level; ever falsely with probability at most `delta`.

    Each label must be judged against a set whose threshold was fixed before the label was seen.

    Parameters
    ----------
    level : float
        The coverage asked for.
    delta : float
        Probability that it ever goes off although coverage is at least the level.

    Examples
    --------
    >>> import evenkeel as ek
    >>> alarm = ek.CoverageAlarm(level=0.9, delta=0.05)
    >>> alarm.update(True).fired
    False
    >>> alarm.update([False] * 5).fired_at
    4
    """

    def __init__(self, level: float = 0.9, delta: float = 0.05) -> None:
        self.level, self.delta = _inputs.number("level", level), _inputs.number("delta", delta)
        self._core = _evenkeel.RunningAlarm(_failure("level", level), self.delta)

    @property
    def state(self) -> AlarmState:
        """What is known so far."""
        return AlarmState(*self._core.state)

    def update(self, covered: Any) -> AlarmState:
        """Takes the next label, or several in their order: whether each lay in its set."""
        self._core.update(_bools(covered))
        return self.state

    def __getstate__(self) -> Tuple[float, float, str]:
        return self.level, self.delta, self._core.to_json()

    def __setstate__(self, state: Tuple[float, float, str]) -> None:
        self.level, self.delta, text = state
        self._core = _evenkeel.RunningAlarm.from_json(text)

    def __repr__(self) -> str:
        labels, misses, e_value, fired_at = self.state
        standing = "quiet" if fired_at is None else f"went off at label {fired_at}"
        return f"<CoverageAlarm: {standing}; {misses} of {labels} missed, e-value {e_value:.3g}>"


def _failure(argument: str, confidence: float) -> float:
    """`1 - confidence` as a person means it: 0.05 for 0.95, not 0.050000000000000044."""
    number = _inputs.number(argument, confidence)
    if not 0.0 < number < 1.0:
        raise InvalidParameterError(f"{argument} is {number!r}; it must be between 0 and 1, both excluded")
    return float(1 - Decimal(repr(number)))


def _bools(covered: Any) -> np.ndarray:
    """One bool or several, in their order."""
    given = np.atleast_1d(_inputs.array_of("covered", covered))
    if given.size == 0:
        return np.zeros(0, dtype=bool)
    known = given.dtype == bool or (given.dtype.kind in "iu" and bool(np.isin(given, (0, 1)).all()))
    if given.ndim != 1 or not known:
        raise InvalidInputError(
            "covered: it holds something else than True and False; say for each label whether it lay in its set"
        )
    return np.ascontiguousarray(given, dtype=bool)
