"""What a constructor draws is what PyTorch draws after the same seed: then other names for the reference's parameters do."""

import textwrap
import unittest
from types import SimpleNamespace

from support import Planner, candidate, needs_torch
from worker_bench import Bench

REFERENCE = """
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(24, 40)
        self.second = nn.Linear(40, 8)
        self.scale = nn.Parameter(torch.randn(8) * 0.5)
    def forward(self, x):
        return self.second(torch.relu(self.first(x))) * self.scale
def get_inputs(): return [torch.randn(16, 24)]
"""


def model(constructor, forward):
    return candidate("import math\nclass ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                     + textwrap.indent(textwrap.dedent(constructor), " " * 8)
                     + "\n    def forward(self, x):\n" + textwrap.indent(textwrap.dedent(forward), " " * 8) + "\n")


OTHER_NAMES = """
    self.first = nn.Linear(24, 40)
    self.w = nn.Parameter(torch.empty(8, 40))
    nn.init.kaiming_uniform_(self.w, a=math.sqrt(5))
    self.b = nn.Parameter(torch.empty(8).uniform_(-1 / math.sqrt(40), 1 / math.sqrt(40)))
    self.factor = nn.Parameter(torch.randn(8) * 0.5)
"""
CALL = "return F.linear(torch.relu(self.first(x)), self.w, self.b) * self.factor"


@needs_torch
class Draws(Planner):
    def verdict(self, text, reference=REFERENCE):
        """The plan, and what the judge says of its outputs."""
        reply, blob = self.ask(do="plan", reference=reference, candidate=text, timeout_s=120)
        self.assertNotIn("error", reply)
        bench = Bench(reference)
        try:
            return self.plan(text, reference)[0], bench.judged(SimpleNamespace(bytes=lambda: blob))["wrong"]
        finally:
            bench.close()

    def test_other_names_for_the_references_parameters(self):
        plan, wrong = self.verdict(model(OTHER_NAMES, CALL))
        self.assertIsNone(wrong)
        self.assertEqual(set(plan["state"]), {"first.weight", "first.bias"})
        self.assertEqual([op["draws"] for op in plan["setup"] if "draws" in op], ["cpu"] * 5)

    def test_another_order_gives_other_numbers(self):
        lines = textwrap.dedent(OTHER_NAMES).strip().split("\n")
        _, wrong = self.verdict(model("\n".join(lines[-1:] + lines[:-1]), CALL))
        self.assertEqual(wrong["count"], 128)

    def test_seeds_of_the_candidates_own(self):
        seeded = REFERENCE.replace("super().__init__()", "super().__init__(); torch.manual_seed(7)")
        for seed, right in ((7, True), (8, False)):
            _, wrong = self.verdict(model(f"torch.manual_seed({seed})\n" + textwrap.dedent(OTHER_NAMES), CALL), seeded)
            self.assertEqual(wrong is None, right)

    def test_the_generator_is_the_devices_own(self):
        plan, _ = self.verdict(model(OTHER_NAMES + """
    a = torch.rand(4, device="cuda")
    b = torch.rand(4).cuda()
    c = nn.Parameter(torch.empty(4).cuda()).data.normal_()
    d = torch.rand_like(b)
    e = torch.randint(0, 9, (4,)).float()
    self.register_buffer("all_of_them", torch.stack([a, b, c, d]) + e.cuda())
""", CALL + " + self.all_of_them.sum() * 0"))
        self.assertEqual([op["draws"] for op in plan["setup"] if "draws" in op][5:], ["cuda", "cpu", "cuda", "cuda", "cpu"])

    def test_what_nobody_needs_is_drawn_only_before_what_is_needed(self):
        plan, wrong = self.verdict(model("""
            self.first, self.second = nn.Linear(24, 40), nn.Linear(40, 8)
            self.scale = nn.Parameter(torch.randn(8) * 0.5)
            self.unused = torch.randn(1000)
        """, "return self.second(torch.relu(self.first(x))) * self.scale"))
        self.assertEqual((plan["setup"], wrong), ([], None))

    def test_refusals(self):
        for constructor, told in {"self.order = torch.randperm(8)": "randperm.* is not among the draws",
                                  "torch.randperm(8); self.order = torch.rand(8)": "randperm.* is not among the draws",
                                  "self.order = torch.ones(8)": ""}.items():
            with self.subTest(constructor):
                text = model(OTHER_NAMES + "    " + constructor, CALL + " * self.order")
                if told:
                    self.assertRegex(self.refusal(text, "not_allowed", REFERENCE)["message"], told)
                else:
                    self.plan(text, REFERENCE)
        error = self.refusal(model(OTHER_NAMES, CALL + " + torch.rand_like(x)[:, :8]"), "not_allowed", REFERENCE)
        self.assertIn("draws in a call", error["message"])


if __name__ == "__main__":
    unittest.main()
