"""How long a candidate's calls may take, with events that come when the test says so."""

from __future__ import annotations

import unittest


from worker_bench import LINEAR, Bench, linear_plan
from kernelsmith_process.framing import Failure
from kernelsmith_torch.timing import Patience


class Clock:
    """Goes on by a millisecond each time that somebody looks."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        self.s += 1e-3
        return self.s


class Event:
    """Comes when it was asked for so many times; never if that is None."""

    def __init__(self, asked: int | None) -> None:
        self.left = asked

    def query(self) -> bool:
        if self.left:
            self.left -= 1
        return self.left == 0


class Waiting(unittest.TestCase):
    def test_an_event_that_never_comes_ends_with_the_limit(self) -> None:
        clock = Clock()
        with self.assertRaises(Failure) as raised:
            Patience(2, clock).wait_for(Event(None))
        failure = raised.exception
        self.assertEqual((failure.fault, failure.stage, failure.code), ("candidate", "run", "timed_out"))
        self.assertIn("did not end within 2 s", failure.message)
        self.assertAlmostEqual(clock.s, 2, delta=0.01)

    def test_all_that_is_waited_for_counts_and_nothing_else(self) -> None:
        clock = Clock()
        patience = Patience(0.05, clock)
        patience.wait_for(Event(20))
        clock.s += 100  # the host loads a kernel
        patience.wait_for(Event(20))
        with self.assertRaises(Failure):
            patience.wait_for(Event(20))


class InTheRunner(unittest.TestCase):
    def setUp(self) -> None:
        self.bench = Bench(LINEAR)

    def tearDown(self) -> None:
        self.bench.close()

    def test_each_operation_is_waited_for_while_a_plan_is_loaded(self) -> None:
        marks: list[Event] = []
        self.bench.runner._device.mark = lambda: marks.append(Event(1)) or marks[-1]
        self.bench.runner.load({"call_s": 2}, linear_plan().bytes())
        self.assertGreaterEqual(len(marks), 2)

    def test_an_operation_that_does_not_end_is_the_candidates(self) -> None:
        self.bench.runner._device.mark = lambda: Event(None)
        with self.assertRaises(Failure) as raised:
            self.bench.runner.load({"call_s": 0}, linear_plan().bytes())
        self.assertEqual(raised.exception.code, "timed_out")

    def test_a_request_by_hand_needs_no_limit(self) -> None:
        self.bench.runner.load({}, linear_plan().bytes())
        self.assertGreater(self.bench.runner.run({"variant": 0, "sets": [1]}, b"")["us"], 0)
