"""A few labels: which rows, what they prove, and labels that come later."""

from __future__ import annotations

import copy
import doctest
import json
import pickle

import numpy as np
import pytest

import evenkeel as ek
from evenkeel import certify


@pytest.fixture(scope="module")
def labels(fog) -> dict:
    """Labels of fifty foggy rows: as the model says, but for some, so that they contradict it a little."""
    rows = ek.choose_rows(len(fog.probs_target), 50, random_state=1)
    draws = np.random.default_rng(5)
    return {
        int(row): int(draws.choice(10, p=fog.probs_target[row] / fog.probs_target[row].sum())) for row in rows
    }


class Model:
    """A classifier whose inputs are its outputs."""

    def __init__(self, classes) -> None:
        self.classes_ = np.asarray(classes)

    def predict_proba(self, X):
        return X


class TestRows:
    def test_are_those_of_the_command_line(self, run, fog_files, tmp_path, fog):
        out = tmp_path / "rows.csv"
        done = run("label", "--unlabeled", fog_files.probs_target, "--budget", 30, "--seed", 7, "--out", out)
        assert done.code == 0, done.stderr
        rows = [int(line.split(",")[0]) for line in out.read_text().splitlines()[1:]]
        assert ek.choose_rows(len(fog.probs_target), 30, random_state=7).tolist() == rows

    def test_a_larger_budget_goes_on(self):
        assert (ek.choose_rows(500, 90)[:40] == ek.choose_rows(500, 40)).all()
        assert sorted(ek.choose_rows(60, 60).tolist()) == list(range(60))

    @pytest.mark.parametrize("m, budget", [(10, 0), (10, 11), (0, 1), (10, -1), (10, 2.5), ("x", 1)])
    def test_impossible_budgets_are_refused(self, m, budget):
        with pytest.raises(ValueError):
            ek.choose_rows(m, budget)


class TestIntervals:
    def test_coverage_interval_is_exact(self):
        low, high = ek.coverage_interval(45, 50)
        assert (round(low, 4), round(high, 4)) == (0.7819, 0.9667)
        wide = ek.coverage_interval(45, 50, chosen_with_labels=True)
        assert wide[0] < low and high < wide[1]
        narrow = ek.coverage_interval(45, 50, confidence=0.8)
        assert low < narrow[0] and narrow[1] < high
        assert ek.coverage_interval(0, 0) == (0.0, 1.0)

    @pytest.mark.parametrize("covered, k, confidence", [(4, 3, 0.95), (-1, 3, 0.95), (1, 3, 1.0), (1, 3, 0.0), (1, 3, 5)])
    def test_impossible_counts_are_refused(self, covered, k, confidence):
        with pytest.raises(ValueError):
            ek.coverage_interval(covered, k, confidence=confidence)

    def test_label_budget_is_that_of_the_command_line(self, run):
        assert [ek.label_budget(width) for width in (0.1, 0.07, 0.05, 0.03)] == [42, 83, 155, 415]
        done = json.loads(run("label", "--for", 7, "--json").stdout)
        assert done["for"]["labels"] == 83
        with pytest.raises(ValueError):
            ek.label_budget(0.0)


class TestSequence:
    def test_one_by_one_is_all_at_once(self):
        covered = np.random.default_rng(0).random(300) < 0.9
        one, many = ek.CoverageSequence(), ek.CoverageSequence()
        for label in covered:
            before = one.state
            after = one.update(bool(label))
            assert before.low <= after.low <= after.high <= before.high
        assert many.update(covered) == one.state
        assert (one.state.labels, one.state.covered) == (300, covered.sum())
        assert one.state.low < 0.9 < one.state.high and one.state.holds

    def test_it_is_pickled_and_copied_whole(self):
        sequence = ek.CoverageSequence(confidence=0.9)
        sequence.update([True, False, True])
        for other in (pickle.loads(pickle.dumps(sequence)), copy.deepcopy(sequence)):
            assert other.state == sequence.state and other.confidence == 0.9
            assert other.update(True) != sequence.state
        assert "2 of 3 covered" in repr(sequence)

    def test_a_coverage_that_changes_is_said(self):
        sequence = ek.CoverageSequence()
        assert sequence.update(np.ones(400, dtype=bool)).holds
        assert not sequence.update(np.zeros(400, dtype=bool)).holds

    @pytest.mark.parametrize("covered", ["yes", [0.5], [[True]], [2], None])
    def test_what_is_not_true_or_false_is_refused(self, covered):
        for running in (ek.CoverageSequence(), ek.CoverageAlarm()):
            with pytest.raises(ValueError):
                running.update(covered)
            assert running.state.labels == 0
            assert running.update([]).labels == 0
            assert running.update([1, 0]).labels == 2


