"""A fleet behind the service: 300 requests while its server is killed, loses its store and changes its token, of which none
is lost; and requests that wait for a worker."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from support import KERNELSMITH, ServiceTest, main, until

sys.path.insert(0, str(Path(__file__).parent.parent / "fleet"))

from nats_server import NatsServer  # noqa: E402

SKIPPED = 77
PORTION = 75


class FleetFaults(ServiceTest):
    def setUp(self):
        super().setUp()
        self.file, self.store = self.folder / "nats.conf", self.folder / "store"
        self.write("first")
        self.server = NatsServer("-c", str(self.file))
        self.addCleanup(self.server.close)
        self.nats = self.server.url.replace("://", "://first@")
        self.fleet = ("--set", f"evaluator.fleet.nats={self.nats}")

    def start_worker(self):
        command = [KERNELSMITH, "worker", "--nats", self.nats, "--backend", "command", "--slots", "2"]
        self.worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.worker.stderr.close)
        self.addCleanup(self.worker.wait)
        self.addCleanup(self.worker.kill)
        self.worker_says("joined the fleet")

    def write(self, token):
        self.file.write_text(f'authorization {{ token: {token} }}\njetstream {{ store_dir: "{self.store}" }}\n')

    def worker_says(self, text):
        while text not in (line := self.worker.stderr.readline()):
            self.assertNotEqual(line, "", "the worker ended")

    def kill(self):
        self.server.kill()
        self.server.start()
        self.worker_says("the server is back")

    def lose_store(self):
        self.server.kill()
        shutil.rmtree(self.store)
        self.server.start()
        self.worker_says("the server is back")

    def change_token(self):
        self.write("second")
        self.server.reload()
        self.worker_says("does not accept these credentials")
        self.write("first")
        self.server.reload()
        self.worker_says("the server is back")

    def test_no_request_is_lost(self):
        self.start_worker()
        service = self.serve(*self.fleet, "--workers", 8)
        numbers = iter(range(1, 4 * PORTION + 1))
        for fault in (self.kill, self.lose_store, self.change_token, lambda: None):
            for number in (next(numbers) for _ in range(PORTION)):
                service.post(f"id{number}", str(number))
            fault()
        for number in range(1, 4 * PORTION + 1):
            answer = service.result(f"id{number}")
            self.assertEqual(answer.get("speedup"), number, answer)
        self.worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.wait(), 0)

    def test_without_a_worker_requests_wait(self):
        service = self.serve(*self.fleet, "--set", "evaluator.fleet.wait_for_worker_s=0.2")
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
    if without or not NatsServer.installed():
        print("needs nats-server and a kernelsmith with libnats")
        sys.exit(SKIPPED)
    main()
