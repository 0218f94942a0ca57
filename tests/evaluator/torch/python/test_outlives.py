"""What outlives a call in the runner: a candidate can neither change it unseen nor leave something in it for the next."""

from __future__ import annotations

import unittest
from unittest import mock

import torch

from worker_bench import LINEAR, X, Plan, bench_for, failure_of, linear_plan
from kernelsmith_process.framing import Failure
from kernelsmith_torch import accelerator
from kernelsmith_torch.accelerator import Device, Seal, hash_of, place, secret_key
from kernelsmith_torch.layout import Arrangement


def counting_plan() -> Plan:
    """LINEAR, with a buffer of the constructor's to which each call adds, and which it adds to its output."""
    plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
    count = plan.op("zeros", [16, 48], setup=True)
    y = plan.op("relu", plan.op("addmm", plan.state("linear.bias"), X, plan.op("t", plan.state("linear.weight"))))
    out = plan.op("add.Tensor", y, count)
    plan.op("add_.Scalar", count, 1)
    plan.output(out, "float32", 16, 48)
    return plan


class Seals(unittest.TestCase):
    def test_every_kind_of_change_is_seen(self) -> None:
        for dtype in (torch.float32, torch.float16, torch.int8, torch.bool, torch.complex64):
            tensor = torch.zeros(1001).to(dtype)
            seal = Seal([torch.ones(3), tensor])
            self.assertTrue(seal.intact())
            tensor[1000] = 1
            self.assertFalse(seal.intact(), dtype)

    def test_changes_that_cancel_out_in_a_linear_hash_are_seen(self) -> None:
        for pattern in ((1, -2, 1), (1, -1, -1, 1), (1, -3, 3, -1), (1, 0, -1)):
            words = torch.arange(100, dtype=torch.int32)
            seal = Seal([words])
            words[10:10 + len(pattern)] += torch.tensor(pattern, dtype=torch.int32)
            self.assertFalse(seal.intact(), pattern)

    def test_two_words_that_change_places_are_seen(self) -> None:
        words = torch.arange(100, dtype=torch.int32)
        seal = Seal([words])
        words[[3, 4]] = words[[4, 3]]
        self.assertFalse(seal.intact())

    def test_a_key_is_used_once(self) -> None:
        tensor = torch.arange(9)
        seal = Seal([tensor])
        first = seal._key, seal._hashes
        seal.close()
        self.assertNotEqual(first[0], seal._key)
        self.assertNotEqual(first[1], seal._hashes)
        self.assertEqual(int(hash_of(tensor, first[0])), first[1][0])


class Places(unittest.TestCase):
    def test_each_tensor_has_a_storage_of_its_own_that_cannot_grow(self) -> None:
        models = [torch.empty(3, 5).t(), torch.empty(0), torch.empty(7, dtype=torch.int8)]
        placed, memory = place(Arrangement.of(models), Device(None))
        self.assertEqual([(t.shape, t.stride(), t.dtype) for t in placed], [(t.shape, t.stride(), t.dtype) for t in models])
        self.assertEqual([t.untyped_storage().resizable() for t in placed if t.numel()], [False, False])
        memory.fill_(7)
        self.assertTrue(bool((placed[2] == 7).all()))


