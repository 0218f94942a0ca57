"""Measures the GPU time of each module with torch.profiler: a kernel counts for the module that launched
it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from .models import Loaded
from .torch_here import torch_here

_MARK = "kernelsmith:"


def measured_us(loaded: Loaded, steps: int = 10) -> dict[str, float]:
    """Microseconds of a step by module path; the path "" is the whole model. Needs a GPU."""
    torch = torch_here()
    from torch.profiler import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        ProfilerActivity, profile)

    with torch.no_grad(), marked(loaded):
        for _ in range(3):
            loaded.run()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            for _ in range(steps):
                with torch.profiler.record_function(_MARK):
                    loaded.run()
            torch.cuda.synchronize()
    return {path: time / steps for path, time in by_module(profiler.events(), of_kernels).items()}


@contextlib.contextmanager
def marked(loaded: Loaded) -> Iterator[None]:
    """Within this context, each call of a module is a range of the profiler, named after the module's
    path."""
    torch = torch_here()
    opened: list[Any] = []

    def begin(path: str, *_: Any) -> None:
        opened.append(torch.profiler.record_function(_MARK + path))
        opened[-1].__enter__()

    def end(*_: Any) -> None:
        opened.pop().__exit__(None, None, None)

    hooks = [hook for path, module in loaded.model.named_modules() if path
             for hook in (module.register_forward_pre_hook(partial(begin, path)), module.register_forward_hook(end))]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def by_module(events: Iterable[Any], time_of: Any) -> dict[str, float]:
    """Adds the time of each event to every range around it. A second call within a step adds to the time of
    the first."""
    times: dict[str, float] = {}
    for event in events:
        time = time_of(event)
        if not time:
            continue
        for path in {name[len(_MARK):] for name in _around(event) if name.startswith(_MARK)}:
            times[path] = times.get(path, 0.0) + time
    return times


def _around(event: Any) -> Iterable[str]:
    while event is not None:
        yield event.name
        event = event.cpu_parent


def of_kernels(event: Any) -> float:
    """The time of an event's kernels and copies in us. The profiler lists the ranges themselves among a GPU's
    kernels."""
    return float(sum(kernel.duration for kernel in event.kernels if not kernel.name.startswith(_MARK)))
