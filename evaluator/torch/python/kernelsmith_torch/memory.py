"""Plans a task's use of device memory, and decides whose fault a lack of memory is. Pure functions of numbers of
bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch

GIB = 1 << 30

CONTEXT = 600 << 20
"""A context of CUDA with PyTorch's kernels and the clock's sweep."""

ALLOWANCE = 2 * GIB
"""The memory that a candidate may take beyond the reference's own need if it has neighbours on the device:
for workspace of split sums and packed weights. A candidate that needs more is tried again alone, with all
that the judge leaves."""

# Calls with larger tensors find nothing of each other in the L2, so more than one in a batch is useless.
_L2_TIMES = 4
# The share of the device for a process's tensors of a batch: the judge and two runners each have a batch.
_SHARE_OF_BATCH = 0.15
# The share of the device from which on a task is large. Four such tasks fill a device, so they cache nothing
# between steps.
_LARGE = 0.25


def is_memory(error: BaseException) -> bool:
    """Whether an exception means that memory of the device or the host ran out."""
    words = ("can't allocate memory", "out of memory", "CUDA_ERROR_OUT_OF_MEMORY", "STATUS_ALLOC_FAILED")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(word in str(error) for word in words)


def device_failed(error: BaseException) -> bool:
    """Whether the device's context is lost, so that this process is unusable."""
    words = ("illegal memory access", "ILLEGAL_ADDRESS", "LAUNCH_FAILED", "MISALIGNED", "misaligned address",
             "ILLEGAL_INSTRUCTION", "illegal instruction", "device-side assert", "CUDA_ERROR_ASSERT", "LAUNCH_TIMEOUT",
             "unspecified launch failure", "HARDWARE_STACK", "INVALID_PC", "INVALID_ADDRESS_SPACE")
    return any(word in str(error) for word in words)


def keeps_calls(sizes: list[int], total: int) -> bool:
    """Whether the recorded calls of all workloads, of so many bytes, may stay on the device: they do not make the task a
    large one."""
    return sum(sizes) <= _LARGE / 2 * total


def reserve(total: int) -> int:
    """Bytes that no task may claim, for the contexts of waiting tasks (device_memory.hpp, claimable())."""
    return max(2 * CONTEXT, total // 16)


@dataclass(frozen=True)
class Measured:
    """Bytes of a task, measured when it is prepared; `draw`, `call` and `wide` are peaks."""

    state: int  # parameters and buffers
    inputs: int  # of a call
    outputs: int
    draw: int  # while inputs are drawn, including the inputs
    call: int  # outputs and temporaries of a call of the reference
    wide: int  # while the reference runs in fp64: inputs, outputs and temporaries
    truth: int  # the truth of a set, as it is kept


@dataclass(frozen=True)
class Layout:
    slots: int  # calls of a batch
    judge: int  # the most that the judge's process holds
    runner: int
    need: int  # the memory of all processes of the task
    gives_back: bool  # whether a process frees what it caches after each step
    together: bool  # whether candidate and truth are on the device at the same time
    truth_on_host: bool  # whether the truth is in pinned memory, and compared in slices

    def told(self) -> dict[str, int | bool]:
        return dict(vars(self))


def slots_for(measured: Measured, wanted: int, l2: int, total: int) -> int:
    """The number of calls of a batch, at most `wanted`."""
    call = max(measured.inputs + measured.outputs, 1)
    if call > _L2_TIMES * l2:
        return 1
    return max(1, min(wanted, int(_SHARE_OF_BATCH * total / call)))


def lay_out(measured: Measured, slots: int, bank: int, total: int) -> Layout:
    """The first of these layouts that fits on the device, or else the last one:

    | cached from step to step | together | truth  |
    |--------------------------|----------|--------|
    | yes                      | yes      | device |
    | no                       | yes      | device |
    | no                       | no       | device |
    | no                       | no       | host   |
    """
    m = measured
    calls = slots * (m.inputs + m.call)
    judge = CONTEXT + 4 * m.state + calls  # two models, one of them in fp64 as well
    runner = CONTEXT + m.state + calls + slots * m.outputs
    kept = min(bank, m.truth * (4 * slots + 8))
    rest = CONTEXT + ALLOWANCE + kept  # a spare

    caching = judge + m.wide + m.truth
    cached = caching + 2 * (runner + m.draw) + rest
    if cached <= _LARGE * total:
        return Layout(slots, caching + kept, runner + m.draw, cached, False, True, False)
    # The truth is made of the fp64 outputs while the reference's own exist, and those in the declared precision. Later the
    # reference may run again (singles.py).
    again = max(m.draw, 2 * m.inputs, m.inputs + m.call)
    truth = max(m.wide + m.outputs + m.truth, again + m.truth)
    together = judge + 2 * runner + max(truth, m.draw) + rest
    if together <= total:
        return Layout(slots, judge + truth + kept, runner + m.draw, together, True, True, False)
    # Candidate and truth are on the device one after the other. Only outputs are kept: the yardstick's, and those of
    # two runners.
    idle = 3 * CONTEXT + 5 * m.state + 3 * slots * m.outputs + CONTEXT + ALLOWANCE
    play = idle + calls + m.draw
    on_host = idle + truth > total
    if on_host:
        truth = max(m.wide + m.outputs, again)
    need = max(play, idle + truth)
    own = CONTEXT + 4 * m.state + slots * m.outputs
    return Layout(slots, own, runner + m.draw, need, True, False, on_host)


@dataclass(frozen=True)
class Shortage:
    """The state of the device when memory ran out."""

    total: int
    free: int
    own: int  # held by the process that asked
    kin: int  # the most that the task's other processes hold
    asked: int  # the bytes of its last request; 0: not known
    given: int  # what the task's process was meant to have: the reference's need and ALLOWANCE
    alone: bool  # whether no other task has claimed memory

    def strangers(self) -> int:
        """Memory of processes other than the task's."""
        return max(0, self.total - self.free - self.own - self.kin)


def is_candidates(shortage: Shortage) -> bool:
    """Whether a lack of memory is the candidate's fault: it requested more than an empty device has, or it
    had the reference's need plus ALLOWANCE and others used no more than waiting tasks may use."""
    s = shortage
    if s.own + s.asked > s.total - CONTEXT:
        return True
    return s.alone and s.own + s.free >= s.given and s.strangers() <= reserve(s.total)


def asked_for(words: str) -> int:
    """The requested bytes from an error message of PyTorch's allocators; 0 if unknown."""
    found = re.search(r"tried to allocate ([0-9.]+) (bytes|[KMGT]iB)", words, re.IGNORECASE)
    if found is None:
        return 0
    unit = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}[found[2][0].lower()]
    return int(float(found[1]) * unit)


def gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB"


def missing(shortage: Shortage) -> str:
    """The message for a task that does not fit alone: how much memory it needs, how much there is, and how much is
    missing."""
    s = shortage
    wanted = s.own + max(s.asked, 1)
    return f"{gib(wanted)} are needed of the GPU's {gib(s.total)}, and {gib(max(s.asked - s.free, 0))} are missing"


def neighbours(shortage: Shortage) -> str:
    """The message if memory ran out without the task's fault."""
    others = shortage.strangers()
    holder = f"other processes hold {gib(others)}" if others > reserve(shortage.total) else "the share claimed for the task is used up"
    return f"{gib(shortage.free)} of the GPU's {gib(shortage.total)} are free, and {holder}"
