"""Tasks in OpenEvolve's layout for the tests, and the models that answer them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import support

EXAMPLES = Path(os.environ.get("KERNELSMITH_SOURCE", Path(__file__).resolve().parent.parent.parent)) / "examples" / "openevolve"

PROGRAM = """\
import math
# EVOLVE-BLOCK-START
def value():
    return 1
# EVOLVE-BLOCK-END
"""

EVALUATOR = """\
import runpy
from openevolve.evaluation_result import EvaluationResult

def evaluate(program_path):
    value = runpy.run_path(program_path)["value"]()
    print("value", value)
    return EvaluationResult({"combined_score": 1 - 1 / (1 + value), "size": value, "unit": "points"},
                            {"notes": "x" * 3000 + f"the value was {value}"})
"""

CONFIG = """\
max_iterations: 6
checkpoint_interval: 3
random_seed: 7
llm: {primary_model: scripted, api_key: none-needed, timeout: 20, retries: 0}
prompt: {max_artifact_bytes: 40}
database: {num_islands: 2, feature_dimensions: [complexity, diversity]}
evaluator: {timeout: 10, cascade_evaluation: false}
"""


def write(folder: Path, **texts: str) -> Path:
    """The task above, with other texts for `program`, `evaluator` or `config`."""
    folder.mkdir(exist_ok=True)
    for name, text in {"program": PROGRAM, "evaluator": EVALUATOR, "config": CONFIG, **texts}.items():
        (folder / (name + (".yaml" if name == "config" else ".py"))).write_text(text)
    return folder


def larger(asked: dict[str, Any], number: int) -> str:
    """An edit that returns ten times the request's number."""
    text = asked["messages"][-1]["content"]
    indent, now = re.findall(r"( +)return (\d+)", text)[-1]
    return f"<<<<<<< SEARCH\n{indent}return {now}\n=======\n{indent}return {number * 10}\n>>>>>>> REPLACE\n"


def command(*arguments: Any, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python -m kernelsmith openevolve ...`"""
    return support.command("openevolve", *arguments, cwd=cwd)


def arguments(folder: Path, out: Path, url: str, *more: Any) -> list[str]:
    return [str(one) for one in (folder / "program.py", folder / "evaluator.py", "-c", folder / "config.yaml", "-o", out,
                                 "--api-base", url, *more)]


def evolve(folder: Path, out: Path, url: str, *more: Any) -> subprocess.CompletedProcess[str]:
    return command(*arguments(folder, out, url, *more))


def begin(folder: Path, out: Path, url: str) -> subprocess.Popen[bytes]:
    """The same, and does not wait for it."""
    return subprocess.Popen([sys.executable, "-m", "kernelsmith", "openevolve", *arguments(folder, out, url)],
                            env=support.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + support.PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def programs(checkpoint: Path) -> dict[str, dict[str, Any]]:
    """The programs of a checkpoint, by id."""
    found = (json.loads(file.read_text()) for file in (checkpoint / "programs").glob("*.json"))
    return {one["id"]: one for one in found}


def read(file: Path) -> Any:
    return json.loads(file.read_text())
