"""Outputs lie as the reference's do, and what is written out for that is part of the call."""

from __future__ import annotations

import unittest
from unittest import mock

import torch

from worker_bench import LINEAR, X, Plan, bench_for, linear_plan, reference_of
from kernelsmith_process.framing import Failure
from kernelsmith_torch import replay
from kernelsmith_torch.layout import Arrangement, Layout, change, distinct_bytes, in_layout, layouts_of, write
from kernelsmith_torch.model_source import Reference
from support import HEAD, Planner, candidate, needs_torch


class Layouts(unittest.TestCase):
    def written(self, output: torch.Tensor, due: torch.Tensor, taken: list[torch.Tensor] = []) -> bool:  # noqa: B006
        layout, = layouts_of([due], [])
        found = in_layout(output, layout, {t.untyped_storage().data_ptr() for t in taken})
        self.assertTrue(torch.equal(found, output))
        if found is not output and due.numel() == len(due.untyped_storage()) // due.element_size():
            self.assertEqual(found.stride(), due.stride())
        return found is not output

    def test_only_what_lies_otherwise_is_written_out(self) -> None:
        due = torch.zeros(4, 6)
        self.assertFalse(self.written(torch.ones(4, 6), due))
        self.assertFalse(self.written(torch.ones(24).view(4, 6), due))
        self.assertTrue(self.written(torch.ones(6, 4).t(), due))
        self.assertTrue(self.written(torch.ones(1, 6).expand(4, 6), due))
        self.assertTrue(self.written(torch.ones(4, 12)[:, ::2], due))
        self.assertTrue(self.written(torch.ones(4, 8)[:, :6], due))
        self.assertTrue(self.written(torch.ones(4, 6), torch.zeros(6, 4).t()))
        self.assertFalse(self.written(torch.ones(6, 4).t(), torch.zeros(6, 4).t()))
        self.assertFalse(self.written(torch.ones(1, 6).as_strided((1, 6), (99, 1)), torch.zeros(1, 6)))
        self.assertFalse(self.written(torch.ones(()), torch.zeros(())))
        self.assertFalse(self.written(torch.ones(0, 3), torch.zeros(3, 0).t()))

    def test_where_the_references_is_a_view_the_same_view_or_a_whole_tensor_will_do(self) -> None:
        due = torch.zeros(1, 6).expand(4, 6)
        self.assertFalse(self.written(torch.ones(1, 6).expand(4, 6), due))
        self.assertFalse(self.written(torch.ones(4, 6), due))
        self.assertTrue(self.written(torch.ones(6, 4).t(), due))

    def test_memory_of_others_is_no_output(self) -> None:
        x = torch.ones(4, 6)
        self.assertTrue(self.written(x.view(4, 6), torch.zeros(4, 6), [x]))
        self.assertEqual([one.fresh for one in layouts_of([x, x[0], torch.ones(3)], [x])], [False, False, True])
        layout = Layout((4, 6), (6, 1), False)
        self.assertIs(in_layout(x, layout, {x.untyped_storage().data_ptr()}), x)

    def test_another_shape_is_the_judges(self) -> None:
        x = torch.ones(3).expand(2, 3)
        self.assertIs(in_layout(x, Layout((2, 4), (4, 1), True), set()), x)


