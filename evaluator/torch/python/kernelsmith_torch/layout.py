"""How outputs lie in memory. The reference's layout is part of the contract: what else a candidate returns is written out
within its call, so that nobody gets a copy for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Layout:
    """How one output of the reference lies. `fresh`: it shares no memory with inputs, parameters or earlier outputs."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    fresh: bool

    @staticmethod
    def read(told: dict[str, Any]) -> Layout:
        """What the judge says of an output."""
        return Layout(tuple(told["shape"]), tuple(told["stride"]), bool(told["fresh"]))


def layouts_of(outputs: Sequence[torch.Tensor], others: Iterable[torch.Tensor]) -> list[Layout]:
    """The layouts of the reference's outputs; `others` are its inputs and parameters."""
    taken, found = set(map(_memory_of, others)), []
    for output in outputs:
        found.append(Layout(tuple(output.shape), output.stride(), _memory_of(output) not in taken))
        taken.add(_memory_of(output))
    return found


def in_layout(output: torch.Tensor, layout: Layout, taken: set[int]) -> torch.Tensor:
    """The output, or a copy of it if it does not lie as the reference's does. `taken`: memory of inputs, parameters and the
    outputs before it. An output of another shape is left for the judge to refuse."""
    if tuple(output.shape) != layout.shape or not output.numel():
        return output
    dense = _is_dense(layout)
    alike = _alike(output.stride(), layout.stride, layout.shape)
    if (alike or not dense and output.is_contiguous()) and not (layout.fresh and _memory_of(output) in taken):
        return output
    copy = torch.empty_strided(layout.shape, layout.stride, dtype=output.dtype, device=output.device) if dense else \
        torch.empty_like(output, memory_format=torch.contiguous_format)
    return copy.copy_(output)


def _memory_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _alike(one: Sequence[int], other: Sequence[int], shape: Sequence[int]) -> bool:
    """Strides of dimensions with one element mean nothing."""
    return all(a == b or n == 1 for a, b, n in zip(one, other, shape))


def _is_dense(layout: Layout) -> bool:
    """Whether each element has a place of its own, with none between them."""
    due = 1
    for stride, n in sorted((stride, n) for stride, n in zip(layout.stride, layout.shape) if n != 1):
        if stride != due:
            return False
        due *= n
    return True
