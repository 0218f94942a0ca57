"""Judge and runner on the CPU: from a plan to a verdict on every output."""

from __future__ import annotations

import os
import tempfile
import textwrap
import time
import unittest
from unittest import mock

import torch

from worker_bench import LINEAR, X, Bench, Plan, Process, bench_for, failure_of, linear_plan, reference_of
from kernelsmith_process.framing import Failure
from kernelsmith_torch.accelerator import Device
from kernelsmith_torch.sharing import Inbox, Outbox


class Linear(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.bench = Bench(LINEAR)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bench.close()

    def test_prepare_describes_the_task(self) -> None:
        told = self.bench.prepared
        self.assertEqual(told["inputs"], [{"dtype": "float32", "shape": [16, 96]}])
        self.assertEqual(told["outputs"], [{"dtype": "float32", "shape": [16, 48], "stride": (48, 1), "fresh": True}])
        self.assertEqual(told["state"], ["linear.weight", "linear.bias"])
        self.assertEqual(told["variants"], ["given", "scaled", "shifted"])
        self.assertEqual((told["slots"], told["compulsory_bytes"], told["notes"]), (3, 16 * 96 * 4, []))
        self.assertEqual((told["degenerate"], told["flops"]), ([], 2 * 16 * 96 * 48))
        self.assertGreater(told["bytes_per_us"], 0)
        self.assertGreater(told["call_us"], 0)
        self.assertEqual(set(told["spent_s"]), {"load", "truth", "checks", "variants", "yardstick", "bandwidth"})

    def test_the_references_own_plan_is_right_in_every_variant(self) -> None:
        for variant in range(3):
            found = self.bench.judged(linear_plan(), variant=variant)
            self.assertIsNone(found["wrong"])
            self.assertLess(found["error"], 0.5)

    def test_the_yardstick_is_compared_like_a_candidate(self) -> None:
        times = self.bench.judge.yardstick({"variant": 0, "sets": [5, 6]}, b"")
        self.assertGreater(times["us"], 0)
        found = self.bench.judge.compare({"variant": 0, "sets": [5, 6], "own": True}, b"")
        self.assertIsNone(found["wrong"])

    def test_outputs_of_other_inputs_have_another_digest(self) -> None:
        first, second, again = (self.bench.judged(linear_plan(), sets=s)["digest"] for s in ([1, 2], [1, 3], [1, 2]))
        self.assertNotEqual(first, second)
        self.assertEqual(first, again)

    def finding(self, make: object) -> dict:
        plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
        y = plan.op("addmm", plan.state("linear.bias"), X, plan.op("t", plan.state("linear.weight")))
        plan.output(make(plan, plan.op("relu", y)), "float32", 16, 48)
        return self.bench.judged(plan)["wrong"]

    def test_a_wrong_element_is_found_and_named(self) -> None:
        def make(plan: Plan, y: dict) -> dict:
            plan.op("add_.Scalar", plan.op("select.int", plan.op("select.int", y, 0, 3), 0, 7), 1e-4)
            return y

        wrong = self.finding(make)
        self.assertEqual((wrong["kind"], wrong["index"], wrong["count"], wrong["call"]), ("wrong", [3, 7], 1, 0))
        self.assertAlmostEqual(wrong["actual"] - wrong["expected"], 1e-4, delta=1e-6)
        self.assertGreater(wrong["worst"], 1)

    def test_nan_where_the_truth_is_finite(self) -> None:
        wrong = self.finding(lambda plan, y: plan.op("sqrt", plan.op("sub.Tensor", y, 0.1)))
        self.assertEqual(wrong["kind"], "not_finite")
        self.assertEqual(wrong["actual"], {"float": "nan"})

    def test_unwritten_rows(self) -> None:
        def make(plan: Plan, y: dict) -> dict:
            out = plan.op("empty_like", y)
            plan.op("copy_", plan.op("slice.Tensor", out, 0, 0, 15), plan.op("slice.Tensor", y, 0, 0, 15))
            return out

        wrong = self.finding(make)
        self.assertEqual((wrong["kind"], wrong["index"], wrong["count"]), ("not_written", [15, 0], 48))

    def test_halves_of_the_mantissa_are_missed(self) -> None:
        for dtype in ("bfloat16", "float16"):
            wrong = self.finding(lambda plan, y: plan.op("_to_copy", plan.op("_to_copy", y, dtype={"dtype": dtype}),  # noqa: B023
                                                         dtype={"dtype": "float32"}))
            self.assertEqual(wrong["kind"], "wrong")

    def test_another_shape_is_told(self) -> None:
        plan = linear_plan()
        y = {"t": plan.json["alternatives"][0]["outputs"].pop()["id"]}
        plan.output(plan.op("t", y), "float32", 48, 16)
        self.assertEqual(self.bench.judged(plan)["wrong"]["kind"], "shape")

    def test_products_of_tf32_are_refused_and_other_orders_are_not(self) -> None:
        def product(rounded: bool, parts: int) -> dict:
            plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
            x, w = X, plan.state("linear.weight")
            if rounded:  # to 10 bits of mantissa: add half a step, drop 13 bits
                x, w = (plan.op("view.dtype", plan.op("bitwise_and.Scalar", plan.op("add.Scalar", plan.op(
                    "view.dtype", v, {"dtype": "int32"}), 0x1000), -0x2000), {"dtype": "float32"}) for v in (x, w))
            y = plan.state("linear.bias")
            for part in reversed(range(parts)):
                a, b = (plan.op("slice.Tensor", v, 1, part * 96 // parts, (part + 1) * 96 // parts) for v in (x, w))
                y = plan.op("add.Tensor", y, plan.op("mm", a, plan.op("t", b)))
            plan.output(plan.op("relu", y), "float32", 16, 48)
            return self.bench.judged(plan)

        self.assertEqual(product(True, 1)["wrong"]["kind"], "wrong")
        self.assertGreater(product(True, 1)["error"], 5)
        for parts in (2, 12, 96):
            found = product(False, parts)
            self.assertIsNone(found["wrong"])
            self.assertLess(found["error"], 0.5)

    def test_inputs_and_parameters_must_stay(self) -> None:
        for change in ("input", "state"):
            plan = linear_plan()
            plan.op("mul_.Tensor", X if change == "input" else plan.state("linear.weight"), 2)
            self.bench.runner.load({}, plan.bytes())
            self.bench.runner.run({"variant": 0, "sets": [1]}, b"")
            failed = failure_of(lambda: self.bench.runner.publish({}, b""))
            self.assertEqual((failed.stage, failed.code), ("integrity", "input_modified"))
            self.bench.runner.prepare({"reference": self.bench.path, "precision": "fp32", "slots": 3}, b"")

    def test_profile_names_every_operation(self) -> None:
        self.bench.runner.load({}, linear_plan().bytes())
        told = self.bench.runner.profile({}, b"")
        self.assertEqual([op["name"] for op in told["ops"]], ["aten::t", "aten::addmm", "aten::relu"])
        self.assertEqual(told["own_share"], 0)
        self.assertEqual(told["peak_bytes"], 4 * (48 * 96 + 48 + 16 * 96), "parameters and inputs: a CPU counts no call")

    def test_the_better_alternative_is_kept(self) -> None:
        plan = linear_plan()
        slow = dict(plan.json["alternatives"][0], name="slow")
        slow["ops"] = slow["ops"] + [dict(slow["ops"][1], out=None)] * 200
        plan.json["alternatives"] = [slow, dict(plan.json["alternatives"][0], name="fast")]
        told = self.bench.runner.load({}, plan.bytes())
        self.assertEqual((told["best"], told["aten"], told["launches"]), ("fast", 3, 0))
        self.assertEqual([a["name"] for a in told["alternatives"]], ["slow", "fast"])

    def test_an_alternative_that_fails_is_left_out(self) -> None:
        plan = linear_plan()
        good = dict(plan.json["alternatives"][0], name="good")
        broken = dict(good, name="broken", ops=[{"aten": "aten::view", "overload": "default", "args": [X, [7]],
                                                 "kwargs": {}, "out": None}, *good["ops"]])
        plan.json["alternatives"] = [broken, good]
        self.assertEqual(self.bench.runner.load({}, plan.bytes())["best"], "good")

    def test_a_view_that_the_device_strides_do_not_allow_is_a_copy(self) -> None:
        plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
        turned = plan.op("view", plan.op("clone", plan.op("t", X)), [96 * 16])
        x = plan.op("t", plan.op("view", turned, [96, 16]))
        plan.output(plan.op("relu", plan.op("addmm", plan.state("linear.bias"), x, plan.op("t", plan.state("linear.weight")))),
                    "float32", 16, 48)
        self.assertIsNone(self.bench.judged(plan, sets=[1])["wrong"])


class Sharing(unittest.TestCase):
    def test_an_outbox_that_grew_is_unmapped_before_it_is_mapped_again(self) -> None:
        mapped: list[str] = []

        class Driver(Inbox):
            def _new(self, outbox: dict, size: int) -> tuple[torch.Tensor, object]:
                assert not self._open, "the driver would refuse it"
                mapped.append(outbox["file"])
                return super()._new(outbox, size)

        outbox, inbox = Outbox(Device(None)), Driver(Device(None))
        self.addCleanup(outbox.close)
        for rows in (4, 4, 64, 8):
            sent = torch.randn(rows, 1024)
            received = inbox.tensors(outbox.publish([[sent]]))
            self.assertTrue(torch.equal(received[0][0], sent))
        self.assertEqual(len(mapped), 2)


class Kinds(unittest.TestCase):
    def bench(self, reference: str, **request: object) -> Bench:
        return bench_for(self, reference, **request)

    def test_outputs_in_tuples_and_dicts(self) -> None:
        bench = self.bench(reference_of("return {'a': x[0] + 1, 'b': (x[0].sum(1), x[0] > 0)}", "[torch.randn(8, 4)]"))
        self.assertEqual([o["dtype"] for o in bench.prepared["outputs"]], ["float32", "float32", "bool"])
        plan = Plan([torch.empty(8, 4)])
        plan.output(plan.op("add.Tensor", X, 1), "float32", 8, 4)
        plan.output(plan.op("sum.dim_IntList", X, [1]), "float32", 8)
        plan.output(plan.op("gt.Scalar", X, 0), "bool", 8, 4)
        self.assertIsNone(bench.judged(plan)["wrong"])
        plan.json["alternatives"][0]["ops"][2]["aten"] = "aten::lt"
        wrong = bench.judged(plan)["wrong"]
        self.assertEqual((wrong["tensor"], wrong["count"]), (2, 32))

    def test_a_truth_does_not_hold_what_it_was_computed_from(self) -> None:
        for element, size in (("torch.zeros(4096)", 4), ("torch.zeros(4096).long()", 8)):
            bench = self.bench(reference_of(f"return ({element} + x[0].to({element}.dtype))[:8]", "[torch.randn(1) * 99]"))
            bench.judge.yardstick({"variant": 0, "sets": [1]}, b"")
            bench.judge.compare({"variant": 0, "sets": [1], "own": True}, b"")
            held = [one.truth.untyped_storage().nbytes() for found in bench.judge._workloads[0]._truth._bank.all() for one in found]
            self.assertEqual(set(held), {8 * size})

    def test_small_columns_beside_large_ones_count(self) -> None:
        """The error of an output's own rounding does not grow with its neighbours."""
        text = "return torch.cat([torch.sigmoid(x[0]) * 1280, torch.sigmoid(x[1])], 1).to(torch.%s)"
        for precision, dtype in (("fp32", "float32"), ("tf32", "float32"), ("fp32", "float16")):
            bench = self.bench(reference_of(text % dtype, "[torch.randn(2048, 4), torch.randn(2048, 1)]"), precision=precision)
            for zeros in (False, True):
                plan = Plan([torch.empty(2048, 4), torch.empty(2048, 1)])
                large = plan.op("mul.Tensor", plan.op("sigmoid", X), 1280)
                small = plan.op("sigmoid", {"t": 1})
                small = plan.op("mul.Tensor", small, 0) if zeros else small
                cast = plan.op("_to_copy", plan.op("cat", [large, small], 1), dtype={"dtype": dtype})
                plan.output(cast, dtype, 2048, 5)
                self.assertEqual(bench.judged(plan)["wrong"] is not None, zeros, (precision, dtype))

    def test_a_negated_view_is_what_it_stands_for(self) -> None:
        bench = self.bench(reference_of("return torch.complex(x[0], 2 * x[0]).conj().imag", "[torch.randn(1)]"))
        for factor in (-2, 2):
            plan = Plan([torch.empty(1)])
            plan.output(plan.op("mul.Tensor", X, factor), "float32", 1)
            self.assertEqual(bench.judged(plan)["wrong"] is not None, factor > 0)
        self.bench(reference_of("return torch.complex(x[0], x[0]).conj(), (x[0] > 0)[1:], (x[0].bfloat16() * 2)[1:]",
                                "[torch.randn(9, 3)]"))

    def test_integers_must_be_equal(self) -> None:
        bench = self.bench(reference_of("return x[0] * 2", "[torch.randint(0, 99, (2000,))]"))
        self.assertEqual(bench.prepared["variants"], ["given"])
        plan = Plan([torch.empty(2000, dtype=torch.int64)])
        y = plan.op("mul.Tensor", X, 2)
        plan.output(y, "int64", 2000)
        self.assertIsNone(bench.judged(plan)["wrong"])
        plan.op("add_.Scalar", plan.op("select.int", y, 0, 1999), 1)
        self.assertEqual(bench.judged(plan)["wrong"]["index"], [1999])

    def test_allclose_and_normwise(self) -> None:
        def off(bench: Bench, by: float, everywhere: bool) -> bool:
            plan = Plan([torch.empty(64, 64)])
            y = plan.op("mul.Tensor", X, 2)
            plan.output(y, "float32", 64, 64)
            part = y if everywhere else plan.op("select.int", plan.op("select.int", y, 0, 0), 0, 0)
            plan.op("add_.Scalar", part, by)
            return bench.judged(plan)["wrong"] is not None

        reference = reference_of("return x[0] * 2", "[torch.randn(64, 64)]")
        close = self.bench(reference, tolerance={"policy": "allclose", "rtol": 0, "atol": 1e-3})
        self.assertEqual([off(close, b, True) for b in (9e-4, 1.1e-3)], [False, True])
        norm = self.bench(reference, tolerance={"policy": "normwise"})
        self.assertEqual([off(norm, 4e-5, everywhere) for everywhere in (False, True)], [False, True])
        plain = self.bench(reference)
        self.assertTrue(off(plain, 1e-4, False))

    def test_some_elements_may_differ(self) -> None:
        def verdict(bench: Bench, count: int, by: float) -> object:
            plan = Plan([torch.empty(10, 10)])
            y = plan.op("mul.Tensor", X, 2)
            plan.output(y, "float32", 10, 10)
            if count:
                plan.op("add_.Scalar", plan.op("slice.Tensor", plan.op("select.int", y, 0, 3), 0, 0, count), by)
            return bench.judged(plan)

        figures = {"policy": "allclose", "rtol": 0, "atol": 1e-3}
        bench = self.bench(reference_of("return x[0] * 2", "[torch.randn(10, 10)]"), tolerance={**figures, "matched": 0.97})
        self.assertIsNone(verdict(bench, 3, 1e6)["wrong"])
        self.assertLessEqual(verdict(bench, 3, 1e6)["error"], 1)
        self.assertEqual(verdict(bench, 4, 1e6)["wrong"]["count"], 4)
        self.assertEqual(verdict(bench, 1, 1e39)["wrong"]["kind"], "not_finite")

    def off(self, bench: Bench, by: float, value: float) -> object:
        """The verdict if an element, whose truth is twice `value`, is off by so much."""
        plan = Plan([torch.empty(10, 10)])
        y = plan.op("mul.Tensor", X, 2)
        plan.output(y, "float32", 10, 10)
        at = plan.op("select.int", plan.op("select.int", y, 0, 3), 0, round(value))
        plan.op("add_.Scalar", at, by)
        return bench.judged(plan)["wrong"]

    def test_a_cap_holds_for_elements_that_need_not_match(self) -> None:
        figures = {"policy": "allclose", "rtol": 0.5, "atol": 1e-3, "matched": 0.97}
        reference = reference_of("return x[0] * 2", "[torch.arange(10.).repeat(10, 1)]")
        free, capped = self.bench(reference, tolerance=figures), self.bench(reference, tolerance={**figures, "cap": 5})
        self.assertIsNone(self.off(free, 100, 1))
        self.assertIsNone(self.off(capped, 4.9, 1))
        found = self.off(capped, 5.1, 1)
        self.assertEqual((found["kind"], found["index"], found["count"], found["allowed"]), ("wrong", [3, 1], 1, 5))
        self.assertAlmostEqual(found["worst"], 5.1 / 5, places=5)
        self.assertIsNone(self.off(free, 8.9, 9))
        self.assertEqual(self.off(capped, 8.9, 9)["allowed"], 5, "an element within rtol")

    def test_absolute_figures_grow_with_the_outputs_of_a_variant(self) -> None:
        bench = self.bench(reference_of("return x[0] * 2", "[torch.randn(10, 10)]"), tolerance={"policy": "allclose", "rtol": 0, "atol": 1e-2})

        def right(by: float, variant: int) -> bool:
            plan = Plan([torch.empty(10, 10)])
            plan.output(plan.op("add.Scalar", plan.op("mul.Tensor", X, 2), by), "float32", 10, 10)
            return bench.judged(plan, variant=variant)["wrong"] is None

        self.assertTrue(right(0.009, 0))
        self.assertFalse(right(0.011, 0))
        self.assertTrue(right(0.039, 1), "inputs times 4")
        self.assertFalse(right(0.041, 1))

    def test_one_figure_of_two_may_be_enough(self) -> None:
        figures = {"policy": "allclose", "rtol": 0.01, "atol": 0.1}
        reference = reference_of("return x[0] * 2", "[torch.arange(10.).repeat(10, 1)]")
        both, either = self.bench(reference, tolerance=figures), self.bench(reference, tolerance={**figures, "either": True})
        for value, right, beyond in ((0, 0.09, 0.11), (4, 0.09, 0.11), (9, 0.17, 0.19)):
            self.assertIsNone(self.off(either, right, value))
            found = self.off(either, beyond, value)
            self.assertAlmostEqual(found["allowed"], max(0.1, 0.02 * value), places=6)
            self.assertEqual(self.off(both, beyond, value) is None, value > 0)

    def test_the_references_own_output_may_be_the_truth(self) -> None:
        reference = reference_of("return (x[0] + 1e8) - 1e8", "[torch.randn(64, 64)]")
        for own, good in ((False, False), (True, True)):
            bench = self.bench(reference, tolerance={"policy": "allclose", "rtol": 0, "atol": 1e-3, "truth": "reference" if own else "fp64"})
            plan = Plan([torch.empty(64, 64)])
            plan.output(plan.op("sub.Scalar", plan.op("add.Scalar", X, 1e8), 1e8), "float32", 64, 64)
            self.assertEqual(bench.judged(plan)["wrong"] is None, good)

    def test_declared_bf16_accepts_what_fp32_refuses(self) -> None:
        def product(precision: str) -> object:
            bench = self.bench(reference_of("return x[0] @ x[1]", "[torch.randn(64, 256), torch.randn(256, 64)]"),
                               precision=precision)
            plan = Plan([torch.empty(64, 256), torch.empty(256, 64)])
            a, b = (plan.op("_to_copy", {"t": i}, dtype={"dtype": "bfloat16"}) for i in (0, 1))
            plan.output(plan.op("_to_copy", plan.op("mm", a, b), dtype={"dtype": "float32"}), "float32", 64, 64)
            return bench.judged(plan)["wrong"]

        self.assertIsNone(product("bf16"))
        self.assertEqual(product("fp32")["kind"], "wrong")

    def test_views_and_in_place_operators(self) -> None:
        bench = self.bench(reference_of("return x[0].t().contiguous()[:4] * 3", "[torch.randn(8, 6)]"))
        plan = Plan([torch.empty(8, 6)])
        y = plan.op("clone", plan.op("as_strided", X, [6, 8], [1, 6]), memory_format={"memory_format": "contiguous_format"})
        plan.op("mul_.Tensor", y, 3)
        plan.output(plan.op("slice.Tensor", y, 0, 0, 4), "float32", 4, 8)
        self.assertIsNone(bench.judged(plan)["wrong"])

    def test_a_reference_that_changes_its_input(self) -> None:
        bench = self.bench(reference_of("return x[0].relu_()", "[torch.randn(50)]"))
        plan = Plan([torch.empty(50)])
        plan.output(plan.op("relu", X), "float32", 50)
        self.assertIsNone(bench.judged(plan)["wrong"])
        bench.judge.yardstick({"variant": 0, "sets": [1, 2]}, b"")
        self.assertIsNone(bench.judge.compare({"variant": 0, "sets": [1, 2], "own": True}, b"")["wrong"])

    def test_a_loss_may_be_summed_in_another_order(self) -> None:
        bench = self.bench(reference_of("return ((x[0] - x[1]) ** 2).mean()", "[torch.randn(64, 512), torch.randn(64, 512)]"))
        plan = Plan([torch.empty(64, 512), torch.empty(64, 512)])
        squares = plan.op("square", plan.op("sub.Tensor", X, {"t": 1}))
        rows = plan.op("sum.dim_IntList", plan.op("view", squares, [512, 64]), [0])
        plan.output(plan.op("div.Tensor", plan.op("sum", rows), 64 * 512), "float32")
        self.assertIsNone(bench.judged(plan)["wrong"])

    def test_a_reference_that_does_not_run_in_fp64_is_its_own_truth(self) -> None:
        bench = self.bench(reference_of("return x[0] @ torch.ones(8, 8, dtype=torch.float32)", "[torch.randn(8, 8)]"))
        self.assertIn("does not run in fp64", bench.prepared["notes"][0])
        plan = Plan([torch.empty(8, 8)])
        plan.output(plan.op("expand", plan.op("sum.dim_IntList", X, [1], True), [8, 8]), "float32", 8, 8)
        self.assertIsNone(bench.judged(plan)["wrong"])

    def test_outputs_that_no_input_moves(self) -> None:
        def unmoved(forward: str, inputs: str = "[torch.randn(32, 64)]", **request: object) -> list[int]:
            return self.bench(reference_of(forward, inputs), **request).prepared["degenerate"]

        self.assertEqual(unmoved("y = x[0].max(1, keepdim=True).values\nreturn torch.relu(y - y.mean(1, keepdim=True))"),
                         [0])
        self.assertEqual(unmoved("y = torch.min(x[0], torch.zeros(()))\nreturn x[0] * 2, torch.clamp(y, min=0, max=1)"), [1])
        norm = "y = x[0] - x[0].mean(1, keepdim=True)\nreturn "
        for precision in ("fp32", "bf16"):  # up to rounding
            self.assertEqual(unmoved(norm + "y.mean(1), y, torch.softmax(y, 1).sum(1)", precision=precision), [0, 2])
        self.assertEqual(unmoved("return x[0] > 99, x[0] > 0"), [0])
        self.assertEqual(unmoved("return x[0].clamp(2, 5)", "[torch.rand(32, 64)]"), [])  # other values move it
        self.assertEqual(unmoved("return x[0] * 1e-3 + 1"), [])  # a little is enough
        self.assertEqual(unmoved("return torch.relu(x[0]).mean()", "[torch.randn(512, 512)]"), [])

    def test_kernels_need_a_gpu(self) -> None:
        bench = self.bench(LINEAR)
        plan = linear_plan()
        plan.json["kernels"] = [{"name": "k", "offset": 0, "size": 0, "shared": 0, "warps": 4}]
        from kernelsmith_torch import plan_format

        failed = failure_of(lambda: bench.runner.load({}, plan_format.encode(plan.json, [b"cubin"])))
        self.assertEqual((failed.fault, failed.code), ("machine", "no_gpu"))


class Tasks(unittest.TestCase):
    def failure(self, reference: str) -> Failure:
        with self.assertRaises(Failure) as caught:
            Bench(reference)
        self.assertEqual(caught.exception.fault, "task")
        self.assertIn("reference.py", caught.exception.where)
        return caught.exception

    def test_errors_name_file_and_line(self) -> None:
        failed = self.failure(reference_of("y = x[0]\nreturn y.view(7)", "[torch.randn(8)]"))
        self.assertTrue(failed.where.endswith("reference.py:5"), failed.where)
        failed = self.failure("def f(:\n  pass\n")
        self.assertTrue(failed.where.endswith("reference.py:1"), failed.where)

    def test_a_reference_may_change_the_shapes_of_its_inputs(self) -> None:
        bench = bench_for(self, reference_of("return x[0].t_().unsqueeze_(0) * x[0]", "[torch.randn(8, 5)]"), slots=2)
        self.assertEqual(bench.prepared["outputs"][0]["shape"], [1, 5, 8])
        bench.judge.yardstick({"variant": 0, "sets": [3, 4]}, b"")
        self.assertIsNone(bench.judge.compare({"variant": 0, "sets": [3, 4], "own": True}, b"")["wrong"])

    def test_models_are_made_before_the_gpu_is_needed(self) -> None:
        count = "import os\nos.environ['MADE'] = '0'\n" + textwrap.dedent(LINEAR).replace(
            "super().__init__()", "super().__init__(); os.environ['MADE'] = str(int(os.environ['MADE']) + 1)")
        self.addCleanup(os.environ.pop, "MADE", "")
        made = []
        for text in (count, count + "# cuda: it might use the GPU\n"):
            bench = bench_for(self, text)
            request = {"reference": bench.path, "precision": "fp32", "bank_bytes": 1 << 24, "batch_us": 1e9, "most_slots": 3}
            for role in (bench.judge, bench.runner):
                os.environ["MADE"] = "0"
                role.read(request, b"")
                made.append(int(os.environ["MADE"]))
            os.environ["MADE"] = "0"
            told = bench.judge.prepare(request, b"")
            made.append(int(os.environ["MADE"]))
            self.assertEqual((told["workloads"][0]["outputs"], told["state"]), (bench.prepared["outputs"], bench.prepared["state"]))
            self.assertIsNone(bench.judged(linear_plan())["wrong"])
        self.assertEqual(made, [4, 1, 0, 0, 0, 4])

    def test_what_was_tried_is_not_tried_again(self) -> None:
        bench = bench_for(self, LINEAR)
        request = {"reference": bench.path, "precision": "fp32", "bank_bytes": 1 << 24, "batch_us": 1e9, "most_slots": 3}
        with mock.patch.object(bench.judge, "_try", wraps=bench.judge._try) as trying:
            bench.judge.try_reference(request, b"")
            time.sleep(0.5)  # The device may be busy with others.
            told = bench.judge.prepare(request, b"")
            self.assertEqual(trying.call_count, 1)
            bench.judge.prepare(request, b"")
            self.assertEqual(trying.call_count, 2)
        self.assertLess(sum(told["spent_s"].values()), 0.5)
        self.assertEqual(set(told["spent_s"]), set(bench.prepared["spent_s"]))
        self.assertIsNone(bench.judged(linear_plan())["wrong"])

    def test_what_a_reference_must_have_and_be(self) -> None:
        self.assertEqual(self.failure("import torch\n").code, "reference_incomplete")
        self.assertEqual(self.failure(reference_of("import random\nreturn x[0] * random.random()", "[torch.randn(8)]")).code,
                         "not_deterministic")
        failed = self.failure(reference_of("return torch.bernoulli(x[0])", "[torch.rand(8)]"))
        self.assertRegex(failed.message, "draws by aten::bernoulli, whose numbers")
        self.assertTrue(failed.where.endswith("reference.py:4"), failed.where)
        self.assertEqual(self.failure(reference_of("return x[0] / 0", "[torch.randn(8)]")).code, "not_finite")
        self.assertEqual(self.failure(reference_of("return 3", "[torch.randn(8)]")).code, "no_output")
        self.assertEqual(self.failure(reference_of("return x[0]", "[torch.randn(8), torch.rand(1).item()]")).code,
                         "inputs_change")


class Processes(unittest.TestCase):
    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_without_a_gpu_every_request_is_told_so(self) -> None:
        judge = Process("judge", "--device", "0")
        for request in ("hello", "prepare"):
            error = judge.ask(do=request)["error"]
            self.assertEqual((error["fault"], error["code"]), ("machine", "no_gpu"))
        self.assertEqual(judge.end(), 0)

    def test_two_processes_share_outputs_and_end(self) -> None:
        judge, runner = Process("judge"), Process("runner")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(LINEAR))
            self.assertEqual(judge.ask(do="hello")["capability"], [0, 0])
            self.assertEqual(judge.ask(do="nothing")["error"]["code"], "bad_request")
            slots = judge.ask(do="prepare", reference=path, precision="fp32", baseline="eager", most_slots=4,
                              batch_us=1e9, bank_bytes=1 << 20)["workloads"][0]["slots"]
            self.assertTrue(runner.ask(do="prepare", reference=path, precision="fp32", slots=slots)["ok"])
            self.assertEqual(runner.ask(do="run", variant=0, sets=[1])["error"]["code"], "bad_request")
            self.assertTrue(runner.ask(linear_plan().bytes(), do="load")["ok"])
            sets = [2**62, 7, 8]
            self.assertTrue(runner.ask(do="run", variant=1, sets=sets)["ok"])
            outbox = runner.ask(do="publish")["outbox"]
            found = judge.ask(do="compare", variant=1, sets=sets, outbox=outbox)
            self.assertIsNone(found["wrong"])
            outbox["calls"][0][0]["offset"] = 1 << 40
            self.assertEqual(judge.ask(do="compare", variant=1, sets=sets, outbox=outbox)["error"]["code"], "bad_outbox")
        self.assertEqual((judge.end(), runner.end()), (0, 0))
        self.assertFalse(os.path.exists(outbox["file"]))
