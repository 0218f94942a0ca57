"""The Python processes of the torch backend, for benchmarks that need no more than these: planner, judge and runner."""

import os
import pathlib
import queue
import subprocess
import sys
import threading

EVALUATOR = pathlib.Path(__file__).resolve().parent.parent / "evaluator"
FOLDERS = [str(EVALUATOR / "torch" / "python"), str(EVALUATOR / "python_process" / "program")]
sys.path[0:0] = FOLDERS

sys.path.append(str(EVALUATOR.parent / "tests" / "evaluator" / "torch"))

from kernelsmith_process import framing  # noqa: E402
from own_kernels import own_kernels  # noqa: E402


class Refused(Exception):
    """An error that a process answered with, or that it did not answer."""


class Process:
    """One of the processes. Not thread-safe."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.name = arguments[0] if arguments else module.rpartition(".")[2]
        self.process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS)})

    def ask(self, blob: bytes = b"", limit_s: float = 60, **request: object) -> tuple[dict, bytes]:
        """The reply and its blob. Raises Refused for an error, and after `limit_s`, when the process is killed."""
        alarm = threading.Timer(limit_s, self.process.kill)
        alarm.start()
        try:
            framing.write_message(self.process.stdin, request, blob)
            reply = framing.read_message(self.process.stdout)
        except (framing.FramingError, OSError):
            reply = None
        finally:
            alarm.cancel()
        if reply is None:
            raise Refused(f"{self.name} ended while asked to {request['do']}")
        if "ok" not in reply[0]:
            error = reply[0]["error"]
            raise Refused(f"{error['code']}: {error['message'][:200]} {error.get('where', '')}")
        return reply

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def planner() -> Process:
    return Process("kernelsmith_torch.planner")


def worker(role: str) -> Process:
    return Process("kernelsmith_torch.worker", role)


def prepare(judge: Process, runner: Process, path: pathlib.Path) -> dict:
    """Both get the reference at `path`. Returns the judge's answer."""
    told, _ = judge.ask(do="prepare", reference=str(path), precision="fp32", baseline="eager",
                        bank_bytes=2 << 30, batch_us=200, most_slots=32,
                        kernels=own_kernels())
    told.update(told["workloads"][0])
    runner.ask(do="prepare", reference=str(path), precision="fp32", slots=told["slots"], outputs=told["outputs"],
               memory=told["memory"], kernels=own_kernels())
    return told


def compare(judge: Process, runner: Process, variant: int, sets: list[int]) -> dict:
    """What the judge finds in the runner's last batch."""
    told, _ = runner.ask(do="publish")
    return judge.ask(do="compare", variant=variant, sets=sets, outbox=told["outbox"])[0]


def planned_ahead(process: Process, requests: list[dict]) -> "queue.Queue[tuple[dict | Refused, bytes]]":
    """Plans one after the other in a thread of its own; the queue gets them in order."""
    plans: queue.Queue = queue.Queue(maxsize=8)

    def work() -> None:
        for request in requests:
            try:
                plans.put(process.ask(do="plan", arch=90, timeout_s=60, most_bytes=64 << 20, name="candidate.py", **request))
            except Refused as error:
                plans.put((error, b""))

    threading.Thread(target=work, daemon=True).start()
    return plans
