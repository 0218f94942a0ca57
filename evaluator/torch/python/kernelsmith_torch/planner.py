"""`python3 -m kernelsmith_torch.planner`: plans candidates for the torch backend, each in a child of its own.

This process imports PyTorch and Triton once, runs no candidate's code, and needs no GPU. Its children run
candidates. Each child has a time limit, a limit on the size of its reply, and a folder that is removed
afterwards.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import resource
import secrets
import select
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable

import torch
import triton

from kernelsmith_process import framing
from kernelsmith_process.descendants import ALONE, end_all, end_with_parent, take_orphans
from kernelsmith_process.framing import Failure, FramingError, Message

from . import planning, triton_recording
from .progress import Progress
from .surroundings import Surroundings
from .workloads import naming, read_workloads

# The size of a file that a child may write: Triton's largest intermediate files are a few MiB.
_MOST_FILE = 64 << 20
# The size of a reply without its plan: a summary, or an error.
_MOST_REPLY = 1 << 20
_MOST_SECONDS = 600
_POLL_MS = 50
# The limit of wall time as a multiple of CPU time, because that many searches may share the processors.
_LONGEST = 4

_FIRST = {"reference": "done"}

# Folders to clean. A sandbox has its own; on the host they are shared.
_SHARED = ("/tmp", "/dev/shm") if ALONE else ()
_CHANGED = 4


def main() -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ.pop("TRITON_INTERPRET", None)
    requests, replies = framing.take_streams()
    torch.set_num_threads(1)
    take_orphans()
    _warm()
    surroundings = Surroundings(_SHARED)
    framing.serve(requests, replies, lambda request, blob: _handle(request, blob, surroundings))


def _warm() -> None:
    """Runs lazy initialisation of PyTorch and Triton, so that no child has to."""
    import triton.backends.nvidia.compiler  # noqa: F401, PLC0415
    import triton.compiler.code_generator  # noqa: F401, PLC0415
    import triton.runtime.cache  # noqa: PLC0415
    triton.runtime.cache.triton_key()  # reads all of Triton's files, for every kernel's key
    with planning.FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.Linear(4, 4)).eval()
        torch.nn.functional.softmax(model(torch.randn(1, 1, 4, 4)), -1)
    gc.collect()
    gc.freeze()


def _handle(request: Message, blob: bytes, surroundings: Surroundings) -> tuple[Message, bytes]:
    if request.get("do") == "hello":
        return {"torch": torch.__version__, "triton": triton.__version__, "python": platform.python_version(),
                "cuda_build": torch.version.cuda is not None}, b""
    if request.get("do") != "plan":
        raise Failure("machine", "plan", "bad_request", f"do is {request.get('do')!r}", "hello or plan")
    request = {**_checked(request), "blob": blob}
    folder = tempfile.mkdtemp(prefix="kernelsmith-plan-")
    try:
        return _plan(request, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not surroundings.restore():
            os._exit(_CHANGED)  # the candidate spoilt this planner for others


def _checked(request: Message) -> Message:
    checked = {"candidate": None, "name": "candidate.py", "arch": 90, "cast": False, "timeout_s": 20, "files": {},
               "most_bytes": framing.MOST_BLOB,
               **request, "workloads": read_workloads(request)}
    good = (isinstance(checked.get("reference"), str) and isinstance(checked["candidate"], (str, type(None)))
            and isinstance(checked["name"], str) and isinstance(checked.get("builds", {}), dict)
            and isinstance(checked["files"], dict) and all(isinstance(text, str) for text in checked["files"].values())
            and all(name and ".." not in name.split("/") and not name.startswith("/") for name in checked["files"])
            and type(checked["arch"]) in (int, str) and type(checked["cast"]) is bool
            and isinstance(checked["timeout_s"], (int, float)) and 0 < checked["timeout_s"] <= _MOST_SECONDS
            and type(checked["most_bytes"]) is int and 0 < checked["most_bytes"] <= framing.MOST_BLOB)
    if not good:
        raise Failure("machine", "plan", "bad_request", "a field of the request is missing or of a wrong type or size",
                      "see docs/torch-plan.md")
    # The name of a file next to reference.py. Python's tracebacks and Triton show it.
    stem = re.sub(r"\W", "_", os.path.basename(checked["name"]).removesuffix(".py"))[:64]
    checked["name"] = ("candidate" if stem in ("", "reference") else stem) + ".py"
    try:
        target = planning.device.Device.of(checked["arch"])
    except ValueError as error:
        raise Failure("task", "plan", "unknown_device", str(error), "name a device that can be planned for") from None
    if triton_recording.backend_for(target) is None:
        raise Failure("machine", "plan", "unsupported",
                      f"Triton {triton.__version__} compiles nothing for {target.arch}: it has no backend `{target.kind}`",
                      "name a Python whose Triton is made for that GPU: evaluator.python")
    return checked


class _Limit:
    """The time limit of a plan: CPU time in all its recordings, and a multiple of it as wall time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadline = time.monotonic() + _LONGEST * seconds
        self._before = 0.0

    def left(self, child: int, progress: Progress) -> float:
        """A lower bound of the wall time that the child has left."""
        return min(self._deadline - time.monotonic(), self.seconds - self._before - progress.seconds(child))

    def words(self) -> str:
        if time.monotonic() >= self._deadline:
            return f"{_LONGEST * self.seconds} s of wall time"
        return f"{self.seconds} s of processor time"

    def ended(self, child: int, progress: Progress) -> None:
        self._before += progress.seconds(child)


