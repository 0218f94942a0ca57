"""What the tests of the workers share: references, plans written by hand, and a judge and a runner on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from collections.abc import Callable
from typing import Any

import torch

from kernelsmith_process import framing
from kernelsmith_torch import plan_format
from kernelsmith_torch.accelerator import Device
from kernelsmith_process.framing import Failure
from kernelsmith_torch.reference_process import ReferenceProcess
from kernelsmith_torch.runner import Runner

LINEAR = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = torch.nn.Linear(width, 48)

        def forward(self, x):
            return torch.relu(self.linear(x))

    def get_inputs():
        return [torch.randn(16, 96)]

    def get_init_inputs():
        return [96]
"""


def reference_of(forward: str, inputs: str) -> str:
    """A reference without parameters: the body of forward(self, *x) and the list that get_inputs returns."""
    return ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, *x):\n"
            f"{textwrap.indent(textwrap.dedent(forward), ' ' * 8)}\ndef get_inputs():\n    return {inputs}\n")


class Plan:
    """A plan, written operation by operation. Tensors are named by their ids."""

    def __init__(self, inputs: list[torch.Tensor], state: list[str] = ()) -> None:
        self.json: dict[str, Any] = {
            "version": 1, "arch": 90, "kernels": [], "setup": [],
            "inputs": [{"id": i, "dtype": str(t.dtype)[6:], "shape": list(t.shape)} for i, t in enumerate(inputs)],
            "state": {name: len(inputs) + i for i, name in enumerate(state)},
            "alternatives": [{"name": "", "ops": [], "outputs": []}]}
        self._next = len(inputs) + len(state)

    def state(self, name: str) -> dict[str, int]:
        return {"t": self.json["state"][name]}

    def op(self, name: str, *args: Any, setup: bool = False, results: int = 1, **kwargs: Any) -> Any:
        """Adds aten::NAME or aten::NAME.OVERLOAD; gives its result's value, or a list of them."""
        short, _, overload = name.partition(".")
        out = [{"t": self._next + i} for i in range(results)]
        self._next += results
        where = self.json["setup"] if setup else self.json["alternatives"][-1]["ops"]
        where.append({"aten": f"aten::{short}", "overload": overload or "default", "args": list(args), "kwargs": kwargs,
                      "out": out if results != 1 else out[0]})
        return out if results != 1 else out[0]

    def output(self, value: dict[str, int], dtype: str, *shape: int) -> None:
        self.json["alternatives"][-1]["outputs"].append({"id": value["t"], "dtype": dtype, "shape": list(shape),
                                                         "stride": list(torch.empty(shape, device="meta").stride())})

    def bytes(self) -> bytes:
        return plan_format.encode(self.json, [])


X = {"t": 0}


def linear_plan() -> Plan:
    """The plan of LINEAR as PyTorch itself computes it."""
    plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
    y = plan.op("addmm", plan.state("linear.bias"), X, plan.op("t", plan.state("linear.weight")))
    plan.output(plan.op("relu", y), "float32", 16, 48)
    return plan


class Bench:
    """A judge and a runner within this process, for one reference of one workload."""

    def __init__(self, reference: str, precision: str = "fp32", slots: int = 3, tolerance: dict[str, Any] | None = None,
                 **request: Any) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "reference.py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(reference))
        self.judge, self.runner = ReferenceProcess(Device(None)), Runner(Device(None))
        try:
            self.prepared = self.judge.prepare({"reference": self.path, "precision": precision, "bank_bytes": 1 << 24,
                                                "batch_us": 1e9, "most_slots": slots, "workloads": [{"tolerance": tolerance or {}}],
                                                **request}, b"")
            self.prepared.update(self.prepared["workloads"][0])
        except Failure:
            self.folder.cleanup()
            raise
        self.runner.prepare({"reference": self.path, "precision": precision, "slots": slots,
                             "outputs": self.prepared["outputs"]}, b"")

    def judged(self, plan: Plan, sets: list[int] = [101, 102], variant: int = 0) -> dict[str, Any]:  # noqa: B006
        """Loads and runs a plan; what compare() says of its outputs."""
        self.runner.load({}, plan.bytes())
        return self.again(sets, variant)

    def again(self, sets: list[int], variant: int = 0) -> dict[str, Any]:
        self.runner.run({"variant": variant, "sets": sets}, b"")
        outbox = self.runner.publish({}, b"")["outbox"]
        return self.judge.compare({"variant": variant, "sets": sets, "outbox": outbox}, b"")

    def close(self) -> None:
        self.runner.close()
        self.folder.cleanup()


def bench_for(test: unittest.TestCase, reference: str, **request: Any) -> Bench:
    """A bench that is closed when the test ends."""
    bench = Bench(reference, **request)
    test.addCleanup(bench.close)
    return bench


def failure_of(step: Callable[[], Any]) -> Failure:
    try:
        step()
    except Failure as failure:
        return failure
    raise AssertionError("nothing failed")


class Process:
    """A worker as a process of its own, spoken to as kernelsmith does."""

    def __init__(self, role: str, *where: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-m", "kernelsmith_torch.worker", role, *(where or ["--cpu"])],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, blob: bytes = b"", **request: Any) -> dict[str, Any]:
        framing.write_message(self.process.stdin, request, blob)
        reply = framing.read_message(self.process.stdout)
        assert reply is not None, "the worker ended"
        return reply[0]

    def end(self) -> int:
        self.process.stdin.close()
        status = self.process.wait(30)
        self.process.stdout.close()
        return status
