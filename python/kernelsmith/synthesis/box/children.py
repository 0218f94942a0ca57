"""Runs a function in a child process with limits, and kills the processes that it leaves."""

# mypy: ignore-errors
from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import time
from collections.abc import Callable
from typing import Any

from kernelsmith_process.descendants import end_all, end_with_parent

CPU_S = 10
WALL_S = 60  # elapsed time, which includes sleep and waiting for a busy machine
_MOST_REPLY = 1 << 20
_MOST_FILE = 16 << 20
_MOST_MEMORY = 5 << 30
_MOST_PROCESSES = 24  # of the sandbox's user; each process is a copy of one that has imported PyTorch


def asked(function: Callable[[], dict[str, Any]], cpu_s: int = CPU_S) -> dict[str, Any]:
    """The function's result, or a refusal if its process ends without a result."""
    wall_s = WALL_S * cpu_s / CPU_S
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        _child(function, write_end, cpu_s)
    os.close(write_end)
    try:
        text = _read(read_end, wall_s)
    finally:
        os.close(read_end)
        status = _ended(child)
        end_all(child)
    if text is None:
        return {"refused": "timed_out", "message": f"more than {wall_s} s by the clock"}
    try:
        made = json.loads(text)
        if isinstance(made, dict):
            return made
    except (ValueError, RecursionError):
        pass
    killed = status is not None and status.si_status in (9, 24) and status.si_code != os.CLD_EXITED
    return {"refused": "timed_out" if killed else "ends_process",
            "message": f"more than {cpu_s} s of processor time" if killed else "it ended the process, or wrote something "
                "else"}


def _ended(child: int) -> Any:
    """How the child ended; None if it still runs although it closed its pipe."""
    for _ in range(100):
        status = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if status is not None:
            return status
        time.sleep(0.01)
    return None


def _child(function: Callable[[], dict[str, Any]], write_end: int, cpu_s: int) -> None:
    try:
        os.setpgid(0, 0)
        end_with_parent()
        for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _MOST_FILE),
                            (resource.RLIMIT_DATA, _MOST_MEMORY), (resource.RLIMIT_NPROC, _MOST_PROCESSES)):
            resource.setrlimit(which, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        os.closerange(3, write_end)
        os.closerange(write_end + 1, 1024)
        reply = json.dumps(function()).encode()
        with contextlib.suppress(BrokenPipeError), os.fdopen(write_end, "wb") as stream:
            stream.write(reply)
    finally:
        os._exit(0)


def _read(descriptor: int, wall_s: float) -> bytes | None:
    """Reads to the end, or returns None if that takes too long."""
    deadline, got = time.monotonic() + wall_s, bytearray()
    while len(got) <= _MOST_REPLY:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        if select.select([descriptor], [], [], left)[0]:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return bytes(got)
            got += piece
    return bytes(got)
