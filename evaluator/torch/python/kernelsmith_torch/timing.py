"""The clock: records calls, plays them one after the other as a batch, and measures the batch's time.

On CUDA a call is a captured graph. A batch is a graph whose nodes are the calls' graphs in sequence, so that
a call begins when the one before has ended. The batch is timed by events. On the CPU, and for a reference that
cannot be captured, calls are simply made. Not thread-safe.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from .accelerator import Device
from .judge import driver_ok
from .own_kernels import OTHER_POISON, OwnKernels

Function = Callable[[], list[torch.Tensor]]

FLOAT_POISON = 0xFF  # NaN in every floating-point dtype

# A batch is late if the gate opened by itself: the host stood still for all of its time. That happens now and then on
# a machine with too many programs, and not three times in a row.
_TRIES = 3
# A wait spins for _SPIN_S, because the host's clock must be exact for short times. Then it sleeps for _NAP_S
# at a time, which adds at most a hundredth.
_SPIN_S = 2e-3
_NAP_S = 2e-5


def poison_of(dtype: torch.dtype) -> int:
    """The byte that memory of a dtype is filled with before a batch."""
    return FLOAT_POISON if dtype.is_floating_point or dtype.is_complex else OTHER_POISON


@dataclass
class Footprint:
    """Memory of a call's outputs and intermediates, collected while it is recorded."""

    ranges: dict[int, tuple[int, int]] = field(default_factory=dict)  # address -> bytes, poison byte

    def add(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if size and size > self.ranges.get(storage.data_ptr(), (0, 0))[0]:
            self.ranges[storage.data_ptr()] = (size, poison_of(tensor.dtype))


@dataclass
class Call:
    """A recorded call. `outputs` are those of its last batch."""

    function: Function
    footprint: Footprint
    graph: Any = None
    outputs: list[torch.Tensor] = field(default_factory=list)


class Clock:
    """Plays batches on one device. On CUDA `kernels` must be loaded before the first one."""

    def __init__(self, device: Device) -> None:
        self._device, self.kernels = device, OwnKernels(device)
        self._graphs: dict[tuple[int, ...], Any] = {}
        if device.is_cuda:
            from cuda.bindings import driver

            self._driver = driver
            self._stream = torch.cuda.Stream(device.torch)
            self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._trifle = torch.zeros(1, device=device.torch)
            self._persists = device.facts()["capability"] >= [8, 0]
        self._pool = self.new_pool()

    def record(self, function: Function, footprint: Footprint | None = None, pool: Any = None) -> Call:
        """A call of `function`, captured if this is CUDA. `function` must have been called before, so that
        libraries are ready. Passes on exceptions of capturing."""
        call = Call(function, footprint if footprint is not None else Footprint())
        if self._device.is_cuda:
            call.graph = torch.cuda.CUDAGraph(keep_graph=True)
            self._device.finish()
            try:
                with torch.no_grad(), torch.cuda.stream(self._stream):
                    self._capture(call, function, pool or self._pool)
            except BaseException:
                self._renew_random_state()
                raise
        return call

    @staticmethod
    def _capture(call: Call, function: Function, pool: Any) -> None:
        call.graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            call.outputs = function()
        except BaseException:
            with contextlib.suppress(RuntimeError):  # the capture is broken; the original error is more important
                call.graph.capture_end()
            raise
        call.graph.capture_end()

    def _renew_random_state(self) -> None:
        """After a failed capture PyTorch's generator still assumes a capture and does not draw any more."""
        fresh = torch.Generator(self._device.torch)
        torch.cuda.default_generators[self._device.torch.index].graphsafe_set_state(fresh.graphsafe_get_state())

    def launched(self, function: Function) -> Call:
        """A call that is made directly because it cannot be captured."""
        return Call(function, Footprint())

    def new_pool(self) -> Any:
        """A separate memory pool for record(), freed once its calls are forgotten."""
        return torch.cuda.graph_pool_handle() if self._device.is_cuda else None

    def hold(self, pool: Any) -> Call:
        """A call that keeps a pool alive: PyTorch accepts no pool without graphs."""
        return self.record(lambda: [self._trifle.clone()], pool=pool)

    def forget(self) -> None:
        """Drops the graphs of batches. Call it before their calls are dropped."""
        for executable in self._graphs.values():
            self._ok(self._driver.cuGraphExecDestroy(executable))
        self._graphs.clear()
        self._pool = self.new_pool()

    def play(self, calls: Callable[[], Sequence[Call]], lay_out: Callable[[], None],
             patience: Patience | None = None) -> float:
        """The microseconds of a batch. `calls` gives its calls, and `lay_out` writes inputs; then memory is poisoned and
        the batch is played. Late batches are made again. Raises Failure (timed_out) if `patience` ends before the batch."""
        for _ in range(_TRIES):
            us = self._play(calls(), lay_out, patience)
            if us is not None:
                return us
        raise Failure("machine", "run", "late_launch", f"a batch was launched late {_TRIES} times",
                      "let no other program use this machine's processors")

    def _play(self, calls: Sequence[Call], lay_out: Callable[[], None], patience: Patience | None) -> float | None:
        """None if the batch was launched late."""
        if not self._device.is_cuda or any(call.graph is None for call in calls):
            return self._play_launched(calls, lay_out)
        executable = self._batch(calls)
        lay_out()
        self.poison(calls)
        with torch.cuda.stream(self._stream):
            self._prepare_device()
            with self.kernels.gate():
                self._begin.record()
                self._ok(self._driver.cuGraphLaunch(executable, self._stream.cuda_stream))
                self._end.record()
                late = self._begin.query()
        us = self._time(patience)
        return None if late else us

    def poison(self, calls: Sequence[Call]) -> None:
        """Overwrites the calls' memory."""
        if not self._device.is_cuda:
            return
        stream = torch.cuda.current_stream(self._device.torch).cuda_stream
        for address, (size, byte) in {k: v for call in calls for k, v in call.footprint.ranges.items()}.items():
            self._ok(self._driver.cuMemsetD8Async(address, byte, size, stream))

    def wipe_free_memory(self) -> None:
        """Overwrites unused memory of PyTorch's allocator, also between tensors, because kernels can reach it."""
        if not self._device.is_cuda:
            return
        self._device.finish()
        stream = torch.cuda.current_stream(self._device.torch).cuda_stream
        for segment in torch.cuda.memory_snapshot():
            if segment["device"] != self._device.torch.index:
                continue
            address = segment["address"]
            for block in segment["blocks"]:
                used = 0 if block["state"] == "inactive" else block.get("requested_size", block["size"])
                if used < block["size"]:
                    self._ok(self._driver.cuMemsetD8Async(address + used, OTHER_POISON, block["size"] - used, stream))
                address += block["size"]

    def _play_launched(self, calls: Sequence[Call], lay_out: Callable[[], None]) -> float:
        lay_out()

        def play() -> None:
            for call in calls:
                call.outputs = call.function()

        with torch.no_grad():
            if self._device.is_cuda:
                with torch.cuda.stream(self._stream):
                    self._prepare_device()
                    self._begin.record()
                    play()
                    self._end.record()
                return self._time(None)
            start = time.perf_counter()
            play()
            return (time.perf_counter() - start) * 1e6

    def _prepare_device(self) -> None:
        self._device.finish()
        if self._persists:
            self._ok(self._driver.cuCtxResetPersistingL2Cache())  # such lines survive a sweep
        self.kernels.sweep()

    def _time(self, patience: Patience | None) -> float:
        if patience is not None:
            patience.wait_for(self._end)
        self._end.synchronize()
        return self._begin.elapsed_time(self._end) * 1e3

    def _batch(self, calls: Sequence[Call]) -> Any:
        key = tuple(id(call) for call in calls)
        if key not in self._graphs:
            parent, previous = self._ok(self._driver.cuGraphCreate(0)), []
            for call in calls:
                child = self._driver.CUgraph(init_value=call.graph.raw_cuda_graph())
                previous = [self._ok(self._driver.cuGraphAddChildGraphNode(parent, previous, len(previous), child))]
            self._graphs[key] = self._ok(self._driver.cuGraphInstantiate(parent, 0))
            self._ok(self._driver.cuGraphDestroy(parent))
            self._ok(self._driver.cuGraphUpload(self._graphs[key], self._stream.cuda_stream))
        return self._graphs[key]

    def op_times(self, steps: Sequence[Callable[[], None]], patience: Patience | None = None) -> list[float]:
        """Microseconds of each step, made one after the other behind the gate; by the host's clock on the CPU."""
        if not self._device.is_cuda:
            marks = [time.perf_counter()]
            for step in steps:
                step()
                marks.append(time.perf_counter())
            return [(b - a) * 1e6 for a, b in zip(marks, marks[1:])]
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(steps) + 1)]
        with self.kernels.gate():
            events[0].record()
            for step, event in zip(steps, events[1:]):
                step()
                event.record()
        if patience is not None:
            patience.wait_for(events[-1])
        self._device.finish()
        return [a.elapsed_time(b) * 1e3 for a, b in zip(events, events[1:])]

    def copy_rate(self) -> float:
        """Bytes that a large copy reads and writes in a microsecond: the best of three."""
        size = 256 << 20 if self._device.is_cuda else 16 << 20
        source = torch.zeros(size, dtype=torch.uint8, device=self._device.torch)
        target = torch.empty_like(source)
        times = self.op_times([lambda: target.copy_(source)] * 4)
        return 2 * size / max(min(times[1:]), 1e-3)

    @staticmethod
    def _ok(result: tuple[Any, ...]) -> Any:
        return driver_ok(result)


class Patience:
    """The remaining time of a candidate's calls. It only runs during wait_for(), which waits for work that the device
    already has, so loading and compiling on the host do not count."""

    def __init__(self, limit_s: float, now: Callable[[], float] = time.perf_counter) -> None:
        self._limit_s, self._left_s, self._now = limit_s, limit_s, now

    def wait_for(self, event: Any) -> None:
        """Waits for the event. Raises Failure when the time is up: a kernel does not end, and any later wait for the
        device would hang."""
        begun = self._now()
        while not event.query():
            passed = self._now() - begun
            if passed > self._left_s:
                raise Failure("candidate", "run", "timed_out", f"the calls did not end within {self._limit_s:g} s",
                              "an endless loop, or a lock that is never released?")
            if passed > _SPIN_S:
                time.sleep(_NAP_S)
        self._left_s -= self._now() - begun
