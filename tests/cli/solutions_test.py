"""Solutions that people publish for an arena are candidates: the real planner plans small ones of each kind."""

import json
import os
import subprocess
import sys
import unittest

from support import CommandTest

DEFINITION = {
    "name": "scale_d64", "op_type": "scale",
    "axes": {"B": {"type": "var"}, "D": {"type": "const", "value": 64}, "H": {"type": "expr", "expression": "D // 2"}},
    "inputs": {"x": {"shape": ["B", "D"], "dtype": "float32"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["B", "D"], "dtype": "float32"}, "z": {"shape": ["B", "H"], "dtype": "float32"}},
    "reference": "import torch\n\ndef run(x, eps):\n    return x * eps, x[:, :32] * 2\n",
}
KERNEL = """import triton
import triton.language as tl


@triton.jit
def scale(x, y, eps, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * eps, mask=at < n)
"""
MAIN = """from __future__ import annotations
import ops.kernel
from .ops.kernel import scale


def run(x, eps, y, z):
    n = x.numel()
    scale[(n // 64,)](x, y, eps, n, BLOCK=64)
    z.copy_(x[:, :32] * 2)
"""
RETURNS = KERNEL + """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, eps):
        y = torch.empty_like(x)
        scale[(x.numel() // 64,)](x, y, eps, x.numel(), BLOCK=64)
        return {"z": x[:, :32] * 2, "y": y}


def run(x, eps):
    return ModelNew()(x, eps)
"""
CPP = {"main.cpp": """#include <torch/extension.h>
#include "head/scale.h"
void run(torch::Tensor x, double eps, torch::Tensor y, torch::Tensor z) { launch(x, eps, y); z.copy_(x.slice(1, 0, 32) * 2); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
""", "kernel.cu": """#include <torch/types.h>
#include <cuda_runtime.h>
#include "head/scale.h"
__global__ void scale(const float* x, float eps, float* y) { int i = blockIdx.x * 64 + threadIdx.x; y[i] = x[i] * eps * FACTOR; }
void launch(torch::Tensor x, double eps, torch::Tensor y) { scale<<<x.numel() / 64, 64>>>(x.data_ptr<float>(), eps, y.data_ptr<float>()); }
""", "head/scale.h": "#pragma once\n#include <torch/types.h>\nvoid launch(torch::Tensor x, double eps, torch::Tensor y);\n"}
MODE = """from task import input_t
import triton
import triton.language as tl


@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * 2)


def custom_kernel(data: input_t):
    x, out = data
    double[(x.numel() // 64,)](x, out, BLOCK=64)
    return out
"""


class Solutions(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "sol").mkdir()
        (self.folder / "sol" / "definition.json").write_text(json.dumps(DEFINITION))
        given = {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.5}}
        (self.folder / "sol" / "workload.jsonl").write_text("".join(
            json.dumps({"uuid": uuid, "axes": {"B": rows}, "inputs": given}) + "\n" for uuid, rows in (("aa", 8), ("bb", 64))))
        self.succeed("init", "--sol-execbench", "sol", "task")

    def solution(self, sources, entry="main.py::run", fills=True, **spec):
        text = json.dumps({"name": "mine", "definition": "scale_d64", "author": "me", "spec": {
            "entry_point": entry, "destination_passing_style": fills, "target_hardware": ["LOCAL"], **spec},
            "sources": [{"path": path, "content": content} for path, content in sources.items()]})
        (self.folder / "solution.json").write_text(text)
        return "plan", "task", "solution.json"

    def test_one_file_and_several(self):
        one = KERNEL + MAIN.replace("from __future__ import annotations\nimport ops.kernel\nfrom .ops.kernel import scale\n", "")
        for sources in ({"main.py": one}, {"main.py": MAIN, "ops/kernel.py": KERNEL}):
            said = self.succeed(*self.solution(sources, languages=["triton"])).stdout
            self.assertIn("1 launches of scale\n5 operators: empty x2, copy_, mul, slice\n", said)

    def test_a_solution_that_returns_by_name_and_has_a_model_of_its_own(self):
        self.assertIn("1 launches of scale\n", self.succeed(*self.solution({"main.py": RETURNS}, fills=False, language="triton")).stdout)

    def test_an_error_names_the_solutions_file_and_line(self):
        reads = {"main.py": MAIN.replace("n = x.numel()", "n = x.sum().item()"), "ops/kernel.py": KERNEL}
        self.fail_with(1, *self.solution(reads, languages=["triton"]), says=["main.py:7: reads_values"])
        wrong = {"main.py": MAIN, "ops/kernel.py": KERNEL.replace("tl.store", "tl.stor")}
        self.fail_with(1, *self.solution(wrong, languages=["triton"]), says=["kernel.py:8: triton_compile"])

    def test_c_plus_plus_is_built_with_its_options(self):
        said = self.succeed(*self.solution(CPP, "main.cpp::run", languages=["cuda_cpp"],
                                           compile_options={"cuda_cflags": ["-DFACTOR=1"]})).stdout
        self.assertIn("1 launches of scale(float const*, float, float*)\n", said)

    def test_a_submission_of_gpu_mode_fills_a_buffer(self):
        problem = self.folder / "double"
        problem.mkdir()
        (problem / "task.yml").write_text("files: [{name: task.py, source: task.py}]\nbenchmarks: [{n: 128, seed: 1}]\nranking_by: geom\n")
        (problem / "task.py").write_text("input_t = tuple\n")
        (problem / "reference.py").write_text(
            "import torch\nfrom task import input_t\n\n\ndef ref_kernel(data):\n    return 2 * data[0]\n\n\ndef generate_input(n, seed):\n"
            "    return torch.randn(n), torch.empty(n)\n\n\ndef check_implementation(data, output):\n    return True, ''\n")
        self.succeed("init", "--gpu-mode", "double", "mode")
        (self.folder / "submission.py").write_text(MODE)
        self.assertIn("1 launches of double\n1 operators: empty\n", self.succeed("plan", "mode", "submission.py").stdout)


if __name__ == "__main__":
    has_torch = subprocess.run([os.environ["KERNELSMITH_TORCH_PYTHON"], "-c", "import torch, triton"], capture_output=True, check=False)
    if has_torch.returncode != 0:
        sys.exit(77)
    unittest.main()
