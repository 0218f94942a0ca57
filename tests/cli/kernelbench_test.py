"""`init --kernelbench` makes a task of a problem's file; a planner that needs no PyTorch plans a candidate of it."""

import os
import unittest

from support import CommandTest

FAKE = {"KERNELSMITH_TORCH_PYTHON_DIR": os.environ["KERNELSMITH_FAKE_TORCH"]}

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
    def problem(self, name="19_ReLU.py", text=PROBLEM):
        (self.folder / name).write_text(text)
        return name

    def test_a_problem_becomes_a_task_of_its_name(self):
        done = self.succeed("init", "--kernelbench", self.problem())
        self.assertIn("made the task 19_ReLU: 2 files from 19_ReLU.py", done.stdout)
        self.assertIn("kernelsmith run 19_ReLU --model NAME", done.stdout)
        self.assertEqual((self.folder / "19_ReLU/reference.py").read_text(), PROBLEM)
        made = (self.folder / "19_ReLU/task.yaml").read_text()
        self.assertIn("name: 19_ReLU\n", made)
        self.assertIn("cast: true", made)
        (self.folder / "new.py").write_text('{"launches": 2}')
        planned = self.succeed("plan", "19_ReLU", "new.py", env=FAKE).stdout
        self.assertIn("for sm_90: 2 launches", planned)

    def test_a_problem_is_a_task_as_it_is(self):
        (self.folder / "new.py").write_text('{"launches": 2}')
        planned = self.succeed("plan", self.problem(), "new.py", env=FAKE).stdout
        self.assertIn("for sm_90: 2 launches", planned)
        self.fail_with(2, "plan", self.problem("no.py", "x = 1\n"), "new.py", says=["no.py", "no KernelBench problem"],
                       code="bad_input")

    def test_verifying_needs_a_gpu_and_a_torch_task(self):
        (self.folder / "new.py").write_text('{"launches": 2}')
        self.fail_with(3, "verify", self.problem(), "new.py", says=["sees no GPU", "kernelsmith plan needs none"],
                       code="unsupported", env=FAKE)
        self.succeed("init", "own")
        self.fail_with(3, "verify", "own", "own/seed.cpp", says=["the backend 'cpu'", "verify is for torch"],
                       code="unsupported")

    def test_the_folder_can_be_named(self):
        name = self.problem("1 x'y_.py")
        self.assertIn("name: 1_x_y\n", self.task_yaml("init", "--kernelbench", name, "--out", "there"))
        self.assertIn("name: 1_x_y\n", self.task_yaml("init", "--kernelbench", name, "there"))
        self.fail_with(2, "init", "--kernelbench", name, "--out", "there", says=["there", "exists already"],
                       code="invalid_argument")

    def task_yaml(self, *args):
        for file in ("task.yaml", "reference.py"):
            (self.folder / "there" / file).unlink(missing_ok=True)
        self.succeed(*args)
        return (self.folder / "there/task.yaml").read_text()

    def test_another_file_is_refused(self):
        self.fail_with(2, "init", "--kernelbench", self.problem(text="class ModelNew:\n  pass\n"),
                       says=["19_ReLU.py", "no KernelBench problem", "class Model("], code="bad_input")
        self.fail_with(2, "init", "--kernelbench", "none.py", says=["none.py"], code="not_found")
        self.assertFalse((self.folder / "19_ReLU").exists())

    def test_a_module_without_a_kernel_is_refused_by_name(self):
        self.succeed("init", "--kernelbench", self.problem())
        (self.folder / "new.py").write_text('{"launches": 0}')
        self.fail_with(1, "plan", "19_ReLU", "new.py", says=["forbidden_construct", "Triton"], code="refused", env=FAKE)

    def test_the_file_is_named_as_it_was_given(self):
        self.succeed("init", "--kernelbench", self.problem())
        (self.folder / "19_ReLU/seed.py").write_text("{}")
        yaml = self.folder / "19_ReLU/task.yaml"
        self.assertIn("  # seed: seed.py", yaml.read_text())
        yaml.write_text(yaml.read_text().replace("  # seed: seed.py", "  seed: seed.py"))
        (self.folder / "new.py").write_text('{"plan": {"fault": "candidate", "stage": "plan", "code": "plan_failed", '
                                            '"message": "no", "where": "seed.py:7", "hint": ""}}')
        text = self.fail_with(1, "plan", "19_ReLU", "new.py", says=["plan_failed: new.py:7: no"], env=FAKE)
        self.assertNotIn("seed.py", text)

    def test_plan_takes_settings(self):
        self.problem()
        (self.folder / "new.py").write_text("{}")
        self.fail_with(3, "plan", "19_ReLU.py", "new.py", "--set", "evaluator.python=nowhere", says=["nowhere"],
                       code="tool_missing", env=FAKE)
        self.fail_with(2, "plan", "19_ReLU.py", "new.py", "--set", "evaluator.pyton=x", says=["did you mean python?"],
                       env=FAKE)

    def test_one_that_needs_a_gpu_hides_no_other(self):
        self.problem()
        (self.folder / "good.py").write_text('{"launches": 2}')
        (self.folder / "bad.py").write_text('{"launches": 0}')
        done = self.ends(3, "evaluate", "19_ReLU.py", "good.py", "bad.py", "good.py", "--set", "evaluator.sandbox=none",
                            env={**FAKE, "FAKE_NO_GPU": "1"})
        self.assertIn("bad.py:\nrejected at plan: forbidden_construct", done.stdout)
        self.assertEqual(done.stderr.count("there is no GPU to run it on"), 2)

    def test_the_tuner_has_nothing_to_vary(self):
        self.succeed("init", "--kernelbench", self.problem())
        self.fail_with(2, "run", "19_ReLU", "--iterations", "3", says=["no seed", "--model"], code="refused", env=FAKE)


if __name__ == "__main__":
    unittest.main()
