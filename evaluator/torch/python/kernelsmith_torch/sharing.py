"""Passes outputs from the runner to the judge through device memory that both processes map: on CUDA an inter-process
handle of a driver allocation, on the CPU a mapped file. Neither end is thread-safe. The judge checks all
descriptions here.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Sequence
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from .accelerator import Device, wrap
from .plan_check import DTYPES
from .judge import driver_ok
from .own_kernels import OTHER_POISON

_ALIGNMENT = 256
_MOST_OPEN = 4


class Outbox:
    """The runner's end."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._memory: torch.Tensor | None = None
        self._where: dict[str, Any] = {}
        self._address: Any = None
        self._name = secrets.token_hex(8)

    def publish(self, calls: Sequence[Sequence[torch.Tensor]]) -> dict[str, Any]:
        """Copies the outputs of each call to the outbox, and returns their places. The copies are complete when it
        returns."""
        told, end = [], 0
        for outputs in calls:
            told.append([])
            for output in outputs:
                told[-1].append({"offset": end, "dtype": str(output.dtype).removeprefix("torch."),
                                 "shape": list(output.shape)})
                size = output.numel() * output.element_size()
                end = (end + size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        if self._memory is None or self._memory.numel() < end:
            self.close()
            self._allocate(max(end, _ALIGNMENT))
        for outputs, places in zip(calls, told):
            for output, place in zip(outputs, places):
                tensor_at(self._memory, place).copy_(output)
        self._device.finish()
        return {**self._where, "from": self._name, "calls": told}

    def wipe(self) -> None:
        """Overwrites outputs of an earlier batch, possibly another candidate's, because kernels can read them."""
        if self._memory is not None:
            self._memory.fill_(OTHER_POISON)

    def close(self) -> None:
        if "file" in self._where:
            os.unlink(self._where["file"])
        elif self._address is not None:
            from cuda.bindings import driver

            driver_ok(driver.cuMemFree(self._address))
            self._device.outside -= self._memory.numel()
        self._memory, self._where, self._address = None, {}, None

    def _allocate(self, size: int) -> None:
        if not self._device.is_cuda:
            descriptor, path = tempfile.mkstemp(prefix="kernelsmith-outbox-")
            os.ftruncate(descriptor, size)
            os.close(descriptor)
            self._memory = torch.from_file(path, shared=True, size=size, dtype=torch.uint8)
            self._where = {"file": path, "bytes": size}
            return
        from cuda.bindings import driver

        self._device.give_back()  # the driver cannot use memory that PyTorch caches
        self._address = driver_ok(driver.cuMemAlloc(size))
        self._device.outside += size
        handle = driver_ok(driver.cuIpcGetMemHandle(self._address))
        self._memory = wrap(int(self._address), size, self._device.torch)
        self._where = {"handle": bytes(handle.reserved).hex(), "bytes": size}


class Inbox:
    """The judge's end: maps outboxes, and keeps the last few mapped."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._open: dict[str, tuple[str, torch.Tensor, Any]] = {}  # mapped address, by outbox

    def tensors(self, outbox: Any) -> list[list[torch.Tensor]]:
        """The outputs of each call. Raises Failure (machine, bad_outbox) if the description is invalid."""
        try:
            memory = self._map(outbox)
            return [[tensor_at(memory, place) for place in call] for call in outbox["calls"]]
        except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise Failure("machine", "correctness", "bad_outbox", f"the outputs cannot be mapped: {error}",
                          "judge and runner must see the same GPU of one host") from error

    def close(self) -> None:
        """Unmaps all, because an outbox is only freed when no process maps it."""
        for name in list(self._open):
            self._close(name)

    def _map(self, outbox: dict[str, Any]) -> torch.Tensor:
        name, where = str(outbox["from"]), str(outbox.get("handle") or outbox["file"])
        if name in self._open and self._open[name][0] != where:
            self._close(name)  # first, because the driver maps no two allocations that had the same address
        if name not in self._open:
            while len(self._open) >= _MOST_OPEN:
                self._close(next(iter(self._open)))
            self._open[name] = (where, *self._new(outbox, int(outbox["bytes"])))
        return self._open[name][1]

    def _new(self, outbox: dict[str, Any], size: int) -> tuple[torch.Tensor, Any]:
        if not self._device.is_cuda:
            if os.path.getsize(outbox["file"]) < size:
                raise ValueError("the file is smaller than its description says")
            return torch.from_file(outbox["file"], shared=True, size=size, dtype=torch.uint8), None
        from cuda.bindings import driver

        handle = driver.CUipcMemHandle()
        handle.reserved = bytes.fromhex(outbox["handle"])
        address = driver_ok(driver.cuIpcOpenMemHandle(
            handle, driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.value))
        return wrap(int(address), size, self._device.torch), address

    def _close(self, name: str) -> None:
        address = self._open.pop(name)[2]
        if address is not None:
            from cuda.bindings import driver

            driver_ok(driver.cuIpcCloseMemHandle(address))


def tensor_at(memory: torch.Tensor, place: dict[str, Any]) -> torch.Tensor:
    """The contiguous tensor that a description places in a region of bytes; ValueError if it is not within."""
    dtype, shape, offset = DTYPES[place["dtype"]], [int(n) for n in place["shape"]], int(place["offset"])
    size = dtype.itemsize
    for n in shape:
        if n < 0:
            raise ValueError("a size is negative")
        size *= n
    if offset < 0 or offset % _ALIGNMENT or offset + size > memory.numel():
        raise ValueError("a tensor lies outside of the shared memory")
    return memory[offset:offset + size].view(dtype).view(shape)
