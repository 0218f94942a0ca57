"""`kernelsmith publish --as flashinfer-bench | sol-execbench | gpu-mode`: a winner as the arena's own submission, which is
the winner's file with an entry point below it (docs/arenas.md)."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import Error
from .._files import text_of, write
from .torch_here import executed, their_errors, torch_here
from .winners import Winner, winners

if TYPE_CHECKING:
    from .publish import Request

ARENAS = {"flashinfer-bench": "FlashInfer-Bench", "sol-execbench": "SOL-ExecBench", "gpu-mode": "GPU MODE"}

_QUOTED = r'"(?:[^"\\]|\\.)*"'  # a text as `init` writes it, which JSON can read, too

_RUN = '''

# The entry point for {arena}: kernelsmith's ModelNew as a function.
import torch

_kernelsmith_model = None


def {entry}({arguments}):
    global _kernelsmith_model
    if _kernelsmith_model is None:
        device = next(one.device for one in [{arguments}] if isinstance(one, torch.Tensor))
        _kernelsmith_model = ModelNew().eval().to(device)
    with torch.no_grad():
        made = _kernelsmith_model({arguments})
    return made if isinstance(made, torch.Tensor) else tuple(made.values() if isinstance(made, dict) else made)
'''

_CUSTOM_KERNEL = '''

# The entry point for GPU MODE: kernelsmith's ModelNew as a function. ModelNew gets shape and dtype of a buffer for an output.
import torch
from torch.utils import _pytree

_kernelsmith_model = None


def custom_kernel(data):
    global _kernelsmith_model
    if _kernelsmith_model is None:
        device = next(one.device for one in _pytree.tree_leaves(data) if isinstance(one, torch.Tensor))
        _kernelsmith_model = ModelNew().eval().to(device)
    if isinstance(data, tuple):
        data = tuple({{"empty": tuple(one.shape), "dtype": str(one.dtype).removeprefix("torch.")}} if i in {buffers} else one
                     for i, one in enumerate(data))
    with torch.no_grad():
        return _kernelsmith_model(data)
'''


def submit(request: Request) -> tuple[Path, Winner, list[str]]:
    """Writes solution.json or submission.py into the folder `request.out`. Returns the file, the winner, and notes.
    Raises Error."""
    if len(request.runs) != 1:
        raise Error("a submission is made from one run", "invalid_argument", "RUNS")
    [winner] = winners(request.runs, force=request.force)
    found = re.match(r"The (?:definition|problem) (\S+) of (FlashInfer-Bench|SOL-ExecBench|GPU MODE)\.", winner.description)
    arena = ARENAS[request.kind]
    if not found or found.group(2) != arena:
        raise Error(f"the run's task is no problem of {arena}", "bad_input", str(winner.folder),
                    f"kernelsmith init --{request.kind} makes such tasks, and their description names the problem")
    notes = []
    if request.kind == "gpu-mode":
        file, text = "submission.py", f"{winner.text.rstrip()}\n" + _custom_kernel(winner)
    else:
        file = "solution.json"
        text = json.dumps(_solution(request, winner, found.group(1)), indent=2) + "\n"
        if request.kind == "sol-execbench" and "load_inline" in winner.text:
            notes.append("SOL-ExecBench does not let a solution in Python build an extension (load_inline)")
    try:
        request.out.mkdir(parents=True, exist_ok=True)
    except OSError as failed:
        raise Error(f"the folder cannot be made: {failed.strerror}", "invalid_argument", str(request.out)) from None
    write(request.out / file, text.encode("utf-8", "surrogateescape"))
    return request.out / file, winner, notes


def _solution(request: Request, winner: Winner, definition: str) -> dict[str, Any]:
    defined = _names_in(winner.text)
    entry = "run" if "run" not in defined else "kernelsmith_run"
    is_triton, is_sol = "triton" in defined, request.kind == "sol-execbench"
    arguments = _arguments_of(winner.reference)
    text = f"{winner.text.rstrip()}\n" + _RUN.format(arena=ARENAS[request.kind], entry=entry, arguments=", ".join(arguments))
    spec: dict[str, Any] = {"languages": ["triton" if is_triton else "pytorch"]} if is_sol else \
        {"language": "triton" if is_triton else "python"}
    hardware = ("B200" if "B200" in winner.hardware else "LOCAL") if is_sol else winner.hardware
    return {"name": request.name or f"{definition}_kernelsmith_{winner.run[:8]}_{winner.program}", "definition": definition,
            "author": "kernelsmith", "spec": {**spec, "target_hardware": [hardware], "entry_point": f"main.py::{entry}",
                                              "dependencies": [], "destination_passing_style": False},
            "sources": [{"path": "main.py", "content": text}],
            "description": f"{winner.speedup['median']:.2f}x over the reference on {winner.hardware}, measured by kernelsmith"}


def _custom_kernel(winner: Winner) -> str:
    if "custom_kernel" in _names_in(winner.text):
        raise Error("the winner defines a custom_kernel of its own", "bad_input", str(winner.folder),
                    "rename it in the winner's file, and append custom_kernel(data) by hand")
    return _CUSTOM_KERNEL.format(buffers=_buffers_of(winner))


def _names_in(text: str) -> set[str]:
    """The names that the module's statements define or import, without those in functions."""
    names: set[str] = set()
    for node in ast.parse(text).body:
        for one in ast.walk(node) if not isinstance(node, ast.FunctionDef | ast.ClassDef) else (node,):
            if isinstance(one, ast.Import | ast.ImportFrom):
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
            elif isinstance(one, ast.Name):
                names.add(one.id)
            elif isinstance(one, ast.FunctionDef | ast.ClassDef):
                names.add(one.name)
    return names


def _arguments_of(reference: str) -> list[str]:
    """The arguments of the reference's Model, which are the definition's inputs."""
    for node in ast.parse(reference).body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == "forward":
                    return [one.arg for one in each.args.args[1:]]
    raise Error("the reference has no Model with a forward()", "bad_input", "reference.py")


def _buffers_of(winner: Winner) -> list[int]:
    """The places in `data` at which the task has shape and dtype of a buffer. The reference runs without values."""
    torch = torch_here()
    fakes = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode()
    task = text_of(winner.folder / "task" / "task.yaml")
    found = re.search(rf"\barguments: \{{((?:{_QUOTED}|[^\"}}])*)\}}", task)
    path = winner.folder / "task" / "reference.py"
    reference = executed(winner.reference, path, "reference")
    arguments = {name: json.loads(value) for name, value in
                 re.findall(rf"(\w+): ({_QUOTED}|[^,]+)", found.group(1) if found else "")}
    with their_errors(path), fakes, torch.no_grad():
        [data] = reference.get_inputs(**arguments)
    return [i for i, one in enumerate(data) if isinstance(one, dict) and "empty" in one] if isinstance(data, tuple) else []
