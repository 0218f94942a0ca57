"""Times of a model's steps: on a GPU by events around a CUDA graph of them, on a CPU by the host's clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .torch_here import torch_here


def arm(run: Callable[[], Any], steps: int) -> Callable[[], float]:
    """The seconds of a step, each time it is called."""
    torch = torch_here()
    return _on_gpu(torch, run, steps) if torch.cuda.is_available() else lambda: _on_the_host(torch, run, steps)


def _on_the_host(torch: Any, run: Callable[[], Any], steps: int) -> float:
    with torch.no_grad():
        began = time.perf_counter()
        for _ in range(steps):
            run()
        return (time.perf_counter() - began) / steps


def _on_gpu(torch: Any, run: Callable[[], Any], steps: int) -> Callable[[], float]:
    """The work is fixed here: a graph captured with the swap always includes it."""
    graph, begin, end = torch.cuda.CUDAGraph(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.no_grad():
        with torch.cuda.stream(torch.cuda.Stream()):
            run()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(steps):
                run()

    def measure() -> float:
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3 / steps

    return measure
