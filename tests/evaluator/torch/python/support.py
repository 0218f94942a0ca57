"""A planner for tests, and a replay of plans without launches on the CPU."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
import unittest

from kernelsmith_process.framing import read_message, write_message
from kernelsmith_torch.plan_format import decode

MISSING = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
needs_torch = unittest.skipIf(MISSING, f"{' and '.join(MISSING)} missing: pip install torch triton")

HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
try:
    import triton, triton.language as tl
except ImportError:
    pass
"""

REFERENCE = HEAD + """
class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.linear = nn.Linear(cols, 32)
    def forward(self, x):
        return F.gelu(self.linear(x))
def get_inputs(): return [torch.randn(64, 48)]
def get_init_inputs(): return [48]
"""


def candidate(text: str) -> str:
    return HEAD + textwrap.dedent(text)


def forward(body: str, constructor: str = "") -> str:
    """A candidate with the reference's parameters, `constructor` after them, and `body` as its forward."""
    return candidate("class ModelNew(nn.Module):\n    def __init__(self, cols):\n        super().__init__()\n"
                     "        self.linear = nn.Linear(cols, 32)\n" + textwrap.indent(textwrap.dedent(constructor), " " * 8)
                     + "\n    def forward(self, x):\n" + textwrap.indent(textwrap.dedent(body), " " * 8) + "\n")


class Planner(unittest.TestCase):
    """Tests with one planner process, which must survive all that its children do."""

    @classmethod
    def setUpClass(cls):
        cls.process = subprocess.Popen([sys.executable, "-m", "kernelsmith_torch.planner"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()

    def ask(self, **request):
        write_message(self.process.stdin, request)
        return read_message(self.process.stdout)

    def plan(self, text, reference=REFERENCE, **more):
        """The plan, which a runner would take, its cubins and the summary."""
        import torch
        from kernelsmith_torch.plan_check import check_plan

        reply, blob = self.ask(do="plan", reference=reference, candidate=text, **{"timeout_s": 120, **more})
        self.assertNotIn("error", reply)
        plan, cubins = decode(blob)
        check_plan(plan, cubins, (0, 0), torch.device("cpu"))
        return plan, cubins, reply["plans"][0]["summary"]

    def refusal(self, text, code, reference=REFERENCE, fault="candidate", **more):
        reply, blob = self.ask(do="plan", reference=reference, candidate=text, **{"timeout_s": 120, **more})
        self.assertIn("error", reply)
        error = reply["error"]
        self.assertEqual((error["code"], error["fault"]), (code, fault), error)
        self.assertEqual(blob, b"")
        return error


def operators(plan, alternative=0):
    return [op["aten"].removeprefix("aten::") for op in plan["alternatives"][alternative]["ops"] if "aten" in op]


def launches(plan, alternative=0):
    return [op for op in plan["alternatives"][alternative]["ops"] if "launch" in op]


def replay(plan, inputs, state):
    """The outputs of a plan without launches, on tensors of the CPU: twice, like a runner, and the second's."""
    import torch

    known = {entry["id"]: tensor for entry, tensor in zip(plan["inputs"], inputs)}
    known.update({number: state[name] for name, number in plan["state"].items()})

    def value(v):
        if isinstance(v, list):
            return [value(each) for each in v]
        if not isinstance(v, dict):
            return v
        (kind, of), = v.items()
        return {"t": lambda: known[of], "dtype": lambda: getattr(torch, of), "device": lambda: torch.device("cpu"),
                "float": lambda: float(of), "layout": lambda: getattr(torch, of),
                "memory_format": lambda: getattr(torch, of)}[kind]()

    def bind(out, result):
        if isinstance(out, dict):
            known[out["t"]] = result
        elif isinstance(out, list):
            for each, of in zip(out, result, strict=True):
                bind(each, of)

    def run(ops):
        for op in ops:
            if "constant" in op:
                told = op["constant"]
                bind(op["out"], torch.tensor(value(told["values"]), dtype=getattr(torch, told["dtype"])).reshape(told["shape"]))
            else:
                call = getattr(getattr(torch.ops.aten, op["aten"].removeprefix("aten::")), op["overload"])
                bind(op["out"], call(*value(op["args"]), **{k: value(v) for k, v in op["kwargs"].items()}))

    run(plan["setup"])
    for _ in range(2):
        run(plan["alternatives"][0]["ops"])
    return [known[out["id"]] for out in plan["alternatives"][0]["outputs"]]
