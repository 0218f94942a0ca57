"""Operators that a candidate defines for PyTorch: the plan has the operations of their GPU implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS

# Keys of PyTorch's dispatcher; the first with an implementation is used.
_KEYS = ("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "")
_implementations: dict[str, dict[str, Callable]] = {}


def reinterpreted(tensor: torch.Tensor, size: Any, stride: Any, offset: int = 0) -> torch.Tensor:
    """Inductor's reinterpret_tensor."""
    return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)


def install() -> None:
    """For the rest of this process, keeps the implementations that libraries register."""
    impl = torch.library.Library.impl

    def noted(library: Any, op: Any, function: Callable, dispatch_key: str = "", *args: Any, **kwargs: Any) -> Any:
        name = op._schema.name if isinstance(op, torch._ops.OpOverload) else str(op).partition(".")[0]
        name = name if "::" in name else f"{library.ns}::{name}"
        if library.ns != "aten":
            _implementations.setdefault(name, {})[dispatch_key] = function
        return impl(library, op, function, dispatch_key, *args, **kwargs)

    torch.library.Library.impl = noted
    _implementations["inductor::_reinterpret_tensor"] = {"CUDA": reinterpreted}
    torch.library.wrap_triton = lambda kernel: kernel


def implementation_of(operator: Any) -> Callable | None:
    """The GPU implementation of a candidate's operator; None for PyTorch's own and for anything else."""
    if isinstance(operator, torch._ops.OpOverload):
        name = operator._schema.name
    elif isinstance(operator, torch._ops.OpOverloadPacket):
        name = operator._qualified_op_name
    else:
        return None
    if (defined := OPDEFS.get(name)) is not None:
        kernels = defined._backend_fns
        return kernels.get("cuda") or kernels.get(None) or defined._init_fn
    known = _implementations.get(name, {})
    return next((known[key] for key in _KEYS if key in known), None)
