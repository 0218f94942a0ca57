"""For processes that fork: does beforehand what the first kernel of Triton's in a process would do. Opens no GPU."""

from __future__ import annotations


def preload_triton() -> None:
    import triton.backends.nvidia.compiler  # noqa: F401, PLC0415
    import triton.compiler.code_generator  # noqa: F401, PLC0415
    import triton.runtime.cache  # noqa: PLC0415
    triton.runtime.cache.triton_key()  # reads all of Triton's files, for every kernel's key
