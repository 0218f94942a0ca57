"""Every example and template of the backend `cuda` is compiled and planned, and judged as far as that goes without a GPU.
On a machine that has one it is hidden. Skips (77) if there is no nvcc."""

import os
import re
import shutil
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import CommandTest, kernelsmith

EXAMPLES = Path(os.environ["KERNELSMITH_EXAMPLES"])
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
NO_GPU_SAYS = ["compiled and planned, but there is no GPU to run it on", "kernelsmith doctor"]


def nvcc():
    """As kernelsmith finds it."""
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    return shutil.which("nvcc") or any(home and (Path(home) / "bin/nvcc").exists() for home in homes)


def examples():
    return sorted(folder for folder in EXAMPLES.glob("*_cuda") if (folder / "task.yaml").exists())


class Planning(CommandTest):
    def test_every_example_is_planned(self):
        self.assertGreaterEqual(len(examples()), 4)
        with ThreadPoolExecutor(2) as pool:
            plans = list(pool.map(lambda task: kernelsmith("plan", task, task / "seed.cu", env=NO_GPU), examples()))
        for task, done in zip(examples(), plans):
            with self.subTest(task.name):
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"grid \d+x\d+x\d+, block \d+x\d+x\d+")
                self.assertRegex(done.stdout, re.compile(r"^1: ", re.MULTILINE))

    def test_the_template_is_planned_and_evaluated_as_far_as_that_goes(self):
        self.succeed("init", "--template", "cuda", "task")
        self.assertIn("transpose_tile", self.succeed("plan", "task", "task/seed.cu", env=NO_GPU).stdout)
        self.fail_with(3, "evaluate", "task", "task/seed.cu", says=NO_GPU_SAYS, code="unsupported", env=NO_GPU)

    def test_doctor_says_that_a_task_cannot_be_run(self):
        done = self.ends(3, "doctor", EXAMPLES / "softmax_cuda", env=NO_GPU)
        self.assertIn("planned, but not run: there is no GPU", done.stdout)
        self.assertNotIn("can search for kernels", done.stdout)

    def test_a_candidate_that_does_not_compile_is_rejected_without_a_gpu(self):
        task = EXAMPLES / "softmax_cuda"
        (self.folder / "broken.cu").write_text('#include "task.cuh"\nint broken = nothing;\n')
        self.fail_with(1, "plan", task, "broken.cu", says=["compile_failed: broken.cu(2)", "nothing"],
                       code="refused", env=NO_GPU)
        done = self.ends(1, "evaluate", task, "broken.cu", env=NO_GPU)
        self.assertIn("compile_failed", done.stdout + done.stderr)
        self.assertNotIn("seed.cu", done.stdout + done.stderr)

    def test_a_search_without_a_gpu_ends_at_once(self):
        task = EXAMPLES / "softmax_cuda"
        self.fail_with(3, "run", task, "--time", "60s", says=["no GPU"], code="unsupported", env=NO_GPU)


if __name__ == "__main__":
    if not nvcc():
        print("no nvcc")
        sys.exit(77)
    unittest.main()
