"""A child's progress with a plan, in memory that it shares with its planner: untrusted text for people, and the time of
its compilations in other processes. Time is CPU time, so that a busy machine refuses nothing that an idle one plans.
"""

from __future__ import annotations

import mmap
import os
import resource
import struct
import time

_MOST_WORDS = 400
_HEAD = struct.Struct("<dII")  # seconds of compilers, compiled kernels, length of the words


class Progress:
    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._compiled = 0

    def doing(self, words: str, compiled: int = 0) -> None:
        """The child reports the start of a step, and the number of kernels that it just compiled."""
        self._compiled += compiled
        others = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = words.encode(errors="replace")[:_MOST_WORDS]
        self._memory[:_HEAD.size + len(text)] = _HEAD.pack(
            (others.ru_utime + others.ru_stime) / len(os.sched_getaffinity(0)), self._compiled, len(text)) + text

    def seconds(self, child: int) -> float:
        """The child's CPU time, with its compilations divided by the number of processors. 0 if the child has ended."""
        others, _, _ = _HEAD.unpack_from(self._memory)
        try:
            own = time.clock_gettime(~child << 3 | 2)  # the clock of another process's CPU time, as from clock_getcpuclockid
        except OSError:
            return 0.0
        return own + (others if others > 0 else 0.0)

    def words(self) -> str:
        _, compiled, size = _HEAD.unpack_from(self._memory)
        text = self._memory[_HEAD.size:_HEAD.size + min(size, _MOST_WORDS)].decode(errors="replace")
        kernels = f"{compiled} kernels and configurations were compiled; " if compiled else ""
        return f"{kernels}then it was {text}" if text else "it had not begun"

    def close(self) -> None:
        self._memory.close()
