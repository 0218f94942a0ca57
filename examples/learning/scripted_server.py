"""A stand-in for a language model: a server of Chat Completions whose replies are a function of their number."""

import contextlib
import http.server
import itertools
import json
import threading


@contextlib.contextmanager
def scripted(reply):
    """Serves reply(number) on a port of this machine, numbers from 1, and gives its URL."""

    numbers = itertools.count(1)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": reply(next(numbers))}}
            body = json.dumps({"model": request["model"], "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