class TestAlarm:
    def test_it_goes_off_and_stays_on(self):
        alarm = ek.CoverageAlarm(level=0.9, delta=0.05)
        assert not alarm.update([True] * 50).fired
        fired = alarm.update([False] * 30)
        assert fired.fired and fired.fired_at <= 80
        assert alarm.update([True] * 1000).fired_at == fired.fired_at
        other = pickle.loads(pickle.dumps(alarm))
        assert other.state == alarm.state and (other.level, other.delta) == (0.9, 0.05)
        assert f"went off at label {fired.fired_at}" in repr(alarm)

    def test_it_is_seldom_false(self):
        draws = np.random.default_rng(1)
        false = sum(ek.CoverageAlarm().update(draws.random(500) < 0.9).fired for _ in range(400))
        assert false <= 33  # 20 at most expected; above with probability 0.002.

    @pytest.mark.parametrize("settings", [{"level": 1.0}, {"level": 0}, {"delta": 0}, {"delta": 2}, {"level": "x"}])
    def test_impossible_settings_are_refused(self, settings):
        with pytest.raises(ValueError):
            ek.CoverageAlarm(**settings)


class TestLater:
    def test_an_update_is_all_labels_at_once(self, fog, labels):
        data = (fog.probs_cal, fog.y_cal, fog.probs_target)
        first = dict(list(labels.items())[:20])
        rest = dict(list(labels.items())[15:])
        for options in ({}, {"method": "few-labels", "guarantee": "average"}, {"alpha": 0.2, "score": "aps", "random_state": 4}):
            at_once = ek.calibrate(*data, y_target=labels, **options)
            before = ek.calibrate(*data, y_target=first, **options)
            assert before.update(fog.probs_target, rest) == at_once
            assert before != at_once
            assert pickle.loads(pickle.dumps(before)).update(fog.probs_target, rest) == at_once
        assert ek.calibrate(*data).update(fog.probs_target, labels) == ek.calibrate(*data, y_target=labels)

    def test_an_update_of_the_command_line_has_the_same_bytes(self, fog, fog_files, labels, run, tmp_path):
        first, rest, all_at_once = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
        pairs = list(labels.items())
        for path, some in ((first, pairs[:30]), (rest, pairs[30:]), (all_at_once, pairs)):
            path.write_text("row,label\n" + "".join(f"{row},{label}\n" for row, label in some))
        outs = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
        data = ("--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal)
        target = ("--unlabeled", fog_files.probs_target)
        assert run("calibrate", *data, *target, "--target-labels", first, "--out", outs[0]).code == 0
        assert run("calibrate", "--update", outs[0], *target, "--target-labels", rest, "--out", outs[1]).code == 0
        assert run("calibrate", *data, *target, "--target-labels", all_at_once, "--out", outs[2]).code == 0
        assert outs[1].read_bytes() == outs[2].read_bytes() != outs[0].read_bytes()
        assert ek.load(outs[1]) == ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=labels)

    def test_another_label_for_a_row_is_refused(self, fog, labels):
        cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=labels)
        row, label = next(iter(labels.items()))
        with pytest.raises(ek.InvalidInputError, match=f"row {row} has the label {(label + 1) % 10}.*label {label} for it"):
            cal.update(fog.probs_target, {row: (label + 1) % 10})
        uncorrected = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
        with pytest.raises(ek.EvenkeelError, match="only calibrations by auto and few-labels"):
            uncorrected.update(fog.probs_target, labels)


class TestEstimator:
    NAMES = np.array([f"class {index}" for index in range(10)])

    def test_labels_at_once_and_later_are_the_same(self, fog, labels):
        named = {row: self.NAMES[label] for row, label in labels.items()}
        make = lambda: ek.ShiftConformalClassifier(Model(self.NAMES))  # noqa: E731
        y_cal = self.NAMES[fog.y_cal]
        at_once = make().conformalize(fog.probs_cal, y_cal, fog.probs_target, named)
        assert at_once.calibration_ == ek.calibrate(
            fog.probs_cal, fog.y_cal, fog.probs_target, y_target=labels, classes=self.NAMES
        )
        later = make().conformalize(fog.probs_cal, y_cal, fog.probs_target)
        assert later.calibration_ != at_once.calibration_
        pairs = list(named.items())
        for some in (pairs[:10], pairs[10:40], pairs[40:]):
            assert later.partial_conformalize(dict(some)) is later
        assert later.calibration_ == at_once.calibration_
        with_gaps = np.full(len(fog.probs_target), None, dtype=object)
        for row, label in pairs:
            with_gaps[row] = label
        assert make().conformalize(fog.probs_cal, y_cal, fog.probs_target, with_gaps).calibration_ == at_once.calibration_
        assert make().check(fog.probs_cal, y_cal, fog.probs_target, y_target=named).coverage_measured.k == 50

    def test_the_wrong_order_and_wrong_labels_are_refused(self, fog):
        model = ek.ShiftConformalClassifier(Model(range(10)))
        with pytest.raises(Exception, match="conformalize first"):
            model.partial_conformalize({0: 1})
        with pytest.raises(ValueError, match="X_target"):
            ek.ShiftConformalClassifier(Model(range(10)), method="uncorrected").conformalize(
                fog.probs_cal, fog.y_cal, None, {0: 1}
            )
        model.conformalize(fog.probs_cal, fog.y_cal, fog.probs_target)
        for wrong in ({0: 10}, {10_000: 1}, [1, 2, 3], {0: [1, 2]}, {0: "coat"}):
            with pytest.raises(ValueError):
                model.partial_conformalize(wrong)
        uncorrected = ek.ShiftConformalClassifier(Model(range(10)), method="uncorrected")
        with pytest.raises(ValueError, match="X_target"):
            uncorrected.conformalize(fog.probs_cal, fog.y_cal).partial_conformalize({0: 1})


