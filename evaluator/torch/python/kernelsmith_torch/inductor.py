"""Supports the output of PyTorch's compiler (TORCH_LOGS=output_code) as a candidate: its kernels have their own
autotuner."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable
from typing import Any

from .tuning import Tuning


def install(tuning: Tuning) -> None:
    """Changes Inductor's modules when the candidate imports them, which takes seconds."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no processes that compile in advance
    sys.meta_path.insert(0, _Changing({
        "torch._inductor.runtime.triton_heuristics": lambda module: _record_launches(module, tuning),
        "torch._inductor.async_compile": _compile_nothing}))


class _Changing(importlib.abc.MetaPathFinder):
    """Calls a function with each named module after its import."""

    def __init__(self, changes: dict[str, Callable[[Any], None]]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        change = self._changes.get(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if change is not None else None
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def changed(module: Any) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = changed
        return spec


def _record_launches(module: Any, tuning: Tuning) -> None:
    def run(tuner: Any, *args: Any, stream: Any = None, benchmark_run: bool = False, **kwargs: Any) -> None:
        def launch(config: Any, warmup: bool) -> Any:
            given, grid = tuner._interpret_args_grid(args, config)
            named = {k: v for k, v in config.kwargs.items() if k in tuner.fn.arg_names}
            return tuner.fn.run(*given, **kwargs, **named, num_warps=config.num_warps, num_stages=config.num_stages,
                                grid=grid, warmup=warmup)

        tuning.choose_among((id(tuner), *(v for v in args if isinstance(v, int))), tuner.fn.__name__, tuner.configs, launch)

    module.CachingAutotuner.run = run


def _compile_nothing(module: Any) -> None:
    """Compiles nothing, because a kernel is compiled when it is launched."""

    def triton(self: Any, kernel_name: str, source_code: str, device_str: str = "cuda") -> Any:
        from torch._inductor.codecache import PyCodeCache  # noqa: PLC0415

        return getattr(PyCodeCache.load(source_code), kernel_name)

    module.AsyncCompile.triton = triton
