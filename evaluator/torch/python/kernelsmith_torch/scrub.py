"""Overwrites what earlier kernels left on a multiprocessor: shared memory, registers, and the local memory of threads, with
the kernels of the cuda backend's runner. They come with the task, as PTX, which the driver assembles. Not thread-safe.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from kernelsmith_process.framing import Message

from .accelerator import Device
from .timing import OTHER_POISON, driver_ok

_THREADS = 1024
# More blocks than run in parallel, because the scheduler does not guarantee a block for each multiprocessor.
_WAVES = 4
_WORD = int.from_bytes(bytes([OTHER_POISON] * 4), "little")


class Scrubber:
    """Does nothing on the CPU, and nothing before load()."""

    def __init__(self, device: Device) -> None:
        self._device, self._frame = device, 0
        self._plain: tuple[Any, Any] | None = None  # the functions for shared memory and registers
        self._local: tuple[Any, Any] | None = None  # the module and function for a frame
        self._local_text = ""

    def load(self, texts: Message) -> None:
        """`plain` has kernelsmith_wipe and kernelsmith_wipe_registers; `local` has kernelsmith_wipe_local, with BYTES for the
        size of its frame."""
        if not self._device.is_cuda:
            return
        from cuda.bindings import driver

        self._driver, self._local_text = driver, texts["local"]
        self._processors = self._told("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT")
        self._shared_bytes = self._told("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        self._resident = self._told("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR") // _THREADS
        module = self._module(texts["plain"])
        shared = self._function(module, "kernelsmith_wipe")
        driver_ok(driver.cuFuncSetAttribute(
            shared, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, self._shared_bytes))
        self._plain = shared, self._function(module, "kernelsmith_wipe_registers")

    def reach(self, frame: int) -> None:
        """Sets the bytes of each thread's local memory to overwrite. If the driver has no room for them, this is
        undone, so that no later candidate fails because of it."""
        frame = (frame + 15) // 16 * 16
        if frame == self._frame or not self._local_text:
            return
        if self._local is not None:
            driver_ok(self._driver.cuModuleUnload(self._local[0]))
        self._local, self._frame = None, 0
        if frame:
            module = self._module(self._local_text.replace("BYTES", str(frame)))
            function = self._function(module, "kernelsmith_wipe_local")
            try:
                self._fill(function, frame)
            except RuntimeError:
                driver_ok(self._driver.cuModuleUnload(module))
                raise
            self._local, self._frame = (module, function), frame

    def run(self) -> None:
        """Runs on the current stream."""
        if self._plain is None:
            return
        shared, registers = self._plain
        self._launch(shared, self._processors, self._shared_bytes, self._shared_bytes // 4, _WORD)
        self._launch(registers, self._processors, 0, _WORD)
        if self._local is not None:
            self._fill(self._local[1], self._frame)

    def _fill(self, function: Any, frame: int) -> None:
        self._launch(function, self._processors * max(self._resident, 1), 0, frame // 4, _WORD)

    def _launch(self, function: Any, blocks: int, dynamic: int, *words: int) -> None:
        stream = torch.cuda.current_stream(self._device.torch).cuda_stream
        driver_ok(self._driver.cuLaunchKernel(function, _WAVES * blocks, 1, 1, _THREADS, 1, 1, dynamic, stream,
                                              (words, (ctypes.c_uint32,) * len(words)), 0))

    def _module(self, text: str) -> Any:
        return driver_ok(self._driver.cuModuleLoadData(text.encode() + b"\0"))

    def _function(self, module: Any, name: str) -> Any:
        return driver_ok(self._driver.cuModuleGetFunction(module, name.encode()))

    def _told(self, attribute: str) -> int:
        return int(driver_ok(self._driver.cuDeviceGetAttribute(
            getattr(self._driver.CUdevice_attribute, attribute), driver_ok(self._driver.cuCtxGetDevice()))))
