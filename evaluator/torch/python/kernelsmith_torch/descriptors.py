"""The arguments that Triton's launcher passes for a tensor descriptor from the host. If the kernel uses TMA,
these are a tensor map (encoded by the runner for each call), shape and strides; otherwise they are the
pointer, and shape and strides twice.
"""

from __future__ import annotations

from typing import Any

import torch
from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST


def arguments_of(descriptor: Any, kind: str, layout: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """Types and values for a launch in the plan. `kind` is Triton's, such as tensordesc<fp16[64,64]>; `layout` is the
    one that the kernel was compiled for."""
    shape, strides = [int(n) for n in descriptor.shape], [int(n) for n in descriptor.strides]
    after = [("i32", n) for n in shape] + [("i64", n) for n in strides]
    if layout is None:
        dtype = kind.partition("<")[2].partition("[")[0]
        wide = [("i64", n) for n in (*shape, *strides)]
        return [("*" + dtype, descriptor.base), *wide, ("i1", descriptor.padding == "nan"), *after]
    doubled = shape[:-1] + [shape[-1] * 2] if layout["fp4_padded"] else shape
    size = layout["elem_size"]
    # The driver counts dimensions from the innermost one.
    return [("tensormap", {
        "base": descriptor.base, "type": TMA_DTYPE_DEVICE_TO_HOST[layout["elem_type"]], "shape": doubled[::-1],
        "strides": [n * size for n in strides[-2::-1]], "box": [int(n) for n in layout["block_size"]][::-1],
        "swizzle": layout["swizzle"], "nan": descriptor.padding == "nan"}), *after]


def is_descriptor(v: Any) -> bool:
    return isinstance(getattr(v, "base", None), torch.Tensor) and hasattr(v, "block_shape") and hasattr(v, "strides")
