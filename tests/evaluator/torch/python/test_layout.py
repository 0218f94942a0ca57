"""Outputs lie as the reference's do, and what is written out for that is part of the call."""

from __future__ import annotations

import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_bench import Bench, Plan, X, reference_of  # noqa: E402

from kernelsmith_torch.layout import Layout, in_layout, layouts_of  # noqa: E402


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
        bench = Bench(reference_of(reference, "[torch.randn(8, 4)]"))
        self.addCleanup(bench.close)
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


if __name__ == "__main__":
    unittest.main()
