"""A model behind TLS, with a CA of its own: every answer is a new program with its own number, sent in pieces after a
while, streamed if that is asked for. It remembers which answers it sent in full, and when."""

import json
import random
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KNOBS = 6


def make_certificate(folder):
    """A certificate for 127.0.0.1 that is its own CA: (certificate, key), both PEM."""
    certificate, key = folder / "ca.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=scripted", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


def program(number):
    """One of 8^6 programs, another one for each number."""
    digits = [(number * 40503 >> (3 * i)) & 7 for i in range(KNOBS)]
    return "".join(f"k{i} = {digit}  # @tune 0 1 2 3 4 5 6 7\n" for i, digit in enumerate(digits))


def reply_text(number):
    """Mostly a program; now and then prose, an edit that matches nothing, or a program that does not run."""
    if number % 11 == 4:
        return "I would raise the digits."
    if number % 11 == 7:
        return "<<<<<<< SEARCH\nnowhere\n=======\nk0 = 7\n>>>>>>> REPLACE\n"
    if number % 11 == 9:
        return "```\n" + program(number).replace("k0 = ", "k0 = x", 1) + "```\n"
    return f"Here it is:\n```\n{program(number)}```\n"


class ScriptedServer:
    """`answered` maps the number of each answer that was sent in full to the life of the client that its connection was
    made in, and the moment by `clock`: what is sent to a client that died meanwhile looks the same from here. The
    number is what the answer claims as its input tokens, so that a journal shows which answers it holds."""

    def __init__(self, folder, clock=time.monotonic, longest_s=0.4, seed=1):
        self.certificate, key = make_certificate(folder)
        self.answered = {}
        self.asked = 0
        self.life = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._longest_s = longest_s
        self._clock = clock
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                self.request.do_handshake()  # a client that is dead by now does not get past this
                self.life = owner.life
                super().setup()

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.answer(self, bool(body.get("stream")))

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # a client that was killed

        self._server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        # The handshake is made on the connection's own thread: accept() must not wait for a client that died.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True,
                                                  do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, handler, streamed):
        with self._lock:
            self.asked += 1
            number = self.asked
            pauses = [self._random.uniform(0, self._longest_s / 3) for _ in range(3)]
        usage = {"prompt_tokens": number, "completion_tokens": 7}
        text = reply_text(number)
        time.sleep(pauses[0])
        handler.send_response(200)
        if streamed:
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Transfer-Encoding", "chunked")
            cuts = [text[:9], text[9:30], text[30:]]
            events = [{"choices": [{"delta": {"content": cut}}]} for cut in cuts]
            events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
            pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]
            pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces] + [b"0\r\n\r\n"]
        else:
            whole = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                                "usage": usage}).encode()
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(whole)))
            pieces = [whole[:20], whole[20:100], whole[100:]]
        handler.end_headers()
        for index, piece in enumerate(pieces):
            if index in (1, 2):
                time.sleep(pauses[index])
            handler.wfile.write(piece)
            handler.wfile.flush()
        with self._lock:
            self.answered[number] = (handler.life, self._clock())

    def begin_life(self):
        with self._lock:
            self.life += 1

    def close(self):
        self._server.shutdown()
        self._server.server_close()
