"""How tasks are laid out in memory, whose fault it is that it ran out, and judge and runner if there is little of it."""

from __future__ import annotations

import contextlib
import dataclasses
import unittest
import weakref
from collections.abc import Iterator
from unittest import mock

import torch

from worker_bench import LINEAR, Bench, Plan, bench_for, linear_plan, reference_of
from kernelsmith_process.framing import Failure
from kernelsmith_torch import worker
from kernelsmith_torch.accelerator import Device
from kernelsmith_torch.memory import (ALLOWANCE, CONTEXT, GIB, Measured, Shortage, asked_for, is_candidates, is_memory, lay_out,
                                      missing, neighbours, reserve, slots_for)
from kernelsmith_torch.model_source import Inputs, Reference

H100, L2, BANK = 79 * GIB - reserve(79 * GIB), 50 << 20, 4 * GIB


def elementwise(inputs: float, outputs: float | None = None) -> Measured:
    """A need of fp32, in GiB."""
    b = int(inputs * GIB)
    o = b if outputs is None else int(outputs * GIB)
    return Measured(state=0, inputs=b, outputs=o, draw=2 * b, call=o, wide=b + 2 * b + 3 * o, truth=o)


class Layouts(unittest.TestCase):
    def test_calls_that_fill_the_l2_stand_alone(self) -> None:
        self.assertEqual(slots_for(elementwise(0.2), 32, L2, H100), 1)
        self.assertEqual(slots_for(elementwise(0.05), 32, L2, H100), 32)
        self.assertEqual(slots_for(elementwise(0), 32, L2, H100), 32)
        self.assertEqual(slots_for(elementwise(0.05), 32, L2, GIB), 1)

    def test_small_tasks_cache_and_large_ones_give_back(self) -> None:
        small, middle, large = (lay_out(elementwise(size), 1, BANK, H100) for size in (0.1, 2, 6))
        self.assertEqual((small.gives_back, small.together, small.truth_on_host), (False, True, False))
        self.assertEqual((middle.gives_back, middle.together, middle.truth_on_host), (True, True, False))
        self.assertEqual((large.gives_back, large.together, large.truth_on_host), (True, False, False))

    def test_the_truth_goes_to_the_host_where_the_device_is_too_small(self) -> None:
        spread = dataclasses.replace(elementwise(0.001, 4), wide=9 * GIB)
        self.assertTrue(lay_out(spread, 1, BANK, 31 * GIB).truth_on_host)
        self.assertFalse(lay_out(spread, 1, BANK, 34 * GIB).truth_on_host)

    def test_kernelbenchs_largest_fit(self) -> None:
        for name, measured in {"19 ReLU": elementwise(6), "21 Sigmoid": elementwise(6), "4 matrix-vector": elementwise(8, 0.01),
                               "87 pointwise": elementwise(4, 8),
                               "93 cumsum": dataclasses.replace(elementwise(5, 4), draw=int(14 * GIB))}.items():
            with self.subTest(name):
                self.assertLessEqual(lay_out(measured, 1, BANK, H100).need, H100)

    def test_a_need_is_more_than_its_parts(self) -> None:
        for size in (0.01, 1, 4, 8):
            layout = lay_out(elementwise(size), 1, BANK, H100)
            self.assertGreaterEqual(layout.need, layout.runner + ALLOWANCE)
            self.assertGreaterEqual(layout.runner, 3 * size * GIB + CONTEXT)

    def test_more_of_anything_needs_no_less(self) -> None:
        base = elementwise(1)
        for field in dataclasses.fields(Measured):
            more = dataclasses.replace(base, **{field.name: getattr(base, field.name) + GIB})
            self.assertGreaterEqual(lay_out(more, 1, BANK, H100).need, lay_out(base, 1, BANK, H100).need, field.name)


