"""A fleet whose bytes are damaged on their way, and one whose server has a full disk."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from support import PATIENCE_S, SCORE, CommandTest, wait_for, write_task  # noqa: E402
from nats_server import NatsServer  # noqa: E402


class Wire:
    """Carries bytes between a port of its own and a server's, and damages those that go to `damages`."""

    def __init__(self, url):
        self._server = ("127.0.0.1", int(url.rpartition(":")[2]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"nats://127.0.0.1:{self._listener.getsockname()[1]}"
        self.damages = ()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            for source, target, name in ((client, server, "server"), (server, client, "client")):
                threading.Thread(target=self._carry, args=(source, target, name), daemon=True).start()

    def _carry(self, source, target, name):
        try:
            while data := source.recv(65536):
                target.sendall(bytes(byte ^ 0x15 for byte in data) if name in self.damages else data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        source.close()


class DamageTest(CommandTest):
    def worker(self, url):
        worker = self.begin("worker", "--nats", url, "--backend", "command", "--slots", 2, "--ack-wait", "1s")
        self.hears(worker, "joined the fleet")
        return worker

    def hears(self, process, text):
        while text not in (line := process.stderr.readline()):
            self.assertNotEqual(line, "", f"it ended without: {text}")

    def search(self, url, *more):
        write_task(self.folder / "task", score_sh=SCORE + "sleep 0.02\n")
        return self.begin("run", "task", "--out", "a.run", "--evaluations", 200, "--workers", 4, "--set",
                            f"evaluator.fleet.nats={url}", "--set", "limits.confirm=false", *more)

    def ended(self, process):
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out + err


class WireTest(DamageTest):
    def test_damaged_bytes_are_no_end(self):
        self.survives(("server", "client"))

    def test_what_the_server_cannot_read_is_no_end(self):
        """It says so and closes the connection, which libnats then leaves closed."""
        self.survives(("server",))

    def survives(self, damages):
        server = NatsServer()
        self.addCleanup(server.close)
        wire = Wire(server.url)
        self.addCleanup(wire.close)
        worker = self.worker(wire.url)
        run = self.search(wire.url)
        wait_for((self.folder / "a.run").exists, "the run")
        wire.damages = damages
        self.hears(worker, "the server is away")
        wire.damages = ()
        self.hears(worker, "the server is back")
        status, text = self.ended(run)
        self.assertEqual(status, 0, text)
        for wrong in ("too_long", "max_payload"):
            self.assertNotIn(wrong, text)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(worker)[0], 0)


class SmallDisk(NatsServer):
    """A server whose store is a file system of 8 MB, which only it sees."""

    @staticmethod
    def possible():
        mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(mount, capture_output=True).returncode == 0

    def command(self):
        store = str(self.store)
        os.makedirs(store, exist_ok=True)
        mount = 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'
        return ["unshare", "-rm", "sh", "-c", mount, store, *super().command()]

    def fill(self):
        """To the last byte."""
        with open(f"/proc/{self.pid}/root{self.store}/filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass


@unittest.skipUnless(shutil.which("unshare") and SmallDisk.possible(), "no file system can be mounted here")
class DiskTest(DamageTest):
    def setUp(self):
        super().setUp()
        self.server = SmallDisk()
        self.addCleanup(self.server.close)

    def test_a_full_disk_is_named(self):
        self.worker(self.server.url)
        run = self.search(self.server.url, "--set", "evaluator.fleet.patience_s=2")
        wait_for((self.folder / "a.run").exists, "the run")
        self.server.fill()
        status, text = self.ended(run)
        self.assertEqual(status, 3, text)
        self.assertIn("disk", text)

    def test_a_server_with_room_again_goes_on(self):
        self.worker(self.server.url)
        run = self.search(self.server.url)
        wait_for((self.folder / "a.run").exists, "the run")
        self.server.fill()
        self.hears(run, "disk")
        self.server.kill()
        self.server.start()
        status, text = self.ended(run)
        self.assertEqual(status, 0, text)


if __name__ == "__main__":
    if not NatsServer.installed():
        print("nats-server is not installed")
        sys.exit(77)
    unittest.main()
