"""The programs of examples/python, run as their docstrings say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import kernelsmith as ks
import pytest
import support
from scripted_model import scripted

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


# Measuring the best once more takes longer than all the rest.
UNCONFIRMED = """\
import functools, runpy, sys
import kernelsmith as ks
ks.run = functools.partial(ks.run, limits={"confirm": False})
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(name, *arguments, before=(), **env):
    done = subprocess.run([sys.executable, *before, str(EXAMPLES / "python" / name), *map(str, arguments)],
                          env={**support.environment(), **env}, capture_output=True, text=True,
                          timeout=support.PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hill(tmp_path):
    assert re.match(r"500 iterations, best 9\.\d+ at ", run("hill.py"))
    assert run("hill.py", tmp_path / "hill.run").startswith("500 iterations, best 9.")
    assert run("hill.py", tmp_path / "hill.run").startswith("1000 iterations, best 9.")


def test_own_client_without_a_server():
    out = run("own_client.py")
    assert "best 9." in out and "'iterations': 300" in out and "EVOLVE-BLOCK-START" in out


def test_own_client_asks_a_server():
    def reply(asked, number):
        if number == 3:
            return {"error": "busy", "status": 503}
        return f"<<<<<<< SEARCH\nx = 0.0\n=======\nx = 0.0{number}\n>>>>>>> REPLACE\n"

    with scripted(reply) as server:
        out = run("own_client.py", server.url + "/", "some-model", OPENAI_API_KEY="secret", no_proxy="127.0.0.1")
    assert "'given_back': 1" in out and "'iterations': 20" in out
    assert server.heads[0] == ("/v1/chat/completions", "Bearer secret") and server.asked[0]["model"] == "some-model"
    assert "x = 0.0" in server.prompts[0]


def test_kernel_tuner(tmp_path, sandboxed):
    try:
        out = run("kernel_tuner.py", EXAMPLES / "softmax_cpu", 1, tmp_path / "softmax.run", before=["-c", UNCONFIRMED])
    except AssertionError as failed:
        if "(unstable)" in str(failed):
            pytest.skip("the machine is too noisy to measure a kernel")
        raise
    assert re.search(r"^\d+\.\d+x the baseline, \d", out, re.MULTILINE) and "@tune" in out
    assert ks.Run.open(tmp_path / "softmax.run").best.accepted


def test_there_is_a_test_for_each_example():
    names = sorted(name for name in os.listdir(EXAMPLES / "python") if name.endswith(".py"))
    assert names == ["hill.py", "kernel_tuner.py", "own_client.py"]


def test_the_guides_first_search(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    guide = (EXAMPLES.parent / "docs" / "python.md").read_text()
    exec(re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1], {})
    assert capsys.readouterr().out.startswith("9.") and ks.Run.open("hill.run").counts["iterations"] == 500