class Blame(unittest.TestCase):
    """The blame of a runner that has 10 GiB, with a judge of 10 GiB beside it."""

    def shortage(self, **what: int) -> Shortage:
        values = {"total": 80, "free": 50, "own": 20, "kin": 10, "asked": 60, "given": 12, "alone": True, **what}
        return Shortage(**{name: value if name == "alone" else value * GIB for name, value in values.items()})

    def test_alone_it_is_the_candidates(self) -> None:
        self.assertTrue(is_candidates(self.shortage(asked=55)))

    def test_with_claims_of_others_it_is_not(self) -> None:
        self.assertFalse(is_candidates(self.shortage(asked=55, alone=False)))

    def test_nor_where_strangers_hold_the_rest(self) -> None:
        self.assertFalse(is_candidates(self.shortage(free=40, asked=45)))
        self.assertIn("other processes hold 10.0 GiB", neighbours(self.shortage(free=40, asked=45)))

    def test_nor_without_what_the_reference_needs(self) -> None:
        self.assertFalse(is_candidates(self.shortage(own=5, free=5, kin=70, asked=6)))

    def test_more_than_the_device_has_is_always_the_candidates(self) -> None:
        self.assertTrue(is_candidates(self.shortage(asked=1000, alone=False, free=0)))

    def test_messages_are_one_line(self) -> None:
        for words in (missing(self.shortage()), neighbours(self.shortage())):
            self.assertNotIn("\n", words)
        self.assertEqual(missing(self.shortage()), "80.0 GiB are needed of the GPU's 80.0 GiB, and 10.0 GiB are missing")

    def test_what_was_asked_for_stands_in_pytorchs_message(self) -> None:
        self.assertEqual(asked_for("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has ..."), int(2.5 * GIB))
        self.assertEqual(asked_for("can't allocate memory: you tried to allocate 4096 bytes. Error code 12"), 4096)
        self.assertEqual(asked_for("CUDA error: CUDA_ERROR_OUT_OF_MEMORY"), 0)


HUGE = reference_of("return x[0] * 2", "[torch.randn(64)]")


def huge_plan(size: int) -> Plan:
    """Makes `size` bytes, and then the output."""
    plan = Plan([torch.empty(64)])
    plan.op("empty.memory_format", [size], dtype={"dtype": "uint8"}, device={"device": True})
    plan.output(plan.op("mul.Tensor", {"t": 0}, 2), "float32", 64)
    return plan


class Little(unittest.TestCase):
    """Judge and runner that believe to have less than they need."""

    def bench(self, memory: int, reference: str = LINEAR, **request: object) -> Bench:
        with mock.patch("kernelsmith_torch.accelerator._CPU_TELLS", memory):
            return bench_for(self, reference, **request)

    def test_one_after_the_other_finds_the_same(self) -> None:
        bench = self.bench(1 * GIB)
        told = bench.prepared["memory"]
        self.assertEqual((told["gives_back"], told["together"], told["truth_on_host"]), (True, False, True))
        bench.runner.prepare({"reference": bench.path, "precision": "fp32", "slots": 3, "memory": told}, b"")
        for variant in range(3):
            self.assertIsNone(bench.judged(linear_plan(), variant=variant)["wrong"])
        for _ in range(2):
            times = bench.judge.yardstick({"variant": 0, "sets": [5, 6]}, b"")
            self.assertGreater(times["us"], 0)
            self.assertIsNone(bench.again([5, 6])["wrong"])
            self.assertIsNone(bench.judge.compare({"variant": 0, "sets": [5, 6], "own": True}, b"")["wrong"])
        self.assertIn("ops", bench.runner.profile({}, b""))

    def test_a_draw_is_measured_in_every_variant(self) -> None:
        drawn, draw = [], Reference.draw

        def noted(self: Reference, variant: int, seed: int) -> Inputs:
            drawn.append(variant)
            return draw(self, variant, seed)

        @contextlib.contextmanager
        def peak(_: Device) -> Iterator[list[int]]:
            """As if each variant took a MiB more than the last."""
            before, found = len(drawn), []
            yield found
            found.append(max(drawn[before:], default=0) + 1 << 20)

        with mock.patch.object(Reference, "draw", noted), mock.patch.object(Device, "peak", peak):
            bench = bench_for(self, LINEAR)
        self.assertEqual((bench.prepared["variants"], bench.prepared["memory"]["draw"]), (["given", "scaled", "shifted"], 3 << 20))

    def test_nothing_of_a_batch_is_there_when_the_next_is_drawn(self) -> None:
        bench = bench_for(self, LINEAR)
        self.assertIsNone(bench.judged(linear_plan())["wrong"])
        before = [weakref.ref(memory) for _, memory, _ in bench.runner._slots]
        alive, draw = [], Reference.draw

        def noted(self: Reference, variant: int, seed: int) -> Inputs:
            alive.extend(memory() for memory in before)
            return draw(self, variant, seed)

        with mock.patch.object(Reference, "draw", noted):
            bench.runner.run({"variant": 0, "sets": [5, 6]}, b"")
        self.assertTrue(before and alive)
        self.assertEqual([memory for memory in alive if memory is not None], [])

    def test_what_is_released_is_made_again(self) -> None:
        bench = bench_for(self, LINEAR)
        bench.judge.handlers()["release"]({}, b"")
        self.assertIsNone(bench.judged(linear_plan())["wrong"])
        bench.judge.yardstick({"variant": 0, "sets": [5]}, b"")
        bench.judge.handlers()["release"]({}, b"")
        with self.assertRaises(Failure):
            bench.judge.compare({"variant": 0, "sets": [5], "own": True}, b"")

    def load(self, bench: Bench, size: int, alone: bool) -> Failure:
        with self.assertRaises(Failure) as caught:
            bench.runner.handlers()["load"]({"alone": alone}, huge_plan(size).bytes())
        self.assertNotIn("\n", caught.exception.message)
        return caught.exception

    def test_a_candidate_is_blamed_only_alone(self) -> None:
        bench = bench_for(self, HUGE)
        told = self.load(bench, 8 << 30, alone=True)
        self.assertEqual((told.fault, told.code), ("candidate", "out_of_memory"))
        told = self.load(bench, 8 << 30, alone=False)
        self.assertEqual((told.fault, told.code), ("machine", "busy"))
        told = self.load(bench, 1 << 40, alone=False)
        self.assertEqual((told.fault, told.code), ("candidate", "out_of_memory"), "no GPU has that much")

    def test_a_reference_that_does_not_fit_says_what_is_missing(self) -> None:
        huge = reference_of("return x[0] + torch.empty(8 << 30, dtype=torch.uint8)[0]", "[torch.randn(64)]")
        for alone, fault, code in ((True, "task", "out_of_memory"), (False, "machine", "busy")):
            bench = bench_for(self, LINEAR)
            with open(bench.path, "w", encoding="utf-8") as file:
                file.write(huge)
            with self.assertRaises(Failure) as caught:
                bench.judge.handlers()["prepare"]({"reference": bench.path, "precision": "fp32", "alone": alone}, b"")
            told = caught.exception
            self.assertEqual((told.fault, told.code), (fault, code), told.message)
            self.assertTrue(told.hint)
            self.assertIn("GiB", told.message)

    def test_memory_has_many_words(self) -> None:
        for words in ("CUDA error: out of memory", "CUDA error: CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED"):
            self.assertTrue(is_memory(RuntimeError(words)))
        self.assertFalse(is_memory(RuntimeError("CUDA error: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")))


