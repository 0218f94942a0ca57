"""Streams, events and graphs of a candidate, as classes like PyTorch's. A plan is one sequence, so they order
nothing."""

from __future__ import annotations

from typing import Any

import torch

from .recording import CUDA, Refused, Tape


class Stream:
    """torch.cuda.Stream"""

    cuda_stream = stream_id = device_index = priority = 0
    device_type = 1
    device = CUDA

    def __init__(self, *_: Any, **__: Any) -> None:
        self._before: list[Stream] = []

    def _nothing(self, *_: Any, **__: Any) -> None:
        pass

    synchronize = wait_stream = wait_event = _nothing

    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def query(self) -> bool:
        return True

    def __enter__(self) -> Stream:
        self._before.append(torch.cuda.current_stream())
        torch.cuda.set_stream(self)
        return self

    def __exit__(self, *_: Any) -> None:
        torch.cuda.set_stream(self._before.pop())


class ExternalStream(Stream):
    """torch.cuda.ExternalStream"""


class Event:
    """torch.cuda.Event"""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def _nothing(self, *_: Any, **__: Any) -> None:
        pass

    record = wait = synchronize = _nothing

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        raise Refused("reads_values", "a candidate cannot time anything while it is planned", "use triton.autotune")


class _Graph:
    """A class that cannot be instantiated; others may derive from it."""

    _name = ""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        raise Refused("not_allowed", f"{cls._name} cannot be part of a plan", "the plan is run in a graph already")


class CUDAGraph(_Graph):
    _name = "CUDAGraph"


class Graph(_Graph):
    """torch.cuda.graph"""

    _name = "torch.cuda.graph"


class GraphedCallables(_Graph):
    """torch.cuda.make_graphed_callables"""

    _name = "make_graphed_callables"


def install(tape: Tape) -> None:
    """Replaces PyTorch's classes for the rest of this process."""
    default = Stream()
    current = [default]

    def set_stream(stream: Stream) -> None:
        current[0] = stream

    def capturing() -> bool:
        """A call is always captured; the constructor never is."""
        return tape.steps is not tape.setup

    answers = {"Stream": Stream, "ExternalStream": ExternalStream, "Event": Event, "CUDAGraph": CUDAGraph, "graph": Graph,
               "make_graphed_callables": GraphedCallables, "is_current_stream_capturing": capturing,
               "graph_pool_handle": lambda: (0, 0), "current_stream": lambda *_, **__: current[0],
               "default_stream": lambda *_, **__: default, "set_stream": set_stream}
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    for module, names in ((torch.cuda.streams, ("Stream", "ExternalStream", "Event")), (
            torch.cuda.graphs, ("CUDAGraph", "graph", "make_graphed_callables", "is_current_stream_capturing",
                                "graph_pool_handle"))):
        for name in names:
            setattr(module, name, answers[name])
    torch.cuda.graphs._cuda_isCurrentStreamCapturing = torch._C._cuda_isCurrentStreamCapturing = capturing
