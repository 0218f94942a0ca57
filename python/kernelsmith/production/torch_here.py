"""Imports PyTorch, which the commands of this folder need in the Python that runs them."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._errors import Error


def torch_here() -> Any:
    """The module torch. Raises Error if it is not installed."""
    try:
        import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as missing:
        raise Error(f"PyTorch cannot be imported: {missing}", "not_found", "torch",
                    "pip install torch, or run python -m kernelsmith in a Python that has it") from None
    return torch


def executed(text: str, path: Path, name: str) -> types.ModuleType:
    """Runs a user's Python file as a module. Raises Error if the file raises an exception."""
    module = types.ModuleType(name)
    module.__file__ = str(path)
    with their_errors(path):
        exec(compile(text, str(path), "exec"), module.__dict__)
    return module


@contextlib.contextmanager
def their_errors(path: Path) -> Iterator[None]:
    """Converts exceptions of the user's file to an Error."""
    try:
        yield
    except Error:
        raise
    except Exception as raised:
        raise Error(f"the file raised {type(raised).__name__}: {raised}", "bad_input", str(path)) from raised


def require_values(model: Any, inputs: Any, where: Path) -> None:
    """Raises Error for tensors without values."""
    torch = torch_here()
    held = [*model.named_parameters(), *model.named_buffers()]
    held += [("an input", leaf) for leaf in torch.utils._pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    empty = [name for name, value in held if value.is_meta]
    if empty:
        raise Error(f"tensors are on the device meta, so they have no values: {', '.join(empty[:3])}", "bad_input", str(where),
                    "make the model and its inputs on the CPU: leave torch.device('meta') out, or load weights into it")
