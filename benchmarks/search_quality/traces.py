"""Reads recorded searches of language models: AdaExplore's trees and CodeEvolve's checkpoints.

Both become the same values: a Trace of a task, and in it one Row for each child, in order of arrival.
"""

import difflib
import json
import math
import pickle
from dataclasses import dataclass, field
from pathlib import Path

ADAEXPLORE = "StigLidu+AdaExplore/web/showcase"
CODEEVOLVE = "inter-co+science-codeevolve/benchmarks"


@dataclass
class Row:
    """A child. `score` is what is compared (higher is better), None if the child was rejected."""

    parent: int  # index into Trace.rows; -1 for the seed
    step: str  # "first" (from the seed), "large", "small"
    score: float | None
    size: int  # bytes of its text
    shown: tuple[int, ...] = ()  # indices of the other programs in its prompt


@dataclass
class Trace:
    task: str
    arm: str  # "search", or "no_evolve" if every child comes from the seed
    rows: list[Row] = field(default_factory=list)
    seed_score: float = -math.inf
    seed_size: int = 0


def adaexplore(data: Path) -> list[Trace]:
    """One tree for each task; the score is the logarithm of the speedup."""
    return [_tree(path) for path in sorted((data / ADAEXPLORE).glob("kb-*.json"))]


def _tree(path: Path) -> Trace:
    steps = json.loads(path.read_text())["steps"]
    index = {step["node_id"]: i - 1 for i, step in enumerate(steps)}  # the first is a root without a program
    trace = Trace(path.stem.removeprefix("kb-").removesuffix("-200"), "search")
    trace.seed_score = 0.0
    trace.seed_size = len(json.loads(path.read_text())["reference_src"])
    for step in steps[1:]:
        parent = index[step["parent_node_id"]]
        kind = "first" if parent < 0 else step["created_by"].removesuffix("_step")
        speedup = step["score"]["fast_p"] if step["score"]["correct"] else 0
        score = math.log(speedup) if speedup > 0 else None
        shown = (index[node] for node in step["context_node_ids"] if node != step["parent_node_id"])
        trace.rows.append(Row(parent, kind, score, len(step["code"]), tuple(i for i in shown if i >= 0)))
    return trace


def changed_shares(data: Path) -> dict[str, float]:
    """By step size: the share of a child's text that its parent does not hold, in characters of whole lines."""
    shares: dict[str, list[float]] = {"large": [], "small": []}
    for path in sorted((data / ADAEXPLORE).glob("kb-*.json")):
        steps = json.loads(path.read_text())["steps"]
        code = {step["node_id"]: step["code"] for step in steps}
        for step in steps[1:]:
            before, after = code[step["parent_node_id"]].splitlines(), step["code"].splitlines()
            if not before or not after:
                continue
            matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
            kept = sum(len(line) for b in matcher.get_matching_blocks() for line in after[b.b : b.b + b.size])
            shares[step["created_by"].removesuffix("_step")].append(1 - kept / max(1, sum(map(len, after))))
    return {kind: sum(values) / len(values) for kind, values in shares.items()}


class _Plain:
    """Stands for every class that a pickle names."""

    def __init__(self, *args):
        pass

    def __setstate__(self, state):
        if isinstance(state, dict):
            self.__dict__.update(state)


class _PlainUnpickler(pickle.Unpickler):
    """Builds containers, numbers, texts and _Plain, whatever the pickle asks for: nothing of it is imported or run."""

    def find_class(self, module, name):
        return type(name, (_Plain,), {})


def codeevolve(data: Path) -> list[Trace]:
    """One trace for each island that left a checkpoint; the score is the problem's fitness.

    Only problems with both arms: islands whose every child comes from the seed (no_evolve), and islands that evolve.
    """
    traces = []
    for path in sorted((data / CODEEVOLVE).glob("**/ckpt/ckpt_*.pkl")):
        island = path.parent.parent
        problem = island.parent.parent.parent.relative_to(data / CODEEVOLVE).as_posix().replace("/", "-")
        latest = max(path.parent.glob("ckpt_*.pkl"), key=lambda p: int(p.stem.split("_")[1]))
        if path == latest and (trace := _island(path, problem, island.parent.name)):
            traces.append(trace)
    arms: dict[str, set[str]] = {}
    for trace in traces:
        arms.setdefault(trace.task, set()).add(trace.arm)
    return [trace for trace in traces if len(arms[trace.task]) == 2]


def _island(path: Path, problem: str, setting: str) -> Trace | None:
    if path.read_bytes()[:7] == b"version":
        return None  # a pointer of Git LFS
    with path.open("rb") as file:
        programs = list(_PlainUnpickler(file).load()["sol_db"].programs.values())
    seed = next(p for p in programs if p.iteration_found == 0)
    own = sorted((p for p in programs if p is not seed), key=lambda p: p.iteration_found)
    index = {program.id: i for i, program in enumerate(own)} | {seed.id: -1}
    trace = Trace(problem, "no_evolve" if setting.endswith("no_evolve") else "search")
    trace.seed_score, trace.seed_size = float(seed.fitness), len(seed.code)
    for program in own:
        parent = index.get(program.parent_id, -1)
        if parent >= len(trace.rows):
            parent = -1
        score = float(program.fitness) if program.returncode == 0 and float(program.fitness) > 0 else None
        kind = "first" if parent < 0 else "large"
        shown = (index.get(i, -1) for i in program.inspiration_ids or ())
        trace.rows.append(Row(parent, kind, score, len(program.code), tuple(i for i in shown if 0 <= i < len(trace.rows))))
    return trace
