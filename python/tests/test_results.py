"""Reports, comparisons, metrics and figures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from matplotlib import pyplot

import evenkeel as ek


@pytest.fixture(scope="module")
def report(fog):
    return ek.check(fog.probs_cal, fog.y_cal, fog.probs_target)


@pytest.fixture(scope="module")
def comparison(fog):
    return ek.compare(
        fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test, ["uncorrected", "ot"], steps=200
    )


def test_a_report_has_the_fields_of_the_json(report):
    document = report.to_dict()
    assert {"n", "m", "classes", "alpha", "shift", "threshold", "coverage_interval", "bounds", "dominance", "advice",
            "warnings"} <= set(document)  # fmt: skip
    assert (report.n, report.m, report.classes) == (300, 300, 10)
    assert report.shift.detected and report.shift.p_value == document["shift"]["p_value"]
    assert report.coverage_interval.with_confidence.level == 0.95
    assert list(report.coverage_interval.guaranteed) == document["coverage_interval"]["guaranteed"]
    assert report.bounds.f_u.weighted_cdf <= report.bounds.f_u.weighted_cdf_dkw
    bounds = report.bounds.min_max
    assert bounds.exact < bounds.exact_population <= 1 and bounds.level < bounds.level_population <= 1
    assert (bounds.population_confidence, bounds.dkw_confidence) == (0.95, 0.9)
    assert report["shift"]["statistic"] == report.shift.statistic
    with pytest.raises(KeyError):
        report["nothing"]


def test_a_report_reads_well(report):
    assert repr(report).startswith("Coverage is probably about ")
    assert report.advice in repr(report) and len(repr(report).splitlines()) <= 3 + len(report.warnings) + 5
    assert "Shift detected (p < 0.001)" in report.explain() and "class-shares" in report.explain()
    assert "of the populations, confidence 95.0 %" in report.explain() and "DKW terms, confidence 90.0 %" in report.explain()
    assert "<table>" in report._repr_html_()


def test_a_report_has_an_estimate_a_verdict_and_a_page(report, fog, tmp_path):
    estimate = report.coverage_estimate
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1 and estimate.standing == "assumed"
    assert report.verdict == "loss" and report.loss.value > 0 and report.failed == []
    assert [reading.name for reading in report.readings] == ["calibrated", "class-shares", "matched"]
    assert report.bounds.min_max.exact <= 1 and report.bounds.min_max.level <= 1 and report.belief.p_value <= 1
    assert len(report.examples) == 3 and set(report.examples[0].to_dict()) >= {"row", "before", "after"}
    names = [f"<b>{label}</b>" for label in range(10)]
    page = report.to_html(tmp_path / "page.html", title="model <7>", class_names=names)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert "model &lt;7&gt;" in page and "<b>3</b>" not in page and page.startswith("<!DOCTYPE html>")
    with pytest.raises(ek.EvenkeelError, match="went through pickle"):
        pickle.loads(pickle.dumps(report)).to_html()


def test_labels_of_target_rows_decide(fog):
    labels = np.full(len(fog.probs_test), np.nan)
    labels[:80] = fog.y_test[:80]
    report = ek.check(fog.probs_cal, fog.y_cal, fog.probs_test, y_target=labels)
    measured = report.coverage_measured
    assert (measured.k, report.verdict) == (80, "loss") and measured.low <= measured.value <= measured.high < 0.9
    for wrong, message in (([1, 2], "has 2 labels"), ({0: 10}, "there are 10 classes"), ({10**7: 1}, "do not have so many"),
                           ({-1: 1}, "is no row"), ({0: 1.5}, "labels are integers")):  # fmt: skip
        with pytest.raises(ek.InvalidInputError, match=message):
            ek.check(fog.probs_cal, fog.y_cal, fog.probs_test, y_target=wrong)


def test_a_report_recommends_what_calibrate_does(report, fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target)
    assert (report.recommended.method, report.recommended.threshold) == ("auto", cal.threshold())
    assert report.recommended.effective_sample_size == cal.effective_sample_size_
    assert repr(report).splitlines()[3] == "evenkeel.calibrate(probs_cal, y_cal, probs_target)"
    scored = ek.check(
        fog.probs_cal, fog.y_cal, fog.probs_target, 0.2, 0.1, 3, score="raps", raps_k=2, randomised=True, bound_grid=50
    )
    again = ek.calibrate(
        fog.probs_cal, fog.y_cal, fog.probs_target, alpha=0.2, shift_level=0.1, random_state=3, score="raps", raps_k=2,
        randomised=True,
    )  # fmt: skip
    assert again.threshold() == scored.recommended.threshold
    calm = ek.check(fog.probs_cal, fog.y_cal, fog.probs_cal)
    assert not calm.shift.detected and calm.recommended is None and "recommended" not in calm.to_dict()


@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize("asked", [{}, {"alpha": 0.2, "delta": 0.1, "random_state": 3, "assume": "matched"}])
@pytest.mark.parametrize("score", [{}, {"score": "margin"}])
def test_what_a_report_on_a_calibration_recommends_runs(fog, tmp_path, labeled, asked, score):
    """Whoever gave a calibration may have nothing else: the call recommended takes what the check took."""
    ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected", **score).save(tmp_path / "cal.json")
    calibration, probs_target = ek.load(tmp_path / "cal.json"), fog.probs_test[:500]
    y_target = {row: int(fog.y_test[row]) for row in range(60)} if labeled else None
    report = ek.check(calibration=calibration, probs_target=probs_target, y_target=y_target, **asked)
    assert report.command.startswith("evenkeel.calibrate(calibration=calibration, probs_target=probs_target")
    assert "calibration=calibration" in report.to_html()
    given = {"calibration": calibration, "probs_target": probs_target, "y_target": y_target}
    made = eval(report.command, {"evenkeel": ek, **given})
    assert made.threshold() == report.recommended.threshold and made.score == calibration.score
    # As from the data themselves.
    settings = {"alpha": asked.get("alpha", 0.1), "shift_level": asked.get("delta", 0.05), "random_state": asked.get("random_state", 0)}
    assume = {} if labeled else {name: value for name, value in asked.items() if name == "assume"}
    again = ek.calibrate(fog.probs_cal, fog.y_cal, probs_target, y_target=y_target, **settings, **assume, **score)
    assert made == again and made.weights_.tolist() == again.weights_.tolist()


def test_a_calibration_is_calibrated_anew_in_place_of_its_data(run, fog, fog_files, tmp_path):
    in_use = ek.calibrate(fog.probs_cal, fog.y_cal, method="uncorrected")
    in_use.save(tmp_path / "in use.json")
    ran = run("calibrate", "--calibration", tmp_path / "in use.json", "--unlabeled", fog_files.probs_target, "--out", tmp_path / "new.json")
    assert ran.code == 0, ran.stderr
    assert ek.calibrate(calibration=in_use, probs_target=fog.probs_target) == ek.load(tmp_path / "new.json")
    for wrong, message in (
        ({"probs_cal": fog.probs_cal}, "probs_cal has no use with calibration"),
        ({"features_cal": fog.probs_cal}, "features_cal has no use with calibration"),
        ({"classes": list("abcdefghij")}, "classes has no use with calibration"),
        ({"score": "aps"}, "score has no use with calibration"),
        ({"calibration": "cal.json"}, "such as evenkeel.load reads"),
        ({"calibration": None}, "give probs_cal and y_cal, or calibration"),
        ({"probs_target": None, "method": "uncorrected"}, "probs_target is missing"),
    ):
        with pytest.raises(ek.EvenkeelError, match=message):
            ek.calibrate(**{"calibration": in_use, "probs_target": fog.probs_target, **wrong})
    with pytest.raises(ek.InvalidParameterError, match="score has no use with calibration"):
        ek.check(calibration=in_use, probs_target=fog.probs_target, score="aps")


def test_a_report_does_not_change(report):
    with pytest.raises(AttributeError, match="n cannot be set"):
        report.n = 3
    copied = pickle.loads(pickle.dumps(report))
    assert copied == report and hash(copied) == hash(report) and repr(copied) == repr(report)
    assert copied.shift == report.shift and repr(report.dominance.f_u).startswith("Record(holds=")


def test_a_report_escapes_what_it_shows():
    from evenkeel import _format

    assert "<script>" not in _format.html_page("<script>", ["<b>"], _format.html_table(["<i>"], [["<u>"]]), warnings=["<s>"])


def test_the_laws_of_a_report_are_cdfs(report):
    for curve in report.laws_.values():
        assert np.all(np.diff(curve.scores) > 0) and np.all(np.diff(curve.cdf) >= 0)
        assert curve.cdf[-1] == pytest.approx(1)


def test_a_comparison_is_rows(comparison):
    assert [row.method for row in comparison] == ["uncorrected", "ot"]
    assert len(comparison) == 2 and comparison[0] is comparison["uncorrected"]
    assert comparison["ot"]["coverage"] == comparison.evaluations["ot"]["coverage"]
    with pytest.raises(KeyError):
        comparison["best"]
    frame = comparison.to_pandas()
    assert list(frame.columns)[:7] == ["method", "threshold", "coverage", "mean_size", "total_coverage_gap",
                                       "effective_sample_size", "seconds"]  # fmt: skip
    assert list(frame.method) == ["uncorrected", "ot"]
    assert "mean size" in repr(comparison) and "<table>" in comparison._repr_html_()


def test_all_methods_by_default(fog):
    rows = ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test[:200], fog.y_test[:200], steps=5)
    assert {row.method for row in rows} == {*ek.method_names(), "oracle"} - {"fixed", "few-labels"}
    assert "each its own" in repr(rows)
    assert rows["conditional"].threshold is None and len(rows.gap_curves["conditional"].alpha) == 0
    ek.plot.coverage_gap(rows), ek.plot.weights(rows), ek.plot.trace(rows), ek.plot.coverage_and_size(rows)
    pyplot.close("all")


def test_a_gap_curve_counts_coverage(comparison, fog):
    curve = comparison.gap_curves["ot"]
    cal = comparison.calibrations["ot"]
    for index in (0, 9, 49, 98):
        sets = cal.predict_set(fog.probs_test, curve.alpha[index])
        assert ek.metrics.coverage(sets, fog.y_test) == pytest.approx(curve.coverage[index], abs=1e-12)


def test_metrics_count_by_hand(fog):
    sets = np.array([[True, False, False], [True, True, False], [False, False, False], [True, True, True]])
    assert ek.metrics.coverage(sets, [0, 2, 1, 2]) == 0.5
    assert ek.metrics.coverage(sets[:, :, np.newaxis], [0, 2, 1, 2]) == 0.5
    assert ek.metrics.mean_set_size(sets) == 1.5
    # Two calibration scores against two test scores: F_P = 1/2, 1 and F_Q = 0, 1/2 at the calibration scores.
    assert ek.metrics.total_coverage_gap([0.2, 0.4], [0.3, 0.5]) == pytest.approx(0.5)
    assert ek.metrics.total_coverage_gap([0.2, 0.4], [0.3, 0.5], weights=[3, 1]) == pytest.approx(0.75 * 0.75 + 0.25 * 0.5)
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
    scores = 1 - fog.probs_test.astype(float)[np.arange(2000), fog.y_test]
    by_scores = ek.metrics.total_coverage_gap(cal.scores_, scores)
    assert ek.metrics.total_coverage_gap(cal, fog.probs_test, fog.y_test) == pytest.approx(by_scores, abs=1e-3)


def test_metrics_of_intervals_count_by_hand():
    intervals = [[0, 1], [2, 5], [np.nan, np.nan]]
    assert ek.metrics.interval_coverage(intervals, [1, 6, 0]) == pytest.approx(1 / 3)
    assert ek.metrics.interval_length(intervals).tolist() == [1, 3, 0]
    unions = [np.array([[0.0, 1.0], [2.0, 4.0]]), np.empty((0, 2))]
    assert ek.metrics.union_coverage(unions, [3, 3]) == 0.5
    assert ek.metrics.union_length(unions).tolist() == [3, 0]


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.zeros(3, dtype=bool), np.zeros((0, 3), dtype=bool)])
def test_sets_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="sets: "):
        ek.metrics.mean_set_size(wrong)
    with pytest.raises(ek.EvenkeelError, match="sets: "):
        ek.metrics.coverage(wrong, [0, 1])


def test_every_figure_draws(report, comparison):
    cal = comparison.calibrations["ot"]
    axes = [
        ek.plot.coverage_and_size(comparison),
        ek.plot.coverage_gap(comparison),
        ek.plot.coverage_ranges(report),
        ek.plot.score_laws(report, cal),
        ek.plot.score_laws(report),
        ek.plot.trace(cal),
        ek.plot.trace(comparison),
        ek.plot.weights(comparison),
        ek.plot.weights({"a": cal, "b": comparison.calibrations["uncorrected"]}),
    ]
    for ax in axes:
        assert ax.get_title() and ax.get_xlabel() and (ax.lines or ax.collections)
        ax.figure.canvas.draw()
    mine = pyplot.subplots()[1]
    assert ek.plot.weights(cal, ax=mine) is mine
    # The reweighted law ends at one, and the markers stand at the measured values.
    assert axes[3].lines[-2].get_ydata()[-1] == pytest.approx(1)
    assert axes[0].lines[1].get_ydata()[0] == pytest.approx(100 * comparison["ot"].coverage)
    pyplot.close("all")
