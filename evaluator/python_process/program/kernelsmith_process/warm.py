"""`python3 -m kernelsmith_process.warm MODULE`: imports a program and forks for each process that runs it, so that no
process waits for the imports.

A child runs MODULE.main() as `python3 -m MODULE ARGUMENTS` would, with streams, a session and random numbers of its
own. It ends with this process, which runs nothing but MODULE.warm(). Only for trusted programs. Linux only, Python 3.9 or
newer.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys

from . import framing
from .descendants import end_with_parent
from .framing import Failure, Message

_MOST_PASSED = 2


class _Forked(BaseException):
    """Takes a child out of the service."""


class _Warm:
    """Answers hello, fork and reap."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._passed: list[int] = []

    def read(self, size: int) -> bytes:
        """For framing. Keeps the descriptors that come with a request."""
        data, passed, _, _ = socket.recv_fds(self._channel, size, _MOST_PASSED)
        self._passed += passed
        return data

    def handle(self, request: Message, _: bytes) -> tuple[Message, bytes]:
        if request["do"] == "hello":
            return {"threads": _threads_at_a_fork()}, b""
        if request["do"] == "reap":
            code = os.waitstatus_to_exitcode(os.waitpid(request["pid"], 0)[1])
            return {"status": code if code >= 0 else 128 - code}, b""
        if request["do"] != "fork":
            raise Failure("machine", "run", "bad_request", f"do is {request['do']!r}", "hello, fork or reap")
        passed, self._passed = self._passed, []
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                _become(request, passed, parent)
            except Exception:  # noqa: BLE001 - a child must not answer in its parent's place
                os._exit(1)
            raise _Forked
        for descriptor in passed:
            os.close(descriptor)
        return {"pid": child}, b""


def _threads_at_a_fork() -> int:
    """OpenBLAS ends its threads before a fork, so only a fork shows how many threads are left."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    threads = len(os.listdir("/proc/self/task"))
    os.waitpid(child, 0)
    return threads


def _become(request: Message, passed: list[int], parent: int) -> None:
    """Gives a new child what a process gets when it is started."""
    end_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    os.setsid()
    channel, errors = passed
    for descriptor, number in ((channel, 0), (channel, 1), (errors, 2)):
        os.dup2(descriptor, number)
    os.close(channel)
    os.close(errors)
    if request["cgroup"]:
        # A group that cannot be entered is not needed to end the process.
        with contextlib.suppress(OSError), open(request["cgroup"] + "/cgroup.procs", "w", encoding="ascii") as group:
            group.write("0")
    sys.argv = request["argv"]
    if "numpy" in sys.modules:  # Python's own generator does this by itself
        sys.modules["numpy"].random.seed()


def main() -> int:
    channel = socket.socket(fileno=os.dup(0))
    unused, replies = framing.take_streams()
    unused.close()
    program = importlib.import_module(sys.argv[1])
    program.warm()
    sys.stdout.flush()
    gc.collect()
    gc.freeze()  # a collection in a child would copy all pages
    warm = _Warm(channel)
    try:
        framing.serve(warm, replies, warm.handle)
        return 0
    except _Forked:
        channel.close()
        replies.close()
    return program.main()


if __name__ == "__main__":
    sys.exit(main())
