"""`init --flashinfer-bench`, `--sol-execbench` and `--gpu-mode` make tasks of problems; a planner that needs no PyTorch plans candidates."""

import json
import os
import unittest

from support import CommandTest

DEFINITION = {
    "name": "scale_d64", "op_type": "scale", "axes": {"B": {"type": "var"}, "D": {"type": "const", "value": 64}},
    "inputs": {"x": {"shape": ["B", "D"], "dtype": "float8_e4m3fn"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["B", "D"], "dtype": "bfloat16"}},
    "reference": "import torch\n\ndef run(x, eps):\n    return (x.float() * eps).to(torch.bfloat16)\n",
}


def workload(uuid, rows):
    return {"uuid": uuid, "axes": {"B": rows}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.5}}}


class Arenas(CommandTest):
    env = {"KERNELSMITH_TORCH_PYTHON_DIR": os.environ["KERNELSMITH_FAKE_TORCH"]}

    def setUp(self):
        super().setUp()
        workloads = [workload("aa-1", 4096), workload("ab-2", 8), workload("c-3", 64)]
        self.write("data/definitions/scale/scale_d64.json", json.dumps(DEFINITION))
        self.write("data/workloads/scale/scale_d64.jsonl",
                   "".join(json.dumps({"definition": "scale_d64", "workload": one}) + "\n" for one in workloads))
        self.write("sol/definition.json", json.dumps(DEFINITION))
        self.write("sol/workload.jsonl", "".join(json.dumps(one) + "\n" for one in workloads))
        self.write("good.py", '{"launches": 2}')

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def test_a_problem_becomes_a_task_that_can_be_planned(self):
        for folder, options in (("scale_d64", ("--flashinfer-bench", "data", "scale_d64")),
                                ("there", ("--sol-execbench", "sol", "there"))):
            done = self.succeed("init", *options)
            self.assertIn(f"made the task {folder}: 3 files from ", done.stdout)
            self.assertIn("workloads 3 of 3\n", done.stdout)
            self.assertIn(f"kernelsmith run {folder} --model NAME", done.stdout)
            self.assertIn(DEFINITION["reference"], (self.folder / folder / "reference.py").read_text())
            self.assertIn("for sm_90: 2 launches", self.succeed("plan", folder, "good.py").stdout)

    def test_gpu_mode(self):
        self.write("mode/double/task.yml", "tests: [{rows: 3, seed: 1}]\nbenchmarks: [{rows: 5, seed: 1}]\nranking_by: geom\n")
        self.write("mode/double/reference.py", "def ref_kernel(data):\n    return 2 * data\n\n\ndef generate_input(rows, seed):\n    pass\n\n\n"
                   "def check_implementation(data, output):\n    return True, ''\n")
        done = self.succeed("init", "--gpu-mode", "mode/double/")
        self.assertIn("made the task double: 2 files from mode/double/\nworkloads 2 of 2\n", done.stdout)
        self.assertIn("the arena's own check", (self.folder / "double" / "task.yaml").read_text())
        self.assertIn("for sm_90: 2 launches", self.succeed("plan", "double", "good.py").stdout)

    def test_workloads_can_be_chosen(self):
        done = self.succeed("init", "--flashinfer-bench", "data", "scale_d64", "--workload", "ab", "--workload", "c-3", "small")
        self.assertIn("workloads 2 of 3\n", done.stdout)
        done = self.succeed("init", "--sol-execbench", "sol", "--workloads", "1", "one")
        self.assertIn("workloads 1 of 3\n", done.stdout)
        self.assertIn("{B: 64}", (self.folder / "one" / "task.yaml").read_text())
        arena = ["init", "--flashinfer-bench", "data"]
        self.refused(([*arena, "scale_d64", "--workload", "a"], ["begins with 'a'", "aa-1 and ab-2"], "invalid_argument"),
                     ([*arena, "scale_d64", "--workload", "x"], ["there are 3: aa-1, ab-2, c-3"], "not_found"),
                     ([*arena, "scale_64"], "near names: scale_d64", "not_found"),
                     ([*arena, "scale_d64", "small"], ["small", "exists already"], "invalid_argument"),
                     (arena, "--flashinfer-bench"),
                     ([*arena, "scale_d64", "--sol-execbench", "sol"], "--sol-execbench"),
                     ([*arena, "scale_d64", "--workloads", "65"], "--workloads"),
                     (["init", "--workload", "ab", "other"], ["--sol-execbench"], "invalid_argument"),
                     (["init", "--gpu-mode", "mode", "--workloads", "2", "other"], ["--workloads"], "invalid_argument"),
                     (["init", "--gpu-mode", "sol"], "task.yml", "not_found"),
                     (["init", "--sol-execbench", "data"], "definition.json", "not_found"))
        self.assertFalse((self.folder / "other").exists())


if __name__ == "__main__":
    unittest.main()
