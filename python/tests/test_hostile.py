"""Inputs that cannot be worked on: the message of the command line, as a ValueError.

Each case of the command line's corpus (crates/evenkeel-cli/tests/hostile) that is about numbers, labels, shapes,
settings or calibration files is put to both doors, and the two messages are compared word by word. Where the command
line names a file, Python names the argument. What cannot arise in Python is left out: damaged npy, npz, csv and parquet
files, paths of matrices, class names, output files of `predict`, and what clap says about usage.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import evenkeel as ek

ROWS, CLASSES = 40, 10


@pytest.fixture(scope="module")
def world(tmp_path_factory, run):
    """A small world in which everything works until one argument is replaced."""
    folder = tmp_path_factory.mktemp("world")
    draws = np.random.default_rng(1).random((ROWS, CLASSES)) + 0.01
    arrays = {"probs": draws / draws.sum(axis=1, keepdims=True), "labels": np.arange(ROWS) % CLASSES}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    ran = run("calibrate", "--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
              folder / "probs.npy", "--out", folder / "cal.json", "--method", "ot", "--steps", 5)  # fmt: skip
    assert ran.code == 0, ran.stderr
    return folder, arrays["probs"], arrays["labels"]


def words(ran, names):
    """The message of the command line, with arguments for files."""
    assert ran.code == 2 and ran.stderr.startswith("error: "), ran
    message = ran.stderr[len("error: ") :].rstrip("\n")
    for path, argument in names.items():
        message = message.replace(str(path), argument)
    return message.replace("(--logits)", "(logits=True)")


def refused(call, *arguments, **keywords):
    with pytest.raises(ValueError) as caught:
        call(*arguments, **keywords)
    assert isinstance(caught.value, ek.EvenkeelError)
    message = str(caught.value)
    assert "panicked" not in message and "\n" not in message
    return message


def spoiled(probs, value):
    probs = probs.copy()
    probs[12, 3] = value
    return probs


ONE_COLUMN = (
    "it has one number a row, and a column for each class is needed: for two classes np.column_stack([1 - p, p]), "
    "of logits np.column_stack([0 * z, z]), for a single row p.reshape(1, -1)"
)

NUMBERS = {
    "NaN": lambda probs: spoiled(probs, np.nan),
    "infinity": lambda probs: spoiled(probs, np.inf),
    "minus infinity": lambda probs: spoiled(probs, -np.inf),
    "negative": lambda probs: spoiled(probs, -0.25),
    "sum above 1": lambda probs: spoiled(probs, 1.5),
    "zeros": np.zeros_like,
    "logits": lambda probs: 40 * probs - 3,
    "positive logits": lambda probs: 40 * probs,
    "other classes": lambda probs: np.full((ROWS, 5), 0.2),
    "no rows": lambda probs: probs[:0],
    "no columns": lambda probs: probs[:, :0],
    "cube": lambda probs: probs.reshape(2, -1, CLASSES),
    "scalar": lambda probs: np.array(0.5),
    "one column": lambda probs: np.ones(ROWS),
    "complex": lambda probs: probs.astype(complex),
    "text": lambda probs: probs.astype("<U5"),
    "dates": lambda probs: np.zeros((ROWS, CLASSES), dtype="<M8[s]"),
    "records": lambda probs: np.zeros(ROWS, dtype=[("a", "f8"), ("b", "f8")]),
    "float32 NaN": lambda probs: spoiled(probs, np.nan).astype(np.float32),
    "float32 logits": lambda probs: (40 * probs - 3).astype(np.float32),
}


@pytest.mark.parametrize("place", ["check", "calibrate", "predict", "evaluate", "compare"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_no_probabilities(world, run, tmp_path, name, place):
    folder, probs, labels = world
    bad, path = NUMBERS[name](probs), tmp_path / "bad.npy"
    np.save(path, bad)
    cal = ek.load(folder / "cal.json")
    before = ["--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy"]
    test = ["--test-probs", path, "--test-labels", folder / "labels.npy"]
    calls = {
        "check": (["check", *before, "--unlabeled", path], ek.check, (probs, labels, bad), "probs_target"),
        "calibrate": (
            ["calibrate", *before, "--unlabeled", path, "--out", tmp_path / "x.json", "--method", "ot"],
            lambda *arrays: ek.calibrate(*arrays, method="ot"), (probs, labels, bad), "probs_target",
        ),
        "predict": (
            ["predict", "--calibration", folder / "cal.json", "--probs", path, "--out", tmp_path / "x.npy"],
            cal.predict_set, (bad,), "probs",
        ),
        "evaluate": (
            ["evaluate", "--calibration", folder / "cal.json", "--probs", path, "--labels", folder / "labels.npy"],
            cal.evaluate, (bad, labels), "probs",
        ),
        "compare": (
            ["compare", *before, "--unlabeled", folder / "probs.npy", *test, "--methods", "ot"],
            lambda *arrays: ek.compare(*arrays, methods="ot"), (probs, labels, probs, bad, labels), "probs_test",
        ),
    }  # fmt: skip
    arguments, call, arrays, argument = calls[place]
    # A file is saved, an array is given.
    expected = words(run(*arguments), {path: argument}).replace("; save ", "; give ")
    if name == "one column":
        # Two classes are likelier than another model where somebody types arrays.
        expected = f"{argument}: {ONE_COLUMN}"
    assert refused(call, *arrays) == expected


def test_numbers_of_the_calibration_side(world, run, tmp_path):
    folder, probs, labels = world
    for name in ("NaN", "negative", "sum above 1", "zeros", "logits"):
        bad = NUMBERS[name](probs)
        np.save(tmp_path / "bad.npy", bad)
        ran = run("check", "--cal-probs", tmp_path / "bad.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
                  folder / "probs.npy")  # fmt: skip
        assert refused(ek.check, bad, labels, probs) == words(ran, {tmp_path / "bad.npy": "probs_cal"})


def test_a_logit_that_is_no_number(world, run, tmp_path):
    folder, probs, _ = world
    bad = np.repeat(probs, 200, axis=0)  # Further down than one thread's share of rows.
    bad[5000, 3] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    ran = run("predict", "--calibration", folder / "cal.json", "--probs", tmp_path / "bad.npy", "--out",
              tmp_path / "x.npy", "--force-logits")  # fmt: skip
    cal = ek.load(folder / "cal.json")
    assert refused(cal.predict_set, bad, logits="force") == words(ran, {tmp_path / "bad.npy": "probs"})


@pytest.mark.parametrize("label", [10, -1, 2.5, np.nan, 1e300, -np.inf])
@pytest.mark.parametrize("place", ["check", "evaluate", "compare"])
def test_numbers_that_are_no_labels(world, run, tmp_path, label, place):
    folder, probs, labels = world
    bad = labels.astype(float if isinstance(label, float) else int)
    bad[-1] = label
    path = tmp_path / "bad.npy"
    np.save(path, bad)
    cal = ek.load(folder / "cal.json")
    probs_path = folder / "probs.npy"
    good = ["--cal-probs", probs_path, "--cal-labels", folder / "labels.npy", "--unlabeled", probs_path]
    calls = {
        "check": (
            ["check", "--cal-probs", probs_path, "--cal-labels", path, "--unlabeled", probs_path],
            ek.check, (probs, bad, probs), "y_cal",
        ),
        "evaluate": (
            ["evaluate", "--calibration", folder / "cal.json", "--probs", probs_path, "--labels", path],
            cal.evaluate, (probs, bad), "y",
        ),
        "compare": (
            ["compare", *good, "--test-probs", probs_path, "--test-labels", path, "--methods", "ot"],
            lambda *arrays: ek.compare(*arrays, methods="ot"), (probs, labels, probs, probs, bad), "y_test",
        ),
    }  # fmt: skip
    arguments, call, arrays, argument = calls[place]
    assert refused(call, *arrays) == words(run(*arguments), {path: argument})


def test_labels_that_do_not_fit(world, run, tmp_path):
    """Headers tell how many rows there are, as arrays do."""
    folder, probs, labels = world
    cal = ek.load(folder / "cal.json")
    for bad in (labels[1:], np.append(labels, 0)):
        np.save(tmp_path / "bad.npy", bad)
        ran = run("evaluate", "--calibration", folder / "cal.json", "--probs", folder / "probs.npy", "--labels",
                  tmp_path / "bad.npy")  # fmt: skip
        expected = words(ran, {tmp_path / "bad.npy": "y", folder / "probs.npy": "probs"})
        assert refused(cal.evaluate, probs, bad) == expected
        assert refused(ek.check, probs, bad, probs) == expected.replace("y has", "y_cal has").replace("probs", "probs_cal")
    ran = run("evaluate", "--calibration", folder / "cal.json", "--probs", folder / "labels.npy", "--labels",
              folder / "probs.npy")  # fmt: skip
    names = {folder / "labels.npy": "probs", folder / "probs.npy": "y"}
    assert refused(cal.evaluate, labels, probs) == words(ran, names)


SETTINGS = [
    ("check", {"alpha": 0}),
    ("check", {"alpha": 1}),
    ("check", {"alpha": "NaN"}),
    ("check", {"alpha": -1}),
    ("check", {"alpha": "inf"}),
    ("check", {"delta": 0}),
    ("check", {"delta": 1}),
    ("check", {"delta": "NaN"}),
    ("check", {"bound_grid": 0}),
    ("check", {"bound_grid": 1}),
    ("check", {"permutations": 0}),
    ("check", {"score": "raps", "raps_lambda": "NaN"}),
    ("calibrate", {"grid": 0}),
    ("calibrate", {"learning_rate": 0}),
    ("calibrate", {"learning_rate": "NaN"}),
    ("calibrate", {"learning_rate": -0.1}),
    ("calibrate", {"learning_rate": "inf"}),
    ("calibrate", {"grid": 0}),
    ("calibrate", {"grid": 1}),
    ("calibrate", {"bound_grid": 1}),
    ("calibrate", {"bandwidth_factor": -1}),
    ("calibrate", {"bandwidth_factor": "NaN"}),
    ("calibrate", {"min_effective": 0}),
    ("calibrate", {"min_effective": "NaN"}),
    ("calibrate", {"tolerance": "NaN"}),
    ("calibrate", {"tolerance": -1}),
]


@pytest.mark.parametrize("command, options", SETTINGS, ids=lambda value: str(value))
def test_settings_out_of_their_range(world, run, tmp_path, command, options):
    folder, probs, labels = world
    words_ = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    more = ["--out", tmp_path / "x.json", "--method", "ot"] if command == "calibrate" else []
    ran = run(command, "--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
              folder / "probs.npy", *more, *words_)  # fmt: skip
    keywords = {name: float(value) if value in ("NaN", "inf") else value for name, value in options.items()}
    if command == "calibrate":
        keywords["method"] = "ot"
    # The command line finds some of them while it reads the target file, and names it; Python does not blame the array.
    expected = words(ran, {folder / "probs.npy": "probs_target"})
    expected = expected[len("probs_target: ") :] if expected.startswith("probs_target: ") else expected
    for name in options:
        expected = expected.replace(f"--{name.replace('_', '-')} is", f"{name} is")
    assert refused(getattr(ek, command), probs, labels, probs, **keywords) == expected


@pytest.mark.parametrize(
    "keywords, says",
    [
        ({"method": "best"}, 'there is no method "best"; use one of auto, '),
        ({"method": "ott"}, 'there is no method "ott"; did you mean ot?'),
        ({"method": "ot", "sandwich": "best"}, "sandwich is 'best'; it must be one of f-u, min-max"),
        ({"method": "ot", "sandwich": 3}, "sandwich is 3; it must be one of"),
        ({"method": "ot", "steps": -1}, "steps is -1; it must be a whole number from 0 to 100000000"),
        ({"method": "ot", "steps": 1.5}, "steps is 1.5; it must be a whole number from 0 to 100000000"),
        ({"method": "ot", "steps": 2**70}, "it must be a whole number from 0 to 100000000"),
        ({"method": "ot", "learning_rate": "fast"}, "learning_rate is 'fast'; it must be a positive, finite number"),
        ({"method": "ot", "sampling": "sampled", "sandwich": "min-max"}, "sampling sampled does not go with sandwich min-max"),
        ({"method": "ot", "stps": 5}, 'there is no option "stps"; did you mean steps?'),
        ({"method": "ot", "zzzz": 5}, 'there is no option "zzzz"; the options are score'),
        ({"method": "conditional", "lambda": 5}, 'there is no option "lambda"; did you mean lambda_?'),
        ({"method": "auto", "steps": 5}, "method auto does not use steps; ot does"),
        ({"method": "ot", "lambda_": 5}, "method ot does not use lambda_; conditional does"),
        ({"raps_k": 5}, "score lac does not use raps_k; raps does"),
        ({"method": "ot", "features_cal": [[1.0]]}, "method ot does not use features_cal; likelihood-ratio and conditional do"),
        ({"method": "fixed"}, "method fixed needs weights_cal: one weight per calibration point"),
        ({"method": "likelihood-ratio", "ratio": "known"}, "with ratio known needs ratios_cal"),
        ({"method": "ecp", "score": "margin"}, "ecp works with the score lac only"),
        ({"score": "best"}, "score is 'best'; it must be one of lac, aps, raps, margin"),
        ({"alpha": "ten"}, "alpha is 'ten'; it must be a number"),
        ({"alpha": [0.1]}, "alpha is [0.1]; it must be a number"),
        ({"alpha": 10**400}, "; it must be a number"),
        ({"alpha": 10**5000}, "alpha is an int of too many digits; it must be a number"),
        ({"logits": "False"}, "logits is 'False'; it must be True, False or 'force'"),
        ({"logits": 1}, "logits is 1; it must be True, False or 'force'"),
        ({"randomised": "no"}, "randomised is 'no'; it must be True or False"),
        ({"randomised": np.array([1, 2])}, "it must be True or False"),
        ({"random_state": -1}, "random_state is -1; it must be a whole number"),
        ({"random_state": 1.5}, "random_state is 1.5; it must be a whole number"),
        ({"random_state": 2**64}, "it must be a whole number from 0 to"),
    ],
)
def test_settings_only_python_can_spell(world, keywords, says):
    _, probs, labels = world
    assert says in refused(ek.calibrate, probs, labels, probs, **keywords)


@pytest.mark.parametrize(
    "weights", [None, [1.0] * 39, [-1.0] + [1.0] * 39, [np.nan] + [1.0] * 39, [0.0] * 40, "heavy"], ids=str
)
def test_weights_that_are_none(world, run, tmp_path, weights):
    folder, probs, labels = world
    message = refused(ek.calibrate, probs, labels, probs, method="fixed", weights_cal=weights)
    if isinstance(weights, list) and len(weights) == 40 and any(weights):
        np.save(tmp_path / "w.npy", weights)
        ran = run("calibrate", "--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
                  folder / "probs.npy", "--out", tmp_path / "x.json", "--method", "fixed", "--weights-file",
                  tmp_path / "w.npy")  # fmt: skip
        assert message == words(ran, {tmp_path / "w.npy": "weights_cal"})
    assert "weights" in message


def test_features_that_do_not_fit(world):
    _, probs, labels = world
    features = probs[:, :2]
    cal = ek.calibrate(probs, labels, probs, method="conditional", features_cal=features, features_target=features)
    assert refused(cal.predict_set, probs, features=np.zeros((3, 2))) == (
        "features has 3 rows of features but probs has 40 rows; give one row of features for each"
    )
    assert "features[row 0, column 1] is NaN" in refused(cal.predict_set, probs, features=[[0, np.nan]] * ROWS)


def test_side_inputs_without_a_use(world, run, tmp_path):
    folder, probs, labels = world
    np.save(tmp_path / "extra.npy", probs[:, 0])
    cal = ek.load(folder / "cal.json")
    for name in ("features", "ratios"):
        ran = run("predict", "--calibration", folder / "cal.json", "--probs", folder / "probs.npy", f"--{name}",
                  tmp_path / "extra.npy", "--out", tmp_path / "x.npy")  # fmt: skip
        expected = words(ran, {f"--{name}": name})
        assert refused(cal.predict_set, probs, **{name: probs[:, 0]}) == expected
        assert refused(cal.evaluate, probs, labels, **{name: probs[:, 0]}) == expected


def test_methods_of_a_comparison(world, run):
    folder, probs, labels = world
    for methods in ("best", "ot,ot", "", "ot,", "all,ot"):
        ran = run("compare", "--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
                  folder / "probs.npy", "--test-probs", folder / "probs.npy", "--test-labels", folder / "labels.npy",
                  f"--methods={methods}")  # fmt: skip
        expected = words(ran, {"--methods": "methods"})
        assert refused(ek.compare, probs, labels, probs, probs, labels, methods) == expected


@pytest.mark.parametrize("methods", [None, 3, [], [3], ()], ids=str)
def test_methods_that_are_no_names(world, methods):
    _, probs, labels = world
    assert refused(ek.compare, probs, labels, probs, probs, labels, methods) == (
        f'methods is {methods!r}; it must be "all", or at least one name'
    )


def test_a_setting_is_not_the_fault_of_an_array(world):
    _, probs, labels = world
    assert refused(ek.calibrate, probs, labels, probs, method="ot", grid=0).startswith("grid is 0; ")
    assert refused(ek.calibrate, probs, labels, probs, method="fixed").startswith("method fixed needs weights_cal")


def damaged(text):
    """Calibration files with something wrong, as in the command line's corpus."""
    good = json.loads(text)

    def with_field(name, value):
        return json.dumps({**good, name: value})

    yield "empty", ""
    yield "not JSON", "threshold = 3"
    yield "other JSON", '{"threshold": 0.5}'
    yield "a list", "[1, 2]"
    yield "deeply nested", "[" * 100_000
    yield "cut off", text[: len(text) // 2]
    yield "something after", text + "{}"
    yield "other format", with_field("format", "other/thing")
    yield "later version", with_field("version", 99)
    yield "negative version", with_field("version", -1)
    yield "version in words", with_field("version", "one")
    for name in ("weights", "scores"):
        yield f"{name} empty", with_field(name, [])
        yield f"{name} of another length", with_field(name, [0.5, 0.5])
        yield f"{name} in words", with_field(name, "none")
    yield "weights negative", with_field("weights", [-1.0] * ROWS)
    yield "weights zero", with_field("weights", [0.0] * ROWS)
    yield "weights huge", with_field("weights", [1e300] + [0.0] * (ROWS - 1))
    yield "no classes", with_field("classes", 0)
    yield "alpha out of range", with_field("alpha", 7)
    yield "test mass out of range", with_field("test_mass", -3)


def test_calibrations_that_are_none(world, run, tmp_path):
    folder, _, _ = world
    for name, text in damaged((folder / "cal.json").read_text()):
        path = tmp_path / "bad.json"
        path.write_text(text)
        ran = run("predict", "--calibration", path, "--probs", folder / "probs.npy", "--out", tmp_path / "x.npy")
        assert refused(ek.load, path) == words(ran, {}), name


def test_paths_of_calibrations(world, run, tmp_path):
    folder, probs, labels = world
    bytes_ = tmp_path / "bytes.json"
    bytes_.write_bytes(b"\xff\xfe")
    for path in (tmp_path / "missing.json", tmp_path, folder / "probs.npy" / "inner.json", bytes_):
        ran = run("predict", "--calibration", path, "--probs", folder / "probs.npy", "--out", tmp_path / "x.npy")
        assert refused(ek.load, path) == words(ran, {})
    cal = ek.load(folder / "cal.json")
    for path in (tmp_path / "nowhere" / "cal.json", tmp_path, folder / "probs.npy" / "cal.json", "/dev/full"):
        ran = run("calibrate", "--cal-probs", folder / "probs.npy", "--cal-labels", folder / "labels.npy", "--unlabeled",
                  folder / "probs.npy", "--out", path, "--method", "uncorrected")  # fmt: skip
        assert refused(cal.save, path) == words(ran, {})
    with pytest.raises(OSError, match="No such file"):
        ek.load(tmp_path / "missing.json")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bytes.json"]


@pytest.mark.parametrize(
    "values",
    [None, "probabilities", object(), [[0.5, 0.5], [1.0]], [[0.5, None]], [["a", "b"]], {"a": 1}, [], [[]], b"\x00",
     np.ma.masked_array(np.full((3, 10), 0.1), mask=np.eye(3, 10, dtype=bool)), lambda: 1, iter([1, 2])],
    ids=repr,
)  # fmt: skip
def test_what_is_no_matrix_at_all(world, values):
    folder, probs, labels = world
    cal = ek.load(folder / "cal.json")
    assert "probs" in refused(cal.predict_set, values)
    assert "probs_cal" in refused(ek.check, values, labels, probs)
    assert "probs_target" in refused(ek.calibrate, probs, labels, values)
    assert refused(ek.check, probs, values, probs)


def test_errors_are_told_apart(world):
    _, probs, labels = world
    assert issubclass(ek.InvalidInputError, ValueError) and issubclass(ek.FileError, OSError)
    with pytest.raises(ek.InvalidInputError):
        ek.check(-probs, labels, probs)
    with pytest.raises(ek.InvalidParameterError):
        ek.check(probs, labels, probs, alpha=2)
    with pytest.raises(ek.InvalidInputError, match="probs_target is missing"):
        ek.check(probs, labels)
    with pytest.raises(ek.InvalidInputError, match="give probs_cal and y_cal, or calibration"):
        ek.check(probs_target=probs)
