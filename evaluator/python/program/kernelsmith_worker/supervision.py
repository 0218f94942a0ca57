"""Watches the fork that evaluates a program: its limits, output and end. Afterwards nothing of the fork is left."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import sys
import tempfile
import time
import warnings
from typing import Dict, List, Optional, Tuple

from kernelsmith_process import descendants, framing
from kernelsmith_process.framing import Failure, FramingError, Message

from . import cascade, fork, results, traces
from .cleaning import Cleaner
from .loading import Evaluator
from .results import BadMetrics, Outcome

# The kept length of each stream's end.
_KEPT_OUTPUT = 1 << 20
_MOST_REPLY_JSON = 1 << 20
_MOST_REPLY_BLOB = 16 << 20
_PIPE_BYTES = 1 << 20
_MOST_WORDS = 100_000
# The interval of checks for a silent child's end and for too many processes.
_LOOK_S = 0.02
_COUNT_S = 0.1
_F_SETPIPE_SZ = 1031


class Tail:
    """The end of a stream, however long it is."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._seen = 0

    def add(self, piece: bytes) -> None:
        self._seen += len(piece)
        self._kept += piece
        if len(self._kept) > 2 * _KEPT_OUTPUT:
            del self._kept[:-_KEPT_OUTPUT]

    def text(self) -> bytes:
        kept = bytes(self._kept[-_KEPT_OUTPUT:])
        if self._seen == len(kept):
            return kept
        return b"[%d bytes before these are left out]\n" % (self._seen - len(kept)) + kept


class End:
    """The end of an evaluation: a kernelsmith code and a message, or an outcome."""

    def __init__(self, code: str, words: str = "", outcome: Optional[Outcome] = None) -> None:
        self.code, self.words, self.outcome = code, words, outcome


def evaluate(request: Message, blob: bytes, evaluator: Evaluator, cleaner: Cleaner,
             channel: Tuple[int, int]) -> Tuple[Message, bytes]:
    """Evaluates the files of the request in a fork; the first one is the program. A reply with `spoiled` is
    this worker's last: the program has left data that the next one could find."""
    folder = tempfile.mkdtemp(prefix="kernelsmith-")
    try:
        path = _write_files(folder, request["files"], blob)
        watch = _Watch(request, evaluator, channel)
        begun = time.monotonic()
        try:
            end = watch.run(path, folder)
        except OSError as error:
            raise Failure("machine", "run", "tool_failed", "a process cannot be started: %s" % error) from None
        reply, texts = _reply(end, watch, time.monotonic() - begun)
    finally:
        clean = cleaner.clean(folder)
    return {**reply, "spoiled": not clean}, texts


def _write_files(folder: str, files: List[list], blob: bytes) -> str:
    at = 0
    for name, size in files:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(blob[at:at + size])
        at += size
    return os.path.join(folder, files[0][0])


def _reply(end: End, watch: "_Watch", wall_s: float) -> Tuple[Message, bytes]:
    texts: Dict[str, bytes] = {}
    message: Message = {"end": end.code, "words": traces.plain(end.words)[-_MOST_WORDS:], "wall_s": wall_s}
    if end.outcome is not None:
        try:
            found, texts = results.split(end.outcome)
            message["fitness"], message["features"], others = results.score(found)
            texts.update({name: repr(value).encode() for name, value in others.items()})
        except BadMetrics as error:
            message.update(end="bad_metrics", words=str(error))
    # Invalid UTF-8 is shown as numbers, and losing a character that was cut in two does not matter.
    sizes, blob = results.packed({name: _shown(text) for name, text in texts.items()})
    for name, tail in (("python.out", watch.out), ("python.err", watch.err)):
        if tail.text():
            sizes.append([name, len(_shown(tail.text()))])
            blob += _shown(tail.text())
    message["artifacts"] = sizes
    return message, blob


def _shown(text: bytes) -> bytes:
    return text.decode("utf-8", "backslashreplace").encode()