class HostTruths(unittest.TestCase):
    def test_slices_change_nothing(self) -> None:
        reference = reference_of("return torch.softmax(x[0], 1)", "[torch.randn(48, 100)]")
        for precision in ("fp32", "bf16"):
            bench = bench_for(self, reference, precision=precision)
            bench.judge._workloads[0]._truth.forget()
            here = bench.judge._workloads[0]._truth.expected(0, 7)[0]
            bench.judge._workloads[0]._truth.forget()
            bench.judge._workloads[0]._truth.on_host = True
            with mock.patch("kernelsmith_torch.accelerator.CHUNK", 1024):
                there = bench.judge._workloads[0]._truth.expected(0, 7)[0]
            self.assertTrue(torch.equal(here.truth, there.truth) and torch.equal(here.blocks, there.blocks))
            self.assertEqual(here.rms_limit, there.rms_limit)


class Opening(unittest.TestCase):
    def test_a_full_device_is_tried_again(self) -> None:
        answers = iter([RuntimeError("CUDA error: out of memory\nCompile with ..."), torch.OutOfMemoryError("full"), None])

        def make():
            answer = next(answers)
            if answer is not None:
                raise answer
            return lambda request, blob: ({"got": request}, blob)

        opening = worker.Opening(make)
        with self.assertRaises(Failure) as caught:
            opening.handle({}, b"")
        self.assertEqual((caught.exception.fault, caught.exception.code), ("machine", "busy"))
        self.assertNotIn("install", caught.exception.hint)
        self.assertEqual(opening.handle({"do": "hello"}, b"")[0], {"got": {"do": "hello"}})

    def test_the_hint_fits_the_cause(self) -> None:
        told = worker.why_not_opened(RuntimeError("PyTorch 2.13 is built without CUDA"))
        self.assertEqual(told.code, "no_gpu")
        self.assertIn("install PyTorch with CUDA", told.hint)
