"""Tensor maps of a plan's launches, encoded like in Triton's launcher, for the addresses of one call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .plan_values import TensorMap

_SIZE, _ALIGNMENT = 128, 64
_NO_INTERLEAVE, _PROMOTED_TO_128_BYTES, _NAN_FILL = 0, 2, 1


class Encoded:
    """A CUtensorMap in the form that the driver's bindings accept for an argument of an unknown type."""

    def __init__(self) -> None:
        self._memory = (ctypes.c_uint8 * (_SIZE + _ALIGNMENT))()
        self._at = -(-ctypes.addressof(self._memory) // _ALIGNMENT) * _ALIGNMENT

    def getPtr(self) -> int:  # noqa: N802 - the bindings' name
        return self._at


def driver_function() -> Callable[..., int]:
    return ctypes.CDLL("libcuda.so.1").cuTensorMapEncodeTiled


def encoded(told: TensorMap, address: int, encode: Callable[..., int]) -> Encoded:
    """`encode` is cuTensorMapEncodeTiled."""
    rank = len(told.shape)
    result = Encoded()
    numbers: list[Any] = [(ctypes.c_uint64 * rank)(*told.shape), (ctypes.c_uint64 * rank)(*told.strides),
                          (ctypes.c_uint32 * rank)(*told.box), (ctypes.c_uint32 * rank)(*[1] * rank)]
    status = encode(ctypes.c_void_p(result.getPtr()), ctypes.c_int(told.type), ctypes.c_uint32(rank),
                    ctypes.c_void_p(address), *numbers, ctypes.c_int(_NO_INTERLEAVE), ctypes.c_int(told.swizzle),
                    ctypes.c_int(_PROMOTED_TO_128_BYTES), ctypes.c_int(_NAN_FILL if told.nan else 0))
    if status != 0:
        raise RuntimeError(f"CUDA error {status}: a tensor descriptor of shape {told.shape} with blocks of {told.box}")
    return result