class TestReport:
    def test_says_how_labels_moved_the_estimate(self, fog, labels):
        report = ek.check(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=labels)
        found = report.with_labels
        assert found.prior.value == report.coverage_estimate.value
        assert found.measured.value == report.coverage_measured.value
        low, high = sorted((found.prior.value, found.measured.value))
        assert low - 0.1 <= found.posterior.value <= high + 0.1
        assert found.posterior.low <= found.posterior.value <= found.posterior.high
        assert 0 <= found.trust <= 1 and found.prior_trust in (0.5, 0.9)
        assert sum(share.target for share in found.class_shares) == pytest.approx(1)
        assert found.random_draw.p_value > 0.01
        for text in (report.explain(), report._repr_html_(), report.to_html()):
            assert "As believed from both" in text
            assert "look like a random draw" in text
        assert "with labels" in report.explain()
        assert ek.check(fog.probs_cal, fog.y_cal, fog.probs_target).with_labels is None

    def test_labels_of_the_surest_rows_are_called_no_random_draw(self, fog):
        surest = np.argsort(-fog.probs_target.max(axis=1))[:40]
        chosen = {int(row): int(fog.probs_target[row].argmax()) for row in surest}
        report = ek.check(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=chosen)
        words = "40 labeled rows do not look like a random draw"
        assert [words in warning for warning in report.warnings].count(True) == 1
        assert repr(report).count(words) == 1
        cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, y_target=chosen)
        assert any(words in warning for warning in cal.warnings_)


def test_examples_in_the_documentation_are_true():
    found = doctest.testmod(certify)
    assert found.attempted >= 10 and found.failed == 0


class TestSheets:
    def test_in_parquet_are_read_by_the_names_of_their_columns(self, run, fog_files, tmp_path, labels):
        import pyarrow as pa
        from pyarrow import parquet

        rows, found = list(labels), list(labels.values())
        text = "row,label\n" + "".join(f"{row},{label}\n" for row, label in labels.items())
        (tmp_path / "sheet.csv").write_text(text)
        columns = {"confidence": [0.5] * len(rows), "label": found, "id": [str(row) for row in rows], "row": rows}
        parquet.write_table(pa.table(columns), tmp_path / "sheet.parquet")
        cal = ("--cal-probs", fog_files.probs_cal, "--cal-labels", fog_files.y_cal, "--unlabeled", fog_files.probs_target)
        answers = [
            json.loads(run("check", *cal, "--target-labels", tmp_path / name, "--json").stdout)["with_labels"]
            for name in ("sheet.csv", "sheet.parquet")
        ]
        assert answers[0] == answers[1]
        # Two numbers without names may mean anything.
        parquet.write_table(pa.table({"confidence": [1, 2], "label": [3, 4]}), tmp_path / "other.parquet")
        refused = run("check", *cal, "--target-labels", tmp_path / "other.parquet")
        assert refused.code == 2 and "other.parquet" in refused.stderr


class TestPlanScores:
    """Calibrations whose score is a label law are checked by that law."""

    def test_are_checked_by_their_law(self, fog, labels):
        data = (fog.probs_cal, fog.y_cal, fog.probs_target)
        fitted = ek.calibrate(*data, method="label-plan", score="plan")
        found = ek.check(calibration=fitted, probs_target=fog.probs_target)
        assert found.threshold == fitted.threshold()
        low, high = found.coverage_interval.guaranteed
        assert low <= found.coverage_estimate.value <= high
        counted = ek.check(calibration=fitted, probs_target=fog.probs_target, y_target=labels)
        sets = fitted.predict_set(fog.probs_target)
        covered = sum(bool(np.asarray(sets)[row, label]) for row, label in labels.items())
        assert (counted.coverage_measured.k, counted.coverage_measured.covered) == (50, covered)
        assert counted.with_labels.posterior.low <= counted.with_labels.posterior.value
