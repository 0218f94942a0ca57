"""Host memory for copies to the device: pinned, because a recorded call reads it when it is played."""

from __future__ import annotations

import ctypes
from typing import Any

from .judge import driver_ok

_PORTABLE = 1  # CU_MEMHOSTALLOC_PORTABLE
_ALIGNMENT = 16


class UploadMemory:
    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._chunks: list[int] = []
        self._next = self._end = 0

    def reserve(self, sizes: list[int]) -> None:
        """Reserves memory for one call with copies of these sizes, before recording, because nothing can be allocated
        during it."""
        size = sum(_aligned(size) for size in sizes)
        if size:
            self._next = int(driver_ok(self._driver.cuMemHostAlloc(size, _PORTABLE)))
            self._chunks.append(self._next)
            ctypes.memset(self._next, 0, size)  # kernels can reach it
            self._end = self._next + size

    def place(self, content: bytes) -> int:
        """The place of the content until forget(). Without reserved memory, the content must be used at once,
        by a call that is not recorded."""
        if self._next + len(content) > self._end:
            self._pageable = ctypes.create_string_buffer(content, len(content))
            return ctypes.addressof(self._pageable)
        address = self._next
        ctypes.memmove(address, content, len(content))
        self._next += _aligned(len(content))
        return address

    def forget(self) -> None:
        """Frees all reserved memory. No recorded call may exist."""
        while self._chunks:
            driver_ok(self._driver.cuMemFreeHost(self._chunks.pop()))
        self._next = self._end = 0


def _aligned(size: int) -> int:
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
