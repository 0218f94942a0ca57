"""A task with several workloads: one judge and one runner for all, a plan for each, failures that name theirs."""

import os
import sys
import tempfile
import textwrap
import unittest
import weakref
from unittest import mock

from support import Planner

from kernelsmith_process.framing import Failure
from kernelsmith_torch import plan_format
from kernelsmith_torch.accelerator import Device
from kernelsmith_torch.reference_process import ReferenceProcess
from kernelsmith_torch.runner import Runner

REFERENCE = '''
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(8))
    def forward(self, x, times):
        return x * self.scale * times
def get_inputs(rows=1, times=2.0):
    return [torch.rand(rows, 8), times]
'''
CANDIDATE = REFERENCE.split("def get_inputs")[0].replace("class Model", "class ModelNew")
WORKLOADS = [{"name": "small", "arguments": {"rows": 3, "times": 2.0}}, {"name": "large", "arguments": {"rows": 500, "times": 0.5}}]


class Workers(Planner):
    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = os.path.join(folder, "reference.py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(REFERENCE)
        self.judge, self.runner = ReferenceProcess(Device(None)), Runner(Device(None))
        self.addCleanup(self.runner.close)
        self.task = {"reference": self.path, "precision": "fp32", "workloads": WORKLOADS}
        self.facts = self.judge.prepare({**self.task, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")["workloads"]
        told = [{**one, **facts} for one, facts in zip(WORKLOADS, self.facts)]
        self.runner.prepare({**self.task, "workloads": told}, b"")

    def plans(self, candidate=CANDIDATE):
        reply, blob = self.ask(do="plan", reference=REFERENCE, candidate=candidate, workloads=WORKLOADS, timeout_s=120)
        self.assertNotIn("error", reply)
        plans, at = [], 0
        for one in reply["plans"]:
            plans.append(blob[at:at + one["bytes"]])
            at += one["bytes"]
        self.assertEqual(at, len(blob))
        return plans

    def found(self, workload, variant=0, sets=(101, 102)):
        where = {"workload": workload, "variant": variant, "sets": list(sets)}
        self.assertGreater(self.runner.run(where, b"")["us"], 0)
        return self.judge.compare({**where, "outbox": self.runner.publish({}, b"")["outbox"]}, b"")["wrong"]

    def test_each_has_its_inputs_outputs_and_truth(self):
        self.assertEqual([one["outputs"][0]["shape"] for one in self.facts], [[3, 8], [500, 8]])
        self.assertEqual([one["compulsory_bytes"] for one in self.facts], [3 * 8 * 4, 500 * 8 * 4])
        for workload, plan in enumerate(self.plans()):
            self.runner.load({"workload": workload}, plan)
            for variant, _ in enumerate(self.facts[workload]["variants"]):
                self.assertIsNone(self.found(workload, variant))
        # What the candidate does at one workload is not what another one's truth says.
        self.runner.load({"workload": 0}, self.plans(CANDIDATE.replace("* times", "* 2"))[0])
        self.assertIsNone(self.found(0))
        self.runner.load({"workload": 1}, self.plans(CANDIDATE.replace("* times", "* 2"))[1])
        self.assertEqual(self.found(1)["kind"], "wrong")

    def test_each_may_have_its_own_tolerance(self):
        loose = {"policy": "allclose", "allow": [], "rtol": 0, "atol": 0.1, "truth": "reference"}
        told = [WORKLOADS[0], {**WORKLOADS[1], "tolerance": loose}]
        self.judge.prepare({**self.task, "workloads": told, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")
        plans = self.plans(CANDIDATE.replace("* times", "* times + 0.05"))
        for workload, right in enumerate((False, True)):
            self.runner.load({"workload": workload}, plans[workload])
            self.assertEqual(self.found(workload) is None, right)
        self.assertEqual([one._truth._wide is None for one in self.judge._workloads], [False, True])

    def test_a_recorded_call_keeps_what_the_reference_replaces(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(REFERENCE.replace("        return x", """\
        if TABLES.get("rows") != len(x):
            TABLES.update(rows=len(x), table=[torch.ones(len(x), 1)])
        if len(getattr(self, "table", ())) != len(x):
            self.table = torch.ones(len(x), 1)
        x = x * TABLES["table"][0] * self.table
        return x""") + "TABLES = {}\n")
        self.judge.prepare({**self.task, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")
        self.judge.yardstick({"workload": 0, "variant": 0, "sets": [1]}, b"")
        tables = sys.modules["kernelsmith_reference"].TABLES
        kept = [weakref.ref(one) for one in (tables["table"][0], self.judge._model.table)]
        self.judge.yardstick({"workload": 1, "variant": 0, "sets": [1]}, b"")
        self.assertEqual(tables["rows"], 500)
        self.assertEqual([one().shape for one in kept], [(3, 1), (3, 1)])
        self.judge.release({}, b"")
        self.assertEqual([one() for one in kept], [None, None])

    def test_a_judge_that_replaces_another_has_its_batches(self):
        told = [{**one, "slots": slots} for one, slots in zip(WORKLOADS, (2, 1))]
        facts = self.judge.prepare({**self.task, "workloads": told, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")
        self.assertEqual([one["slots"] for one in facts["workloads"]], [2, 1])

    def test_a_plan_of_another_workload_is_refused(self):
        with self.assertRaises(Failure) as refused:
            self.runner.load({"workload": 0}, self.plans()[1])
        self.assertEqual(refused.exception.code, "bad_plan")
        with self.assertRaises(Failure) as refused:
            self.judge.yardstick({"workload": 2, "variant": 0, "sets": [1]}, b"")
        self.assertEqual(refused.exception.code, "bad_request")

    def test_the_yardstick_is_compared_at_the_workload_of_its_batch(self):
        for workload in (1, 0, 1):
            where = {"workload": workload, "variant": 0, "sets": [7, 8]}
            self.judge.yardstick(where, b"")
            self.assertIsNone(self.judge.compare({**where, "own": True}, b"")["wrong"])

    def test_recorded_calls_of_a_large_task_stay_for_one_workload_only(self):
        self.judge.yardstick({"workload": 0, "variant": 0, "sets": [1, 2]}, b"")
        self.judge.yardstick({"workload": 1, "variant": 0, "sets": [1, 2]}, b"")
        slots = [len(one._slots) for one in self.judge._workloads]
        self.assertEqual(slots, [2, 2])
        with mock.patch("kernelsmith_torch.reference_process.keeps_calls", return_value=False):
            self.judge.prepare({**self.task, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")
        for workload in (0, 1):
            self.judge.yardstick({"workload": workload, "variant": 0, "sets": [1, 2]}, b"")
        self.assertEqual([len(one._slots) for one in self.judge._workloads], [0, 2])

    def test_a_failure_names_its_workload(self):
        only_small = CANDIDATE.replace("        return x", "        assert len(x) < 100, 'too many rows'\n        return x")
        reply, _ = self.ask(do="plan", reference=REFERENCE, candidate=only_small, workloads=WORKLOADS, timeout_s=120)
        self.assertEqual(reply["error"]["fault"], "candidate")
        self.assertIn("at workload large: AssertionError: too many rows", reply["error"]["message"])
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(textwrap.dedent('''
                def get_inputs(rows, times):
                    assert rows < 100, "more than there are"
                    return [torch.rand(rows, 8), times]
                '''))
        with self.assertRaises(Failure) as failed:
            self.judge.prepare({**self.task, "batch_us": 1e9, "most_slots": 3, "bank_bytes": 1 << 20}, b"")
        self.assertEqual(failed.exception.fault, "task")
        self.assertIn("at workload large: AssertionError", failed.exception.message)

    def test_what_a_candidate_does_to_its_folder_is_not_the_references_fault(self):
        reference = REFERENCE + "\nimport beside\n"
        for spoils in ("os.remove('reference.py'); os.mkdir('reference.py')", "os.remove('beside.py'); os.mkdir('beside.py')",
                       "os.system('rm -rf ../*')"):
            with self.subTest(spoils):
                reply, _ = self.ask(do="plan", reference=reference, candidate=f"import os\n{spoils}\n" + CANDIDATE,
                                    files={"beside.py": "VALUE = 1\n"}, workloads=WORKLOADS, timeout_s=120)
                self.assertNotEqual(reply.get("error", {}).get("fault"), "task", reply)

    def test_the_plans_of_workloads_are_those_of_tasks_with_one(self):
        for workload, plan in zip(WORKLOADS, self.plans()):
            rows, times = workload["arguments"].values()
            alone = REFERENCE.replace("rows=1, times=2.0", f"rows={rows}, times={times}")
            reply, blob = self.ask(do="plan", reference=alone, candidate=CANDIDATE, timeout_s=120)
            self.assertEqual(len(reply["plans"]), 1)
            self.assertEqual(plan_format.decode(blob)[0], plan_format.decode(plan)[0])


if __name__ == "__main__":
    unittest.main()