def _plan(request: Message, folder: str) -> tuple[Message, bytes]:
    """Returns extensions to build first; else a plan for each workload, one after the other in the blob. The first
    workload that cannot be planned ends the work."""
    plans, blobs = [], []
    for workload in request["workloads"]:
        with naming(workload):
            reply, blob = _plan_one({**request, "workload": workload}, folder)
        if "build" in reply:
            return reply, b""
        plans.append({"summary": reply["summary"], "text": reply["text"], "bytes": len(blob)})
        blobs.append(blob)
        if sum(map(len, blobs)) > request["most_bytes"]:
            raise Failure("candidate", "plan", "plan_too_large", f"plans of more than {request['most_bytes']} bytes",
                          "compile fewer kernels and configurations")
    return {"plans": plans}, b"".join(blobs)


def _plan_one(request: Message, folder: str) -> tuple[Message, bytes]:
    """If the plan may depend on addresses, it is recorded again with other addresses. Kernels are compiled only once, because
    recordings share Triton's cache; nothing else, so that what a candidate does to its folder cannot fail the reference."""
    limit = _Limit(request["timeout_s"])
    request = {**request, "seed": secrets.randbits(64), "first": None}
    reply, blob = _recorded(request, folder, limit)
    if reply.get("told_addresses"):
        reply, blob = _recorded({**request, "first": blob}, folder, limit)
    return reply, blob


