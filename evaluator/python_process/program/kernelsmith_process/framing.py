"""Messages between kernelsmith and its Python processes, on both sides of each pipe.

A message is the length of its JSON (u32, little endian), the length of its blob (u64), the JSON (UTF-8,
one object) and the blob. A process answers each request with one reply, in order, and ends when its
standard input ends. Not thread-safe: one thread reads and writes.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import Any, BinaryIO, Callable, Dict, Tuple

MOST_JSON = 16 << 20
MOST_BLOB = 256 << 20

_HEAD = struct.Struct("<IQ")
# read() allocates the requested size; a false length must not cost more memory than the actual data.
_PIECE = 1 << 20

Message = Dict[str, Any]
Handler = Callable[[Message, bytes], Tuple[Message, bytes]]


class Failure(Exception):
    """An error in a reply. `fault` is candidate, task or machine; `stage` compile, plan, run, correctness or
    integrity."""

    def __init__(self, fault: str, stage: str, code: str, message: str, hint: str = "", where: str = "",
                 **more: Any) -> None:
        super().__init__(message)
        self.fault, self.stage, self.code = fault, stage, code
        self.message, self.hint, self.where, self.more = message, hint, where, more

    def as_reply(self) -> Message:
        return {"error": {"fault": self.fault, "stage": self.stage, "code": self.code, "message": self.message,
                          "hint": self.hint, "where": self.where, **self.more}}


class FramingError(Exception):
    """The stream ended within a message, or a message is malformed or too large. Nothing after
    it can be read."""


def write_message(stream: BinaryIO, message: Message, blob: bytes = b"") -> None:
    """Writes a message and flushes. Raises FramingError, and writes nothing, for one beyond the limits."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > MOST_JSON or len(blob) > MOST_BLOB:
        raise FramingError(f"a message of {len(text)} bytes of JSON and {len(blob)} of blob: at most {MOST_JSON} and "
                           f"{MOST_BLOB}")
    stream.write(_HEAD.pack(len(text), len(blob)) + text)
    stream.write(blob)
    stream.flush()


def read_message(stream: BinaryIO, most_json: int = MOST_JSON, most_blob: int = MOST_BLOB) -> tuple[Message, bytes] | None:
    """The next message and its blob; None if the stream ends before a message begins."""
    head = _read(stream, _HEAD.size, at_start=True)
    if head is None:
        return None
    json_size, blob_size = _HEAD.unpack(head)
    if json_size > most_json or blob_size > most_blob:
        raise FramingError(f"a message of {json_size} bytes of JSON and {blob_size} of blob: at most {most_json} and "
                           f"{most_blob}")
    text = _read(stream, json_size)
    blob = _read(stream, blob_size)
    return parse_message(text), blob


def parse_message(text: bytes) -> Message:
    """The JSON of a message."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FramingError(f"a message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise FramingError("a message is not a JSON object")
    return message


def _read(stream: BinaryIO, size: int, at_start: bool = False) -> bytes | None:
    got = bytearray()
    while len(got) < size:
        piece = stream.read(min(size - len(got), _PIECE))
        if not piece:
            if at_start and not got:
                return None
            raise FramingError(f"the stream ended within a message: {len(got)} of {size} bytes")
        got += piece
    return bytes(got)


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Moves this process's requests and replies to descriptors that exec does not inherit. Afterwards standard input is
    empty and standard output is standard error, so that prints do not disturb replies. Call it once in a process.
    """
    sys.stdout.flush()
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def serve(requests: BinaryIO, replies: BinaryIO, handle: Handler) -> None:
    """Answers requests until they end. A Failure is sent back; any other exception of `handle` is sent as the machine's
    fault with code `internal`. An invalid stream is answered with `bad_message` and ends the service."""
    while True:
        try:
            request = read_message(requests)
        except FramingError as error:
            write_message(replies, Failure("machine", "run", "bad_message", str(error)).as_reply())
            return
        if request is None:
            return
        try:
            reply, blob = handle(*request)
            write_message(replies, {"ok": True, **reply}, blob)
        except Failure as failure:
            write_message(replies, failure.as_reply())
        except Exception as error:  # noqa: BLE001 - one reply for each request, whatever happens
            write_message(replies, Failure("machine", "run", "internal", f"{type(error).__name__}: {error}",
                                           "please report this").as_reply())
