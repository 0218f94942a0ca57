"""Reads AdaExplore's recorded trees: a Trace for each task, and in it one Row for each child, in order of arrival."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

ADAEXPLORE = "StigLidu+AdaExplore/web/showcase"


@dataclass
class Row:
    """A child. `score` is the logarithm of its speedup, None if the child was rejected."""

    parent: int  # index into Trace.rows; -1 for the seed
    step: str  # "first" (from the seed), "large", "small"
    score: float | None
    size: int  # bytes of its text
    shown: tuple[int, ...] = ()  # indices of the other programs in its prompt


@dataclass
class Trace:
    task: str
    rows: list[Row] = field(default_factory=list)
    seed_score: float = 0.0
    seed_size: int = 0


def adaexplore(data: Path) -> list[Trace]:
    return [_tree(path) for path in sorted((data / ADAEXPLORE).glob("kb-*.json"))]


def _tree(path: Path) -> Trace:
    document = json.loads(path.read_text())
    steps = document["steps"]
    index = {step["node_id"]: i - 1 for i, step in enumerate(steps)}  # the first is a root without a program
    trace = Trace(path.stem.removeprefix("kb-").removesuffix("-200"), seed_size=len(document["reference_src"]))
    for step in steps[1:]:
        parent = index[step["parent_node_id"]]
        kind = "first" if parent < 0 else step["created_by"].removesuffix("_step")
        speedup = step["score"]["fast_p"] if step["score"]["correct"] else 0
        score = math.log(speedup) if speedup > 0 else None
        shown = (index[node] for node in step["context_node_ids"] if node != step["parent_node_id"])
        trace.rows.append(Row(parent, kind, score, len(step["code"]), tuple(i for i in shown if i >= 0)))
    return trace
