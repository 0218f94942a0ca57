"""`init --kernelbench` makes a task of a problem's file; a planner that needs no PyTorch plans a candidate of it."""

import csv
import json
import os
import unittest

from support import CommandTest

PROBLEM = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.rand(4, 4)]

def get_init_inputs():
    return []
"""


class KernelBench(CommandTest):
    env = {"KERNELSMITH_TORCH_PYTHON_DIR": os.environ["KERNELSMITH_FAKE_TORCH"]}

    def setUp(self):
        super().setUp()
        self.write("19_ReLU.py", PROBLEM)
        self.write("good.py", '{"launches": 2}')
        self.write("bad.py", '{"launches": 0}')

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def test_a_problem_becomes_a_task_of_its_name(self):
        done = self.succeed("init", "--kernelbench", "19_ReLU.py")
        self.assertIn("made the task 19_ReLU: 2 files from 19_ReLU.py", done.stdout)
        self.assertIn("kernelsmith run 19_ReLU --model NAME", done.stdout)
        self.assertEqual((self.folder / "19_ReLU/reference.py").read_text(), PROBLEM)
        made = (self.folder / "19_ReLU/task.yaml").read_text()
        self.assertIn("name: 19_ReLU\n", made)
        self.assertIn("cast: true", made)
        for task in ("19_ReLU", "19_ReLU.py"):  # a problem is a task as it is
            self.assertIn("for sm_90: 2 launches", self.succeed("plan", task, "good.py").stdout)
        self.refused((["run", "19_ReLU", "--iterations", 3], ["no seed", "--model"], "refused"))
        self.fail_with(1, "plan", "19_ReLU", "bad.py", says=["forbidden_construct", "Triton"], code="refused")

    def test_each_reference_is_its_own_candidate(self):
        fails = {"fault": "candidate", "stage": "plan", "code": "plan_failed", "message": "no", "where": "", "hint": ""}
        for name, script in (("level1/19_ReLU.py", {"us": 500}), ("level1/2_Odd.py", {"plan": fails}),
                             ("level2/3_Two.py", {"us": 500, "inputs": 1, "need": 3 << 30, "notes": ["it cannot be captured"]})):
            (self.folder / "bench" / name).parent.mkdir(parents=True, exist_ok=True)
            self.write(f"bench/{name}", f"# script: {json.dumps(script)}\n{PROBLEM}")
        options = ("--references", "--quick", "--at-once", 2, "--set", "evaluator.sandbox=none")
        done = self.succeed("score", "bench", *options)
        results = {one["task"]: one for one in json.loads((self.folder / "bench.score/score.json").read_text())["results"]}
        self.assertEqual({name: one["speedup"] and one["speedup"]["median"] for name, one in results.items()},
                         {"level1/19_ReLU": 1, "level1/2_Odd": None, "level2/3_Two": 1})
        for one in results.values():
            self.assertAlmostEqual(sum(one["spent_s"].values()), one["wall_s"])
        self.assertLessEqual({"prepare: start", "prepare: wait", "prepare: plan", "plan", "wait", "candidate: load",
                              "candidate: calls", "candidate: compare", "candidate: publish", "yardstick: calls", "other"},
                             set(results["level1/19_ReLU"]["spent_s"]))
        with open(self.folder / "bench.score/times.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["task"], row["speedup"], row["why"]) for row in rows],
                         [("level1/2_Odd", "", "plan: plan_failed: no"), ("level1/19_ReLU", "1.0000", ""),
                          ("level2/3_Two", "1.0000", "it cannot be captured")])
        self.assertEqual(rows[2]["memory"], "3.0 GiB")
        self.assertRegex(done.stdout, r"(?s)step +s +share\n.*all +[0-9.]+ +1\.000")
        self.assertIn("level2/3_Two: 1.00", done.stderr)
        self.assertNotIn("/3]", self.succeed("score", "bench", *options).stderr)
        self.fail_with(2, "score", "bench", "--references", "--tasks", "bench", says=["--tasks", "--references"])
        self.fail_with(3, "score", "19_ReLU.py", "--references", "--out", "x", says=["cannot be read"], code="io")

    def test_a_file_that_is_no_problem_is_one_row(self):
        (self.folder / "bench/level1").mkdir(parents=True)
        self.write("bench/level1/19_ReLU.py", f"# script: {json.dumps({'us': 500})}\n{PROBLEM}")
        self.write("bench/level1/2_None.py", "\0")
        done = self.ends(2, "score", "bench", "--references", "--quick", "--set", "evaluator.sandbox=none")
        self.assertIn("1 of 2 tasks ended with an error; level1/2_None: ", done.stderr)
        self.assertIn("\n        hint: ", done.stderr)
        results = json.loads((self.folder / "bench.score/score.json").read_text())["results"]
        self.assertEqual({one["task"]: one["correct"] for one in results}, {"level1/19_ReLU": True, "level1/2_None": False})

    def test_a_folder_is_no_candidate(self):
        (self.folder / "several").mkdir()
        for command in ("plan", "evaluate", "verify"):
            self.fail_with(2, command, "19_ReLU.py", "several", says=["several: a file is expected"], code="bad_input")

    def test_verifying_needs_a_gpu_and_a_torch_task(self):
        self.succeed("init", "own")
        self.fail_with(3, "verify", "19_ReLU.py", "good.py", says=["sees no GPU", "kernelsmith plan needs none"], code="unsupported")
        self.fail_with(3, "verify", "own", "own/seed.cpp", says=["the backend 'cpu'", "verify is for torch"], code="unsupported")

    def test_the_folder_can_be_named(self):
        name = self.write("1 x'y_.py", PROBLEM)
        for folder in (["--out", "there"], ["here"]):
            self.succeed("init", "--kernelbench", name, *folder)
            self.assertIn("name: 1_x_y\n", (self.folder / folder[-1] / "task.yaml").read_text())
        self.refused((["init", "--kernelbench", name, "--out", "there"], ["there", "exists already"], "invalid_argument"))

    def test_another_file_is_refused(self):
        other = self.write("20_Other.py", "class ModelNew:\n  pass\n")
        self.refused((["init", "--kernelbench", other], ["20_Other.py", "not a KernelBench problem", "class Model("], "bad_input"),
                     (["init", "--kernelbench", "none.py"], "none.py", "not_found"),
                     (["plan", other, "good.py"], ["20_Other.py", "not a KernelBench problem"], "bad_input"))
        self.assertFalse((self.folder / "20_Other").exists())

    def test_the_file_is_named_as_it_was_given(self):
        self.succeed("init", "--kernelbench", "19_ReLU.py")
        self.write("19_ReLU/seed.py", "{}")
        self.edit("19_ReLU/task.yaml", "  # seed: seed.py", "  seed: seed.py")
        self.write("new.py", '{"plan": {"fault": "candidate", "stage": "plan", "code": "plan_failed", '
                             '"message": "no", "where": "seed.py:7", "hint": ""}}')
        text = self.fail_with(1, "plan", "19_ReLU", "new.py", says=["plan_failed: new.py:7: no"])
        self.assertNotIn("seed.py", text)

    def test_plan_takes_settings(self):
        plan = ["plan", "19_ReLU.py", "good.py", "--set"]
        self.fail_with(3, *plan, "evaluator.python=nowhere", says=["nowhere"], code="tool_missing")
        self.refused(([*plan, "evaluator.pyton=x"], "did you mean python?"))

    def test_a_search_that_cannot_measure_asks_no_model(self):
        search = ["run", "19_ReLU.py", "--manual", "queue", "--set", "evaluator.sandbox=none"]
        for more in ([], ["--dry-run"]):
            done = self.ends(3, *search, *more, env={"FAKE_NO_GPU": "1"})
            self.assertIn("no driver", done.stdout + done.stderr)
        self.assertEqual(list(self.folder.glob("queue/*.json")), [])

    def test_one_that_needs_a_gpu_hides_no_other(self):
        done = self.ends(3, "evaluate", "19_ReLU.py", "good.py", "bad.py", "good.py", "--set", "evaluator.sandbox=none",
                         env={"FAKE_NO_GPU": "1"})
        self.assertIn("bad.py:\nrejected at plan: forbidden_construct", done.stdout)
        self.assertEqual(done.stderr.count("there is no GPU to run it on"), 2)


if __name__ == "__main__":
    unittest.main()
