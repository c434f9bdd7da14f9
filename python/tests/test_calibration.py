"""The calibration object: files, pickle, copies, and what it says about itself."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import evenkeel as ek


@pytest.fixture(scope="module")
def cal(fog):
    return ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot")


def test_uncorrected_is_the_textbook_quantile(fog):
    scores = np.sort(1 - fog.probs_cal.astype(float)[np.arange(300), fog.y_cal])
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
    for alpha in (0.01, 0.05, 0.1, 0.25, 0.5):
        rank = int(np.ceil(301 * (1 - alpha)))
        expected = scores[rank - 1] if rank <= 300 else np.inf
        # Rows of float32 sum to one only roughly, and are renormalised.
        assert cal.threshold(alpha) == pytest.approx(expected, abs=1e-6)
    assert cal.threshold(0.001) == np.inf
    assert cal.predict_set(fog.probs_test[:5], 0.001).all()


def test_weights_are_in_the_order_of_the_rows(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot")
    expected = 1 - fog.probs_cal.astype(float)[np.arange(300), fog.y_cal]
    assert np.allclose(cal.scores_, expected, atol=1e-6)
    assert cal.weights_.shape == (300,) and cal.weights_.sum() == pytest.approx(1)
    assert 1 / np.sum(cal.weights_**2) == pytest.approx(cal.effective_sample_size_)
    order = np.argsort(cal.scores_, kind="stable")
    reached = np.cumsum(cal.weights_[order]) * (1 - cal.test_mass_)
    first = order[np.searchsorted(reached, 0.9)]
    assert cal.threshold() == cal.scores_[first]


def test_half_of_the_rows_fit_a_weight_function(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", weights="function", steps=50)
    used = np.isfinite(cal.scores_)
    assert used.sum() == 150 and cal.weights_[used].sum() == pytest.approx(1)
    assert np.all(cal.weights_[~used] == 0)
    expected = 1 - fog.probs_cal.astype(float)[np.arange(300), fog.y_cal]
    assert np.allclose(cal.scores_[used], expected[used], atol=1e-6)


def test_saving_and_loading(cal, fog, tmp_path):
    path = tmp_path / "cal.json"
    cal.save(path)
    loaded = ek.load(str(path))
    assert loaded == cal and hash(loaded) == hash(cal)
    assert np.array_equal(loaded.weights_, cal.weights_[np.argsort(cal.scores_, kind="stable")])
    assert np.array_equal(loaded.predict_set(fog.probs_test), cal.predict_set(fog.probs_test))
    assert list(tmp_path.iterdir()) == [path]


def test_pickle_and_copies(cal, fog):
    for same in (pickle.loads(pickle.dumps(cal)), copy.copy(cal), copy.deepcopy(cal)):
        assert same == cal
        assert np.array_equal(same.weights_, cal.weights_) and np.array_equal(same.scores_, cal.scores_)
        assert np.array_equal(same.predict_set(fog.probs_test), cal.predict_set(fog.probs_test))
    assert cal != ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=999)
    assert cal != "a calibration"


def test_the_trace_leads_to_the_result(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=1000)
    trace = cal.trace_
    assert trace.step[0] == 0 and trace.step[-1] == cal.steps_ == 1000
    assert trace.objective[-1] < trace.objective[0]
    assert trace.threshold[-1] == cal.threshold()
    assert trace.effective_sample_size[-1] == pytest.approx(cal.effective_sample_size_)
    assert cal.bound_after_ < cal.bound_before_
    assert 0 < cal.total_gap_bound_after_ <= 1 and 0 < cal.total_gap_bound_before_ <= 1
    assert cal.stopped_ == "max-steps"


def test_without_optimisation_there_is_nothing_to_trace(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected")
    assert cal.bound_before_ is None and cal.bound_after_ is None
    assert cal.total_gap_bound_before_ is None and cal.total_gap_bound_after_ is None
    assert cal.trace_.step.shape == (0,) and cal.stopped_ == "not-iterative"
    assert np.allclose(cal.weights_, 1 / 300)


def test_auto_decides_and_says_why(fog):
    """Without a shift it is split conformal prediction, with one the label plan."""
    quiet = ek.calibrate(fog.probs_cal[:150], fog.y_cal[:150], fog.probs_cal[150:])
    loud = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target)
    assert quiet.method == loud.method == "auto"
    split = ek.calibrate(fog.probs_cal[:150], fog.y_cal[:150], fog.probs_cal[150:], method="uncorrected")
    assert quiet.threshold() == split.threshold()
    plan = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="label-plan")
    assert loud.threshold() == plan.threshold()
    assert loud.account_ in repr(loud) and loud.evidence_ and quiet.evidence_
    assert split.account_ is None and split.evidence_ is None
    assert loud.evaluate(fog.probs_test, fog.y_test)["coverage"] > 0.8


@pytest.mark.parametrize("method", [name for name in ek.method_names() if name not in ("fixed", "few-labels")])
def test_every_method_keeps_its_rows_in_files_and_pickles(fog, tmp_path, method):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method=method)
    assert cal.weights_.shape == (300,) and cal.weights_.sum() == pytest.approx(1)
    assert np.allclose(cal.scores_, 1 - fog.probs_cal.astype(float)[np.arange(300), fog.y_cal], atol=1e-6)
    cal.save(tmp_path / "cal.json")
    for same in (ek.load(tmp_path / "cal.json"), pickle.loads(pickle.dumps(cal))):
        assert same == cal
        for alpha in (0.05, 0.1, 0.3):
            assert np.array_equal(same.predict_set(fog.probs_test[:100], alpha), cal.predict_set(fog.probs_test[:100], alpha))


def test_it_says_what_it_is(cal, fog):
    assert "by ot" in repr(cal) and "10 classes" in repr(cal)
    assert (cal.method, cal.score, cal.n_classes, cal.alpha, cal.random_state) == ("ot", "lac", 10, 0.1, 0)
    page = cal._repr_html_()
    assert page.startswith('<div class="evenkeel">') and "<table>" in page
    few = ek.calibrate(fog.probs_cal[:5], fog.y_cal[:5], fog.probs_target, method="uncorrected")
    assert few.warnings_ and "Warning:" in repr(few) and "Warning:" in few._repr_html_()
    assert "infinite" in repr(few)


def test_more_alphas_from_one_fit_are_nested(cal, fog):
    sets = [cal.predict_set(fog.probs_test, alpha) for alpha in (0.05, 0.1, 0.3)]
    assert np.all(sets[0] >= sets[1]) and np.all(sets[1] >= sets[2])


@pytest.mark.parametrize("state", [np.random.RandomState(1), np.random.default_rng(1), None, np.int64(3), 2**64 - 1])
def test_every_kind_of_random_state(fog, state):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=2, random_state=state)
    again = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="ot", steps=2, random_state=cal.random_state)
    assert cal == again


def test_recalibration_regains_coverage_under_fog(fog):
    """The shipped figures of the README: uncorrected 49.8 %, ot 99.1 %, which errs toward larger sets."""
    rows = ek.compare(fog.probs_cal, fog.y_cal, fog.probs_target, fog.probs_test, fog.y_test, ["uncorrected", "ot"])
    assert rows["uncorrected"].coverage == pytest.approx(0.498, abs=0.001)
    assert rows["ot"].coverage == pytest.approx(0.991, abs=0.001)


def test_pieces_of_a_stream_draw_by_position(fog):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", score="aps", randomised=True)
    probs, labels = fog.probs_test[:300], fog.y_test[:300]
    whole = cal.predict_set(probs)
    pieces = [cal.predict_set(probs[row : row + 7], first_row=row) for row in range(0, 300, 7)]
    assert np.array_equal(np.vstack(pieces), whole)
    assert not np.array_equal(cal.predict_set(probs, first_row=300), whole)
    parts = [cal.evaluate(probs[part], labels[part], first_row=part.start) for part in (slice(0, 100), slice(100, 300))]
    covered = sum(part["coverage"] * part["n"] for part in parts) / 300
    assert covered == pytest.approx(cal.evaluate(probs, labels)["coverage"])
    for wrong in (-1, 1.5, "a", None):
        with pytest.raises(ek.InvalidParameterError, match="first_row"):
            cal.predict_set(probs, first_row=wrong)


def test_single_rows_with_the_same_draw_are_warned_about(fog):
    row = fog.probs_test[:1]
    for randomised in (True, False):
        cal = ek.calibrate(
            fog.probs_cal, fog.y_cal, fog.probs_target, method="uncorrected", score="aps", randomised=randomised
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cal.predict_set(row)
            cal.predict_set(row, first_row=1)
            cal.predict_set(fog.probs_test)
        if randomised:
            with pytest.warns(UserWarning, match="with the same draw"):
                cal.predict_set(row)
        else:
            cal.predict_set(row)
