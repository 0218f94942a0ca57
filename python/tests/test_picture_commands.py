"""`kernelsmith plot`, and that all else is the executable's."""

from __future__ import annotations

import xml.etree.ElementTree
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install matplotlib")

import drawn_runs
import matplotlib.image
from support import command

import kernelsmith as ks

PACKAGE = Path(ks.__file__).parent


@pytest.fixture(scope="module")
def hill(tmp_path_factory: pytest.TempPathFactory) -> ks.Run:
    return drawn_runs.hill(tmp_path_factory.mktemp("runs") / "hill.run")


def test_the_command_writes_svg_and_png(hill: ks.Run, tmp_path: Path) -> None:
    for name in ("a.svg", "a.PNG"):
        done = command("plot", hill.folder, "-o", tmp_path / name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert matplotlib.image.imread(tmp_path / "a.PNG", format="png").std() > 0.05


@pytest.mark.parametrize(("arguments", "status", "says"), [
    (["plot"], 2, "(invalid_argument)"),
    (["plot", "RUN"], 2, "-o"),
    (["plot", "RUN", "-o", "a.svg", "--frobnicate"], 2, "--frobnicate"),
    (["plot", "RUN", "-o", "a.pdf"], 2, "a.pdf: a picture is .svg or .png (invalid_argument)"),
    (["plot", "RUN", "-o", "nowhere/a.svg"], 2, "nowhere/a.svg: it cannot be written"),
    (["plot", "nowhere\n\x1b[2Jerror: ", "-o", "a.svg"], 2, "nowhere\\x0a\\x1b[2Jerror: : "),
])
def test_the_command_says_what_is_wrong_once(arguments: list[str], status: int, says: str, hill: ks.Run,
                                             tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = command(*(str(hill.folder) if one == "RUN" else one for one in arguments))
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (status, "")
    assert [line.split(": ")[0] for line in lines] == ["error", "hint"], done.stderr
    assert says in lines[0]
    assert not list(tmp_path.iterdir())


def test_the_command_explains_itself() -> None:
    done = command("plot", "--help")
    assert done.returncode == 0
    assert "usage: kernelsmith plot" in done.stdout


@pytest.mark.skipif(not (PACKAGE / "bin" / "kernelsmith").exists(), reason="the executable is not in this build")
def test_all_else_is_the_executables(hill: ks.Run, tmp_path: Path) -> None:
    done = command("show", hill.folder)
    assert done.returncode == 0
    assert "best      program" in done.stdout
    assert command("report", hill.folder, "-o", tmp_path / "a.html").returncode == 0
    assert (tmp_path / "a.html").read_bytes().startswith(b"<!DOCTYPE html>")
