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

    def setUp(self):
        super().setUp()
        port = free_port()
        self.nats = f"nats://127.0.0.1:{port}"
        self.start("nats-server", "-js", "-sd", str(self.folder / "nats"), "-a", "127.0.0.1", "-p", str(port))
        until(lambda: listens(port))

    def start_worker(self):
        self.start(KERNELSMITH, "worker", "--nats", self.nats, "--backend", "command", "--slots", "2")

    def test_the_same_answers_from_another_process(self):
        self.start_worker()
        service = self.serve("--set", f"evaluator.fleet.nats={self.nats}")
        for i in range(1, 9):
            service.post(f"id{i}", str(i))
        self.assertEqual([service.result(f"id{i}")["speedup"] for i in range(1, 9)], list(range(1, 9)))

    def test_without_a_worker_requests_wait(self):
        service = self.serve("--set", f"evaluator.fleet.nats={self.nats}", "--set", "evaluator.fleet.wait_for_worker_s=0.2")
        service.post("first", "2")
        until(lambda: service.get("/status/first").json["error_message"])
        self.assertEqual(service.get("/status/first").json["status"], "pending")
        self.assertEqual(service.post("second", "3").status, 503)
        self.start_worker()
        self.assertEqual(service.result("first")["speedup"], 2)
        self.assertEqual(service.post("second", "3").status, 200)
        self.assertEqual(service.result("second")["speedup"], 3)


if __name__ == "__main__":
    without = subprocess.run([KERNELSMITH, "worker", "--help"], capture_output=True, text=True).returncode != 0
    if without or not shutil.which("nats-server"):
        print("needs nats-server and a kernelsmith with libnats")
        sys.exit(SKIPPED)
    main()
