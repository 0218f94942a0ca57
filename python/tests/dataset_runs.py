"""Runs and steps that the tests of data sets are made on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import kernelsmith as ks
from kernelsmith.learning.dataset import Settings, export
from kernelsmith.learning.dataset.difficulty import difficulty
from kernelsmith.learning.dataset.figures import Figure
from kernelsmith.learning.dataset.steps import RunSteps, Step, Texts, Verdict
from kernelsmith.learning.dataset.tasks import TaskFacts
from scripted_model import scripted

MIT = {"": "MIT"}
RELU = """\
# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(16)]


def get_init_inputs():
    return []
"""


def task_facts(name: str = "relu", reference: str = RELU, licence: str = "MIT", backend: str = "torch") -> TaskFacts:
    return TaskFacts(name, f"key of {name}", backend, reference, "Model", licence, difficulty(reference, name))


def figure(median: float, noise: float = 0.02) -> Figure:
    return Figure(median, median * (1 - noise), median * (1 + noise))


def accepted(speed: float, noise: float = 0.02, **more: object) -> Verdict:
    settings = {"score": figure(speed, noise), "score_of": "yardstick", "speedup": figure(speed, noise),
                "hardware": "CPU", **more}
    return Verdict(True, **settings)


REJECTED = Verdict(False, "run: crashed", hardware="CPU")
TEXTS = Texts(system="system", user="user", cut=False, readable=True, model="m", finish_reason=None)


def run_of(*programs: tuple[int | None, Verdict], id: str = "a", task: TaskFacts | None = None) -> RunSteps:
    """A run whose program N, from 1, was made by ticket N: (parent or None, verdict). 0 is a seed with a speed of 1."""
    run = RunSteps(id, f"{id}.run", task or task_facts(), "0.1.0", 0)
    run.verdicts[0], run.parents[0], run.origins[0], run.codes[0] = accepted(1), (), "seed", "seed"
    for number, (parent, verdict) in enumerate(programs, start=1):
        shown = () if parent is None else (parent,)
        run.verdicts[number], run.parents[number] = verdict, shown
        run.origins[number], run.codes[number] = "rewrite", f"{id} {number}"
        run.steps.append(Step(run, number, "rewrite", "m", parent, shown, "evaluated", TEXTS))
    return run


def searched(folder: Path, iterations: int = 40, *, name: str = "x", hardware: str = "CPU", text: bool = True,
             padding: int = 0, equal_binaries: bool = False) -> Path:
    """A real run: a scripted model that mostly gets faster, sometimes not by much, fails, or does not answer with code. A
    program has so many lines of padding. Programs of one speed may have one binary."""

    def reply(asked: dict, number: int) -> str:
        if number % 9 == 0:
            return "I would use shared memory."
        speed = -1 if number % 7 == 0 else 1 + number // 2 * 0.1
        words = "base64:" if number % 4 == 0 else ""  # which the journal has to encode
        more = "".join(f"# line {at} of {number}, which says nothing that matters here\n" for at in range(padding))
        return f"{words}Ü: fewer passes.\n```\nspeed = {speed}\n# {name}, kernel {number}\n{more}```\n"

    def score(source: ks.Source) -> ks.Evaluation:
        speed = float(source.text.split()[2])
        if speed < 0:
            raise ValueError("negative")
        digest = hashlib.sha256((str(speed) if equal_binaries else source.text).encode()).hexdigest()
        made = {"median": speed, "low": speed * 0.98, "high": speed * 1.02, "samples": 20, "unit": "x"}
        report = {"shapes": [], "speedup": made, "over_yardstick": made, "tier": "full", "hardware": hardware,
                  "toolchain": "g++", "binary": digest, "spent_ms": {}, "artifacts": []}
        return ks.Evaluation.accept(ks.Measurement(speed, speed * 0.98, speed * 1.02, 20, "x"), {"own_share": 0.9},
                                    json.dumps(report))

    with scripted(reply) as script:
        proposer = ks.Chat("m", base_url=script.url, keep={"text": text})
        ks.run(seed=f"speed = 1.0\n# {name}\n", evaluator=score, proposer=proposer, iterations=iterations, out=folder,
               workers=1, deterministic=True)
    return folder


def lines(runs: list[Path], out: Path, kind: str, **options: object) -> list[dict]:
    """The rows of an export in JSON lines."""
    made = export(runs, out, Settings(kind=kind, format="jsonl", **{"licences": MIT, **options}))
    return [json.loads(line) for name in made.files for line in (out / name).read_text().splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
