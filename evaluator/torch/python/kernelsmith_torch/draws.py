"""What a candidate's constructor draws. KernelBench seeds it as it seeds the reference's, so a plan's setup may draw, too.

Every draw takes numbers from a generator: all that come before a draw that is needed are kept, and draw into scratch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .recording import Step, Tape, name_of


def install(tape: Tape) -> None:
    """Records the seeds that a candidate sets; for the rest of this process."""
    torch.manual_seed = torch.random.manual_seed = _seeding(torch.manual_seed, tape, "all")
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = _seeding(lambda seed: None, tape, "cuda")


def _seeding(function: Callable[[int], Any], tape: Tape, which: str) -> Callable[[int], Any]:
    def seed(seed: int) -> Any:
        tape.seed(int(seed), which)
        return function(seed)

    return seed


def with_earlier(made: list[Step], setup: list[Step], tape: Tape) -> list[Step]:
    """Steps of `setup`: `made`, and what is drawn before the last draw among them."""
    kept = set(map(id, made))
    last = max((i for i, step in enumerate(setup) if step.draws and id(step) in kept), default=-1)
    found: list[Step] = []
    for i, step in enumerate(setup):
        if id(step) in kept:
            found.append(step)
        elif step.draws and i < last:
            found += [step] if "seed" in step.body else _into_scratch(step, tape)
    return found


def _into_scratch(step: Step, tape: Tape) -> list[Step]:
    """The draw, on other tensors of the same shapes, whose results are nobody's."""
    in_place = step.body["aten"].endswith("_")
    steps, args = [], []
    for index, v in enumerate(step.body["args"]):
        if isinstance(v, dict) and "t" in v:
            tensor = tape.tensors[v["t"]]
            v = {"t": ("scratch", id(step), index)}
            steps.append(_scratch(tensor, v, in_place, step.where))
        args.append(v)
    steps.append(Step({**step.body, "args": args, "out": None}, [], set(), [], step.where))
    return steps


def _scratch(tensor: torch.Tensor, out: Any, in_place: bool, where: str) -> Step:
    """What is drawn depends on the order of elements in memory; values that are read must be valid: zero is."""
    kwargs = {"dtype": {"dtype": name_of(tensor.dtype)}, "device": {"device": True}}
    name, args = ("empty_strided", [list(tensor.shape), list(tensor.stride())]) if in_place else (
        "zeros", [list(tensor.shape)])
    return Step({"aten": f"aten::{name}", "overload": "default", "args": args, "kwargs": kwargs, "out": out}, [], set(), [],
                where)
