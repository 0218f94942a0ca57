"""Workers that are forked from one process, with PyTorch: what that process has done before, and what they share."""

from __future__ import annotations

import io
import os
import select
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any

from worker_bench import LINEAR, linear_plan
from kernelsmith_process import framing

# A program that says what its process has drawn and opened.
PROBE = """
    import os, random, sys
    import kernelsmith_torch.worker, numpy, torch
    from kernelsmith_process import framing

    def warm():
        kernelsmith_torch.worker.warm()

    def main():
        drawn = {"python": random.random(), "numpy": numpy.random.rand(), "torch": float(torch.rand(1))}
        told = {"cuda": torch.cuda.is_initialized(), "threads": len(os.listdir("/proc/self/task")),
                "allocator": os.environ["PYTORCH_CUDA_ALLOC_CONF"], "arguments": sys.argv[1:]}
        torch.rand(1000, 1000) @ torch.rand(1000, 1000)  # needs threads of its own
        framing.serve(*framing.take_streams(), lambda request, blob: ({"drawn": drawn, "told": told}, b""))
        return 7
"""


class Channel:
    def __init__(self) -> None:
        self.socket, self.theirs = socket.socketpair()
        self.stream = self.socket.makefile("rwb")

    def ask(self, blob: bytes = b"", passed: tuple[int, ...] = (), **request: Any) -> dict[str, Any]:
        message = io.BytesIO()
        framing.write_message(message, request, blob)
        first = message.getvalue()[:1]
        if passed:
            socket.send_fds(self.socket, [first], passed)
        self.stream.write(message.getvalue()[len(first) if passed else 0:])
        self.stream.flush()
        reply = framing.read_message(self.stream)
        assert reply is not None, "the process ended"
        return reply[0]

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


class Warm(Channel):
    """A process that has imported the program."""

    def __init__(self, module: str, folder: str = "") -> None:
        super().__init__()
        path = os.pathsep.join(filter(None, [folder, os.environ["PYTHONPATH"]]))
        with self.theirs:
            self.process = subprocess.Popen([sys.executable, "-m", "kernelsmith_process.warm", module], stdin=self.theirs,
                                            stdout=self.theirs, env={**os.environ, "PYTHONPATH": path})

    def fork(self, *arguments: str) -> Channel:
        child = Channel()
        with child.theirs as theirs:
            child.pid = self.ask(passed=(theirs.fileno(), 2), do="fork", argv=["program", *arguments], cgroup="")["pid"]
        return child

    def end(self, child: Channel) -> int:
        child.close()
        return self.ask(do="reap", pid=child.pid)["status"]


class Probe(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(os.path.join(folder.name, "probe.py"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(PROBE))
        self.warm = Warm("probe", folder.name)
        self.addCleanup(self.warm.process.wait, 60)
        self.addCleanup(self.warm.close)

    def test_one_thread_forks_and_every_child_draws_its_own_numbers(self) -> None:
        self.assertEqual(self.warm.ask(do="hello")["threads"], 1)
        children = [self.warm.fork("judge", str(number)) for number in range(2)]
        one, two = [child.ask(do="tell") for child in children]
        self.assertEqual(one["told"], {"cuda": False, "threads": 1, "allocator": "expandable_segments:True",
                                       "arguments": ["judge", "0"]})
        self.assertEqual(two["told"]["arguments"], ["judge", "1"])
        self.assertNotEqual(one["drawn"]["python"], two["drawn"]["python"])
        self.assertNotEqual(one["drawn"]["numpy"], two["drawn"]["numpy"])
        self.assertEqual(one["drawn"]["torch"], two["drawn"]["torch"], "PyTorch starts every process with the same seed")
        self.assertEqual([self.warm.end(child) for child in children], [7, 7])

    def test_children_end_with_the_process_that_forked_them(self) -> None:
        child = self.warm.fork()
        watch = os.pidfd_open(child.pid)
        self.addCleanup(os.close, watch)
        self.addCleanup(child.close)
        self.assertIn("drawn", child.ask(do="tell"))
        self.assertEqual(select.select([watch], [], [], 0)[0], [])
        self.warm.close()  # as when kernelsmith is killed
        self.assertEqual(select.select([watch], [], [], 60)[0], [watch])


class Workers(unittest.TestCase):
    def test_judge_and_runner_of_one_process_share_outputs(self) -> None:
        warm = Warm("kernelsmith_torch.worker")
        self.addCleanup(warm.process.wait, 60)
        self.addCleanup(warm.close)
        judge, runner = warm.fork("judge", "--cpu"), warm.fork("runner", "--cpu")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(textwrap.dedent(LINEAR))
            file.flush()
            slots = judge.ask(do="prepare", reference=file.name, precision="fp32", baseline="eager", most_slots=4,
                              batch_us=1e9, bank_bytes=1 << 20)["workloads"][0]["slots"]
            self.assertTrue(runner.ask(do="prepare", reference=file.name, precision="fp32", slots=slots)["ok"])
        self.assertTrue(runner.ask(linear_plan().bytes(), do="load")["ok"])
        self.assertTrue(runner.ask(do="run", variant=1, sets=[7, 8])["ok"])
        found = judge.ask(do="compare", variant=1, sets=[7, 8], outbox=runner.ask(do="publish")["outbox"])
        self.assertIsNone(found["wrong"])
        self.assertEqual([warm.end(judge), warm.end(runner)], [0, 0])


if __name__ == "__main__":
    unittest.main()