def _recorded(request: Message, folder: str, limit: _Limit) -> tuple[Message, bytes]:
    read_end, write_end = os.pipe()
    progress = Progress()
    own = tempfile.mkdtemp(dir=folder)
    child = os.fork()
    if child == 0:
        _child(request, own, os.path.join(folder, "triton"), write_end, progress)
    os.close(write_end)
    reader = _Reader(read_end, child, lambda: limit.left(child, progress))
    fault = "task"
    try:
        first, _ = reader.message(_MOST_REPLY, 0)
        if first != _FIRST:
            raise Failure("task", "plan", "reference_failed", "the reference ended its process", "") \
                if "error" not in first else _told(first, "task")
        fault = "candidate"
        reply, blob = reader.message(_MOST_REPLY, request["most_bytes"])
    except TimeoutError:
        raise Failure(fault, "plan", "timed_out" if fault == "candidate" else "reference_failed",
                      f"planning took more than {limit.words()}: {progress.words()}",
                      "compile fewer kernels and configurations; do no work in Python loops") from None
    except (FramingError, EOFError) as error:
        raise Failure(fault, "plan", "plan_failed" if fault == "candidate" else "reference_failed",
                      f"the planning process ended or wrote something other than a plan: {error}",
                      "do not end the process, and leave its descriptors alone") from None
    finally:
        os.close(read_end)
        limit.ended(child, progress)
        end_all(child)
        progress.close()
    if "error" in reply:
        raise _told(reply, "candidate")
    if set(reply) == {"build"} and isinstance(reply["build"], dict):
        return reply, b""
    types = {"summary": dict, "text": str, "told_addresses": bool}
    if set(reply) != set(types) or not all(isinstance(reply[key], types[key]) for key in types):
        raise Failure("candidate", "plan", "plan_failed", "the planning process wrote something other than a plan", "")
    return reply, blob


def _told(reply: Message, fault: str) -> Failure:
    """The child's error, as untrusted text."""
    error = reply["error"] if isinstance(reply["error"], dict) else {}
    words = {key: str(error.get(key, ""))[:8_000] for key in ("stage", "code", "message", "hint", "where")}
    stage = words["stage"] if words["stage"] in ("compile", "plan") else "plan"
    return Failure(fault, stage, words["code"][:64] or "plan_failed", words["message"], words["hint"], words["where"])


def _child(request: Message, folder: str, cache: str, write_end: int, progress: Progress) -> None:
    """Executes the reference and the candidate in a folder of their own. Does not return."""
    try:
        os.setpgid(0, 0)
        end_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE, _MOST_FILE))
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        # Closes also the zygote's own streams, so that a candidate's output reaches only the zygote.
        os.closerange(3, write_end)
        os.closerange(write_end + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        for name, text in request["files"].items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        os.environ["TRITON_CACHE_DIR"] = cache
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        sys.path.insert(0, folder)
        stream = os.fdopen(write_end, "wb")
        try:
            reply, blob = planning.plan(request, folder, lambda: framing.write_message(stream, _FIRST), progress)
        except Failure as failure:
            reply, blob = failure.as_reply(), b""
        framing.write_message(stream, reply, blob)
    finally:
        os._exit(0)


class _Reader:
    """Reads a child's messages while it has time left, and detects its end."""

    def __init__(self, descriptor: int, child: int, left: Callable[[], float]) -> None:
        self._descriptor, self._child, self._left = descriptor, child, left
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._got = bytearray()

    def message(self, most_json: int, most_blob: int) -> tuple[Message, bytes]:
        """Raises TimeoutError, EOFError or FramingError if there is no message."""
        head = struct.Struct("<IQ")
        self._fill(head.size)
        json_size, blob_size = head.unpack_from(self._got)
        if json_size > most_json or blob_size > most_blob:
            raise FramingError(f"{json_size} bytes of JSON and {blob_size} of blob: at most {most_json} and {most_blob}")
        size = head.size + json_size + blob_size
        self._fill(size)
        one, self._got = bytes(self._got[:size]), self._got[size:]
        return framing.parse_message(one[head.size:head.size + json_size]), one[head.size + json_size:]

    def _fill(self, size: int) -> None:
        while len(self._got) < size:
            left = self._left()
            if left <= 0:
                raise TimeoutError
            if self._poll.poll(min(_POLL_MS, left * 1000)):
                piece = os.read(self._descriptor, min(size - len(self._got), 1 << 20))
                if not piece:
                    raise EOFError("no reply")
                self._got += piece
            # Another process may hold the pipe open. All output of an ended child is in it, so an empty pipe is the
            # end.
            elif os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT) and not self._poll.poll(0):
                raise EOFError("no reply")


if __name__ == "__main__":
    main()
