"""Autotuned kernels: no more configurations are compiled than a plan can hold, and what was left out is named."""

import os
from types import SimpleNamespace

from support import Planner, candidate, forward, needs_torch
from kernelsmith_torch import planner
from kernelsmith_torch.progress import Progress
from kernelsmith_torch.tuning import spread


def tuned(name, configs, more=""):
    return f"""
@triton.autotune(configs=[{configs}], key=[]{more})
@triton.jit
def {name}(y, B: tl.constexpr, C: tl.constexpr = 0):
    tl.store(y + tl.arange(0, B), 1.)
"""


MANY = 'triton.Config({"B": 16, "C": c}) for c in range(100)'
CALL = "y = torch.empty(64, device=x.device); {}; return y"


@needs_torch
class Tuning(Planner):
    def names(self, text, kernels=("fill",)):
        plan, _, summary = self.plan(candidate(text) + forward(CALL.format("; ".join(f"{k}[(1,)](y)" for k in kernels))))
        return [each["name"].replace(" num_warps=4 num_stages=3", "") for each in plan["alternatives"]], summary

    def test_an_even_spread_is_compiled(self):
        names, summary = self.names(tuned("fill", MANY))
        self.assertEqual((len(names), names[0], names[-1]), (32, "B=16 C=0", "B=16 C=99"))
        self.assertEqual(summary["alternatives_left_out"], 68)

    def test_several_kernels_share(self):
        names, summary = self.names(tuned("fill", MANY) + tuned("more", MANY), ("fill", "more", "fill"))
        self.assertEqual((len(names), summary["alternatives_left_out"]), (32, 84 + 83))
        self.assertEqual(sum(name.startswith("more") for name in names), 16)

    def test_the_candidates_pruning_counts(self):
        names, summary = self.names("""
def few(configs, named, **kwargs): return [c for c in configs if c.kwargs["C"] % 2]
def cost(y, B, C, **kwargs): return abs(C - 50)
""" + tuned("fill", MANY, ', prune_configs_by={"early_config_prune": few, "perf_model": cost, "top_k": 60}'))
        self.assertEqual(names[:3], ["B=16 C=49", "B=16 C=51", "B=16 C=47"])
        self.assertEqual((len(names), summary["alternatives_left_out"]), (32, 18))

    def test_a_model_that_needs_a_driver_is_left_out(self):
        names, _ = self.names("def cost(**kwargs): raise OSError\n" + tuned(
            "fill", MANY, ', prune_configs_by={"perf_model": cost, "top_k": 3}'))
        self.assertEqual((len(names), names[-1]), (32, "B=16 C=99"))

    def test_tuners_of_a_library_are_tuned_as_tritons(self):
        names, _ = self.names("""
class Mine(triton.runtime.autotuner.Autotuner):
    def run(self, *args, **kwargs):
        raise ValueError("times them itself")
@triton.jit
def inner(y, B: tl.constexpr): tl.store(y + tl.arange(0, B), 1.)
fill = Mine(inner, inner.arg_names, [triton.Config({"B": b}) for b in (16, 32)], [], None, None)
""")
        self.assertEqual(names, ["B=16", "B=32"])

    def test_what_took_too_long_is_said(self):
        error = self.refusal(candidate("""
            @triton.jit
            def add(a): tl.store(a, 1.)
        """) + forward("add[(1,)](x)\nwhile True: pass"), "timed_out", timeout_s=2)
        self.assertRegex(error["message"], "planning took more than .*: then it was (compiling add|executing )")
        error = self.refusal("import time\ntime.sleep(1000)", "timed_out", timeout_s=1)
        self.assertIn("4 s of wall time: then it was executing the candidate's module",
                      error["message"])

    def test_the_time_limit_counts_work(self):
        progress, other = SimpleNamespace(seconds=lambda child: 9), SimpleNamespace(seconds=lambda child: 2)
        limit = planner._Limit(10_000)
        self.assertEqual(limit.left(1, progress), 9_991)
        limit.ended(1, progress)
        self.assertEqual(limit.left(2, other), 9_989)
        self.assertEqual(limit.words(), "10000 s of processor time")

    def test_progress_counts_the_child_and_its_compilations(self):
        progress = Progress()
        before = progress.seconds(os.getpid())
        self.assertGreater(before, 0)
        self.assertEqual(progress.words(), "it had not begun")
        progress.doing("compiling add", compiled=3)
        self.assertGreaterEqual(progress.seconds(os.getpid()), before)
        self.assertEqual(progress.words(), "3 kernels and configurations were compiled; then it was compiling add")
        progress.close()

    def test_spread(self):
        self.assertEqual(spread(list(range(10)), 4), [0, 3, 6, 9])
        self.assertEqual(spread([1, 2], 4), [1, 2])
        self.assertEqual(spread([1, 2, 3], 1), [1])