class InTheRunner(unittest.TestCase):
    def outputs(self, reference: str, make: object) -> list[torch.Tensor]:
        bench = bench_for(self, reference_of(reference, "[torch.randn(8, 4)]"))
        plan = Plan([torch.empty(8, 4)])
        for value, shape in make(plan):
            plan.output(value, "float32", *shape)
        self.assertIsNone(bench.judged(plan, sets=[3])["wrong"])
        call, = bench.runner._played
        for output in call.outputs:
            self.assertTrue(output.untyped_storage().data_ptr() in call.footprint.ranges or output.data_ptr() ==
                            bench.runner._slots[0][0].tensors()[0].data_ptr())
        return call.outputs

    def test_a_stride_of_zero_is_written_out_in_the_call(self) -> None:
        out, = self.outputs("return (x[0] * 0).contiguous() + 1", lambda plan: [
            (plan.op("expand", plan.op("ones", [1, 4]), [8, 4]), (8, 4))])
        self.assertEqual(out.stride(), (4, 1))

    def test_transposed_as_the_reference_is(self) -> None:
        out, = self.outputs("return (x[0] * 2).t()", lambda plan: [
            (plan.op("t", plan.op("mul.Tensor", X, 2)), (4, 8))])
        self.assertEqual(out.stride(), (1, 4))
        out, = self.outputs("return (x[0] * 2).t()", lambda plan: [
            (plan.op("clone", plan.op("t", plan.op("mul.Tensor", X, 2)),
                     memory_format={"memory_format": "contiguous_format"}), (4, 8))])
        self.assertEqual(out.stride(), (1, 4))

    def test_one_tensor_is_not_two_outputs(self) -> None:
        one, two = self.outputs("return x[0] * 2, x[0] + x[0]", lambda plan: [
            (y, (8, 4)) for y in [plan.op("mul.Tensor", X, 2)] for _ in range(2)])
        self.assertNotEqual(one.data_ptr(), two.data_ptr())

    def test_an_input_is_no_output_unless_the_reference_gives_it(self) -> None:
        out, = self.outputs("return x[0].clone()", lambda plan: [(X, (8, 4))])
        self.assertEqual(out.stride(), (4, 1))
        self.outputs("return x[0]", lambda plan: [(X, (8, 4))])


FUSED = "torch.randn(6, 3, 4, 8).unbind(1)"
# What users give: views with gaps in one storage, expanded, overlapping, at an offset, twice the same, permuted, complex.
GIVEN = ("torch.randn(6, 1).expand(6, 5)", "torch.randn(12).unfold(0, 4, 1)", "torch.randn(33)[1:]", *2 * ("self_",),
         "torch.randn(4, 6).t()", "torch.randn(5, dtype=torch.complex64).conj()", "torch.randn(4, 9)[:, 1:8:2]",
         "torch.zeros(0, 3)", "torch.tensor(2.0)")
INPUTS = f"(lambda self_: [*{FUSED}, {', '.join(GIVEN)}])(torch.randn(3, 7))"


class Arrangements(unittest.TestCase):
    def tensors(self) -> list[torch.Tensor]:
        return [t.resolve_conj() for t in eval(INPUTS)]  # noqa: S307

    def test_tensors_lie_elsewhere_as_they_were(self) -> None:
        given = self.tensors()
        lies = Arrangement.of(given)
        self.assertEqual([lie.storage for lie in lies.lies[:3]], [0, 0, 0])
        placed = lies.over([torch.full((size,), 7, dtype=torch.uint8) for size in lies.sizes()])
        for target, source in zip(placed, given):
            write(target, source)
        for target, source in zip(placed, given):
            self.assertTrue(torch.equal(target, source))
            self.assertEqual((target.stride(), target.dtype), (source.stride(), source.dtype))
        self.assertTrue(lies.is_like(Arrangement.of(placed)))
        gaps = placed[10].as_strided((4, 4), (9, 2), 0).contiguous()
        self.assertTrue(bool((gaps.view(torch.uint8) == 7).all()), "what lies in gaps is nobody's")

    def test_what_is_shared_is_changed_once(self) -> None:
        given = self.tensors()
        doubled: list[torch.Tensor] = list(given)
        change(doubled, lambda flat: flat.double() if flat.is_floating_point() else flat)
        self.assertEqual(Arrangement.of(doubled).lies[1], Arrangement.of(given).lies[1].__class__(
            torch.float64, *[getattr(Arrangement.of(given).lies[1], key) for key in ("shape", "stride", "offset", "storage")]))
        for one, other in zip(given, doubled):
            self.assertTrue(torch.equal(one.to(other.dtype), other))

    def test_bytes_that_must_be_read(self) -> None:
        x = torch.randn(4, 9)
        for tensors, elements in (([x], 36), ([x, x], 36), ([x[:, ::2]], 20), ([x[:, :5], x[:, 4:]], 36), ([], 0),
                                  ([x[:1].expand(7, 9)], 9), ([x.view(-1).unfold(0, 4, 1)], 36), ([x[:0]], 0)):
            self.assertEqual(distinct_bytes(tensors), 4 * elements)


