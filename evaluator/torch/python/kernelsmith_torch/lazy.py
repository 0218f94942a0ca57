"""Modules of torch.nn.Lazy* in the planner: parameters get their shapes in the first call, but still belong to the
setup."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from .recording import Step, Tape


def install(tape: Tape) -> None:
    """For the rest of this process, makes parameters without a shape fakes, and their initialisation a part
    of the constructor."""
    infer = LazyModuleMixin._infer_parameters
    drawn: list[Step] = []

    def inferred(self: Any, *args: Any) -> None:
        with tape.into(tape.setup):
            before = [step for step in tape.call if isinstance(step, Step) and step.draws]
            tape.setup += before[len(drawn):]  # the first call draws these before the parameters
            drawn[:] = before
            infer(self, *args)

    LazyModuleMixin._infer_parameters = inferred
    UninitializedParameter.__new__ = _maker(UninitializedParameter, True, "_is_param")
    UninitializedBuffer.__new__ = _maker(UninitializedBuffer, False, "_is_buffer")


def _maker(kind: type, grows: bool, mark: str) -> Any:
    class Fake(kind, FakeTensor):  # type: ignore[misc,valid-type]
        cls_to_become = FakeTensor
        # Both override those of `kind`, which refuse what recording needs: the shape and the memory.
        shape = torch.Tensor.shape
        __torch_function__ = torch._C._disabled_torch_function_impl

    def make(cls: type, requires_grad: bool = grows, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        made = torch.empty(0, device=device, dtype=dtype).requires_grad_(requires_grad)
        made.persistent = persistent
        setattr(made, mark, True)
        made.__class__ = Fake
        return made

    return make
