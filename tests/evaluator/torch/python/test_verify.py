"""A candidate in plain PyTorch: the first thing that fails is named, and it is told from a reference that fails."""

import dataclasses
import json
import multiprocessing
import tempfile
import unittest
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from support import HEAD, needs_torch

REFERENCE = HEAD + """
class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.linear = nn.Linear(cols, 8)
    def forward(self, x):
        return self.linear(x), x.sum(1)
def get_inputs(): return [torch.rand(4, 6)]
def get_init_inputs(): return [6]
"""


def candidate(body: str, constructor: str = "self.linear = nn.Linear(cols, 8)") -> str:
    return HEAD + f"""
class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        {constructor}
    def forward(self, x):
        {body}
"""


def run(reference: str, text: str, options: tuple[str, ...]) -> dict:
    """The verdict, or the failure of the reference."""
    from kernelsmith_process.framing import Failure  # noqa: PLC0415
    from kernelsmith_torch import verify  # noqa: PLC0415
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("reference.py", "new.py")]
        for file, content in zip(files, (reference, text)):
            file.write_text(content)
        chosen = verify.arguments_of([*map(str, files), "--cpu", "--trials", "2", *options])
        try:
            return dataclasses.asdict(verify.verify(chosen, verify.Device(None)))
        except Failure as failure:
            return {"failed": f"{failure.fault}: {failure.where}: {failure.message}"}


@needs_torch
class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import kernelsmith_torch.verify  # noqa: F401, PLC0415 - once, before the forks

    def verdict(self, text: str, *options: str, reference: str = REFERENCE) -> dict:
        """In a process of its own, as candidates may end it and change what others find."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
            return pool.submit(run, reference, text, options).result()

    def test_a_right_candidate_is_timed(self):
        found = self.verdict(candidate("return torch.addmm(self.linear.bias, x, self.linear.weight.t()), x.sum(1)"))
        self.assertEqual((found["stage"], found["problem"]), ("done", ""))
        self.assertGreater(found["reference_us"], 0)
        self.assertGreater(found["candidate_us"], 0)

    def test_both_draw_alike_and_lazy_modules_are_made_alike(self):
        draws = REFERENCE.replace("return self.linear(x)", "return self.linear(x * torch.randn(4, 6))").replace(
            "nn.Linear(cols, 8)", "nn.LazyLinear(8)")
        body = "return self.other(torch.randn(4, 6) * x), x.sum(1)"
        found = self.verdict(candidate(body, "self.other = nn.LazyLinear(8)"), reference=draws)
        self.assertEqual((found["stage"], found["problem"]), ("done", ""))

    def test_what_fails_first_is_named(self):
        for text, stage, words in (
                ("raise RuntimeError('no compiler')", "build", "new.py:1: RuntimeError: no compiler"),
                (candidate("return 0", "raise ValueError('no shape')"), "construct", "no shape"),
                (candidate("return self.linear(x) @ x, x"), "run", "new.py:13"),
                (candidate("exit(3)"), "run", "SystemExit"),
                (candidate("return self.linear(x)"), "compare", "1 outputs, and the reference has 2"),
                (candidate("return self.linear(x), x.sum(0)"), "compare", "output 1 has shape [6]"),
                (candidate("return self.linear(x).double(), x.sum(1)"), "compare", "output 0 has dtype float64"),
                (candidate("return self.linear(x) + 0.25, x.sum(1)"), "compare", "output 0 differs by up to 0.25")):
            found = self.verdict(text)
            self.assertEqual(found["stage"], stage, found)
            self.assertIn(words, found["problem"])

    def test_constructors_draw_alike_in_their_own_order(self):
        found = self.verdict(candidate("return self.linear(x), x.sum(1)", "nn.Linear(3, 3); self.linear = nn.Linear(cols, 8)"))
        self.assertEqual(found["stage"], "compare")

    def test_modules_are_cast_if_the_task_says_so(self):
        wide = candidate("return self.linear(x) + self.zero, x.sum(1)",
                         "self.linear = nn.Linear(cols, 8); self.register_buffer('zero', torch.zeros(8, dtype=torch.float64))")
        self.assertIn("dtype float64", self.verdict(wide)["problem"])
        self.assertEqual(self.verdict(wide, "--cast")["stage"], "done")

    def test_a_reference_that_fails_is_no_verdict(self):
        found = self.verdict(candidate("return x"), reference=REFERENCE.replace("x.sum(1)", "x.sum(7)"))
        self.assertRegex(found["failed"], r"^task: .*reference.py:13: IndexError while running the reference")

    def test_each_workload_is_compared_and_the_timed_ones_are_timed(self):
        reference = REFERENCE.replace("def get_inputs(): return [torch.rand(4, 6)]",
                                      "def get_inputs(rows): return [torch.rand(rows, 6)]")
        workloads = '[{"name": "four", "arguments": {"rows": 4}}, {"name": "nine", "arguments": {"rows": 9}}]'
        right = candidate("return self.linear(x), x.sum(1)")
        done = self.verdict(right, "--workloads", workloads, "--timed", "0", reference=reference)
        self.assertEqual(done["stage"], "done", done)
        self.assertGreater(done["candidate_us"], 0)
        wrong = candidate("return self.linear(x), x.sum(1) + (len(x) == 9)")
        found = self.verdict(wrong, "--workloads", workloads, reference=reference)
        self.assertEqual(found["stage"], "compare")
        self.assertIn("at workload nine: output 1 differs by up to 1", found["problem"])

    def test_the_tasks_own_tolerance_replaces_kernelbenchs(self):
        off = candidate("y = x.sum(1)\n        y[0] += .5\n        return self.linear(x), y")
        self.assertEqual(self.verdict(off)["stage"], "compare")

        def stage(**figures):
            told = [{"tolerance": {"policy": "allclose", "rtol": 0, "allow": [], **figures}}]
            return self.verdict(off, "--workloads", json.dumps(told))["stage"]

        self.assertEqual(stage(atol=.6), "done")
        self.assertEqual(stage(atol=.01, matched=.75), "done")
        self.assertEqual(stage(atol=.01, matched=.8), "compare")
        self.assertEqual(stage(atol=.01, matched=.75, cap=.4), "compare")
        self.assertEqual(stage(atol=.4, rtol=.1), "done")
        self.assertEqual(stage(atol=.4, rtol=.1, either=True), "compare")
