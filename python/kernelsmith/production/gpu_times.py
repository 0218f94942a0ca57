"""The GPU time of each module: torch.profiler's kernels, by the module that launched them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .models import Loaded
from .torch_here import torch_here

_MARK = "kernelsmith:"


def measured_us(loaded: Loaded, steps: int = 10) -> dict[str, float]:
    """Microseconds of a step by module path; "" is the whole. Needs a GPU: nothing is measured on the CPU."""
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


class marked:
    """While active, each call of a module is a range of the profiler, named after its path."""

    def __init__(self, loaded: Loaded) -> None:
        self._model, self._hooks, self._open = loaded.model, [], []  # type: ignore[var-annotated]

    def __enter__(self) -> None:
        torch = torch_here()

        def begin(path: str) -> Any:
            def hook(*_: Any) -> None:
                self._open.append(torch.profiler.record_function(_MARK + path))
                self._open[-1].__enter__()
            return hook

        def end(*_: Any) -> None:
            self._open.pop().__exit__(None, None, None)

        for path, module in self._model.named_modules():
            if path:
                self._hooks += [module.register_forward_pre_hook(begin(path)), module.register_forward_hook(end)]

    def __exit__(self, *_: Any) -> None:
        for hook in self._hooks:
            hook.remove()


def by_module(events: Iterable[Any], time_of: Any) -> dict[str, float]:
    """The time of each event counts for every range around it. A second call within a step adds to the first one's
    time."""
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
    """The time of an event's kernels and copies in us. A GPU's kernels also include the ranges themselves."""
    return float(sum(kernel.duration for kernel in event.kernels if not kernel.name.startswith(_MARK)))
