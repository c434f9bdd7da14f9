"""Calibration files appear whole or not at all, and what dead writers left is tidied up."""

import os
import subprocess
import sys

import pytest

import evenkeel as ek
from evenkeel import _files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and links of Unix")


def test_what_a_killed_writer_left_is_removed_and_a_living_ones_stays(tmp_path):
    killed = "import os, sys; from evenkeel import _files; _files._create(sys.argv[1]); os.kill(os.getpid(), 9)"
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", killed, str(tmp_path)]).returncode == -9
    assert len(list(tmp_path.iterdir())) == 3
    descriptor, living = _files._create(str(tmp_path))
    (tmp_path / ".notes.tmp").write_text("not ours")
    _files.write(tmp_path / "cal.json", "{}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".notes.tmp", "cal.json", os.path.basename(living)])
    os.close(descriptor)
    _files.write(tmp_path / "cal.json", "{}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".notes.tmp", "cal.json"]


def test_the_bytes_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, name=name, real=real: (calls.append(name), real(*given))[1])
    _files.write(tmp_path / "cal.json", "{}\n")
    assert calls == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_failed_write_leaves_the_earlier_file_and_nothing_else(tmp_path, monkeypatch, name):
    path = tmp_path / "cal.json"
    path.write_text("earlier")

    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, name, fails)
    with pytest.raises(ek.FileError, match="cal.json: cannot be written: Input/output error"):
        _files.write(path, "{}\n")
    assert path.read_text() == "earlier" and len(list(tmp_path.iterdir())) == 1


def test_long_names_and_links_to_nothing(tmp_path):
    _files.write(tmp_path / ("n" * 255), "{}\n")
    link = tmp_path / "link.json"
    link.symlink_to("nowhere.json")
    _files.write(link, "{}\n")
    assert link.is_symlink() and (tmp_path / "nowhere.json").read_text() == "{}\n"


def test_thousands_of_threads_are_refused():
    code = "import evenkeel as ek; ek.calibrate([[0.5, 0.5]] * 20, [0, 1] * 10, [[0.5, 0.5]] * 20)"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "RAYON_NUM_THREADS": "100000"}, capture_output=True, text=True
    )
    assert ran.returncode == 1 and "RAYON_NUM_THREADS is 100000; use 1 to 512" in ran.stderr
