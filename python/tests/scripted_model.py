"""A server of Chat Completions whose replies a function writes."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Scripted:
    """What was asked so far, and where."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.heads: list[tuple[str, str | None]] = []  # paths and keys

    @property
    def prompts(self) -> list[str]:
        """The users' messages."""
        return [one["messages"][-1]["content"] for one in self.asked]


@contextlib.contextmanager
def scripted(reply: Callable[[dict[str, Any], int], str | dict[str, Any]]) -> Iterator[Scripted]:
    """Serves reply(request, number) on a port of this machine; numbers count from 1. A reply is a text, a message,
    perhaps with its `usage`, or what a server says with status 400, `{"error": ...}`, or with its `status` and `headers`."""
    script = Scripted()
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                script.asked.append(asked)
                script.heads.append((self.path, self.headers["Authorization"]))
                number = len(script.asked)
            said = reply(asked, number)
            message = dict(said) if isinstance(said, dict) else {"content": said}
            usage = message.pop("usage", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
            if "error" in message:
                return self.send(message.get("status", 400), {"error": message["error"]}, message.get("headers", {}))
            finish = "tool_calls" if "tool_calls" in message else "stop"
            choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
            self.send(200, {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice],
                            "usage": usage})

        def send(self, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Clients may be killed."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
