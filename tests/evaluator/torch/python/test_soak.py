"""Honest and hostile candidates in random order, through one runner and one planner: no honest one suffers for another."""

from __future__ import annotations

import random
import unittest
from collections.abc import Callable
from typing import Any

import torch

from support import REFERENCE, Planner, candidate, forward, needs_torch
from worker_bench import LINEAR, X, Bench, Plan, bench_for, failure_of, linear_plan
from kernelsmith_process.framing import Failure
from kernelsmith_torch import plan_format

WEIGHT, BIAS = "linear.weight", "linear.bias"


def sum_of_parts() -> Plan:
    """LINEAR in two halves, from weights that the constructor packs."""
    plan = Plan([torch.empty(16, 96)], [WEIGHT, BIAS])
    packed = plan.op("clone", plan.op("t", plan.state(WEIGHT), setup=True), setup=True)
    y = plan.state(BIAS)
    for start in (0, 48):
        y = plan.op("add.Tensor", y, plan.op("mm", plan.op("slice.Tensor", X, 1, start, start + 48),
                                             plan.op("slice.Tensor", packed, 0, start, start + 48)))
    plan.output(plan.op("relu", y), "float32", 16, 48)
    return plan


def in_a_workspace() -> Plan:
    """LINEAR, by way of a buffer that the constructor makes."""
    plan = Plan([torch.empty(16, 96)], [WEIGHT, BIAS])
    space = plan.op("zeros", [16, 48], setup=True)
    plan.op("copy_", space, plan.op("addmm", plan.state(BIAS), X, plan.op("t", plan.state(WEIGHT))))
    plan.output(plan.op("relu", space), "float32", 16, 48)
    return plan


def writing_out(target: str, *shape: int) -> Callable[[], Plan]:
    """A plan that has an operator change the shape of an input or a parameter, as `out`."""

    def make() -> Plan:
        plan = linear_plan()
        whole = plan.op("zeros", list(shape))
        plan.op("add.out", whole, 1, out=X if target == "x" else plan.state(target))
        return plan

    return make


def changing_parameters(then_failing: bool) -> Callable[[], Plan]:
    def make() -> Plan:
        plan = linear_plan()
        plan.op("mul_.Tensor", plan.state(WEIGHT), 2, setup=True)
        if then_failing:
            plan.op("view", plan.state(BIAS), [7], setup=True)
        return plan

    return make


def with_inputs(*shape: int) -> Callable[[], Plan]:
    def make() -> Plan:
        plan = linear_plan()
        plan.json["inputs"][0]["shape"] = list(shape)
        return plan

    return make


def failing_late() -> Plan:
    plan = linear_plan()
    plan.op("mul_.Tensor", X, 3)
    plan.op("view", X, [7])
    return plan


def greedy() -> Plan:
    plan = linear_plan()
    plan.op("zeros", [1 << 40])
    return plan


def wrong_output() -> Plan:
    plan = linear_plan()
    plan.op("zero_", {"t": plan.json["alternatives"][0]["outputs"][0]["id"]})
    return plan


HONEST = [linear_plan, sum_of_parts, in_a_workspace]
HOSTILE = [writing_out("x", 64, 960), writing_out("x", 2, 3), writing_out(WEIGHT, 480, 960), writing_out(BIAS, 1),
           changing_parameters(True), changing_parameters(False), with_inputs(16, 95), with_inputs(16), failing_late, greedy,
           wrong_output]


