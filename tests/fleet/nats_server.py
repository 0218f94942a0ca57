"""A nats-server of a test's own, on a free port of this machine, with JetStream in a folder of its own."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE_S = 60
PATH = os.environ["PATH"] + ":/usr/sbin"


class NatsServer:
    @staticmethod
    def installed():
        return shutil.which("nats-server", path=PATH) is not None

    def __init__(self, *arguments):
        self._arguments = arguments
        self._folder = tempfile.TemporaryDirectory(prefix="kernelsmith-nats-")
        self._port = -1
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.kill()
        self._folder.cleanup()

    @property
    def url(self):
        return f"nats://127.0.0.1:{self._port}"

    @property
    def store(self):
        """Where it keeps its streams; a configuration file (-c) says so itself, or has no JetStream after a reload."""
        return Path(self._folder.name, "store")

    @property
    def pid(self):
        return self._process.pid

    def command(self):
        stream = [] if "-c" in self._arguments else ["-js", "-sd", str(self.store)]
        return [shutil.which("nats-server", path=PATH), *stream, "-a", "127.0.0.1", "-p", str(self._port),
                "--ports_file_dir", self._folder.name, *self._arguments]

    def start(self):
        """Returns when it takes connections; again on the same port."""
        with open(f"{self._folder.name}/log", "a") as log:
            self._process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while not self._takes_connections():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError("nats-server does not start:\n" + Path(self._folder.name, "log").read_text())
            time.sleep(0.01)

    def _takes_connections(self):
        if self._port == -1:
            for file in Path(self._folder.name).glob("*.ports"):
                try:
                    self._port = int(json.loads(file.read_text())["nats"][0].rsplit(":", 1)[1])
                except ValueError:  # it is being written
                    return False
        if self._port == -1:
            return False
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            return True
        except OSError:
            return False

    def request(self, subject):
        """What the server answers a request of an administrator's, such as $JS.API.STREAM.DELETE.NAME."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE_S) as connection:
            connection.sendall(b'CONNECT {"verbose": false}\r\nSUB answer 1\r\n' + f"PUB {subject} answer 0\r\n\r\n".encode())
            lines = connection.makefile("rb")
            while not lines.readline().startswith(b"MSG answer"):
                pass
            return json.loads(lines.readline())

    def kill(self):
        self._process.kill()
        self._process.wait()

    def reload(self):
        """Its configuration file has changed."""
        self._process.send_signal(signal.SIGHUP)
