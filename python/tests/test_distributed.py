"""Rows that lie elsewhere: any parts in any order give the bytes of one process; what does not belong is refused."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas
import pyarrow
import pytest

import evenkeel as ek
from evenkeel import _evenkeel, distributed

#: Every method with its options, and what stands beside the rows.
METHODS = {
    "auto": {},
    "label-plan": {},
    "ot": {"steps": 50},
    "uncorrected": {},
    "qtc": {},
    "ecp": {},
    "label-shift": {},
    "likelihood-ratio": {},
    "conditional": {"gamma": 1.0, "lambda_": 0.05},
    "fixed": {"weights_cal": True},
    "few-labels": {"y_target": True},
    "likelihood-ratio on features": {"features": True},
    "auto with a second model": {"second": True},
    "ot, randomised": {"score": "aps", "randomised": True, "steps": 20},
    "auto, its own plan": {"score": "plan"},
}


@pytest.fixture(scope="module")
def world(fog):
    """The demo data with everything a method may take."""
    rng = np.random.default_rng(5)
    count = len(fog.probs_target)
    return {
        "cal": fog.probs_cal,
        "y": fog.y_cal,
        "target": fog.probs_target,
        "features_cal": rng.normal(size=(len(fog.probs_cal), 3)),
        "features": rng.normal(0.3, 1.0, size=(count, 3)),
        "second_cal": rng.dirichlet(np.ones(10), len(fog.probs_cal)),
        "second": rng.dirichlet(np.ones(10), count),
        "weights": rng.uniform(0.5, 1.5, len(fog.probs_cal)),
        "labels": {int(row): int(rng.integers(10)) for row in rng.choice(count, 20, replace=False)},
        # Two with too few points for the level, one without calibration points.
        "groups_cal": np.array(["few", "rare", "north", "south", "west"])[np.r_[np.repeat([0, 1], 7), rng.integers(2, 5, len(fog.probs_cal) - 14)]],
        "groups": np.array(["north", "south", "west", "few", "rare", "new"])[rng.choice(6, p=[0.4, 0.3, 0.2, 0.04, 0.04, 0.02], size=count)],
    }


def method_of(name):
    return name.split(",")[0].split(" on ")[0].split(" with ")[0]


def asked(world, name):
    """Arguments of `calibrate` and of `FitJob`, and the columns of parts."""
    options = dict(METHODS[name])
    features, second = options.pop("features", False), options.pop("second", False)
    both = dict(options)
    if both.pop("weights_cal", False):
        both["weights_cal"] = world["weights"]
    if both.pop("y_target", False):
        both["y_target"] = world["labels"]
    here, there = dict(both), dict(both)
    if features:
        here.update(features_cal=world["features_cal"], features_target=world["features"])
        there["features_cal"] = world["features_cal"]
    if second:
        here["second"] = [(world["second_cal"], world["second"])]
        there["second_cal"] = [world["second_cal"]]
    return here, there, features, second


def batch_of(world, keys, features, second, groups=False):
    batch = {"probs": world["target"][keys], "keys": keys}
    if groups:
        batch["groups"] = world["groups"][keys]
    if features:
        batch["features"] = world["features"][keys]
    if second:
        batch["second"] = [world["second"][keys]]
    return batch


def passes(job, parts, batch):
    """All passes of a job, parts in the order given."""
    while True:
        plan = job.plan()
        for number, keys in parts:
            job.merge(ek.partial(plan, number, [batch(piece) for piece in np.array_split(keys, 2)]))
        if not job.end_pass():
            return job.finish()


def shuffled(rows, parts, seed):
    """Keys of rows in random parts, in a random order; some parts may be empty."""
    rng = np.random.default_rng(seed)
    of = rng.integers(parts, size=rows) if parts > 1 else np.zeros(rows, dtype=int)
    keys = [(number, rng.permutation(np.flatnonzero(of == number))) for number in range(parts)]
    return [keys[place] for place in rng.permutation(parts)]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_bytes_of_one_process(world, name):
    here, there, features, second = asked(world, name)
    expected = ek.calibrate(world["cal"], world["y"], world["target"], method_of(name), **here).to_json()
    rows = len(world["target"])
    for parts, count in ((1, None), (5, rows), (40, rows)):
        job = ek.FitJob(world["cal"], world["y"], method_of(name), rows=count, **there)
        cal = passes(job, shuffled(rows, parts, parts), lambda keys: batch_of(world, keys, features, second))
        assert cal.to_json() == expected, (name, parts)
        assert job.finish() is cal


#: Methods that find thresholds for each class.
PER_CLASS = ("auto", "label-plan", "uncorrected", "label-shift", "fixed", "few-labels", "auto with a second model", "auto, its own plan")


@pytest.mark.parametrize("name", PER_CLASS)
def test_a_threshold_for_each_class_has_the_bytes_of_one_process(world, name):
    here, there, features, second = asked(world, name)
    rows = len(world["target"])
    for small in ("merge", "all-labels"):
        expected = ek.calibrate(world["cal"], world["y"], world["target"], method_of(name), per="class", small_groups=small, **here)
        for parts, count in ((1, None), (7, rows)):
            job = ek.FitJob(world["cal"], world["y"], method_of(name), rows=count, per="class", small_groups=small, **there)
            cal = passes(job, shuffled(rows, parts, parts), lambda keys: batch_of(world, keys, features, second))
            assert type(cal) is ek.GroupedCalibration and cal.to_json() == expected.to_json(), (name, parts)


@pytest.mark.parametrize("name", METHODS)
def test_a_calibration_for_each_group_has_the_bytes_of_one_process(world, name):
    here, there, features, second = asked(world, name)
    rows = len(world["target"])
    # The few rows of small groups together lack a class, which label-shift refuses.
    small, standing = ("all-labels", "all-labels") if name == "label-shift" else ("merge", "rest")
    settings = {"per": "region", "groups_cal": world["groups_cal"], "other_groups": "pooled", "small_groups": small}
    expected = ek.calibrate(
        world["cal"], world["y"], world["target"], method_of(name), groups_target=world["groups"], **settings, **here
    )
    assert standing in expected.to_json()
    for parts, count in ((1, None), (6, rows)):
        job = ek.FitJob(world["cal"], world["y"], method_of(name), rows=count, **settings, **there)
        assert job.reads_groups_only
        cal = passes(job, shuffled(rows, parts, parts), lambda keys: batch_of(world, keys, features, second, groups=True))
        assert cal.to_json() == expected.to_json(), (name, parts)


def test_second_models_are_asked_in_each_group(world):
    """They were left out of the fits of groups in silence."""
    pair = [(world["second_cal"], world["second"])]
    settings = {"groups_cal": world["groups_cal"], "groups_target": world["groups"]}
    alone = ek.calibrate(world["cal"], world["y"], world["target"], **settings)
    asked = ek.calibrate(world["cal"], world["y"], world["target"], second=pair, **settings)
    assert asked.to_json() != alone.to_json()


def test_many_rows_of_classes_take_two_passes_more(world):
    """More rows than are kept for the laws of classes: a sample says where, all rows say how much."""
    rows = 300_000
    rng = np.random.default_rng(4)
    probs = rng.dirichlet(np.full(10, 0.3), 4000).astype(np.float32)[rng.integers(4000, size=rows)]
    job = ek.FitJob(world["cal"], world["y"], rows=rows, per="class")
    count, states, again = 0, 0, True
    while again:
        plan = job.plan()
        made = [ek.partial(plan, number, [(probs[keys], keys)]) for number, keys in enumerate(np.array_split(np.arange(rows), 9))]
        states = max(states, sum(map(len, made)))
        job.merge(ek.merge_states(made, plan))
        again, count = job.end_pass(), count + 1
    assert count == 4 and states < 60e6
    assert job.finish().to_json() == ek.calibrate(world["cal"], world["y"], probs, per="class").to_json()


def test_groups_are_given_where_they_are_needed(world):
    settings = {"per": "region", "groups_cal": world["groups_cal"]}
    job = ek.FitJob(world["cal"], world["y"], rows=300, **settings)
    plan, keys = job.plan(), np.arange(300)
    with pytest.raises(ek.InvalidInputError, match="a batch has no groups"):
        ek.partial(plan, 0, [(world["target"], keys)])
    table = pyarrow.table({"id": keys, "g": pyarrow.array(["north"] * 299 + [None])})
    with pytest.raises(ek.InvalidInputError, match="part 3, key 299: .*no group"):
        ek.partial(plan, 3, [table], key="id", groups="g")
    with pytest.raises(ek.InvalidParameterError, match="groups is missing"):
        ek.partial(plan, 3, [table], key="id")
    counted = ek.partial(plan, 0, [{"keys": keys, "groups": world["groups"]}])
    coded = pyarrow.table({"id": keys, "g": pyarrow.array(world["groups"]).dictionary_encode()})
    assert ek.partial(plan, 0, [coded.slice(0, 100), coded.slice(100)], key="id", groups="g") == counted
    job.merge(counted)
    with pytest.raises(ek.EvenkeelError, match="part 0 was given twice"):
        job.merge(counted)
    assert job.end_pass() and not job.reads_groups_only
    with pytest.raises(ek.IncompatibleError, match="the pass is 2 here and 1 there"):
        job.merge(counted)
    with pytest.raises(ek.InvalidInputError, match="have no groups"):
        ek.partial(job.plan(), 0, [(world["target"], keys)])
    moved = world["groups"].copy()
    moved[11] = "east"
    with pytest.raises(ek.InvalidInputError, match='key 11: .*"east"'):
        ek.partial(job.plan(), 0, [{"probs": world["target"], "keys": keys, "groups": moved}])
    moved[11] = "north" if world["groups"][11] != "north" else "south"
    job.merge(ek.partial(job.plan(), 0, [{"probs": world["target"], "keys": keys, "groups": moved}]))
    with pytest.raises(ek.InvalidInputError, match="were said to come"):
        job.end_pass()
    with pytest.raises(ek.InvalidParameterError, match="needs groups_cal"):
        ek.FitJob(world["cal"], world["y"], per="region")
    with pytest.raises(ek.EvenkeelError, match="no thresholds for each class"):
        ek.FitJob(world["cal"], world["y"], "ot", per="class")
    plain = ek.FitJob(world["cal"], world["y"])
    with pytest.raises(ek.EvenkeelError, match="groups have no use"):
        ek.partial(plain.plan(), 0, [{"probs": world["target"], "keys": keys, "groups": world["groups"]}])


def test_rows_that_change_before_the_laws_of_classes_are_an_error(world):
    job, keys = ek.FitJob(world["cal"], world["y"], "label-plan", per="class"), np.arange(300)
    while not job.plan().startswith(b"EKST") or b"a threshold for each class" not in job.plan():
        job.merge(ek.partial(job.plan(), 0, [(world["target"], keys)]))
        assert job.end_pass()
    changed = world["target"].copy()
    changed[8] = changed[8][::-1]
    job.merge(ek.partial(job.plan(), 0, [(changed, keys)]))
    with pytest.raises(ek.InvalidInputError, match="other keys or values"):
        job.end_pass()


#: Everything a check may be asked, with what it takes to be answered elsewhere.
CHECKS = {
    "plain": {},
    "aps": {"score": "aps", "randomised": True},
    "labels": {"y_target": "labels"},
    "permutations": {"permutations": 1500},
    "second": {"second": True},
    "stored": {"stored": {}},
    "stored, labels": {"stored": {}, "y_target": "labels"},
    "stored plan": {"stored": {"score": "plan"}},
    "stored plan, labels": {"stored": {"score": "plan"}, "y_target": "labels"},
    "stored with these labels": {"stored": {"y_target": "labels"}, "y_target": "labels"},
    "stored plan with labels": {"stored": {"score": "plan", "y_target": "labels"}, "y_target": "labels"},
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_in_parts_is_the_check_of_one_process(world, fog, name):
    given = dict(CHECKS[name])
    # Labels of rows that one machine would see too: right ones, so that they are believed.
    labels = {row: int(world["target"][row].argmax()) for row in world["labels"]}
    named = {"labels": labels}
    both = {word: named.get(value, value) if isinstance(value, str) and word == "y_target" else value for word, value in given.items()}
    stored, second = both.pop("stored", None), both.pop("second", False)
    here, there = dict(both), dict(both)
    cal = (world["cal"], world["y"])
    if stored is not None:
        # Made of another night: that of the target rows shows a shift against it.
        fitted_to = world["cal"][::2] if "y_target" not in stored else world["target"]
        made = {word: named[value] if word == "y_target" else value for word, value in stored.items()}
        in_use = ek.calibrate(*cal, fitted_to, "label-plan" if "score" in stored and "y_target" not in stored else "auto", **made)
        cal, here["calibration"], there["calibration"] = (), in_use, in_use
    if second:
        here["second"], there["second_cal"] = [(world["second_cal"], world["second"])], [world["second_cal"]]
    expected = ek.check(*(cal or (None, None)), world["target"], **here)
    for parts, rows in ((1, None), (7, len(world["target"]))):
        job = ek.CheckJob(*(cal or (None, None)), rows=rows, **there)
        report = passes(job, shuffled(len(world["target"]), parts, 0), lambda keys: batch_of(world, keys, False, second))
        assert json.dumps(report.to_dict()) == json.dumps(expected.to_dict())
        assert repr(report) == repr(expected)
    assert report.to_html() == expected.to_html()
    assert expected.to_dict()["examples"]


def test_labels_of_rows_that_did_not_come_are_an_error(world):
    job = ek.CheckJob(world["cal"], world["y"], y_target={0: 1, 5000: 2})
    job.merge(ek.partial(job.plan(), 0, [(world["target"], np.arange(300))]))
    with pytest.raises(ek.InvalidInputError, match="5000"):
        job.end_pass()


def test_ids_that_are_no_row_numbers_have_no_examples(world):
    job = ek.CheckJob(world["cal"], world["y"])
    report = passes(job, [(0, np.arange(300))], lambda keys: (world["target"][keys], keys + 10**9))
    assert report.to_dict()["examples"] == [] and report.m == 300


@pytest.mark.parametrize("options", [{}, {"score": "aps", "randomised": True}, {"method": "label-shift"}])
def test_an_evaluation_in_parts_is_that_of_all_rows(fog, options):
    cal = ek.calibrate(fog.probs_cal, fog.y_cal, fog.probs_target, **{"method": "uncorrected", **options})
    job = ek.EvaluateJob(cal, alpha=0.2)
    for number, keys in shuffled(len(fog.y_test), 6, 2):
        job.merge(ek.partial(job.plan(), number, [(fog.probs_test[keys], keys, fog.y_test[keys])]))
    assert not job.end_pass()
    assert dict(job.finish()) == dict(cal.evaluate(fog.probs_test, fog.y_test, 0.2))


def test_states_are_added_up_with_the_plan_and_put_together_without(world):
    rows = len(world["target"])
    job = ek.FitJob(world["cal"], world["y"])
    plan = job.plan()
    states = [ek.partial(plan, number, [(world["target"][keys], keys)]) for number, keys in shuffled(rows, 6, 3)]
    merged = ek.merge_states([ek.merge_states(states[:2], plan), ek.merge_states(states[2:], plan)], plan)
    packed = ek.merge_states([ek.merge_states(states[:3]), *states[3:]])
    assert len(merged) < 1.1 * sum(map(len, states)) <= 1.1 * len(packed)
    jobs = [ek.FitJob(world["cal"], world["y"]) for _ in range(2)]
    for one, state in zip(jobs, (merged, packed)):
        one.merge(state)
    assert jobs[0].end_pass() == jobs[1].end_pass() and jobs[0].plan() == jobs[1].plan()
    with pytest.raises(ek.EvenkeelError, match="part [0-5] was given twice"):
        job.merge(packed)
        job.merge(states[4])


def first_pass(world, parts=3, **settings):
    job = ek.FitJob(world["cal"], world["y"], **settings)
    plan = job.plan()
    keys = np.array_split(np.arange(len(world["target"])), parts)
    return job, plan, [ek.partial(plan, number, [(world["target"][part], part)]) for number, part in enumerate(keys)]


def test_what_does_not_belong_is_refused_and_the_job_goes_on(world):
    job, plan, states = first_pass(world)
    job.merge(states[0])
    with pytest.raises(ek.EvenkeelError, match="part 0 was given twice"):
        job.merge(states[0])
    _, _, others = first_pass(world, alpha=0.2)
    with pytest.raises(ek.IncompatibleError, match="alpha is 0.1 here and 0.2 there"):
        job.merge(others[1])
    for damaged in (states[1][:-1], states[1][: len(states[1]) // 2], states[1][:3], b"", b"x" + states[1]):
        with pytest.raises(ek.EvenkeelError, match="damaged|not|state"):
            job.merge(damaged)
    flipped = bytearray(states[1])
    flipped[len(flipped) // 2] ^= 1
    with pytest.raises(ek.EvenkeelError, match="checksum"):
        job.merge(bytes(flipped))
    with pytest.raises(ek.EvenkeelError, match="a plan was given where a state is needed"):
        job.merge(plan)
    with pytest.raises(ek.EvenkeelError, match="damaged"):
        job.merge(ek.merge_states(states[1:])[:-9])
    with pytest.raises(ek.InvalidParameterError, match="end_pass"):
        job.finish()
    job.merge(states[1])
    job.merge(states[2])
    assert job.end_pass()
    with pytest.raises(ek.IncompatibleError, match="the pass is 2 here and 1 there"):
        job.merge(states[0])


def test_a_table_that_changes_between_the_passes_is_an_error(world):
    for change in ("values", "keys", "a row less", "a row twice"):
        job, _, states = first_pass(world)
        for state in states:
            job.merge(state)
        assert job.end_pass()
        probs, keys = world["target"].copy(), np.arange(len(world["target"]))
        if change == "values":
            probs[17] = probs[17][::-1]
        elif change == "keys":
            keys[17] = 10**6
        elif change == "a row less":
            probs, keys = probs[1:], keys[1:]
        else:
            probs, keys = np.concatenate([probs, probs[:1]]), np.append(keys, 0)
        job.merge(ek.partial(job.plan(), 0, [(probs, keys)]))
        with pytest.raises(ek.InvalidInputError, match="a later pass read .* other keys or values"):
            job.end_pass()
        with pytest.raises(ek.InvalidParameterError, match="begin a new one"):
            job.end_pass()


@pytest.mark.parametrize("name, passes", [("permutations", 3), ("stored plan", 4), ("stored plan, labels", 3)])
def test_rows_that_change_before_any_pass_of_a_check_are_an_error(world, name, passes):
    given = dict(CHECKS[name])
    if "y_target" in given:
        given["y_target"] = {row: int(world["target"][row].argmax()) for row in world["labels"]}
    stored = given.pop("stored", None)
    cal = {"probs_cal": world["cal"], "y_cal": world["y"]}
    if stored is not None:
        cal = {"calibration": ek.calibrate(world["cal"], world["y"], world["cal"][::2], "label-plan", **stored)}
    keys = np.arange(len(world["target"]))
    values = world["target"].copy()
    values[17] = values[17][::-1]
    # One to look, two of the fit of what is recommended (one where labels decide), one for the sizes of its sets.
    job, counted = ek.CheckJob(**cal, **given), 0
    while counted == 0 or job.end_pass():
        job.merge(ek.partial(job.plan(), 0, [(world["target"], keys)]))
        counted += 1
    assert counted == passes
    for changed, (probs, ids) in itertools.product(range(1, passes + 1), [(values, keys), (world["target"], np.roll(keys, 1))]):
        job = ek.CheckJob(**cal, **given)
        for number in itertools.count(1):
            rows = (probs, ids) if number == changed else (world["target"], keys)
            job.merge(ek.partial(job.plan(), 0, [rows]))
            if number > 1 and number >= changed:
                with pytest.raises(ek.InvalidInputError, match="a later pass read 300 target rows, an earlier one 300, or rows with other"):
                    job.end_pass()
                break
            assert job.end_pass()


def test_a_bundle_with_a_part_twice_is_refused_and_the_job_goes_on(world):
    job, plan, states = first_pass(world)
    other = ek.partial(plan, 1, [(world["target"][:7], np.arange(7))])
    with pytest.raises(ek.EvenkeelError, match="part 1 was given twice"):
        job.merge(ek.merge_states([*states, other]))
    job.merge(ek.merge_states(states))
    assert job.end_pass()


def test_rows_are_as_many_as_was_said(world):
    job, _, states = first_pass(world, rows=len(world["target"]) + 1)
    for state in states:
        job.merge(state)
    with pytest.raises(ek.InvalidInputError, match="there were 300 target rows, but 301 were said to come"):
        job.end_pass()
    _, _, others = first_pass(world)
    with pytest.raises(ek.IncompatibleError, match="the number of all rows is 301 here and not said there"):
        ek.FitJob(world["cal"], world["y"], rows=301).merge(others[0])


def test_errors_name_the_part_and_the_key(world):
    job = ek.FitJob(world["cal"], world["y"])
    bad = world["target"][:5].copy()
    bad[3, 2] = np.nan
    keys = ["ann", "bob", "cid", "dan", "eve"]
    table = pyarrow.table({"p": pyarrow.array(bad.tolist(), pyarrow.list_(pyarrow.float32())), "id": keys})
    with pytest.raises(ek.InvalidInputError, match="part 7, key 'dan': .*row 3") as caught:
        ek.partial(job.plan(), 7, [table], probs="p", key="id")
    assert caught.value.row == 3
    with pytest.raises(ek.InvalidInputError, match="part 7, key 13: "):
        ek.partial(job.plan(), 7, [(bad, np.arange(10, 15))])
    nulls = pyarrow.table({"p": pyarrow.array([*bad[:2].tolist(), None]), "id": [4, 5, 6]})
    with pytest.raises(ek.InvalidInputError, match="row 2 is null"):
        ek.partial(job.plan(), 0, [nulls], probs="p", key="id")
    with pytest.raises(ek.InvalidInputError, match="the key of row 1 is null"):
        ek.partial(job.plan(), 0, [nulls.slice(0, 2).set_column(1, "id", pyarrow.array([1, None]))], probs="p", key="id")
    with pytest.raises(ek.InvalidParameterError, match="key is missing"):
        ek.partial(job.plan(), 0, [table], probs="p")
    with pytest.raises(ek.InvalidParameterError, match="no column 'probs'; there are p, id"):
        ek.partial(job.plan(), 0, [table], key="id")
    with pytest.raises(ek.InvalidInputError, match="keys are whole numbers or texts"):
        ek.partial(job.plan(), 0, [(world["target"][:2], np.array([0.5, 1.5]))])
    with pytest.raises(ek.InvalidInputError, match="2 keys and 5 rows"):
        ek.partial(job.plan(), 0, [(world["target"][:5], [1, 2])])
    with pytest.raises(ek.EvenkeelError, match="3 columns"):
        ek.partial(job.plan(), 0, [(np.full((2, 3), 1 / 3), [1, 2])])
    with pytest.raises(ek.EvenkeelError, match="labels of a few target rows"):
        ek.partial(job.plan(), 0, [(world["target"][:2], [1, 2], [0, 1])])
    evaluation = ek.EvaluateJob(ek.calibrate(world["cal"], world["y"], world["target"], "uncorrected"))
    with pytest.raises(ek.EvenkeelError, match="no labels"):
        ek.partial(evaluation.plan(), 0, [(world["target"][:2], [1, 2])])
    with pytest.raises(ek.EvenkeelError, match="part 0, key 2: .*label"):
        ek.partial(evaluation.plan(), 0, [(world["target"][:2], [1, 2], [0, 11])])
    with pytest.raises(ek.InvalidInputError, match="holds no rows|no rows"):
        evaluation.finish()


def test_keys_of_texts_are_the_head_of_their_sha256(world):
    import hashlib

    names = [f"kunde-{row}-ü" for row in range(len(world["target"]))]
    numbers = np.array([int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") for name in names], dtype=np.uint64)
    plan = ek.FitJob(world["cal"], world["y"]).plan()
    of = lambda keys: ek.partial(plan, 0, [(world["target"], keys)])  # noqa: E731
    expected = of(numbers)
    for keys in (names, np.array(names), np.array(names, dtype=object), pyarrow.array(names), pyarrow.chunked_array([names[:9], names[9:]]),
                 pyarrow.array(["x", *names])[1:], pyarrow.array(names).dictionary_encode(), pyarrow.array(names, pyarrow.large_string())):
        assert of(keys) == expected
    assert of(np.arange(300, dtype=np.int32)) == of(np.arange(300, dtype=np.uint64)) == of(pyarrow.array(range(300)))


def test_few_labels_by_texts(world):
    names = np.array([f"id{row}" for row in range(len(world["target"]))])
    labels = {str(names[row]): label for row, label in world["labels"].items()}
    made = []
    for parts in (1, 4):
        job = ek.FitJob(world["cal"], world["y"], y_target=labels)
        made.append(passes(job, shuffled(len(names), parts, 1), lambda keys: (world["target"][keys], names[keys])).to_json())
    assert made[0] == made[1] and json.loads(made[0])["method"] == "few-labels"
    with pytest.raises(ek.InvalidInputError, match="dict from key to label"):
        ek.FitJob(world["cal"], world["y"], y_target=[1, 2])


def test_a_key_given_twice_is_an_error(world):
    job = ek.FitJob(world["cal"], world["y"])
    job.merge(ek.partial(job.plan(), 0, [(world["target"][:9], np.arange(9))]))
    job.merge(ek.partial(job.plan(), 1, [(world["target"][:9], np.arange(8, 17))]))
    with pytest.raises(ek.InvalidInputError, match="row key 8 was given twice"):
        job.end_pass()


def test_equal_rows_count_one_by_one(world):
    """A hash of the content as key would keep all copies of a row or none; ids do not."""
    rng = np.random.default_rng(2)
    rows = 60_000
    probs = rng.dirichlet(np.full(10, 0.3), rows)
    probs[: rows // 5] = np.eye(10)[rng.integers(10, size=10)][rng.integers(10, size=rows // 5)]
    predicted = np.bincount(probs.argmax(axis=1), minlength=10) / rows
    of_cal = np.bincount(world["cal"].argmax(axis=1), minlength=10) / len(world["cal"])
    distance = 0.5 * np.abs(predicted - of_cal).sum()
    job = ek.FitJob(world["cal"], world["y"], rows=rows)
    cal = passes(job, shuffled(rows, 8, 0), lambda keys: (probs[keys], keys))
    assert cal.to_json() == ek.calibrate(world["cal"], world["y"], probs).to_json()
    # Ten thousand rows are tested: the standard error of a share is at most 0.005, and ten of them add up.
    assert abs(cal.evidence_["test"]["class_distance"] - distance) < 0.02


def test_states_of_two_hundred_parts_fit_a_driver(world):
    """More rows than are kept, counted or tabled one by one: all states together, and the bytes of one process."""
    rows, parts = 1_100_000, 200
    rng = np.random.default_rng(3)
    probs = rng.dirichlet(np.full(10, 0.3), 5000).astype(np.float32)[rng.integers(5000, size=rows)]
    job = ek.FitJob(world["cal"], world["y"], rows=rows)
    held, again = [], True
    while again:
        plan = job.plan()
        held.append(0)
        for number, keys in enumerate(np.array_split(np.arange(rows), parts)):
            state = ek.partial(plan, number, [(probs[keys], keys)])
            held[-1] += len(state)
            job.merge(state)
        again = job.end_pass()
    assert len(held) == 2 and max(held) < 200e6, held
    assert job.finish().to_json() == ek.calibrate(world["cal"], world["y"], probs).to_json()


def test_plans_and_states_can_be_given_as_any_bytes(world):
    job, plan, states = first_pass(world)
    job.merge(bytearray(states[0]))
    job.merge(memoryview(states[1]))
    with pytest.raises(ek.InvalidParameterError, match="state is str"):
        job.merge("state")
    with pytest.raises(ek.InvalidParameterError, match="plan is int"):
        ek.partial(3, 0, [])
    for part in (-1, 1.5, "a"):
        with pytest.raises(ek.InvalidParameterError, match="part_id"):
            ek.partial(plan, part, [])


@pytest.fixture(scope="module")
def pets():
    """Two classes whose names are not in the order of the alphabet."""
    rng = np.random.default_rng(1)
    probs = rng.dirichlet([1, 1], 400)
    numbers = (rng.random(400) < probs[:, 1]).astype(int)
    return probs, numbers, np.array(["dog", "cat"])[numbers]


def evaluated(calibration, *batches, **chosen):
    job = ek.EvaluateJob(calibration)
    for number, batch in enumerate(batches):
        job.merge(ek.partial(job.plan(), number, [batch], **chosen))
    return dict(job.finish())


def test_labels_that_are_words_are_those_of_the_calibration(pets):
    """Each batch named its classes anew, in the order of the alphabet."""
    probs, numbers, words = pets
    keys, frame = np.arange(400), pandas.DataFrame(probs, columns=["dog", "cat"])
    for cal in (ek.calibrate(frame, numbers, None, "uncorrected"), ek.calibrate(probs, words, None, "uncorrected", classes=["dog", "cat"])):
        expected = dict(cal.evaluate(probs, words))
        assert expected["coverage"] > 0.85
        # The second batch has one of the two words.
        dogs = numbers == 0
        parts = [(probs[~dogs], keys[~dogs], words[~dogs]), (probs[dogs], keys[dogs], words[dogs])]
        assert evaluated(cal, (probs, keys, words)) == evaluated(cal, *parts) == expected
        with pytest.raises(ek.InvalidInputError, match="classes has cat in another place"):
            evaluated(cal, (probs, keys, words), classes=["cat", "dog"])
        unknown = words.copy()
        unknown[7] = "cow"
        with pytest.raises(ek.InvalidInputError, match=r"part 0, key 7: label\[7\] is 'cow', .*remove the row, or give its label"):
            evaluated(cal, (probs, keys, unknown))
    reversed_names = ek.calibrate(probs, 1 - numbers, None, "uncorrected", classes=["1", "0"])
    assert evaluated(reversed_names, (probs, keys, 1 - numbers)) == dict(reversed_names.evaluate(probs, 1 - numbers))
    unnamed = ek.calibrate(probs, numbers, None, "uncorrected")
    with pytest.raises(ek.InvalidInputError, match=r"labels are words, and the calibration names no classes; .*classes=\[...\]"):
        evaluated(unnamed, (probs, keys, words))
    assert evaluated(unnamed, (probs, keys, words), classes=["dog", "cat"]) == dict(unnamed.evaluate(probs, numbers))


def test_columns_are_matched_by_their_names(pets):
    """They were read by position, also those of another model."""
    probs, numbers, words = pets
    keys, frame = np.arange(400), pandas.DataFrame(probs, columns=["dog", "cat"])
    cal = ek.calibrate(frame, numbers, None, "uncorrected")
    expected, swapped = dict(cal.evaluate(probs, numbers)), frame[["cat", "dog"]]
    assert evaluated(cal, {"probs": swapped, "keys": keys, "labels": numbers}) == evaluated(cal, (swapped, keys, numbers)) == expected
    table = pyarrow.table({"dog": probs[:, 0], "cat": probs[:, 1], "id": keys, "y": words})
    for probs_of in (["dog", "cat"], ["cat", "dog"]):
        assert evaluated(cal, table, probs=probs_of, key="id", label="y") == expected
    with pytest.raises(ek.InvalidInputError, match="no column for dog, cat, and bird, fish are not among the columns of the calibration"):
        evaluated(cal, (frame.set_axis(["bird", "fish"], axis=1), keys, numbers))
    with pytest.raises(ek.InvalidInputError, match="no column for cat"):
        evaluated(cal, table.append_column("bird", table["cat"]), probs=["dog", "bird"], key="id", label="y")
    # A plan of a fit does not know the names of the calibration data.
    plan = ek.FitJob(frame, numbers, "uncorrected").plan()
    with pytest.raises(ek.InvalidInputError, match=r"its columns are called cat, dog, and the plan does not say .*probs=\[...\]"):
        ek.partial(plan, 0, [{"probs": swapped, "keys": keys}])
    in_order = ek.partial(plan, 0, [(probs, keys)])
    assert ek.partial(plan, 0, [{"probs": swapped, "keys": keys}], probs=["dog", "cat"]) == in_order


def test_errors_about_lists_name_the_part_and_the_key(world):
    good = world["target"][0].tolist()
    plan = ek.FitJob(world["cal"], world["y"]).plan()
    for broken, words in ((None, "is null"), ([*good[:-1], None], "is null"), (good[:-1], "give rows of equal length")):
        table = pyarrow.table({"id": ["ann", "bob", "cid"], "probs": [good, good, broken]})
        with pytest.raises(ek.InvalidInputError, match=f"part 4, key 'cid': .*{words}"):
            ek.partial(plan, 4, [table], key="id")
    features = pyarrow.table({"id": ["ann", "bob"], "probs": [good, good], "x": pyarrow.array([[1.0, 2.0], None])})
    plan = ek.FitJob(world["cal"], world["y"], "likelihood-ratio", features_cal=world["features_cal"][:, :2]).plan()
    with pytest.raises(ek.InvalidInputError, match="part 4, key 'bob': .*is null"):
        ek.partial(plan, 4, [features], key="id", features="x")


def test_keys_of_pandas_are_named_by_position(world):
    plan = ek.FitJob(world["cal"], world["y"]).plan()
    bad = world["target"][:5].copy()
    bad[3, 2] = np.nan
    for index in ([4, 3, 2, 1, 0], list("abcde")):
        with pytest.raises(ek.InvalidInputError, match="part 0, key 13: "):
            ek.partial(plan, 0, [{"probs": bad, "keys": pandas.Series(np.arange(10, 15), index=index)}])


def test_keys_that_are_objects(world):
    plan, count = ek.FitJob(world["cal"], world["y"]).plan(), len(world["target"])
    expected = ek.partial(plan, 0, [(world["target"], np.arange(count))])
    assert ek.partial(plan, 0, [(world["target"], np.array(range(count), dtype=object))]) == expected
    large = np.array([-1, 2**64 - 2], dtype=object)
    assert ek.partial(plan, 0, [(world["target"][:2], large)]) == ek.partial(plan, 0, [(world["target"][:2], np.array([-1, -2]))])
    for keys, words in (
        ([0, None, 2], "the key of row 1 is None"),
        ([0, 1, "2"], "the key of row 2 is '2', that of row 0 0"),
        ([0, 1, 2**64], "the key of row 2 is 18446744073709551616; .*at most 64 bits"),
        ([True, False, True], "the key of row 0 is True"),
    ):
        with pytest.raises(ek.InvalidInputError, match=words):
            ek.partial(plan, 0, [(world["target"][:3], np.array(keys, dtype=object))])


def test_labels_that_are_none_are_named_by_their_keys(world):
    cal = ek.calibrate(world["cal"], world["y"], world["target"], "uncorrected")
    for label, found in ((None, "nan"), (2.5, "2.5"), (-1, "-1")):
        table = pyarrow.table({"id": ["ann", "bob"], "probs": world["target"][:2].tolist(), "y": pyarrow.array([1, label], pyarrow.float64())})
        with pytest.raises(ek.InvalidInputError, match=rf"(?i)part 0, key 'bob': label: labels\[1\] is {found}.*remove the row, or give its label"):
            evaluated(cal, table, key="id", label="y")


def test_ratios_reach_the_evaluation(world):
    cal = ek.calibrate(world["cal"], world["y"], world["target"], "likelihood-ratio", ratios_cal=world["weights"])
    ratios, keys = np.linspace(0.5, 2, 300), np.arange(300)
    expected = dict(cal.evaluate(world["cal"], world["y"], ratios=ratios))
    assert evaluated(cal, {"probs": world["cal"], "keys": keys, "labels": world["y"], "ratios": ratios}) == expected
    table = pyarrow.table({"id": keys, "probs": world["cal"].tolist(), "y": world["y"], "r": ratios})
    assert evaluated(cal, table, key="id", label="y", ratios="r") == expected
    with pytest.raises(ek.IncompatibleError, match="needs ratios"):
        evaluated(cal, table, key="id", label="y")


def test_states_of_another_job_are_told_from_damaged_ones(world):
    _, _, (state, *_) = first_pass(world)
    job = ek.EvaluateJob(ek.calibrate(world["cal"], world["y"], world["target"], "uncorrected"))
    with pytest.raises(ek.IncompatibleError, match="different jobs: the method is evaluate here and auto there"):
        job.merge(state)
    with pytest.raises(ek.IncompatibleError, match="the method is a check, or a fit for each group here and auto there"):
        ek.CheckJob(world["cal"], world["y"]).merge(state)
    own = ek.partial(job.plan(), 0, [(world["cal"], np.arange(300), world["y"])])
    with pytest.raises(ek.EvenkeelError, match="checksum"):
        job.merge(own[:-1])
    job.merge(own)


def test_an_evaluation_begun_again_has_no_rows(world):
    """What groups are evaluated with: the plan is read once for all of them."""
    job = ek.EvaluateJob(ek.calibrate(world["cal"], world["y"], world["target"], "uncorrected"), alpha=0.2)
    part = _evenkeel.RunningPart.begin(job.plan(), 0)
    job.merge(ek.partial(job.plan(), 0, [(world["cal"], np.arange(300), world["y"])]))
    other = job.again()
    assert other.plan() == job.plan()
    rows = {"probs": world["cal"][:50], "keys": np.arange(50), "labels": world["y"][:50]}
    chosen = distributed.Chosen("probs", None, None, None, None, None, [])
    made = distributed.state_of(part.again(3), "part 3", [rows], chosen, None, False)
    assert made == ek.partial(job.plan(), 3, [rows])
    other.merge(made)
    assert other.finish()["n"] == 50 and job.finish()["n"] == 300
    with pytest.raises(ek.EvenkeelError, match="begin each part of this job from its plan"):
        _evenkeel.RunningPart.begin(ek.FitJob(world["cal"], world["y"]).plan(), 0).again(1)


def test_a_pass_without_states_goes_on(world):
    job, _, states = first_pass(world)
    for _ in range(2):
        with pytest.raises(ek.InvalidParameterError, match="no state was merged in this pass"):
            job.end_pass()
    for state in states:
        job.merge(state)
    assert job.end_pass()
    with pytest.raises(ek.InvalidParameterError, match="no state was merged in this pass"):
        job.end_pass()
    job.merge(ek.partial(job.plan(), 0, [(world["target"], np.arange(300))]))
    assert not job.end_pass() and not job.end_pass()
    assert job.finish().to_json() == ek.calibrate(world["cal"], world["y"], world["target"]).to_json()


def test_text_ids_are_told_from_their_hashes(world):
    names = [f"id{row}" for row in range(9)]
    job = ek.FitJob(world["cal"], world["y"])
    job.merge(ek.partial(job.plan(), 0, [(world["target"][:9], [*names[:8], "id0"])]))
    with pytest.raises(ek.InvalidInputError, match=r"row key (\d+) was given twice.*where ids are texts, \1 is the hash of one"):
        job.end_pass()
    job = ek.CheckJob(world["cal"], world["y"], y_target={"id0": 1, "gone": 2})
    job.merge(ek.partial(job.plan(), 0, [(world["target"][:9], names)]))
    with pytest.raises(ek.InvalidInputError, match=r"the first of them row (\d+); .*\1 is the id 'gone'"):
        job.end_pass()


def test_fits_that_keep_every_row_refuse_very_many(world):
    for options in ({"sampling": "sampled"}, {"objective": "wasserstein"}):
        with pytest.raises(ek.InvalidParameterError, match="needs every row on the driver: 10000000 rows of 10 classes are 0.9 GB.*on a sample"):
            ek.FitJob(world["cal"], world["y"], "ot", rows=10_000_000, **options)
        ek.FitJob(world["cal"], world["y"], "ot", rows=100_000, **options)
    ek.FitJob(world["cal"], world["y"], "ot", rows=10_000_000)


def test_batches_that_are_none_or_one(world):
    plan, keys = ek.FitJob(world["cal"], world["y"]).plan(), np.arange(300)
    for given in (None, 3):
        with pytest.raises(ek.InvalidInputError, match="batches is (NoneType|int); give a list"):
            ek.partial(plan, 0, given)
    table = pyarrow.table({"id": keys, "probs": world["target"].tolist()})

    class Capsule:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    expected = ek.partial(plan, 0, [table], key="id")
    assert ek.partial(plan, 0, Capsule(), key="id") == ek.partial(plan, 0, table.to_reader(), key="id") == expected