class Kept(unittest.TestCase):
    def setUp(self) -> None:
        self.bench = bench_for(self, LINEAR)

    def batch(self, seed: int) -> dict:
        return self.bench.again([seed])

    def test_what_the_constructor_made_is_restored(self) -> None:
        self.assertIsNone(self.bench.judged(counting_plan(), sets=[1])["wrong"])
        for seed in (2, 3):
            self.assertIsNone(self.batch(seed)["wrong"])

    def test_the_next_candidate_finds_parameters_as_they_were(self) -> None:
        runner = self.bench.runner
        runner.load({}, linear_plan().bytes())
        runner._state_memory.fill_(3)
        runner.load({}, linear_plan().bytes())
        for name, value in runner._originals.items():
            self.assertTrue(torch.equal(runner._state[name], value), name)
        self.assertNotIn(3, runner._state_memory[-256 + 192:].tolist(), "the rest of the last tensor's place")

    def test_a_plan_that_failed_cannot_be_run(self) -> None:
        self.bench.judged(linear_plan())
        bad = linear_plan()
        bad.op("view", X, [7])
        with self.assertRaises(Failure):
            self.bench.runner.load({}, bad.bytes())
        for step in (self.bench.runner.run, self.bench.runner.publish, self.bench.runner.profile):
            failed = failure_of(lambda: step({"variant": 0, "sets": [1]}, b""))
            self.assertEqual((failed.fault, failed.code), ("machine", "bad_request"))

    def test_views_of_what_it_made_stay_views(self) -> None:
        plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
        whole = plan.op("zeros", [2, 16, 48], setup=True)
        part = plan.op("select.int", whole, 0, 1, setup=True)
        turned = plan.op("t", plan.op("clone", plan.state("linear.weight"), setup=True), setup=True)
        plan.op("copy_", part, plan.op("addmm", plan.state("linear.bias"), X, turned))
        plan.output(plan.op("relu", plan.op("sum.dim_IntList", whole, [0])), "float32", 16, 48)
        self.assertIsNone(self.bench.judged(plan, sets=[1, 2, 3])["wrong"])

    def test_who_changes_the_copies_of_it_is_found(self) -> None:
        self.bench.judged(counting_plan(), sets=[1])
        self.bench.runner._program._pristine[77] += 1
        failed = failure_of(lambda: self.batch(2))
        self.assertEqual((failed.stage, failed.code), ("integrity", "input_modified"))

    def test_each_batch_lies_elsewhere(self) -> None:
        runner, seen = self.bench.runner, set()
        runner.load({}, linear_plan().bytes())
        for seed in range(5):
            runner.run({"variant": 0, "sets": [3 * seed + 1, 3 * seed + 2, 3 * seed + 3]}, b"")
            seen.add(tuple(t.data_ptr() - memory.data_ptr() for inputs, memory, _ in runner._slots for t in inputs.tensors()))
        self.assertEqual(len(seen), 5)

    def test_writes_beside_inputs_and_parameters_are_found(self) -> None:
        runner = self.bench.runner
        for tensor, memory in ((lambda: runner._slots[0][0].tensors()[0], lambda: runner._slots[0][1]),
                               (lambda: runner._state["linear.bias"], lambda: runner._state_memory)):
            runner.load({}, linear_plan().bytes())
            runner.run({"variant": 0, "sets": [1]}, b"")
            runner.publish({}, b"")
            behind = tensor().data_ptr() - memory().data_ptr() + tensor().numel() * 4
            memory()[behind - 1 if behind == memory().numel() else behind] ^= 1
            self.assertEqual(failure_of(lambda: runner.publish({}, b"")).code, "input_modified")

    def test_the_outbox_is_wiped_before_a_batch(self) -> None:
        self.bench.judged(linear_plan(), sets=[1])
        for step in (lambda: self.bench.runner.run({"variant": 0, "sets": [2]}, b""),
                     lambda: self.bench.runner.load({}, linear_plan().bytes())):
            self.assertGreater(len(self.bench.runner._outbox._memory.unique()), 1)
            step()
            self.assertEqual(self.bench.runner._outbox._memory.unique().tolist(), [0xAB])
            self.bench.again([3])

    def test_secrets_are_wiped_before_a_candidates_kernels_run(self) -> None:
        """Each hash leaves its weights in free memory: none is taken between the last wiping and a call."""
        happened = []
        runner = self.bench.runner
        for owner, name in ((runner._clock, "wipe_free_memory"), (accelerator, "hashes_of")):
            def note(*args: object, name: str = name, whole: object = getattr(owner, name), **kwargs: object) -> object:
                happened.append(name)
                return whole(*args, **kwargs)

            patched = mock.patch.object(owner, name, note)
            patched.start()
            self.addCleanup(patched.stop)
        original = runner._clock._play_launched
        runner._clock._play_launched = lambda calls, lay_out: original(calls, lambda: (lay_out(), happened.append("play")))
        self.bench.judged(counting_plan(), sets=[1, 2])
        for index, what in enumerate(happened):
            if what == "play":
                self.assertEqual(happened[index - 1], "wipe_free_memory", happened)
        self.assertIn("play", happened)
