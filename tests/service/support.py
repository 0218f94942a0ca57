"""What the tests of `kernelsmith serve` share: a service over a task that is scored at once, and a client of it."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import urlsplit

KERNELSMITH = os.environ["KERNELSMITH"]
PATIENCE_S = 120

TASK = """\
version: 1
name: {name}
backend: command
files: {{seed: seed.txt, also: score.sh}}
command: [{program}, score.sh, "{{candidate}}", "{{answer}}"]
timeout_s: 600
"""

# The candidate is its own score, or says what becomes of it. `marker` can be found among the machine's processes.
SCORE = """\
case "$(cat "$1")" in
  hang*) exec sleep {marker} ;;
  slow*) sleep 0.5; echo '{{"fitness": 1}}' > "$2" ;;
  fail*) echo "no such luck" >&2; exit 3 ;;
  *) echo "{{\\"fitness\\": $(cat "$1")}}" > "$2" ;;
esac
"""


def until(condition):
    while not condition():
        time.sleep(0.01)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)


class Service:
    """A running `kernelsmith serve`. Leaves nothing behind."""

    def __init__(self, folder, *options, env=None, tasks=("hill",), program="sh"):
        self.marker = f"31{os.getpid()}.{id(self) % 1000000}"
        words = []
        for name in tasks:
            task = Path(folder) / name
            task.mkdir(exist_ok=True)
            (task / "task.yaml").write_text(TASK.format(name=name, program=program))
            (task / "score.sh").write_text(SCORE.format(marker=self.marker))
            (task / "seed.txt").write_text("1\n")
            words += ["--task", str(task)]
        self.process = subprocess.Popen(
            [KERNELSMITH, "serve", *words, "--port", "0", *map(str, options)], env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise AssertionError(f"no service: {line} {self.process.communicate()}")
        self.url = line.split()[-1]

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE_S)
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, text, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, task_id, code, path="/evaluate", **fields):
        return self.ask("POST", path, {"task_id": task_id, "kernel_code": code, **fields})

    def result(self, task_id):
        return self.get(f"/results/{task_id}?wait={PATIENCE_S}").json

    def metric(self, name):
        for line in self.get("/metrics").text.splitlines():
            if line.rpartition(" ")[0] == name:
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no metric {name}")

    def candidates_running(self):
        """Whether a candidate that hangs is among this machine's processes."""
        for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if cmdline.read_bytes() == b"sleep\0" + self.marker.encode() + b"\0":
                    return True
            except OSError:
                pass  # it ended meanwhile
        return False

    def terminate(self):
        self.process.terminate()

    def wait(self):
        """Exit status and what it printed to stderr."""
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.process.stdout.close()
        self.process.stderr.close()


class ServiceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def serve(self, *options, **more):
        service = Service(self.folder, *options, **more)
        self.addCleanup(service.close)
        return service


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