@needs_torch
class FromPlannerToVerdict(Planner):
    """A candidate that uses strides and offsets sees in planning what it meets in a call; without kernels, on the CPU."""

    def verdict(self, reference: str, text: str, **request: object) -> object:
        bench = bench_for(self, reference, **request)
        reply, blob = self.ask(do="plan", reference=reference, candidate=text, timeout_s=120, cast=request.get("cast", False))
        self.assertNotIn("error", reply)
        if request:
            bench.runner.prepare({"reference": bench.path, "precision": "fp32", "slots": 3, "cast": True,
                                  "outputs": bench.prepared["outputs"]}, b"")
        bench.runner.load({}, blob)
        found = [bench.again([3, 4], variant)["wrong"] for variant in range(len(bench.prepared["variants"]))]
        return next((wrong for wrong in found if wrong is not None), None)

    def inputs(self, body: str) -> object:
        reference = reference_of("return [t * 2 for t in x]", INPUTS.replace("self_", "twice"))
        own = f"class ModelNew(nn.Module):\n    def forward(self, *x):\n        return {body}"
        return self.verdict(reference, candidate(own))

    def test_inputs(self) -> None:
        self.assertIsNone(self.inputs("[t.as_strided(t.shape, t.stride(), t.storage_offset()) * 2 for t in x]"))
        self.assertIsNone(self.inputs("[x[0] * 2, x[0].as_strided(x[1].shape, x[1].stride(), x[1].storage_offset()) * 2] + "
                                      "[t * 2 for t in x[2:]]"), "q, k and v are one storage")
        for index in (1, 5):
            wrong = self.inputs(f"[(t.as_strided(t.shape, torch.empty(t.shape).stride(), 0) if i == {index} else t) * 2 "
                                "for i, t in enumerate(x)]")
            self.assertEqual(wrong["tensor"], index, "it takes the input as contiguous")

    def test_inputs_lazy_parameters_and_what_forward_draws_together(self) -> None:
        body = ("    def __init__(self):\n        super().__init__()\n        self.lazy = nn.LazyLinear(5)\n"
                "        inner = self.lazy\n        self.call = lambda x: inner(x)\n    def forward(self, q, k):\n"
                "        y = self.call(q * k) + torch.rand(7, 5)\n        return y + torch.randn_like(y)\n")
        reference = HEAD + ("class Model(nn.Module):\n" + body + "def get_inputs(): return torch.randn(7, 2, 6).unbind(1)\n"
                            "def get_init_inputs(): return []\n")
        self.assertIsNone(self.verdict(reference, candidate("class ModelNew(nn.Module):\n" + body)))
        other = candidate("class ModelNew(nn.Module):\n" + body.replace("randn_like(y)", "rand_like(y)"))
        self.assertIsNotNone(self.verdict(reference, other))

    def test_what_lies_in_a_gap(self) -> None:
        reference = reference_of("return x[0] * 2", "[torch.randn(6, 3, 8)[:, 0]]")
        for factor, kind in (("1e-6", "wrong"), ("0", None)):
            wrong = self.verdict(reference, candidate(
                "class ModelNew(nn.Module):\n    def forward(self, x):\n        gap = x.as_strided((1, 8), (24, 1), 8)\n"
                f"        return x * 2 + torch.maximum(x, gap) * {factor}"))
            self.assertEqual(wrong and wrong["kind"], kind)
        with self.assertRaises(Failure) as caught:
            self.verdict(reference, candidate("class ModelNew(nn.Module):\n    def forward(self, x):\n"
                                              "        x.as_strided((5, 8), (24, 1), 8).zero_()\n        return x * 2"))
        self.assertEqual(caught.exception.code, "input_modified")

    def test_what_libraries_give_lies_as_kernels_were_shown_it(self) -> None:
        """A convolution's result, for one, may be in `channels_last` where it is planned and not in the runner, or the reverse."""
        reference = HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
    def forward(self, x):
        return torch.relu(self.conv(x))
