"""Finds tensors that a candidate left on the CPU: all fakes are on the CPU, but PyTorch on a GPU would
distinguish them. Tensors count as on the GPU, except those made without a device from nothing or from such
tensors. The result of `.cpu()` counts as on the GPU, because here `.cpu()` returns its argument.
"""

from __future__ import annotations

from typing import Any

import torch

CUDA = torch.device("cuda", 0)
CPU = torch.device("cpu")


class Places:
    """The places of one recording. Not thread-safe."""

    def __init__(self) -> None:
        self._on_cpu: dict[int, torch.UntypedStorage] = {}  # by identity, which lasts as long as the storage
        self.default = CPU

    def set_default(self, device: Any) -> None:
        """torch.set_default_device"""
        self.default = CPU if device is None else torch.device(device)

    def device_of(self, tensor: torch.Tensor) -> torch.device:
        return CPU if self.on_cpu(tensor) else CUDA

    def on_cpu(self, tensor: torch.Tensor) -> bool:
        return bool(self._on_cpu) and _identity(tensor) in self._on_cpu

    def to_cuda(self, tensor: torch.Tensor) -> torch.Tensor:
        if self._on_cpu:
            self._on_cpu.pop(_identity(tensor), None)
        return tensor

    def note(self, func: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        """Records the result of `func` on the candidate's arguments."""
        made = _tensors_in(result)
        if not made:
            return
        given = _tensors_in([args, kwargs])
        devices = [v for v in (*args, *kwargs.values()) if is_device(v)]
        if any(map(is_cuda, devices)) or kwargs.get("pin_memory") or func in _LIKE_ANOTHER and self._any_on_cuda(given[1:]):
            for tensor in made:
                self.to_cuda(tensor)
        elif not self._any_on_cuda(given) and (given or devices or not is_cuda(self.default)):
            for tensor in made:
                if (identity := _identity(tensor)) is not None:
                    self._on_cpu[identity] = tensor.untyped_storage()

    def _any_on_cuda(self, tensors: list[torch.Tensor]) -> bool:
        return any(not self.on_cpu(tensor) for tensor in tensors)


def is_device(v: Any) -> bool:
    return isinstance(v, torch.device) or isinstance(v, str) and v.startswith(("cuda", "cpu"))


def is_cuda(v: Any) -> bool:
    return isinstance(v, torch.device) and v.type == "cuda" or isinstance(v, str) and v.startswith("cuda")


def _identity(tensor: torch.Tensor) -> int | None:
    """The key of the tensor's storage; sparse tensors and tensors within vmap() have no storage."""
    try:
        return tensor.untyped_storage()._cdata
    except NotImplementedError:
        return None


def _tensors_in(v: Any) -> list[torch.Tensor]:
    if isinstance(v, torch.Tensor):
        return [v]
    if isinstance(v, dict):
        v = v.values()
    elif not isinstance(v, (list, tuple)):
        return []
    return [tensor for each in v for tensor in _tensors_in(each)]


_LIKE_ANOTHER = (torch.Tensor.to, torch.Tensor.type_as)
