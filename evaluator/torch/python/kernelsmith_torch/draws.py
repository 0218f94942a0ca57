"""Random draws of a candidate. KernelBench seeds the candidate's constructor like the reference's, so a plan's setup
may draw. Before a call it also seeds both modules alike, so a call receives its random numbers as inputs
(forward_draws.py). Every draw advances a generator, so all draws before a needed one are kept; their results go
to scratch memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .recording import Choice, Step, Tape, name_of


def install(tape: Tape) -> None:
    """For the rest of this process, records the seeds that a candidate sets."""
    torch.manual_seed = torch.random.manual_seed = _seeding(torch.manual_seed, tape, "all")
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = _seeding(lambda seed: None, tape, "cuda")


def _seeding(function: Callable[[int], Any], tape: Tape, which: str) -> Callable[[int], Any]:
    def seed(seed: int) -> Any:
        tape.seed(int(seed), which)
        return function(seed)

    return seed


def with_earlier(made: list[Step], setup: list[Step], tape: Tape) -> list[Step]:
    """The steps `made`, and all draws of `setup` before the last draw in `made`."""
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
    """The same draw, on other tensors of the same shapes. Its results are not used."""
    return _drawn(step, tape, None)


def before_calls(kept: list[list[Step]], call: list[Step | Choice], tape: Tape) -> tuple[list[Step], list[list[Step]]]:
    """The draws before a call, and the calls, which receive them."""
    needed = {id(step) for steps in kept for step in steps if step.draws}
    steps = [step for step in call if isinstance(step, Step)]
    wanted = {id(step): step for step in steps if id(step) in needed}
    drawn: list[Step] = []
    for step in with_earlier(list(wanted.values()), steps, tape):
        drawn += _drawn(step, tape, _copied(step) if _is_in_place(step) else step.body["out"]) if id(step) in wanted else [step]
    return drawn, [[_given(step) if id(step) in wanted else step for step in steps
                    if id(step) not in wanted or _is_in_place(step)] for steps in kept]


def _given(step: Step) -> Step:
    """The replacement of a call's in-place draw."""
    body = {"aten": "aten::copy_", "overload": "default", "args": [step.body["args"][0], _copied(step)], "kwargs": {},
            "out": step.body["out"]}
    return Step(body, step.reads, step.writes, step.results, step.where)


def _copied(step: Step) -> dict[str, Any]:
    return {"t": ("drawn", id(step))}


def _is_in_place(step: Step) -> bool:
    return step.body["aten"].endswith("_")


def _drawn(step: Step, tape: Tape, out: Any) -> list[Step]:
    """The draw, on other tensors of the same shapes, into `out`."""
    in_place = _is_in_place(step)
    steps, args = [], []
    for index, v in enumerate(step.body["args"]):
        if isinstance(v, dict) and "t" in v:
            tensor = tape.tensors[v["t"]]
            v = out if in_place and out else {"t": ("scratch", id(step), index)}
            steps.append(_scratch(tensor, v, in_place or out is not None, step.where))
        args.append(v)
    steps.append(Step({**step.body, "args": args, "out": out}, [], set(), [], step.where))
    return steps


def _scratch(tensor: torch.Tensor, out: Any, unread: bool, where: str) -> Step:
    """Makes the tensor that a draw writes or reads. Draws depend on the order of elements in memory. Values that are
    read must be valid, as zeros are."""
    kwargs = {"dtype": {"dtype": name_of(tensor.dtype)}, "device": {"device": True}}
    name, args = ("empty_strided", [list(tensor.shape), list(tensor.stride())]) if unread else (
        "zeros", [list(tensor.shape)])
    return Step({"aten": f"aten::{name}", "overload": "default", "args": args, "kwargs": kwargs, "out": out}, [], set(), [],
                where)
