"""Layouts of tensors in memory. For inputs and parameters one value, an Arrangement, is used to plan, run, time and
check. For outputs the reference's layout is part of the contract: an output with another layout is copied within
the candidate's call, so that the copy is not free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Lie:
    """The place of one tensor in storage number `storage`; strides and offset are in elements."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    storage: int

    def bytes(self) -> int:
        """The bytes from the beginning of the storage to the end of the last element."""
        if 0 in self.shape:
            return 0
        return (self.offset + sum((n - 1) * step for n, step in zip(self.shape, self.stride)) + 1) * self.dtype.itemsize

    def words(self) -> str:
        return f"strides {list(self.stride)} from element {self.offset} of storage {self.storage}"

    def matters(self) -> tuple[Any, ...]:
        """All that matters in the layout: without the strides of dimensions with one element."""
        moves = [0 if n == 1 or 0 in self.shape else step for n, step in zip(self.shape, self.stride)]
        return self.dtype, self.shape, tuple(moves), self.offset, self.storage


@dataclass(frozen=True)
class Arrangement:
    """The places of tensors, and which of them share a storage."""

    lies: tuple[Lie, ...]

    @staticmethod
    def of(tensors: Iterable[torch.Tensor]) -> Arrangement:
        numbers: dict[int, int] = {}
        return Arrangement(tuple(
            Lie(t.dtype, tuple(t.shape), tuple(t.stride()), t.storage_offset() if t.numel() else 0,
                numbers.setdefault(t.untyped_storage()._cdata, len(numbers))) for t in tensors))

    def sizes(self) -> list[int]:
        """The needed bytes of each storage."""
        sizes = [0] * (1 + max((lie.storage for lie in self.lies), default=-1))
        for lie in self.lies:
            sizes[lie.storage] = max(sizes[lie.storage], lie.bytes())
        return sizes

    def over(self, storages: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The tensors in given storages of bytes."""
        return [_typed(storages[lie.storage], lie.dtype).as_strided(lie.shape, lie.stride, lie.offset) for lie in self.lies]

    def is_like(self, other: Arrangement) -> bool:
        """Whether both arrangements place every element alike."""
        return [lie.matters() for lie in self.lies] == [lie.matters() for lie in other.lies]

    def told(self) -> list[dict[str, Any]]:
        """The arrangement as a plan writes it."""
        return [{"dtype": str(lie.dtype).removeprefix("torch."), "shape": list(lie.shape), "stride": list(lie.stride),
                 "offset": lie.offset, "storage": lie.storage} for lie in self.lies]


def write(target: torch.Tensor, source: torch.Tensor) -> None:
    """Copies elements and leaves the memory between them unchanged. Elements of an expanded dimension are the same
    memory and are written once."""
    shared = [step == 0 and n > 1 for n, step in zip(target.shape, target.stride())]
    _first_of(target, shared).copy_(_first_of(source, shared))


def change(tensors: list[Any], function: Callable[[torch.Tensor], torch.Tensor], chosen: Sequence[bool] | None = None) -> None:
    """Replaces tensors, or the chosen ones, by others with the same layout, in storages that `function` makes from the flat
    old ones. Frees each old storage before making the next one. A storage used with several dtypes is kept."""
    places: dict[int, list[int]] = {}
    for index, tensor in enumerate(tensors):
        if isinstance(tensor, torch.Tensor) and (chosen is None or chosen[index]):
            places.setdefault(tensor.untyped_storage()._cdata, []).append(index)
    tensor = None  # otherwise the last tensor's storage would be kept
    for indices in places.values():
        lies = Arrangement.of(tensors[i] for i in indices).lies
        if len({lie.dtype for lie in lies}) > 1:
            continue
        whole = tensors[indices[0]].as_strided((max(lie.bytes() for lie in lies) // lies[0].dtype.itemsize,), (1,), 0)
        for i in indices:
            tensors[i] = None
        whole = function(whole)
        for i, lie in zip(indices, lies):
            tensors[i] = whole.as_strided(lie.shape, lie.stride, lie.offset)


def distinct_bytes(tensors: Sequence[torch.Tensor]) -> int:
    """Bytes that a call must read to read all the tensors; elements shared by several indices or tensors
    count once."""
    groups: dict[int, list[torch.Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(tensor.untyped_storage()._cdata, []).append(tensor)
    return sum(max(map(_distinct_bytes, group)) if len({t.dtype for t in group}) > 1 else _distinct_bytes(*group)
               for group in groups.values())


def _distinct_bytes(*group: torch.Tensor) -> int:
    lies = Arrangement.of(group).lies
    if len(group) == 1 and is_dense(group[0].shape, group[0].stride()):
        return group[0].nbytes
    taken = torch.zeros(max(lie.bytes() for lie in lies) // lies[0].dtype.itemsize, dtype=torch.bool, device=group[0].device)
    for lie in lies:
        write(taken.as_strided(lie.shape, lie.stride, lie.offset), taken.new_ones(1).expand(lie.shape))
    return int(taken.sum()) * lies[0].dtype.itemsize


def is_alone(tensor: torch.Tensor) -> bool:
    """Whether the tensor is dense and fills its storage."""
    return is_dense(tensor.shape, tensor.stride()) and tensor.untyped_storage().nbytes() == tensor.nbytes


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """All bytes of the tensor's storage."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def brought(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the layout that PyTorch's `.to` gives a copy on a GPU: dense, in a storage of its own."""
    return tensor if is_alone(tensor) else tensor.clone()


@dataclass(frozen=True)
class Layout:
    """The layout of one output of the reference. `fresh`: it shares no memory with inputs, parameters or earlier
    outputs."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    fresh: bool

    @staticmethod
    def read(told: dict[str, Any]) -> Layout:
        """The judge's description of an output."""
        return Layout(tuple(told["shape"]), tuple(told["stride"]), bool(told["fresh"]))


def layouts_of(outputs: Sequence[torch.Tensor], others: Iterable[torch.Tensor]) -> list[Layout]:
    """The layouts of the reference's outputs; `others` are its inputs and parameters."""
    taken, found = set(map(_memory_of, others)), []
    for output in outputs:
        found.append(Layout(tuple(output.shape), output.stride(), _memory_of(output) not in taken))
        taken.add(_memory_of(output))
    return found


def in_layout(output: torch.Tensor, layout: Layout, taken: set[int]) -> torch.Tensor:
    """The output, or a copy if its layout differs from the reference's. `taken` is the memory of inputs, parameters
    and earlier outputs. An output with another shape is left for the judge to refuse."""
    if tuple(output.shape) != layout.shape or not output.numel():
        return output
    dense = is_dense(layout.shape, layout.stride)
    alike = _alike(output.stride(), layout.stride, layout.shape)
    if (alike or not dense and output.is_contiguous()) and not (layout.fresh and _memory_of(output) in taken):
        return output
    copy = torch.empty_strided(layout.shape, layout.stride, dtype=output.dtype, device=output.device) if dense else \
        torch.empty_like(output, memory_format=torch.contiguous_format)
    return copy.copy_(output)


def as_planned(result: Any, strides: Sequence[Sequence[int]]) -> Any:
    """An operator's result with the strides from planning, because a GPU's libraries choose their own."""
    left = iter(strides)

    def one(tensor: Any) -> Any:
        stride = next(left, None) if isinstance(tensor, torch.Tensor) else None
        if stride is None or tensor.dim() != len(stride) or not tensor.numel() or _alike(tensor.stride(), stride, tensor.shape):
            return tensor
        return torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype, device=tensor.device).copy_(tensor)

    return [one(tensor) for tensor in result] if isinstance(result, (list, tuple)) else one(result)


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether each element has its own place, without gaps."""
    due = 1
    for stride, n in sorted((stride, n) for stride, n in zip(strides, shape) if n != 1):
        if stride != due:
            return False
        due *= n
    return True


def _memory_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _alike(one: Sequence[int], other: Sequence[int], shape: Sequence[int]) -> bool:
    """Strides of dimensions with one element have no meaning."""
    return all(a == b or n == 1 for a, b, n in zip(one, other, shape))


def _typed(memory: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return memory[:memory.numel() // dtype.itemsize * dtype.itemsize].view(dtype)


def _first_of(tensor: torch.Tensor, dimensions: Sequence[bool]) -> torch.Tensor:
    for dimension, only in enumerate(dimensions):
        if only:
            tensor = tensor.narrow(dimension, 0, 1)
    return tensor
