"""Overwrites what earlier kernels left on a multiprocessor: shared memory, and the local memory of threads. The kernels
are PTX, which the driver assembles, because they must access memory for which Triton has no names. Not thread-safe.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from .accelerator import Device
from .timing import OTHER_POISON, driver_ok

_THREADS = 1024
# More blocks than run in parallel, because the scheduler does not guarantee a block for each multiprocessor.
_WAVES = 4

_HEAD = """
.version 7.0
.target sm_70
.address_size 64
"""

SHARED = _HEAD + """
.extern .shared .align 16 .b8 scrubbed[];

.visible .entry scrub(.param .u32 bytes, .param .u32 word)
{
  .reg .pred %done;
  .reg .b32 %at, %bytes, %word, %base, %step, %place;
  ld.param.u32 %bytes, [bytes];
  ld.param.u32 %word, [word];
  mov.u32 %base, scrubbed;
  mov.u32 %at, %tid.x;
  shl.b32 %at, %at, 2;
  mov.u32 %step, %ntid.x;
  shl.b32 %step, %step, 2;
LOOP:
  setp.ge.u32 %done, %at, %bytes;
  @%done bra END;
  add.u32 %place, %base, %at;
  st.volatile.shared.u32 [%place], %word;
  add.u32 %at, %at, %step;
  bra LOOP;
END:
  ret;
}
"""

LOCAL = _HEAD + """
.visible .entry scrub(.param .u32 bytes, .param .u32 word)
{
  .local .align 16 .b8 scrubbed[BYTES];
  .reg .pred %done;
  .reg .b32 %at, %bytes, %word;
  .reg .b64 %base, %place;
  ld.param.u32 %bytes, [bytes];
  ld.param.u32 %word, [word];
  mov.u64 %base, scrubbed;
  cvta.local.u64 %base, %base;
  mov.u32 %at, 0;
LOOP:
  setp.ge.u32 %done, %at, %bytes;
  @%done bra END;
  cvt.u64.u32 %place, %at;
  add.u64 %place, %place, %base;
  st.volatile.u32 [%place], %word;
  add.u32 %at, %at, 4;
  bra LOOP;
END:
  ret;
}
"""


class _Kernel:
    """One of these kernels, loaded."""

    def __init__(self, driver: Any, text: str, bytes_: int) -> None:
        self._driver, self._bytes = driver, bytes_
        self._module = driver_ok(driver.cuModuleLoadData(text.encode() + b"\0"))
        self.function = driver_ok(driver.cuModuleGetFunction(self._module, b"scrub"))

    def launch(self, blocks: int, dynamic: int, stream: int) -> None:
        word = int.from_bytes(bytes([OTHER_POISON] * 4), "little")
        driver_ok(self._driver.cuLaunchKernel(self.function, blocks, 1, 1, _THREADS, 1, 1, dynamic, stream,
                                              ((self._bytes, word), (ctypes.c_uint32, ctypes.c_uint32)), 0))

    def close(self) -> None:
        driver_ok(self._driver.cuModuleUnload(self._module))


class Scrubber:
    """Does nothing on the CPU."""

    def __init__(self, device: Device) -> None:
        self._device, self._frame = device, 0
        self._local: _Kernel | None = None
        if not device.is_cuda:
            return
        from cuda.bindings import driver

        self._driver = driver
        self._processors = self._told("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT")
        self._shared_bytes = self._told("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        self._resident = self._told("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR") // _THREADS
        self._shared = _Kernel(driver, SHARED, self._shared_bytes)
        driver_ok(driver.cuFuncSetAttribute(
            self._shared.function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            self._shared_bytes))

    def reach(self, frame: int) -> None:
        """Sets the bytes of each thread's local memory to overwrite. If the driver has no room for them, this is
        undone, so that no later candidate fails because of it."""
        frame = (frame + 15) // 16 * 16
        if frame == self._frame:
            return
        if self._local is not None:
            self._local.close()
        self._local, self._frame = None, 0
        if frame:
            local = _Kernel(self._driver, LOCAL.replace("BYTES", str(frame)), frame)
            try:
                self._fill(local)
            except RuntimeError:
                local.close()
                raise
            self._local, self._frame = local, frame

    def run(self) -> None:
        """Runs on the current stream."""
        if not self._device.is_cuda:
            return
        self._shared.launch(_WAVES * self._processors, self._shared_bytes, self._stream())
        if self._local is not None:
            self._fill(self._local)

    def _fill(self, local: _Kernel) -> None:
        local.launch(_WAVES * self._processors * max(self._resident, 1), 0, self._stream())

    def _stream(self) -> int:
        return torch.cuda.current_stream(self._device.torch).cuda_stream

    def _told(self, attribute: str) -> int:
        return int(driver_ok(self._driver.cuDeviceGetAttribute(
            getattr(self._driver.CUdevice_attribute, attribute), driver_ok(self._driver.cuCtxGetDevice()))))
