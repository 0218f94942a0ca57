"""A model that a server on this machine plays by a script, and tests of commands that ask it."""

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support import TaskTest

KEY = "sk-planted-key-0123456789"


def program(*values):
    return "".join(f"k{i} = {value}  # @tune 0 1 2 3 4 5 6 7\n" for i, value in enumerate(values))


def reply(text, finish="stop"):
    message = {"content": text}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return 200, {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


BETTER = program(1, 2, 3, 4, 5, 6)
BROKEN = "k0 = oops  # no number\n" + program(0, 7, 7, 7, 7, 7)[len("k0 = 0  # @tune 0 1 2 3 4 5 6 7\n"):]
WINNER = program(7, 7, 7, 7, 7, 7)


class Model:
    """Serves the script, one entry a request, and its last entry for ever; a script that is a function is given the
    request's number, from 0, and its body."""

    def __init__(self, script):
        self.lock = threading.Lock()
        self.requests = []
        self.gets = []
        self.models = None  # (status, answer) to a GET by whether it carries the key; None: there is no such path
        self.script = script  # may be replaced; None in place of an answer hangs
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with model.lock:
                    number = len(model.requests)
                    model.requests.append((dict(self.headers), body))
                script = model.script
                answer = script(number, body) if callable(script) else script[min(number, len(script) - 1)]
                if answer is None:
                    model.closed.wait()
                    return
                self.answer(*answer)

            def do_GET(self):
                model.gets.append(self.path)
                has_key = KEY in str(self.headers)
                self.answer(*(model.models(has_key) if model.models else (404, {"error": {"message": "no such path"}})))

            def answer(self, status, answer):
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.closed = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()


def events(run):
    database = sqlite3.connect(run / "run.db")
    bodies = [json.loads(body) for (body,) in database.execute("select body from events order by position")]
    database.close()
    return bodies


def proposals(run):
    return [body["proposal"] for body in events(run) if body["event"] == "proposal_arrived"]


class ModelTest(TaskTest):
    """A test whose commands have a key. Its folder has the task of `support`, and prices.yaml: a reply() costs 0.002 USD."""

    env = {"OPENAI_API_KEY": KEY}

    def setUp(self):
        super().setUp()
        (self.folder / "prices.yaml").write_text("version: 1\nprices: [{model: scripted, input: 1, output: 10}]\n")

    def serve(self, script):
        model = Model(script)
        self.addCleanup(model.close)
        return model

    def asking(self, model):
        """The words that name the model and its server."""
        return ["--model", "scripted", "--base-url", model.url]
