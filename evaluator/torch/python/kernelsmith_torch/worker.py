"""A trusted worker of the torch backend: `python3 -m kernelsmith_torch.worker judge|runner [--device N | --cpu]`.

kernelsmith forks it from a process that has imported this module (kernelsmith_process/warm.py). It reads requests from
standard input and answers each (framing.py) until the input ends. Once the device's context is lost, it answers, and exits
with status 3. It imports no candidate's code. Messages: docs/torch-plan.md.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO

# Large tensors are allocated and freed often, and fragments must not keep their memory. PyTorch reads this when it
# opens the device.
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch  # noqa: E402

from kernelsmith_process.framing import Failure, Handler, Message, serve, take_streams

from .accelerator import Device, hash_of
from .memory import device_failed, is_memory
from .reference_process import ReferenceProcess
from .runner import Runner

DEVICE_LOST = 3


class _Requests:
    """A stream of requests that ends when the device is lost."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.ended = False

    def read(self, size: int = -1) -> bytes:
        return b"" if self.ended else self._stream.read(size)


class RequestHandler:
    """Answers the requests of one role."""

    def __init__(self, role: ReferenceProcess | Runner, device: Device, requests: _Requests) -> None:
        self._handlers = {"hello": self._hello, **role.handlers()}
        self._device, self._requests = device, requests

    def handle(self, request: Message, blob: bytes) -> tuple[Message, bytes]:
        """The reply to a request. Raises Failure for every error."""
        handler = self._handlers.get(str(request.get("do")))
        if handler is None:
            raise Failure("machine", "run", "bad_request", f"a request to do {str(request.get('do'))[:40]!r}",
                          f"this worker does {', '.join(self._handlers)}")
        try:
            return handler(request, blob), b""
        except Failure as failure:
            if failure.__cause__ is not None and device_failed(failure.__cause__):
                self._requests.ended = True
            raise
        except (KeyError, TypeError) as error:
            traceback.print_exc()
            raise Failure("machine", "run", "bad_request", f"the request or this program is wrong: {error!r}",
                          "please report this") from error
        except Exception as error:
            traceback.print_exc()
            self._requests.ended = device_failed(error)
            if is_memory(error):
                raise Failure("machine", "run", "busy", "the GPU's memory ran out while nothing of the candidate's was run",
                              "wait for the processes that use this GPU, or end them") from error
            raise

    def _hello(self, _: Message, __: bytes) -> Message:
        return {"torch": torch.__version__, "triton": _triton_version(), **self._device.facts()}


def _triton_version() -> str:
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return ""


def why_not_opened(error: BaseException) -> Failure:
    """The reason why the device could not be opened, with a hint."""
    words = str(error).strip().split("\n")[0][:200]
    if is_memory(error):
        return Failure("machine", "run", "busy", "the GPU's memory is full: there is no room for another process",
                       "wait for the processes that use this GPU, or end them")
    return Failure("machine", "run", "no_gpu", f"the GPU cannot be used: {words}",
                   "install PyTorch with CUDA, and a driver for it")


def warm_up(device: Device) -> None:
    """The judge's kernels are compiled when they are first used; for this one nothing waits here."""
    hash_of(torch.zeros(1 << 16, dtype=torch.int32, device=device.torch))


class Opening:
    """Answers requests with the handler from `make`. If the device was full, each request tries `make` again."""

    def __init__(self, make: Callable[[], Handler]) -> None:
        self._make, self._handler = make, None
        self._why: Failure | None = None
        self.open()

    def open(self) -> None:
        try:
            self._handler, self._why = self._make(), None
        except (RuntimeError, ImportError, AssertionError) as error:
            self._why = why_not_opened(error)

    def handle(self, request: Message, blob: bytes) -> tuple[Message, bytes]:
        if self._why is not None and self._why.code == "busy":
            self.open()
        if self._why is not None:
            raise self._why
        return self._handler(request, blob)


def warm() -> None:
    """For kernelsmith_process.warm: imports what is imported late, because a CPU does without it. Opens no GPU."""
    with contextlib.suppress(ImportError):
        from cuda.bindings import driver, nvrtc  # noqa: F401, PLC0415


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="kernelsmith_torch.worker", description=__doc__.split("\n")[0])
    parser.add_argument("role", choices=["judge", "runner"])
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--device", type=int, default=0, help="the GPU's number in CUDA")
    place.add_argument("--cpu", action="store_true", help="run on the CPU, without kernels: for tests")
    chosen = parser.parse_args(arguments)
    stream, replies = take_streams()
    requests = _Requests(stream)
    roles: list[ReferenceProcess | Runner] = []

    def open_role() -> Handler:
        device = Device(None if chosen.cpu else chosen.device)
        warm_up(device)
        roles.append(ReferenceProcess(device) if chosen.role == "judge" else Runner(device))
        return RequestHandler(roles[-1], device, requests).handle

    serve(requests, replies, Opening(open_role).handle)
    if requests.ended:
        return DEVICE_LOST
    for role in roles:
        if isinstance(role, Runner):
            role.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
