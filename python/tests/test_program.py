"""The program of the wheel is found wherever installers put it, and no other program of its name is taken for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evenkeel as ek
from evenkeel import __main__, _program, datasets

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts stand for other programs")

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGE = Path(ek.__file__).parent
ASK = "from evenkeel._program import program; print(program())"


def asked(site: Path, *code: str) -> subprocess.CompletedProcess:
    """Python with a package of ours from `site`, which stands before all others."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    words = code or ("-c", ASK)
    return subprocess.run([sys.executable, *words], env=environment, cwd=site, capture_output=True, text=True, check=False)


def installed(site: Path, record: str = "") -> None:
    """The package in a folder, with what an installer wrote down."""
    shutil.copytree(PACKAGE, site / "evenkeel", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / f"evenkeel_conformal-{ek.__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: evenkeel-conformal\nVersion: {ek.__version__}\n")
    (info / "RECORD").write_text(f"evenkeel/__init__.py,,\n{record}")


@pytest.mark.parametrize(
    ("package", "place", "record"),
    [
        (f"lib/{PYTHON}/site-packages", "bin/evenkeel", "../../../bin/evenkeel,,\n"),  # pip install --prefix
        (f"lib/{PYTHON}/site-packages", "bin/evenkeel", ""),  # its notes are lost
        (f"lib/{PYTHON}/site-packages", "scripts/of/evenkeel", "../../../scripts/of/evenkeel,,\n"),  # an installer of its own ways
        (".", "bin/evenkeel", "../../bin/evenkeel,,\n"),  # --target, whose notes are of another folder
        ("wheel", "wheel/.prefix/bin/evenkeel", "../../../bin/evenkeel,,\n"),  # PEX
    ],
)
def test_it_is_found_where_installers_put_it(tmp_path, binary, package, place, record):
    site, program = tmp_path / package, tmp_path / place
    site.mkdir(parents=True, exist_ok=True)
    installed(site, record)
    program.parent.mkdir(parents=True)
    shutil.copy(binary, program)
    found = asked(site)
    assert found.stdout.strip() == str(program), found.stderr
    said = asked(site, "-m", "evenkeel", "--version")
    assert said.stdout == f"evenkeel {ek.__version__}\n", said.stderr
    (site / "evenkeel" / "demo_probs.npz").unlink(missing_ok=True)
    demo = asked(site, "-c", "import evenkeel as ek; print(ek.datasets.demo())")
    assert demo.stdout.startswith("<evenkeel.datasets.Demo of 10 classes"), demo.stderr


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """An environment whose wheel is without the program; gives a folder of the path."""
    folder = tmp_path / "on path"
    folder.mkdir()
    monkeypatch.setattr(_program, "_of_the_wheel", lambda: iter(()))
    monkeypatch.setattr(_program, "_SITE", tmp_path / "a" / "b" / "c" / "site")
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda *_, **__: str(tmp_path / "scripts"))
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(folder)]))
    monkeypatch.chdir(tmp_path)
    return folder


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_another_program_of_the_name_is_not_run(alone, binary, monkeypatch, capfd):
    ran = alone / "ran"
    stranger = script(alone / "evenkeel", f'[ "$1" = --version ] && echo evenkeel 0.1.1 || touch "{ran}"')
    monkeypatch.setattr(sys, "argv", ["evenkeel", "check"])
    assert __main__.main() == 2
    said = capfd.readouterr().err
    assert said.startswith("error: the program `evenkeel` of this package was not found; ") and said.count("\n") == 1
    assert f"{stranger} is another program" in said and "'evenkeel 0.1.1'" in said and "install a wheel" in said
    with pytest.raises(ek.EvenkeelError, match="probabilities of the demo are in the program: .* is another program"):
        datasets._probabilities_of_program()
    assert not ran.exists()
    # Behind it stands ours.
    behind = alone.parent / "behind"
    behind.mkdir()
    shutil.copy(binary, behind / "evenkeel")
    monkeypatch.setenv("PATH", os.pathsep.join([str(alone), str(behind)]))
    assert _program.program() == str(behind / "evenkeel")


def test_the_current_folder_is_not_looked_into(alone, binary):
    shutil.copy(binary, alone.parent / "evenkeel")
    with pytest.raises(ek.EvenkeelError, match="was not found; wheels hold it"):
        _program.program()


@pytest.mark.parametrize("text", ["exit 1", "head -c 100000 /dev/zero", "kill -9 $$", "sleep 60"])
def test_strangers_of_any_manners_are_passed_over(alone, monkeypatch, text):
    monkeypatch.setattr(_program, "_SECONDS_TO_SAY_VERSION", 1)
    script(alone / "evenkeel", text)
    with pytest.raises(ek.EvenkeelError, match="is another program") as caught:
        _program.program()
    assert len(str(caught.value)) < 2000


def test_a_program_without_its_permission_is_told_how_to_get_it(alone, binary):
    file = alone / "evenkeel"
    shutil.copy(binary, file)
    file.chmod(0o644)
    with pytest.raises(ek.EvenkeelError, match="may not be run, .*allow it with `chmod [+]x ") as caught:
        datasets._probabilities_of_program()
    assert f"chmod +x '{file}'" in str(caught.value)
    file.chmod(0o755)
    assert _program.program() == str(file)


def test_a_program_that_writes_no_data_is_told(monkeypatch, tmp_path):
    for text, words in (("exit 0", "wrote no calibration_probs.npy, so it is another program"), ("echo no room >&2; exit 2", "exit code 2: no room")):
        monkeypatch.setattr(datasets, "program", lambda text=text: str(script(tmp_path / "evenkeel", text)))
        with pytest.raises(ek.EvenkeelError, match=words):
            datasets._probabilities_of_program()
    (tmp_path / "evenkeel").write_bytes(b"\x7fELF, but not really")
    monkeypatch.setattr(datasets, "program", lambda: str(tmp_path / "evenkeel"))
    with pytest.raises(ek.EvenkeelError, match="cannot be run"):
        datasets._probabilities_of_program()
