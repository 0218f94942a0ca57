"""What a constructor draws is what PyTorch draws after the same seed: then other names for the reference's parameters do."""

import textwrap
from types import SimpleNamespace

from support import Planner, candidate, needs_torch
from worker_bench import bench_for

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
        bench = bench_for(self, reference)
        return self.plan(text, reference)[0], bench.judged(SimpleNamespace(bytes=lambda: blob))["wrong"]

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
        for drawn in ("torch.bernoulli(torch.sigmoid(x))", "F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)"):
            error = self.refusal(model(OTHER_NAMES, CALL + f" + {drawn}[:, :8]"), "not_allowed", REFERENCE)
            self.assertIn("draws in a call", error["message"])

    def test_a_call_is_given_what_it_draws(self):
        """As KernelBench seeds both modules alike: factories, draws in place, draws that nobody needs, and another order."""
        reference = REFERENCE.replace("return self.second", "state = torch.randn(16, 24)\n        torch.rand(3)\n"
                                      "        x = x + state + torch.empty_like(x).uniform_() + torch.randn_like(x.T).T\n"
                                      "        return self.second")
        body = reference.partition("def forward(self, x):")[2].partition("def get_inputs")[0]
        constructor = "self.first, self.second = nn.Linear(24, 40), nn.Linear(40, 8)\nself.scale = nn.Parameter(torch.randn(8))"
        plan, wrong = self.verdict(model(constructor, body), reference)
        self.assertIsNone(wrong)
        self.assertEqual([op["aten"] for op in plan["draws"] if "draws" in op],
                         ["aten::randn", "aten::rand", "aten::uniform_", "aten::randn_like"])
        _, wrong = self.verdict(model(constructor, body.replace("torch.rand(3)", "pass")), reference)
        self.assertEqual(wrong["count"], 128)
        self.assertEqual(self.verdict(model(constructor, CALL.replace("self.w, self.b", "self.second.weight, self.second.bias")
                                            .replace("factor", "scale")), reference)[1]["count"], 128)

    def test_lazy_modules_draw_in_their_first_call(self):
        """After all that the constructors draw, and by other names what the reference draws."""
        lazy = REFERENCE.replace("nn.Linear(24, 40)", "nn.LazyLinear(40)").replace("nn.Linear(40, 8)", "nn.LazyLinear(8)")
        given = """
    self.one, self.two = nn.LazyLinear(40), nn.LazyLinear(8)
    self.norm = nn.LazyBatchNorm1d()
    self.scale = nn.Parameter(torch.randn(8) * 0.5)
"""
        lazy = lazy.replace("return self.second(torch.relu(self.first(x)))",
                            "return self.second(torch.randn(40) * torch.relu(self.first(x)))")
        call = "return self.norm(self.two(torch.randn(40) * torch.relu(self.one(x)))) * (1 + 1e-5) ** 0.5 * self.scale"
        plan, wrong = self.verdict(model(given, call), lazy)
        self.assertIsNone(wrong)
        self.assertEqual(set(plan["state"]), {"scale"})
        self.assertEqual(self.verdict(model(given + "    torch.rand(1)", call), lazy)[1]["count"], 128)
