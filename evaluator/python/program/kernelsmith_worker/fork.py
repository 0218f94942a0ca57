"""The fork that evaluates one program."""

from __future__ import annotations

import asyncio
import inspect
import os
import resource
import sys
import tempfile
from typing import Any, BinaryIO, Callable, List, Optional

from kernelsmith_process import descendants, framing

from . import cascade, results, traces
from .loading import Evaluator
from .results import BadMetrics, Outcome

# The kept length of sys.exit()'s argument.
_MOST_CODE = 1000


class Streams:
    """The child's ends of its pipes."""

    def __init__(self, out: int, err: int, result: int) -> None:
        self.out, self.err, self.result = out, err, result


def run(evaluator: Evaluator, path: str, folder: str, memory_bytes: int, streams: Streams,
        private: List[int]) -> None:
    """Evaluates the program at `path` and reports to the parent. Does not return. `private` are the parent's descriptors."""
    try:
        os.setsid()
        descendants.end_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory_bytes > 0:
            # Limits writable private memory. RLIMIT_AS would also count memory that libraries only reserve.
            resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
        os.dup2(streams.out, 1)
        os.dup2(streams.err, 2)
        for descriptor in private:
            os.close(descriptor)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        stream = os.fdopen(streams.result, "wb")
        _evaluate(evaluator, path, stream)
    finally:
        os._exit(0)


def _evaluate(evaluator: Evaluator, path: str, stream: BinaryIO) -> None:
    own = os.getpid()

    def tell(message: framing.Message, blob: bytes = b"") -> None:
        if os.getpid() != own:
            return  # a fork of the program that returned from evaluate()
        for printed in (sys.stdout, sys.stderr):
            try:
                printed.flush()
            except (OSError, ValueError, AttributeError):
                pass
        framing.write_message(stream, message, blob)

    def tell_outcome(outcome: Outcome, stage: Optional[int] = None) -> None:
        tell(*_packed(outcome, stage))

    try:
        tell_outcome(cascade.run(evaluator, _call, path, lambda stage, outcome: tell_outcome(outcome, stage)))
    except BadMetrics as error:
        tell({"end": "bad_metrics", "words": traces.plain(str(error))})
    except MemoryError:
        tell({"end": "out_of_memory", "words": "memory ran out\n" + traces.current()})
    except SystemExit as error:
        tell({"end": "exited", "words": "sys.exit(%s) was called\n%s" % (traces.plain(repr(error.code))[-_MOST_CODE:], traces.current())})
    except BaseException:  # noqa: BLE001 - every exception is reported
        tell({"end": "raised", "words": traces.current()})


def _call(function: Callable[[str], Any], path: str) -> Any:
    """Calls the function; awaits a coroutine."""
    returned = function(path)
    if not inspect.isawaitable(returned):
        return returned

    async def wait() -> Any:
        return await returned

    return asyncio.run(wait())


def _packed(outcome: Outcome, stage: Optional[int]) -> tuple:
    """A message with the numbers as text, because JSON lacks NaN and infinity, and a blob of artifacts."""
    found, artifacts = results.split(outcome)
    sizes, blob = results.packed(artifacts)
    message = {"end": "returned" if stage is None else "passed", "stage": stage,
               "numbers": [[name, repr(value)] for name, value in found.items()], "artifacts": sizes}
    return message, blob
