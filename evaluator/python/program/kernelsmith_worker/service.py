"""The requests of the worker."""

from __future__ import annotations

import gc
import platform
import sys
from typing import Tuple

from kernelsmith_process.framing import Failure, Message

from . import cleaning, loading, supervision


class Service:
    """Answers requests; `requests` and `replies` are the descriptors of its channel."""

    def __init__(self, requests: int, replies: int) -> None:
        self._channel = (requests, replies)
        self._evaluator: loading.Evaluator | None = None
        self._cleaner: cleaning.Cleaner | None = None

    def handle(self, request: Message, blob: bytes) -> Tuple[Message, bytes]:
        """The reply to a request. Raises Failure for everything that is not the candidate's fault."""
        if request.get("do") == "load":
            return self._load(request), b""
        if request.get("do") == "evaluate" and self._evaluator is not None:
            return supervision.evaluate(request, blob, self._evaluator, self._cleaner, self._channel)
        raise Failure("machine", "run", "bad_request", "a request to do {!r}".format(request.get("do")),
                      "load, then evaluate")

    def _load(self, request: Message) -> Message:
        self._evaluator = loading.load(request["evaluator"], request.get("cascade"))
        self._cleaner = cleaning.Cleaner()
        # All present objects exist in every fork, so the collector should not touch and thereby copy them.
        gc.collect()
        gc.freeze()
        return {"python": platform.python_version(), "program": sys.executable}
