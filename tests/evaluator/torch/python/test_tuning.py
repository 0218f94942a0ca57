"""Autotuned kernels: no more configurations are compiled than a plan can hold, and what was left out is said."""

import unittest

from support import Planner, candidate, forward, needs_torch

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

    def test_the_time_limit_counts_work_and_says_what_took_it(self):
        error = self.refusal(candidate("""
            import time
            time.sleep(3)
            @triton.jit
            def add(a): tl.store(a, 1.)
        """) + forward("add[(1,)](x)\nwhile True: pass"), "timed_out", timeout_s=2)
        self.assertRegex(error["message"], "more than 2 s of processor time: then it was compiling add|executing forward")
        error = self.refusal("import time\ntime.sleep(1000)", "timed_out", timeout_s=1)
        self.assertIn("4 s by the clock, whatever it worked in them: then it was executing the candidate's module", error["message"])

    def test_spread(self):
        self.assertEqual(spread(list(range(10)), 4), [0, 3, 6, 9])
        self.assertEqual(spread([1, 2], 4), [1, 2])
        self.assertEqual(spread([1, 2, 3], 1), [1])


if __name__ == "__main__":
    unittest.main()
