"""Beside OpenEvolve itself: its examples unmodified, its checkpoints, its visualizer. None of its files is kept here.

KERNELSMITH_OPENEVOLVE_EXAMPLES names the folder examples/ of its repository (the visualizer lies beside it),
KERNELSMITH_OPENEVOLVE_PYTHON an interpreter with openevolve==0.4.1. Without them these tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="OpenEvolve's configurations need PyYAML: pip install PyYAML")

import openevolve_tasks as tasks
import support
from scripted_model import scripted

EXAMPLES = os.environ.get("KERNELSMITH_OPENEVOLVE_EXAMPLES", "")
PYTHON = os.environ.get("KERNELSMITH_OPENEVOLVE_PYTHON", "")
needs_examples = pytest.mark.skipif(not EXAMPLES, reason="KERNELSMITH_OPENEVOLVE_EXAMPLES names no folder")
needs_openevolve = pytest.mark.skipif(not PYTHON, reason="KERNELSMITH_OPENEVOLVE_PYTHON names no interpreter")

MATHS = "alphaevolve_math_problems/"
# Folder and configuration. They need NumPy and SciPy.
TEN = [("function_minimization", "config.yaml"), ("circle_packing", "config_phase_1.yaml"),
       ("circle_packing_with_artifacts", "config.yaml"), ("k_module_problem", "config.yaml"),
       ("signal_processing", "config.yaml"), ("background_blur", "config.yaml"),
       (MATHS + "circle_packing_rect", "config.yaml"), (MATHS + "heilbronn_triangle", "config.yaml"),
       (MATHS + "minimizing_max_min_dist/2", "config.yaml"), (MATHS + "hexagon_packing/11", "config.yaml")]


def first_line(program: Path) -> str:
    """The first line of the program's block."""
    lines = program.read_text().splitlines()
    at = next((at for at, line in enumerate(lines) if "EVOLVE-BLOCK-START" in line), -1)
    return next(line for line in lines[at + 1:] if line.strip())


@needs_examples
@pytest.mark.parametrize(("name", "config"), TEN)
def test_its_examples_run_as_they_are(name: str, config: str, tmp_path: Path) -> None:
    """The model adds an assignment that changes nothing: each program scores, and is a child of the first."""
    folder = Path(EXAMPLES) / name
    program = folder / "initial_program.py"
    line, text = first_line(program), program.read_text()
    indent = line[:len(line) - len(line.lstrip())]

    def reply(asked: dict[str, Any], number: int) -> str:
        changed = f"{indent}variant = {number}\n{line}"
        if "SEARCH" in asked["messages"][-1]["content"]:
            return f"<<<<<<< SEARCH\n{line}\n=======\n{changed}\n>>>>>>> REPLACE"
        return f"```python\n{text.replace(line, changed, 1)}\n```"

    with scripted(reply) as model:
        done = support.command("openevolve", program, folder / "evaluator.py", "-c", folder / config, "-o", tmp_path / "out",
                               "-i", "2", "--api-base", model.url, "--primary-model", "scripted", cwd=folder, timeout=1200)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    found = tasks.programs(next((tmp_path / "out" / "checkpoints").iterdir()))
    children = [one for one in found.values() if one["parent_id"] is not None]
    assert children and all("variant" in one["code"] for one in children)
    assert all(isinstance(value, (int, float)) for one in children for key, value in one["metrics"].items() if "score" in key)


def theirs(*arguments: Any, cwd: Path) -> None:
    done = subprocess.run([PYTHON, "-m", "openevolve.cli", *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@needs_openevolve
def test_its_checkpoint_is_gone_on_from_here_and_ours_there(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task", evaluator=tasks.EVALUATOR.replace('"unit": "points"', '"half": value / 2'))
    with scripted(tasks.larger) as model:
        theirs(folder / "program.py", folder / "evaluator.py", "-c", folder / "config.yaml", "-o", tmp_path / "theirs",
               "--api-base", model.url, "--primary-model", "scripted", "-i", 6, cwd=tmp_path)
        written = tmp_path / "theirs" / "checkpoints" / "checkpoint_6"
        best = tasks.read(written / "best_program_info.json")
        with scripted(lambda asked, number: "nothing useful") as mute:
            done = tasks.evolve(folder, tmp_path / "ours", mute.url, "-i", 2, "--checkpoint", written)
        assert done.returncode == 0, done.stderr
        ours = tmp_path / "ours" / "checkpoints" / "checkpoint_8"
        assert tasks.read(ours / "best_program_info.json")["id"] == best["id"]
        assert {one["code"] for one in tasks.programs(ours).values()} == {
            one["code"] for one in tasks.programs(written).values()}
        theirs(folder / "program.py", folder / "evaluator.py", "-c", folder / "config.yaml", "-o", tmp_path / "back",
               "--api-base", model.url, "--primary-model", "scripted", "-i", 1, "--checkpoint", ours, cwd=tmp_path)
    after = tasks.read(tmp_path / "back" / "best" / "best_program_info.json")
    assert after["metrics"]["combined_score"] >= best["metrics"]["combined_score"]


@needs_examples
@needs_openevolve
def test_its_visualizer_shows_our_programs(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    with scripted(tasks.larger) as model:
        assert tasks.evolve(folder, tmp_path / "out", model.url, "-i", 4).returncode == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    visualizer = Path(EXAMPLES).resolve().parent / "scripts" / "visualizer.py"
    # Its debug mode would start a second process that outlives the first.
    begin = ("import runpy, sys, flask; run = flask.Flask.run; "
             "flask.Flask.run = lambda app, **told: run(app, **{**told, 'debug': False}); "
             f"sys.argv = ['visualizer', '--path', {str(tmp_path / 'out')!r}, '--port', '{port}']; "
             f"sys.path.insert(0, {str(visualizer.parent)!r}); runpy.run_path({str(visualizer)!r}, run_name='__main__')")
    server = subprocess.Popen([PYTHON, "-c", begin], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        data = json.loads(fetched(f"http://127.0.0.1:{port}/api/data"))
        kept = tasks.programs(tmp_path / "out" / "checkpoints" / "checkpoint_4")
        assert {one["id"] for one in data["nodes"]} == set(kept) and data["edges"] and set(data["archive"]) <= set(kept)
        page = fetched(f"http://127.0.0.1:{port}/program/{data['nodes'][-1]['id']}")
        assert re.search(r"return \d+", page)
    finally:
        server.terminate()
        server.wait(30)


def fetched(url: str) -> str:
    deadline = time.monotonic() + support.PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
