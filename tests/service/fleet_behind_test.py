"""A fleet behind the service: its worker evaluates what the service is asked."""

import shutil
import socket
import subprocess
import sys
import time

from support import KERNELSMITH, ServiceTest, main

SKIPPED = 77


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(condition):
    while not condition():
        time.sleep(0.01)


class FleetBehind(ServiceTest):
    def start(self, *words):
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def test_the_same_answers_from_another_process(self):
        port = free_port()
        nats = f"nats://127.0.0.1:{port}"
        self.start("nats-server", "-js", "-sd", str(self.folder / "nats"), "-a", "127.0.0.1", "-p", str(port))
        until(lambda: listens(port))
        self.start(KERNELSMITH, "worker", "--nats", nats, "--backend", "command", "--slots", "2")
        service = self.serve("--set", f"evaluator.fleet.nats={nats}")
        for i in range(1, 9):
            service.post(f"id{i}", str(i))
        self.assertEqual([service.result(f"id{i}")["speedup"] for i in range(1, 9)], list(range(1, 9)))


if __name__ == "__main__":
    without = subprocess.run([KERNELSMITH, "worker", "--help"], capture_output=True, text=True).returncode != 0
    if without or not shutil.which("nats-server"):
        print("needs nats-server and a kernelsmith with libnats")
        sys.exit(SKIPPED)
    main()
