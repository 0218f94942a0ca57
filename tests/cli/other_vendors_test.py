"""Tasks of maca and hip on a machine without their GPUs: what `init` makes, what a model is sent, what `doctor` misses, and the
preset of `suite` that begins with a translation. MACA's compiler is the stand-in of the tests; nothing is compiled for HIP."""

import os
import shutil
import unittest
from pathlib import Path

from support import CommandTest

EXAMPLES = Path(os.environ["KERNELSMITH_EXAMPLES"])
WITH_COMPILER = {"MACA_PATH": os.environ["KERNELSMITH_STAND_INS"] + "/maca"}
WITHOUT = {"MACA_PATH": "/nowhere", "ROCM_PATH": "/nowhere"}
PREFIXES = {"maca": "mc", "hip": "hip"}


class Init(CommandTest):
    def test_makes_the_task_in_the_vendors_names(self):
        for backend, prefix in PREFIXES.items():
            said = self.succeed("init", "--backend", backend, backend, env=WITHOUT).stdout
            texts = {path.name: path.read_text() for path in (self.folder / backend).iterdir()}
            self.assertIn(f"backend: {backend}\n", texts["task.yaml"])
            self.assertIn(f"{prefix}Stream_t stream", texts["seed.cu"])
            self.assertIn(f"docs/backend-{backend}.md", texts["README.md"])
            self.assertNotIn("cuda", "".join(texts.values()).lower())
            if backend == "maca":  # of hip's compiler only doctor speaks
                self.assertIn("next     install what is missing\n         kernelsmith doctor maca\n", said)
                self.assertNotIn("kernelsmith evaluate", said)

    def test_its_seed_is_planned(self):
        self.succeed("init", "--template", "maca", "task", env=WITH_COMPILER)
        self.assertIn("transpose_tile", self.succeed("plan", "task", "task/seed.cu", env=WITH_COMPILER).stdout)


class Prompts(CommandTest):
    def prompt(self, task):
        system, user = (message["content"] for message in self.json("prompt", EXAMPLES / task, env=WITHOUT)["messages"])
        return system, user

    def test_a_translation_names_what_differs(self):
        for backend, (api, maker, mask) in {"maca": ("MACA", "MetaX", "Masks of lanes have 64 bits"),
                                            "hip": ("HIP", "AMD", "Shuffles and votes take no mask")}.items():
            system, user = self.prompt(f"softmax_{backend}")
            self.assertIn(f"makes {api} kernels for {maker} GPUs fast", system)
            self.assertIn(f"Workspaces come from `{PREFIXES[backend]}MallocAsync`", system)
            self.assertNotIn("cuDNN or Thrust", system)
            self.assertIn(f"# From CUDA C++ to {api} C++", user)
            self.assertIn(mask, user)
            self.assertIn("64 KiB of shared memory", user)
            self.assertIn(f"translate the reference into {api} C++", user)
            self.assertIn("__shfl_xor_sync(kAllLanes, value, step)", user)  # the reference, as it is
            self.assertNotRegex(system + user, r"\n\n\n")

    def test_other_tasks_do_not(self):
        self.succeed("init", "task")
        for message in self.json("prompt", "task")["messages"]:
            self.assertNotIn("From CUDA C++", message["content"])


class Doctor(CommandTest):
    def checks(self, **env):
        return {check["name"]: check for check in self.json("doctor", env={**WITHOUT, **env})["checks"]}

    def test_a_machine_without_the_vendors_has_a_line_for_each(self):
        checks = self.checks()
        for backend, words in (("maca", ("mxcc", "libmcruntime.so", "/dev/mxcd")), ("hip", ("hipcc", "libamdhip64.so", "/dev/kfd"))):
            if backend not in checks:
                self.assertIn(f"{backend} driver", checks)  # this machine has some of it
                continue
            for word in words:
                self.assertIn(word, checks[backend]["detail"])
            self.assertIn("install", checks[backend]["remedy"])

    def test_what_is_missing_beside_a_compiler_is_named(self):
        checks = self.checks(**WITH_COMPILER)
        self.assertIn("MACA 1.0.0", checks["mxcc"]["detail"])
        self.assertIn("libmcruntime.so", checks["maca driver"]["detail"])
        self.assertIn("install MetaX's driver", checks["maca driver"]["remedy"])
        self.assertIn("/dev/mxcd", checks["maca gpu"]["detail"])
        self.assertTrue(checks["maca gpu"]["remedy"])

    def test_a_task_names_whose_gpu_it_needs(self):
        checks = self.json("doctor", EXAMPLES / "softmax_maca", status=3, env={**WITHOUT, **WITH_COMPILER})["checks"]
        self.assertIn("a GPU of MetaX", next(check for check in checks if check["name"] == "gpu" and check["required"])["remedy"])


class Torch(CommandTest):
    def test_modules_are_planned_for_gpus_of_other_makers_only_by_name(self):
        task = EXAMPLES / "torch/level1/softmax"
        self.refused((["plan", task, task / "seed.py", "--set", "evaluator.arch=sm_80"], ["sm_80", "gfx942"], "bad_input"))


class Suite(CommandTest):
    env = WITHOUT

    def test_the_preset_is_for_translations(self):
        tasks = self.folder / "tasks"
        for name in ("softmax_hip", "softmax_maca"):
            shutil.copytree(EXAMPLES / name, tasks / name)
        command = ("suite", "tasks", "--preset", "kernel-smith-maca", "--manual", "queue")
        self.refused((command, ["for tasks of maca", "softmax_hip"], "invalid_argument"))
        shutil.rmtree(tasks / "softmax_hip")
        self.edit("tasks/softmax_maca/task.yaml", "{reference: reference.cu,", "{reference: reference.cu, seed: reference.cu,")
        self.refused((command, ["begins with a translation", "leave `seed` out"], "invalid_argument"))
        self.edit("tasks/softmax_maca/task.yaml", " seed: reference.cu,", "")
        self.fail_with(3, *command, says=["MACA compiler", "MACA_PATH"], code="tool_missing")


if __name__ == "__main__":
    unittest.main()