def get_inputs(): return [torch.randn(2, 3, 5, 6)]
def get_init_inputs(): return []
"""
        own = reference.replace("Model(", "ModelNew(").replace("nn.Conv2d(3, 4, 1)", "nn.Conv2d(3, 4, 1).to(memory_format="
                                                               "torch.channels_last)").replace(
            "self.conv(x)", "(lambda y: y.as_strided(y.shape, y.stride()))(self.conv(x))")
        planned, true = [], replay.Program._as_planned

        def library(op: replay.Aten, result: torch.Tensor, footprint: replay.Footprint) -> torch.Tensor:
            if op.name == "aten::convolution":
                planned.append(op.strides)
                result = result.contiguous()
            return true(op, result, footprint)

        with mock.patch.object(replay.Program, "_as_planned", staticmethod(library)):
            self.assertIsNone(self.verdict(reference, own))
        self.assertEqual(planned[0], [(120, 1, 24, 4)])

    def test_parameters_and_buffers(self) -> None:
        """In the candidate's own layout, with the reference's values."""
        kinds = ("nn.Parameter(torch.randn(6, 4).t())", "nn.Parameter(torch.randn(4, 6))",
                 "nn.Parameter(torch.randn(4, 12)[:, ::2])", "nn.Parameter(torch.randn(25)[1:].view(4, 6))",
                 "nn.Buffer(torch.randn(4, 1).expand(4, 6))", "nn.Buffer(torch.randn(4, 6).double().t().contiguous().t())",
                 "nn.Buffer(self.whole[0])", "nn.Buffer(self.whole[1])", "self.p0", "nn.Parameter(self.p1.data)")
        made = "".join(f"\n        self.p{i} = {kind}" for i, kind in enumerate(kinds))
        model = ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 f"        self.whole = torch.randn(2, 4, 6)\n        {made}\n    def forward(self, x):\n"
                 "        return [x * w.as_strided(w.shape, w.stride(), w.storage_offset()) for w in "
                 "(getattr(self, f'p{i}') for i in range(10))]\n")
        reference = HEAD + model + "def get_inputs(): return [torch.randn(4, 6)]\ndef get_init_inputs(): return []\n"
        own = HEAD + model.replace("Model(", "ModelNew(")
        self.assertIsNone(self.verdict(reference, own, cast=True))
        turned = own.replace("    def forward", "        self.p1 = self.p9 = nn.Parameter(self.p1.t().contiguous().t())\n"
                             "        self.p6 = nn.Buffer(self.p6.t().contiguous().t())\n    def forward", 1)
        self.assertIsNone(self.verdict(reference, turned, cast=True))

    def test_one_parameter_of_two_names_is_not_two(self) -> None:
        def model(constructor: str) -> str:
            return ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        " + constructor +
                    "\n    def forward(self, x):\n        return x + self.w - 2 * self.v\n")

        two = HEAD + model("self.w = nn.Parameter(torch.randn(4, 6)); self.v = nn.Parameter(torch.randn(4, 6))")
        one = HEAD + model("self.w = self.v = nn.Parameter(torch.randn(4, 6))")
        rest = "def get_inputs(): return [torch.randn(4, 6)]\ndef get_init_inputs(): return []\n"
        self.assertIsNone(self.verdict(one + rest, one.replace("Model(", "ModelNew(")))
        self.assertIsNone(self.verdict(one + rest, two.replace("Model(", "ModelNew(")))
        reply, _ = self.ask(do="plan", reference=two + rest, candidate=one.replace("Model(", "ModelNew("), timeout_s=120)
        self.assertIn("w lies in one storage with w, v, and in the reference with w", reply["error"]["message"])


class References(unittest.TestCase):
    def test_closures_are_the_new_models_own(self) -> None:
        """KernelBench's level 3, problem 44, holds its layers in a lambda."""
        reference = LINEAR.replace("self.linear = torch.nn.Linear(width, 48)", """self.linear = torch.nn.Linear(width, 48)
            linear = self.linear
            self.call = lambda x: linear(x)""").replace("self.linear(x)", "self.call(x)")
        bench = bench_for(self, reference)
        own = Reference(bench.path, torch.device("cpu"))
        model = own.model()
        x = torch.randn(16, 96)
        before = model(x)
        with torch.no_grad():
            model.linear.weight.zero_()
        self.assertFalse(torch.equal(model(x), before), "it computes with its own parameters")
        self.assertTrue(torch.equal(own.model()(x), before))
        own.restore(model)
        self.assertTrue(torch.equal(model(x), before))
        self.assertIsNone(bench.judged(linear_plan())["wrong"])
