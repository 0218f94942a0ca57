"""A stand-in for `kernelsmith serve` whose answers, and failures, a test chooses one by one."""

import asyncio
import collections
import contextlib
import json
import threading

# Answers of a machine in trouble: what is sent, of any request. A connection that is closed without an answer sends nothing.
FAULTS = {
    "drop": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"task_id": "',
    "half a chunk": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"task_id',
    "no http": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "a bad length": b"HTTP/1.1 200 OK\r\nContent-Length: much\r\n\r\n{}",
    "a large head": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
    "429": b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
    "500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "502": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>",
    "503": b'HTTP/1.1 503 Unavailable\r\nRetry-After: 5\r\nContent-Length: 31\r\n\r\n{"detail": "the queue is full"}',
    "no json": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html",
    "deep json": b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
    "a list": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    "no text": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe",
}
# Changes of a finished answer after which it is no verdict any more.
UNCLEAR = {
    "another's": {"task_id": "another"},
    "a new status": {"status": "melted"},
    "no correctness": {"correctness": None},
    "no speedup": {"speedup": None},
    "a text": {"speedup": "1.5"},
    "infinite": {"speedup": float("inf")},
    "nan": {"speedup": float("nan")},
    "no decoy": {"decoy_kernel": None},
    "a decoy's text": {"decoy_kernel": "true"},
    "a share of 7": {"metadata": {"custom_kernel_cuda_time_coverage": 7}},
    "a share below 0": {"metadata": {"custom_kernel_cuda_time_coverage": -0.5}},
    "no share": {"metadata": {"custom_kernel_cuda_time_coverage": "all"}},
    "no reason": {"correctness": False, "speedup": None},
}


def verdict(code):
    """What a candidate gets: a text that is a number is its own speedup."""
    good = {"status": "completed", "compiled": True, "correctness": True, "decoy_kernel": False, "error_message": None,
            "error_code": None, "metadata": {"kernelsmith": {}}}
    own = {"custom_kernel_cuda_time_coverage": 0.25, "kernelsmith": {"fitness": {}}}
    if code.strip() == "wrong":
        rejection = {"stage": "correctness", "code": "wrong_output"}
        return {**good, "correctness": False, "speedup": None, "error_message": "it is wrong",
                "error_code": "CORRECTNESS_ERROR", "metadata": {"kernelsmith": {"rejection": rejection}}}
    if code.strip() == "decoy":
        return {**good, "speedup": 2.0, "decoy_kernel": True, "metadata": {**own, "custom_kernel_cuda_time_coverage": 0.0}}
    return {**good, "speedup": float(code), "metadata": own}


def without_verdict(status, code, error=None, message="the disk is full"):
    """An end that says nothing about the candidate."""
    return {"status": status, "correctness": None, "speedup": None, "error_code": code, "error_message": message,
            "metadata": {"kernelsmith": {"error": error}} if error else {}}


class ScriptedService:
    """`async with` it.

    `faults` are taken by one POST each: a name of FAULTS or UNCLEAR, "forget" (a restart), a dict that is the request's end,
    "chunked", or None for an honest answer. After them it is honest. `pending` is how often a request is pending before it
    is finished, `room` how many may be unfinished.
    """

    def __init__(self, faults=(), pending=0, room=10**6, tls=None):
        self.tls = tls
        self.faults, self.pending, self.room = iter(faults), pending, room
        self.asked, self.deleted, self.headers = [], [], []
        self.most_unfinished, self.mistake = 0, None
        self.evaluations = collections.Counter()  # of each id, in each life
        self.forget()

    def forget(self):
        """What a restart does."""
        self.life = getattr(self, "life", 0) + 1
        self.jobs = {}

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls)
        port = self.server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_):
        self.server.close()
        await self.server.wait_closed()
        if self.mistake:
            raise self.mistake

    async def serve(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: "))
            body = await reader.readexactly(length)
            self.headers.append(head)
            method, path, _ = head.split(" ", 2)
            writer.write(self.delete(path) if method == "DELETE" else self.evaluate(path, json.loads(body)))
            await writer.drain()
        except (OSError, EOFError):
            pass  # a client that was cancelled
        except Exception as mistake:
            self.mistake = mistake
        finally:
            writer.close()

    def delete(self, path):
        self.deleted.append(path.rpartition("/")[2])
        job = self.jobs.get(self.deleted[-1])
        if job and "end" not in job:
            job["end"] = without_verdict("cancelled", None, message="cancelled by a client")
        return answer_of({})

    def evaluate(self, path, request):
        assert path.startswith("/evaluate?wait=")
        name = request["task_id"]
        self.asked.append(name)
        fault = next(self.faults, None)
        end = fault if isinstance(fault, dict) else None
        fault = None if end else fault
        if fault == "forget":
            self.forget()
        if fault in FAULTS:
            return FAULTS[fault]
        if name not in self.jobs and self.unfinished() >= self.room:
            return FAULTS["503"]
        self.take(name, request)
        self.most_unfinished = max(self.most_unfinished, self.unfinished())
        return answer_of({"task_id": name, **self.state(self.jobs[name], end), **UNCLEAR.get(fault, {})}, fault == "chunked")

    def unfinished(self):
        return sum("end" not in job for job in self.jobs.values())

    def state(self, job, end):
        if end:
            job["end"] = end
        if "end" not in job and job["left"] == 0:
            job["end"] = verdict(job["code"])
        job["left"] -= 1
        return job.get("end", {"status": "pending", "error_message": None})

    def take(self, name, request):
        known = self.jobs.get(name)
        if known is None or known.get("end", {}).get("status") == "failed":
            self.jobs[name] = {"code": request["kernel_code"], "left": self.pending, "request": request}
            self.evaluations[self.life, name] += 1
        elif known["request"] != request:
            raise AssertionError("an id with another content")


@contextlib.contextmanager
def serving(**script):
    """A ScriptedService on a thread of its own, for callers with event loops of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def call(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    service = ScriptedService(**script)
    try:
        call(service.__aenter__())
        yield service
        call(service.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def answer_of(content, chunked=False):
    """An HTTP answer of status 200."""
    body = json.dumps(content).encode()
    if not chunked:
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    middle = len(body) // 2
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:middle], body[middle:], b""))
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
