"""`init --flashinfer-bench`, `--sol-execbench` and `--gpu-mode` make tasks of problems; a planner that needs no PyTorch plans candidates."""

import csv
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


MODE = ("def ref_kernel(data):\n    return 2 * data\n\n\ndef generate_input(rows, seed):\n    pass\n\n\n"
        "def check_implementation(data, output):\n    return True, ''\n")


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
            self.assertIn(f"made the task {folder}: 4 files from ", done.stdout)
            self.assertIn("workloads 3 of 3\n", done.stdout)
            self.assertIn(f"kernelsmith run {folder} --model NAME", done.stdout)
            self.assertIn(DEFINITION["reference"], (self.folder / folder / "reference.py").read_text())
            self.assertIn("for sm_90: 2 launches", self.succeed("plan", folder, "good.py").stdout)

    def test_gpu_mode(self):
        self.write("mode/double/task.yml", "tests: [{rows: 3, seed: 1}]\nbenchmarks: [{rows: 5, seed: 1}]\nranking_by: geom\n")
        self.write("mode/double/reference.py", MODE)
        done = self.succeed("init", "--gpu-mode", "mode/double/")
        self.assertIn("made the task double: 2 files from mode/double/\nworkloads 2 of 2\n", done.stdout)
        self.assertIn("the arena's own check", (self.folder / "double" / "task.yaml").read_text())
        self.assertIn("for sm_90: 2 launches", self.succeed("plan", "double", "good.py").stdout)

    def test_a_problem_is_a_task_as_the_arena_stores_it(self):
        self.write("mode/double/task.yml", "benchmarks: [{rows: 5, seed: 1}]\nranking_by: geom\n")
        self.write("mode/double/reference.py", MODE)
        for problem in ("sol", "data/definitions/scale/scale_d64.json", "mode/double"):
            self.assertIn("for sm_90: 2 launches", self.succeed("plan", problem, "good.py").stdout)
        os.rename(self.folder / "sol" / "workload.jsonl", self.folder / "sol" / "other.jsonl")
        self.refused((["plan", "sol", "good.py"], "task.yaml", "not_found"))

    def test_score_takes_a_data_set_with_its_solutions_and_traces(self):
        for name, language in (("one", "triton"), ("two", "tilelang")):
            self.write(f"data/solutions/me/scale/scale_d64/{name}.json", json.dumps(
                {"name": name, "definition": "scale_d64", "author": "me", "sources": [{"path": "main.py", "content": "def run(): pass"}],
                 "spec": {"language": language, "target_hardware": ["cuda"], "entry_point": "main.py::run"}}))
        traces = [{"definition": "scale_d64", "solution": "one", "workload": {},
                   "evaluation": {"status": "PASSED", "performance": {"speedup_factor": factor}}} for factor in (2, 8)]
        self.write("data/traces/scale/scale_d64.jsonl", "".join(json.dumps(one) + "\n" for one in traces))
        self.write("data/other.json", "{}")
        done = self.succeed("score", "data", "--out", "scored")
        self.assertNotIn("belongs to none", done.stderr)
        with open(self.folder / "scored" / "candidates.csv", encoding="utf-8") as file:
            rows = {row["candidate"]: row for row in csv.DictReader(file)}
        self.assertEqual({name: (row["by"], row["claimed"]) for name, row in rows.items()},
                         {"one.json": ("me", "4"), "two.json": ("me", "")})
        self.assertIn("tilelang", rows["two.json"]["error"])
        os.remove(self.folder / "data/solutions/me/scale/scale_d64/one.json")
        done = self.succeed("score", "data/solutions", "--tasks", "data", "--out", "other")  # no error of the task
        self.assertIn("not evaluated: unsupported", done.stdout)

    def test_evaluate_writes_traces_and_the_score_of_sol_execbench(self):
        done = self.succeed("evaluate", "sol", "good.py", "--trace", "traces.jsonl", "--sol-score")
        self.assertIn("by our bounds", done.stdout)
        lines = [json.loads(line) for line in (self.folder / "traces.jsonl").read_text().splitlines()]
        self.assertEqual([(line["workload"]["uuid"], line["evaluation"]["status"]) for line in lines],
                         [("aa-1", "PASSED"), ("ab-2", "PASSED"), ("c-3", "PASSED")])
        self.assertEqual((lines[0]["definition"], lines[0]["solution"]), ("scale_d64", "good"))
        self.write("bounds.json", json.dumps([{"uuid": "ab-2", "baseline_latency_ms": 1, "sol_ms": 0}]))
        score = self.json("evaluate", "sol", "good.py", "--bounds", "bounds.json")["sol_score"]
        self.assertEqual(list(score["of"]), ["B = 8 (ab-2)"])
        self.assertEqual(score["mean"], score["of"]["B = 8 (ab-2)"])
        self.write("bounds.json", "{}")
        self.refused((["evaluate", "sol", "good.py", "--bounds", "bounds.json"], "no bounds for 'scale_d64'", "bad_input"),
                     (["evaluate", "other", "good.py", "--trace", "traces.jsonl"], "other", "not_found"))

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
