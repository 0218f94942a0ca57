"""Measures two arms in turns, and gives the ratio of their times with an interval. Arms on a GPU need
PyTorch."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Compared:
    """`ratio` is the old time over the new: above 1 the new arm is faster. `low` to `high` is its 95 %
    interval."""

    old_us: float
    new_us: float
    ratio: float
    low: float
    high: float
    pairs: int
    spread: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)

    def __str__(self) -> str:
        return (f"{self.old_us:.1f} us to {self.new_us:.1f} us: {self.ratio:.3f}x [{self.low:.3f}, {self.high:.3f}], "
                f"{self.pairs} pairs, spread {100 * self.spread:.2f} %")


def alternate(old: Callable[[], float], new: Callable[[], float], pairs: int = 30, warm_up: int = 3) -> Compared:
    """Each arm measures itself once, in seconds. The order changes from pair to pair: old new, new old, ..."""
    if pairs < 6:
        raise ValueError("an interval needs six pairs")
    for _ in range(warm_up):
        old()
        new()
    olds: list[float] = []
    news: list[float] = []
    for at in range(pairs):
        for arm, times in ((old, olds), (new, news)) if at % 2 == 0 else ((new, news), (old, olds)):
            times.append(arm())
    return compared(olds, news)


def timed(call: Callable[[], Any], calls: int, on_gpu: bool) -> Callable[[], float]:
    """An arm that measures the seconds of a call. On a GPU it measures between events around a CUDA graph of
    `calls` calls, so that the time excludes Python; the graph's contents are fixed now."""
    import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]

    def on_the_host() -> float:
        began = time.perf_counter()
        with torch.no_grad():
            for _ in range(calls):
                call()
        return (time.perf_counter() - began) / calls

    if not on_gpu:
        return on_the_host
    graph, begin, end = torch.cuda.CUDAGraph(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.no_grad():
        with torch.cuda.stream(torch.cuda.Stream()):
            call()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                call()

    def measure() -> float:
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3 / calls

    return measure


def compared(olds: list[float], news: list[float]) -> Compared:
    """Compares paired times in seconds: the median of the ratios, and its interval by order statistics."""
    ratios = sorted(old / new for old, new in zip(olds, news))
    low, high = _interval(len(ratios))
    return Compared(1e6 * statistics.median(olds), 1e6 * statistics.median(news), statistics.median(ratios), ratios[low],
                    ratios[high], len(ratios), max(_spread(olds), _spread(news)))


def _interval(count: int) -> tuple[int, int]:
    """The ranks, from 0, between which the median lies with a probability of 95 %."""
    below = 0.0
    for rank in range(count):
        below += math.comb(count, rank) / 2**count
        if below > 0.025:
            return max(rank - 1, 0) if rank else 0, count - 1 - (max(rank - 1, 0) if rank else 0)
    return 0, count - 1


def _spread(times: list[float]) -> float:
    """Half of the interquartile range, relative to the median."""
    low, middle, high = statistics.quantiles(times, n=4)
    return (high - low) / 2 / middle
