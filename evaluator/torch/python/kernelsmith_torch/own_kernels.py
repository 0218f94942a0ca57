"""The own kernels of the cuda backend's runner, in a worker: the gate and the sweep of the clock, and what overwrites shared
memory, registers and the local memory of threads. Their PTX, which the driver assembles, and the numbers of their launches
come with a task (launch_rules.hpp). Not thread-safe.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from kernelsmith_process.framing import Message

from .accelerator import Device
from .judge import driver_ok

OTHER_POISON = 0xAB
_WORD = int.from_bytes(bytes([OTHER_POISON] * 4), "little")


class OwnKernels:
    """Launches on PyTorch's current stream. Overwrites nothing on the CPU."""

    def __init__(self, device: Device) -> None:
        self._device, self._frame = device, 0
        self._local: tuple[Any, Any] | None = None  # the module and function for a frame
        self._told: Message = {}

    def load(self, request: Message) -> None:
        """Takes the kernels of a request to prepare a task. They are the same for all tasks."""
        if not self._device.is_cuda or self._told:
            return
        from cuda.bindings import driver

        self._driver, told = driver, request["kernels"]
        self._processors = self._attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT")
        self._shared_bytes = self._attribute("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        self._resident = self._attribute("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR") // told["wipe_threads"]
        module = self._module(told["plain_kernels"])
        self._gate, self._sweep, self._shared, self._registers = (
            self._function(module, name) for name in ("gate", "sweep", "wipe", "wipe_registers"))
        driver_ok(driver.cuFuncSetAttribute(
            self._shared, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, self._shared_bytes))
        self._swept = torch.zeros(told["sweep_over_l2"] * self._device.facts()["l2_bytes"], dtype=torch.uint8,
                                  device=self._device.torch)
        flag = driver_ok(driver.cuMemHostAlloc(4, driver.CU_MEMHOSTALLOC_DEVICEMAP))
        self._flag = ctypes.c_uint32.from_address(int(flag))
        self._flag_address = int(driver_ok(driver.cuMemHostGetDevicePointer(flag, 0)))
        self._told = told

    @contextmanager
    def gate(self) -> Iterator[None]:
        """What is launched within begins when all of it is launched, or after `gate_ns`."""
        self._flag.value = 0
        self._launch(self._gate, 1, 1, 0, ctypes.c_uint64, self._flag_address, self._told["gate_ns"])
        try:
            yield
        finally:
            self._flag.value = 1

    def sweep(self) -> None:
        """Fills the L2 with memory that no call uses."""
        self._launch(self._sweep, self._told["sweep_blocks"] * self._processors, self._told["sweep_threads"], 0,
                     ctypes.c_uint64, self._swept.data_ptr(), self._swept.numel() // 16)

    def reach(self, frame: int) -> None:
        """Sets the bytes of each thread's local memory to overwrite. If the driver has no room for them, this is
        undone, so that no later candidate fails because of it."""
        frame = (frame + 15) // 16 * 16
        if frame == self._frame or not self._told:
            return
        if self._local is not None:
            driver_ok(self._driver.cuModuleUnload(self._local[0]))
        self._local, self._frame = None, 0
        if frame:
            module = self._module(self._told["local_wipe"].replace("BYTES", str(frame)))
            function = self._function(module, "wipe_local")
            try:
                self._wipe_local(function, frame)
            except RuntimeError:
                driver_ok(self._driver.cuModuleUnload(module))
                raise
            self._local, self._frame = (module, function), frame

    def wipe(self) -> None:
        """Overwrites what earlier kernels left on the multiprocessors and in the memory that sweep() reads."""
        if not self._told:
            return
        self._swept.fill_(OTHER_POISON)
        self._wipe(self._shared, self._processors, self._shared_bytes, self._shared_bytes // 4, _WORD)
        self._wipe(self._registers, self._processors, 0, _WORD)
        if self._local is not None:
            self._wipe_local(self._local[1], self._frame)

    def _wipe_local(self, function: Any, frame: int) -> None:
        self._wipe(function, self._processors * max(self._resident, 1), 0, frame // 4, _WORD)

    def _wipe(self, function: Any, blocks: int, dynamic: int, *words: int) -> None:
        self._launch(function, self._told["wipe_waves"] * blocks, self._told["wipe_threads"], dynamic, ctypes.c_uint32, *words)

    def _launch(self, function: Any, blocks: int, threads: int, dynamic: int, kind: type, *values: int) -> None:
        driver_ok(self._driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, dynamic, self._device.stream(),
                                              (values, (kind,) * len(values)), 0))

    def _module(self, text: str) -> Any:
        return driver_ok(self._driver.cuModuleLoadData(text.encode() + b"\0"))

    def _function(self, module: Any, name: str) -> Any:
        return driver_ok(self._driver.cuModuleGetFunction(module, b"kernelsmith_" + name.encode()))

    def _attribute(self, name: str) -> int:
        return int(driver_ok(self._driver.cuDeviceGetAttribute(
            getattr(self._driver.CUdevice_attribute, name), driver_ok(self._driver.cuCtxGetDevice()))))
