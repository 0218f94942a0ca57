"""Single elements beyond their budget: what the reference's own error grants them, and what it does not."""

from __future__ import annotations

import functools
import math
import unittest

import torch

from worker_bench import LINEAR, X, Plan, bench_for, reference_of
from kernelsmith_torch.compare import compare_batch
from kernelsmith_torch.singles import MOST, NEAR, RUNS
from kernelsmith_torch.truth import BLOCK, Expected, _moved

SIZE = 4 * BLOCK
OWN = 1e-3  # what the reference is off when its inputs are moved
ALLOWED = 1e-4


class Rule(unittest.TestCase):
    """A truth of ones, from which the moved reference is off by OWN in one run of two."""

    def setUp(self) -> None:
        self.runs: list[int] = []

    def moved(self, _: int, run: int, wide: bool) -> list[torch.Tensor]:
        self.assertFalse(wide)
        self.runs.append(run)
        return [torch.full((SIZE,), 1 + OWN * (run % 2))]

    def expected(self, **other: object) -> Expected:
        shape, dtype = other.get("shape", (SIZE,)), other.get("dtype", torch.float32)
        size = math.prod(shape)
        return Expected(**{"shape": shape, "dtype": dtype, "truth": torch.ones(size, dtype=dtype), "row": BLOCK,
                           "blocks": torch.full((-(-size // BLOCK),), ALLOWED, dtype=torch.float64), "rms_limit": 1e9,
                           "judged": float(size), "by_budget": True, **other})

    def wrong(self, errors: dict[int, float], moved: object = None, **other: object) -> dict | None:
        output = torch.ones(other.get("shape", SIZE), dtype=other.get("dtype", torch.float32))
        for place, error in errors.items():
            output.view(-1)[place] += error
        one = self.expected(**other)
        found = compare_batch([[one]], [[output]], moved or self.moved)
        self.assertEqual(found.wrong is None, found.error <= 1)
        return found.wrong

    def test_the_references_own_error_decides(self) -> None:
        self.assertIsNone(self.wrong({7: 15 * OWN, 3000: -15 * OWN}))
        self.assertEqual(self.runs, [0, 1], "no more runs than are needed")
        wrong = self.wrong({7: 17 * OWN, 3000: -15 * OWN})
        self.assertEqual((wrong["kind"], wrong["count"], wrong["index"]), ("wrong", 1, [7]))
        self.assertAlmostEqual(wrong["allowed"], 16 * OWN, delta=OWN / 10)
        self.assertEqual(len(self.runs), 2 + RUNS)

    def test_those_beside_it_in_its_row_count(self) -> None:
        row = 64

        def at_100(call: int, run: int, wide: bool) -> list[torch.Tensor]:
            output = torch.ones(SIZE // row, row)
            output.view(-1)[[64 - 1, 100]] += OWN
            return [output]

        for place, good in ((100 - NEAR - 1, False), (100 - NEAR, True), (100 + NEAR, True), (100 + NEAR + 1, False),
                            (63, True), (64, False)):
            with self.subTest(place=place):
                wrong = self.wrong({place: 15 * OWN}, at_100, shape=(SIZE // row, row))
                self.assertEqual(wrong is None, good)

    def test_outputs_of_16_bits_have_less(self) -> None:
        self.assertIsNone(self.wrong({7: 1.9 * OWN}, dtype=torch.float16))
        self.assertEqual(self.wrong({7: 4 * OWN}, dtype=torch.float16)["count"], 1)

    def test_many_are_no_single_ones(self) -> None:
        self.assertIsNone(self.wrong({100 + i: OWN for i in range(MOST)}))
        self.runs.clear()
        self.assertEqual(self.wrong({100 + i: OWN for i in range(MOST + 1)})["count"], MOST + 1)
        self.assertEqual(self.wrong({100 * i: OWN for i in range(MOST + 1)})["count"], MOST + 1)
        self.assertEqual(self.runs, [])

    def test_a_whole_row_may_be_single_ones(self) -> None:
        rows, row = 1024, 64

        def all_alike(call: int, run: int, wide: bool, response: float = 0) -> list[torch.Tensor]:
            return [torch.full((rows, row), 1 + response + OWN * (not wide))]

        errors = {5 * row + i: 15 * OWN for i in range(row)}
        self.assertIsNone(self.wrong(errors, all_alike, shape=(rows, row)))
        self.assertEqual(self.wrong({**errors, 0: 17 * OWN}, all_alike, shape=(rows, row))["count"], row + 1, "one too many")
        responds = functools.partial(all_alike, response=-100 * OWN)
        self.assertIsNone(self.wrong(errors, responds, shape=(rows, row)))
        more = {place: 20 * OWN for place in errors}
        self.assertIsNotNone(self.wrong(more, responds, shape=(rows, row)), "what moved inputs change is no error of its own")
        self.assertIsNone(self.wrong(dict(list(more.items())[:MOST]), responds, shape=(rows, row)))
        del errors[5 * row]
        self.assertEqual(self.wrong({**errors, 0: 17 * OWN}, all_alike, shape=(rows, row))["count"], 1)

    def test_short_outputs_have_no_single_ones(self) -> None:
        self.assertEqual(self.wrong({7: OWN}, shape=(BLOCK - 1,))["count"], 1)
        self.assertEqual(self.runs, [])

    def test_an_output_that_is_off_as_a_whole_is_wrong(self) -> None:
        self.assertIsNotNone(self.wrong({7: 15 * OWN}, rms_limit=1.0))
        self.assertEqual(self.runs, [])

    def test_other_policies_and_faults_stay(self) -> None:
        self.assertIsNotNone(self.wrong({7: 15 * OWN}, by_budget=False))
        self.assertEqual(self.wrong({7: math.nan, 9: OWN})["kind"], "not_finite")
        self.assertEqual(self.runs, [])
        infinite = torch.ones(SIZE)
        infinite[7] = math.inf
        self.assertEqual(self.wrong({9: OWN}, truth=infinite)["count"], 1)

    def test_what_grants_nothing(self) -> None:
        answers = {"no answer": None, "not finite": [torch.full((SIZE,), math.nan)],
                   "infinite": [torch.full((SIZE,), math.inf)], "another shape": [torch.zeros(SIZE + 1)]}
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertEqual(self.wrong({7: OWN}, lambda call, run, wide, answer=answer: answer)["count"], 1)


class Moves(unittest.TestCase):
    def test_half_a_unit_up_or_down(self) -> None:
        for dtype in (torch.float32, torch.float64):
            x = torch.randn(10_000, dtype=dtype)
            up, down = (torch.nextafter(x, torch.full_like(x, end)) for end in (math.inf, -math.inf))
            found = _moved(x, torch.Generator().manual_seed(1))
            self.assertTrue(bool(((found == x) | (found == up) | (found == down)).all()))
            for other in (up, down):
                self.assertGreater(int((found == other).sum()), 1000)

    def test_what_stays(self) -> None:
        whole = torch.tensor([0.0, 1.0, -3.0, 2.0**30, math.inf, -math.inf])
        for x in (whole, torch.randn(99).bfloat16(), torch.randn(99).half(), torch.arange(99), torch.tensor([True, False])):
            self.assertTrue(torch.equal(_moved(x, torch.Generator().manual_seed(1)), x))

    def test_strides_do_not_matter(self) -> None:
        x = torch.randn(30, 20).t()
        self.assertTrue(torch.allclose(_moved(x, torch.Generator().manual_seed(1)), x, rtol=1e-6))
        self.assertEqual(_moved(torch.randn(3, 1).expand(3, 4), torch.Generator().manual_seed(1)).shape, (3, 4))


class Judged(unittest.TestCase):
    def test_the_judge_runs_the_reference_again(self) -> None:
        bench = bench_for(self, reference_of("return (x[0] @ x[1]).exp()", "[torch.randn(32, 64), torch.randn(64, 32)]"))
        plan = Plan([torch.empty(32, 64), torch.empty(64, 32)])
        plan.output(plan.op("exp", plan.op("mm", X, {"t": 1})), "float32", 32, 32)
        one = bench.judge._workloads[0]._truth.expected(0, 101)[0]
        one.on_value, one.rms_limit = 0.0, 1e9
        own = bench.judge._workloads[0]._truth.answers(0, 101)[0][0].reshape(-1)
        errors = (own.double() - one.truth.double()).abs().sort(descending=True).values
        one.blocks[:] = errors[MOST] * (1 + 1e-6)
        self.assertIsNone(bench.judged(plan)["wrong"])
        one.blocks[:] = errors[MOST] * (1 - 1e-6)
        self.assertGreater(bench.judged(plan)["wrong"]["count"], MOST)

    def test_runs_differ_and_leave_the_reference_as_it_was(self) -> None:
        truth = bench_for(self, LINEAR).judge._workloads[0]._truth
        plain = truth.answers(0, 7)[0][0]
        one, same, two = (truth.moved(0, 7, run)[0] for run in (0, 0, 1))
        self.assertTrue(torch.equal(one, same))
        self.assertFalse(torch.equal(one, two))
        self.assertTrue(torch.allclose(one, plain, atol=1e-5))
        self.assertTrue(torch.equal(truth.answers(0, 7)[0][0], plain))

    def test_a_reference_may_refuse_moved_inputs(self) -> None:
        particular = "assert bool((x[0] * 1024 == (x[0] * 1024).round()).all())\nreturn x[0] * 3"
        truth = bench_for(self, reference_of(particular, "[torch.randint(0, 4096, (64,)) / 1024]")).judge._workloads[0]._truth
        self.assertIsNone(truth.moved(0, 7, 0))
        self.assertEqual(len(truth.answers(0, 7)), 3)
