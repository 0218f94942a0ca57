"""Whoever reads a command's output may go: `kernelsmith --help | head` is no error."""

import os
import subprocess
import sys
from pathlib import Path

import kernelsmith as ks
import pytest
import support

EXECUTABLE = Path(ks.__file__).parent / "bin" / "kernelsmith"
needs_executable = pytest.mark.skipif(not EXECUTABLE.exists(), reason="the executable is not in this build")


def into_closed_pipe(command, **streams):
    """Runs it with a standard output that nobody reads. Returns its status and its errors."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, **{"stderr": subprocess.PIPE, **streams}, env=support.environment(),
                              timeout=support.PATIENCE_S, check=False)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@needs_executable
@pytest.mark.parametrize("arguments", [["--help"], ["help"], ["--version"], ["run", "--help"]])
@pytest.mark.parametrize("command", [[sys.executable, "-m", "kernelsmith"], [EXECUTABLE]])
def test_the_executables_commands_end_quietly(command, arguments):
    assert into_closed_pipe([*command, *arguments]) == (0, b"")


@pytest.mark.parametrize("arguments", [["plot", "--help"], ["openevolve", "--help"],
                                       ["export", "--format", "trace", "--help"]])
def test_the_modules_commands_end_quietly(arguments):
    assert into_closed_pipe([sys.executable, "-m", "kernelsmith", *arguments]) == (0, b"")


def test_a_trace_that_nobody_reads_ends_quietly(tmp_path):
    ks.run(seed="0 0", evaluator=support.score, proposer=support.nudge, iterations=50, out=tmp_path / "a.run")
    command = [sys.executable, "-m", "kernelsmith", "export", tmp_path / "a.run", "--format", "trace"]
    assert into_closed_pipe(command) == (0, b"")


def test_the_status_tells_of_an_error_that_nobody_reads(tmp_path):
    command = [sys.executable, "-m", "kernelsmith", "plot", tmp_path / "nowhere", "-o", tmp_path / "a.svg"]
    assert into_closed_pipe(command, stderr=subprocess.STDOUT)[0] == 2
