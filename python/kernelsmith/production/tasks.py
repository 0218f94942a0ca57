"""Writes hot spots as tasks, and checks that each task equals its module on recorded arguments."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._files import write
from .constants import with_constants
from .graph import exported, takes_tf32
from .hotspots import HotSpot
from .runtime.lies import lies_of
from .models import Loaded
from .plannable import objection
from .recorded import Call, recorded, tensors
from .task_text import reference_of
from .torch_here import executed, their_errors, torch_here


@dataclass(frozen=True)
class Task:
    """`folder` is None if no task could be made, and `why_not` says why."""

    name: str
    spot: HotSpot
    folder: Path | None
    why_not: str = ""


@dataclass(frozen=True)
class _Drafted:
    """A task's files, not yet planned."""

    name: str
    spot: HotSpot
    reference: str
    about: str
    precision: str


def write_tasks(loaded: Loaded, spots: list[HotSpot], out: Path) -> list[Task]:
    """Makes a folder for each hot spot. A hot spot that cannot be a task is returned with the reason."""
    calls = recorded(loaded, {_module(spot.paths[0]) for spot in spots})
    drafted: list[_Drafted | Task] = []
    for spot in spots:
        name = _name(spot, {each.name for each in drafted})
        try:
            drafted.append(_drafted(loaded, spot, calls[_module(spot.paths[0])], out / name, name))
        except Error as refused:
            drafted.append(Task(name, spot, None, refused.message))
    with ThreadPoolExecutor() as pool:  # each planner is another process, which takes seconds to start
        return list(pool.map(lambda each: each if isinstance(each, Task) else _written(each, out / each.name), drafted))


def _drafted(loaded: Loaded, spot: HotSpot, calls: list[Call], folder: Path, name: str) -> _Drafted:
    path, _, number = spot.paths[0].partition("@")
    call = calls[int(number or 0)]
    module, inputs = loaded.model.get_submodule(path), tensors((call.args, call.kwargs))
    title = f"{spot.kind} of {loaded.name}, met {spot.calls} {'time' if spot.calls == 1 else 'times'} a step."
    where = f"Where: {', '.join(spot.paths[:8])}{', ...' if spot.calls > 8 else ''}."
    program = _program(module, call, path)
    text, constants = with_constants(module, call, lambda: reference_of(_program(module, call, path), inputs, title, where))
    check(text, program, inputs, call, folder / "reference.py")
    about = f"{title} Constants: {constants}." if constants else title
    return _Drafted(name, spot, text, about, _precision(inputs, "tf32" if takes_tf32(program) else "fp32"))


def _program(module: Any, call: Call, path: str) -> Any:
    return exported(module, call.args, call.kwargs, path).run_decompositions({})


def _written(drafted: _Drafted, folder: Path) -> Task:
    refused = objection(drafted.reference, _core.problem_yaml(drafted.name, drafted.precision, "any"))
    if refused:
        return Task(drafted.name, drafted.spot, None, f"it cannot be planned: {refused}")
    folder.mkdir(parents=True)
    write(folder / "reference.py", drafted.reference.encode())
    yaml = _core.problem_yaml(drafted.name, drafted.precision) + f"description: {json.dumps(drafted.about)}\n"
    write(folder / "task.yaml", yaml.encode())
    return Task(drafted.name, drafted.spot, folder)


def check(text: str, program: Any, inputs: list[Any], call: Call, where: Path) -> None:
    """Raises Error unless the reference reproduces the module's outputs and draws inputs laid out like the recorded
    ones."""
    torch = torch_here()
    made = executed(text, where, "reference")
    with torch.no_grad(), torch.random.fork_rng(devices=[]), their_errors(where):
        model = made.Model(*made.get_init_inputs()).eval()
        values = {**program.state_dict, **program.constants}
        model.load_state_dict({name: values[name] for name in model.state_dict()})
        model.to(inputs[0].device)
        given, wanted = tensors(model(*inputs)), tensors(call.output)
        drawn = made.get_inputs()
    if len(given) != len(wanted) or not all(map(_equal, given, wanted)):
        raise Error("the task does not equal its module on the module's recorded inputs", "internal", str(where))
    if lies_of(drawn) != lies_of(inputs):
        raise Error("the task's inputs are not laid out like the recorded ones", "internal", str(where))


def _equal(given: Any, wanted: Any) -> bool:
    torch = torch_here()
    if given.shape != wanted.shape or given.dtype != wanted.dtype:
        return False
    few_bits = 4 * torch.finfo(given.dtype).eps if given.is_floating_point() else 0
    return bool(torch.allclose(given.double(), wanted.double(), rtol=few_bits, atol=few_bits * float(wanted.abs().max()),
                               equal_nan=True))


def _precision(inputs: list[Any], usual: str) -> str:
    precisions = {"torch.bfloat16": "bf16", "torch.float16": "fp16"}
    return next((precisions[str(each.dtype)] for each in inputs if str(each.dtype) in precisions), usual)


def _module(path: str) -> str:
    return path.partition("@")[0]


def _name(spot: HotSpot, taken: set[str]) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", spot.kind).lower()
    return next(each for each in (name, *(f"{name}_{at}" for at in range(2, 1000))) if each not in taken)