class _Watch:
    """One evaluation, from fork to end."""

    def __init__(self, request: Message, evaluator: Evaluator, channel: Tuple[int, int]) -> None:
        self.out, self.err = Tail(), Tail()
        self._timeout_s = request["timeout_s"]
        self._memory_bytes = request["memory_bytes"]
        self._processes = request["processes"]
        self._evaluator, self._channel = evaluator, channel
        self._pipes: List[int] = []
        self._said = bytearray()
        self._passed: Optional[Tuple[int, Outcome]] = None  # the running stage, and the result if it fails

    def run(self, path: str, folder: str) -> End:
        (out, out_write), (err, err_write), (result, result_write) = pipes = [os.pipe() for _ in range(3)]
        self._pipes = [out, err, result]
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            child = _fork()
            if child == 0:
                fork.run(self._evaluator, path, folder, self._memory_bytes,
                         fork.Streams(out_write, err_write, result_write),
                         [out, err, result, out_write, err_write, *self._channel])
            for _, write in pipes:
                os.close(write)
            for read in self._pipes:
                _prepare(read)
            try:
                end = self._watch(child)
            finally:
                descendants.end_all(child)
            self._drain(self._pipes, _MOST_REPLY_BLOB)
            return self._stand(end)
        finally:
            for read in self._pipes:
                os.close(read)

    def _watch(self, child: int) -> End:
        """Returns when there is nothing more to wait for; the child may still live."""
        poll = select.poll()
        for read in self._pipes:
            poll.register(read, select.POLLIN)
        poll.register(self._channel[0], 0)  # reports only its end
        deadline = time.monotonic() + self._timeout_s
        count_at = time.monotonic() + _COUNT_S
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return End("timed_out", "no answer within %g s" % self._timeout_s)
            for descriptor, _ in poll.poll(min(_LOOK_S, left_s) * 1000):
                if descriptor == self._channel[0]:
                    return End("exited", "kernelsmith ended")
                if not self._read(descriptor):
                    poll.unregister(descriptor)
            try:
                end, stage_passed = self._understand()
            except Exception as error:  # noqa: BLE001 - the evaluator's own code may write anything
                return End("protocol_forged", "its answer cannot be understood: %s" % error)
            if end is not None:
                return end
            if stage_passed:
                deadline = time.monotonic() + self._timeout_s
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                self._drain(self._pipes[2:], _MOST_REPLY_BLOB)
                try:
                    end, _ = self._understand()
                except Exception:  # noqa: BLE001
                    end = None
                return end or _end_of(ended)
            _reap_others(child)
            if time.monotonic() >= count_at and not descendants.ALONE:
                count_at = time.monotonic() + _COUNT_S
                if len(descendants.descendants()) > self._processes:
                    return End("sandbox_violation", "more than %d processes at a time" % self._processes)

    def _read(self, descriptor: int) -> bool:
        """Reads the available data. False at the end of the stream."""
        try:
            piece = os.read(descriptor, _PIPE_BYTES)
        except BlockingIOError:
            return True
        if descriptor == self._pipes[2]:
            self._said += piece
        else:
            (self.out if descriptor == self._pipes[0] else self.err).add(piece)
        return bool(piece)

    def _drain(self, pipes: List[int], most: int) -> None:
        """Reads the output of ended processes: at most a pipe's capacity, in case one still lives."""
        for descriptor in pipes:
            for _ in range(0, most, _PIPE_BYTES):
                if not select.select([descriptor], [], [], 0)[0] or not self._read(descriptor):
                    break

    def _understand(self) -> Tuple[Optional[End], bool]:
        """Reads the child's report: its end, or a passed stage."""
        passed = False
        while True:
            message = self._next_message()
            if message is None:
                return None, passed
            told, blob = message
            if told["end"] in ("raised", "exited", "out_of_memory", "bad_metrics"):
                return End(told["end"], str(told["words"])), passed
            outcome = _outcome_of(told, blob)
            if told["end"] == "returned":
                return End("returned", "", outcome), passed
            stage = int(told["stage"])
            if not self._evaluator.cascade or stage != (self._passed[0] if self._passed else 1) + 1 or stage > 3:
                raise ValueError("it passes a stage that is not next")
            self._passed = (stage, outcome)
            passed = True

    def _next_message(self) -> Optional[Tuple[Message, bytes]]:
        head = struct.Struct("<IQ")
        if len(self._said) < head.size:
            return None
        json_size, blob_size = head.unpack_from(self._said)
        if json_size > _MOST_REPLY_JSON or blob_size > _MOST_REPLY_BLOB:
            raise FramingError("%d bytes of JSON and %d of blob" % (json_size, blob_size))
        size = head.size + json_size + blob_size
        if len(self._said) < size:
            return None
        message = framing.parse_message(bytes(self._said[head.size:head.size + json_size]))
        blob = bytes(self._said[head.size + json_size:size])
        del self._said[:size]
        return message, blob

    def _stand(self, end: End) -> End:
        """A program keeps the stages that it has passed, whatever the result of a later one."""
        if self._passed is None or end.outcome is not None:
            return end
        stage, outcome = self._passed
        outcome.artifacts["stage%d_stderr" % stage] = end.words.encode("utf-8", "backslashreplace")
        if end.code == "timed_out":
            outcome.artifacts["stage%d_timeout" % stage] = b"True"
        return End("returned", "", cascade.failed_at(stage, outcome))


def _fork() -> int:
    with warnings.catch_warnings():
        # Libraries keep threads; the important ones handle forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _reap_others(child: int) -> None:
    """Reaps orphans, because dead processes count toward the limit."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None or ended.si_pid == child:
            return
        os.waitpid(ended.si_pid, 0)


def _prepare(read: int) -> None:
    os.set_blocking(read, False)
    try:
        fcntl.fcntl(read, _F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        pass  # fails if the user has many pipes; then the pipe is only slower


def _outcome_of(told: Message, blob: bytes) -> Outcome:
    artifacts, at = {}, 0
    for name, size in told["artifacts"]:
        if not 0 <= int(size) <= len(blob) - at:
            raise ValueError("an artifact that is not there")
        artifacts[str(name)] = blob[at:at + int(size)]
        at += int(size)
    return Outcome({str(name): float(text) for name, text in told["numbers"]}, artifacts)


def _end_of(ended: "os.waitid_result") -> End:
    if ended.si_code == os.CLD_EXITED:
        return End("exited", "the process ended with status %d before evaluate() returned" % ended.si_status)
    try:
        name = signal.Signals(ended.si_status).name
    except ValueError:
        name = "a real-time signal"
    words = "the process was ended by signal %d (%s)" % (ended.si_status, name)
    if ended.si_status == signal.SIGKILL:
        words += ": the system does that, too, when memory runs out"
    return End("crashed", words)
