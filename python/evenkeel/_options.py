"""Names and options as types, so that a checker finds a misspelled one.

Made from the option table in `crates/evenkeel/src/method/options/table.rs`. Do not edit:
`EVENKEEL_REWRITE=1 cargo test -p evenkeel --test options` writes it anew.
"""

from __future__ import annotations

from typing import Literal, Optional, TypedDict, Union

MethodName = Literal["auto", "label-plan", "few-labels", "ot", "uncorrected", "likelihood-ratio", "ecp", "qtc", "conditional", "label-shift", "fixed"]
ComparableMethod = Literal["auto", "label-plan", "few-labels", "ot", "uncorrected", "oracle", "likelihood-ratio", "ecp", "qtc", "conditional", "label-shift", "fixed"]
ScoreName = Literal["lac", "aps", "raps", "margin", "plan"]


class MethodOptions(TypedDict, total=False):
    """Options of `calibrate` and `compare`; None is the default."""

    score: Optional[Literal["lac", "aps", "raps", "margin", "plan"]]
    randomised: Optional[bool]
    raps_lambda: Optional[float]
    raps_k: Optional[int]
    shift_level: Optional[float]
    assume: Optional[Literal["class-shares", "calibrated", "matched", "blend"]]
    accuracy: Optional[float]
    guarantee: Optional[Union[float, Literal["none", "average"]]]
    sandwich: Optional[Literal["f-u", "min-max"]]
    sampling: Optional[Literal["exact", "sampled"]]
    objective: Optional[Literal["exact", "weighted-cdf", "paper-grid", "wasserstein", "finite-sample"]]
    weights: Optional[Literal["free-form", "function"]]
    steps: Optional[int]
    learning_rate: Optional[float]
    grid: Optional[int]
    bound_grid: Optional[int]
    bandwidth_factor: Optional[float]
    min_effective: Optional[float]
    tolerance: Optional[float]
    ratio: Optional[Literal["logistic", "network", "telescoping", "known"]]
    ecp_power: Optional[int]
    qtc_rule: Optional[Literal["min", "qtc", "source-coverage", "source-threshold"]]
    label_shift: Optional[Literal["bbse", "em"]]
    gamma: Optional[float]
    lambda_: Optional[Union[float, Literal["cv"]]]


class CheckOptions(TypedDict, total=False):
    """Options of `check`; None is the default."""

    score: Optional[Literal["lac", "aps", "raps", "margin", "plan"]]
    randomised: Optional[bool]
    raps_lambda: Optional[float]
    raps_k: Optional[int]
    assume: Optional[Literal["class-shares", "calibrated", "matched", "blend"]]
    accuracy: Optional[float]
    bound_grid: Optional[int]