class Runners(unittest.TestCase):
    def test_no_operator_changes_the_shape_of_what_the_runner_keeps(self) -> None:
        for target, shape, code in (("x", (64, 960), "operation_failed"), ("x", (2, 3), "operation_failed"),
                                    (WEIGHT, (480, 960), "operation_failed"), (BIAS, (1,), "input_modified")):
            bench = bench_for(self, LINEAR)
            before = [t.shape for t in bench.runner._state.values()]
            failed = failure_of(lambda: self.play(bench, writing_out(target, *shape)().bytes(), [1], 0))
            self.assertEqual((failed.fault, failed.code), ("candidate", code))
            self.assertEqual([t.shape for t in bench.runner._state.values()], before)
            self.assertIsNone(bench.judged(linear_plan())["wrong"])

    def test_no_honest_plan_suffers_for_another(self) -> None:
        bench = Bench(LINEAR)
        self.addCleanup(lambda: bench.close())
        draw = random.Random(40)
        due = bench.judged(linear_plan(), sets=[7])["digest"]
        refused = replaced = 0
        for number in range(150):
            hostile = draw.random() < 0.6
            plan = draw.choice(HOSTILE if hostile else HONEST)()
            data = plan.bytes()
            if hostile and draw.random() < 0.2:
                data = data[:draw.randrange(len(data))]
            try:
                found = self.play(bench, data, [draw.randrange(1, 2**62) for _ in range(draw.randrange(1, 4))], draw.randrange(3))
                if hostile:
                    self.assertIsNotNone(found["wrong"], number)
                else:
                    self.assertIsNone(found["wrong"], number)
                    if plan.json == linear_plan().json:
                        self.assertEqual(bench.again([7])["digest"], due, number)
            except Failure as failure:
                self.assertTrue(hostile, (number, failure.message))
                self.assertEqual(failure.fault, "candidate", failure.message)
                refused += 1
                if failure.code == "input_modified":  # then kernelsmith replaces the runner
                    bench.close()
                    bench = Bench(LINEAR)
                    replaced += 1
        self.assertGreater(refused, 40)
        self.assertGreater(refused, replaced)

    @staticmethod
    def play(bench: Bench, plan: bytes, sets: list[int], variant: int) -> dict[str, Any]:
        """One candidate, as the evaluator has it judged."""
        do = bench.runner.handlers()
        do["load"]({}, plan)
        do["run"]({"variant": variant, "sets": sets}, b"")
        outbox = do["publish"]({}, b"")["outbox"]
        return bench.judge.compare({"variant": variant, "sets": sets, "outbox": outbox}, b"")


def gives_garbage() -> str:
    return candidate("""
        import os
        for fd in range(3, 64):
            try: os.write(fd, b"x" * 99)
            except OSError: pass
        os._exit(0)
    """)


BAD_SOURCES = {
    "ends its process": "import os; os._exit(1)",
    "writes garbage": gives_garbage(),
    "changes the planner's package": candidate("""
        import kernelsmith_torch.planning as p, kernelsmith_torch.plan_format as f
        p.assemble = f.encode = f.decode = p._trace = lambda *a, **k: None
    """),
    "says that it has other inputs": candidate("""
        import sys, torch
        frame = sys._getframe()
        while frame is not None:
            task = frame.f_locals.get("task")
            if task is not None:
                task.tensors = [torch.empty(3, 3)]
            frame = frame.f_back
    """) + forward("return self.linear(x)"),
    "leaves modules": candidate("""
        for name in ("reference", "candidate", "triton"):
            open(name + ".py", "a").write("raise ValueError\\n")
        raise ValueError
    """),
    "has no model": "x = 1",
    "is no Python": "def f(:",
}


@needs_torch
class Planners(Planner):
    def test_no_honest_source_suffers_for_another(self) -> None:
        draw = random.Random(41)
        good = forward("return F.gelu(self.linear(x))")
        first, _, _ = self.plan(good)
        for name in draw.sample(sorted(BAD_SOURCES), len(BAD_SOURCES)):
            reply, blob = self.ask(do="plan", reference=REFERENCE, candidate=BAD_SOURCES[name], timeout_s=60)
            if "error" in reply:
                self.assertEqual(reply["error"]["fault"], "candidate", (name, reply))
            else:
                plan_format.decode(blob)
            self.assertEqual(self.plan(good)[0], first, name)
