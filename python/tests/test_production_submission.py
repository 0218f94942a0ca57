"""Winners as submissions of arenas. Each submission is executed on the CPU and gives what the winner's module gives."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import kernelsmith as ks
import packages
import published_runs
import pytest
from kernelsmith._executable import executable
from kernelsmith.production.submission import ARENAS

torch = pytest.importorskip("torch")

DEFINITION = {
    "name": "scale_d8", "op_type": "scale", "axes": {"B": {"type": "var"}, "D": {"type": "const", "value": 8}},
    "inputs": {"x": {"shape": ["B", "D"], "dtype": "float32"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["B", "D"], "dtype": "float32"}, "z": {"shape": ["B"], "dtype": "float32"}},
    "reference": "import torch\n\n\ndef run(x, eps):\n    return x * eps, x.sum(1)\n"}
WORKLOAD = {"uuid": "aa", "axes": {"B": 4}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.5}}}
CANDIDATE = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, eps):
        return [x * eps, x.sum(1)]
"""

CASES = """files: [{name: task.py, source: task.py}]
tests: [{rows: 3, seed: 1}]
benchmarks: [{rows: 5, kind: "a: b", seed: 2}]
"""
DOUBLING = """import torch
from task import input_t

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def generate_input(rows, seed, kind="") -> input_t:
    gen = torch.Generator(device=DEVICE)
    gen.manual_seed(seed)
    x = torch.randn(rows, device=DEVICE, generator=gen) * torch.rand(1, device=DEVICE, generator=gen).item()
    return x, {"scale": 2}, torch.empty(rows, device=DEVICE).contiguous()


def ref_kernel(data):
    x, config, out = data
    out[...] = x * config["scale"]
    return out


def check_implementation(data, output):
    good = torch.equal(output, ref_kernel(data))
    return good, "" if good else "not twice as much"
"""
DOUBLED = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, data):
        x, config, buffer = data
        out = torch.empty(buffer["empty"], dtype=getattr(torch, buffer["dtype"]), device=x.device)
        out[...] = config["scale"] * x
        return out
"""


def made(task: Path, *arguments: object) -> Path:
    """A task that the command `init` makes, with a seed, which runs of published_runs have."""
    done = subprocess.run([executable(), "init", *map(str, arguments), "--out", str(task)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (task / "task.yaml").read_text()
    (task / "task.yaml").write_text(text.replace("files:\n", "files:\n  seed: seed.py\n"))
    return task


def definition(folder: Path) -> Path:
    folder.mkdir()
    (folder / "definition.json").write_text(json.dumps(DEFINITION))
    (folder / "workload.jsonl").write_text(json.dumps(WORKLOAD))
    return folder


def problem(folder: Path) -> Path:
    folder.mkdir()
    for name, text in (("task.yml", CASES), ("reference.py", DOUBLING), ("task.py", "input_t = tuple\n")):
        (folder / name).write_text(text)
    return folder


def loaded(text: str, file: Path) -> ModuleType:
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_solution_gives_what_the_module_gives(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "--sol-execbench", definition(tmp_path / "sol"))
    run = published_runs.searched(tmp_path / "a.run", task, CANDIDATE)
    assert packages.publish(run, "--as", "sol-execbench", "--out", tmp_path / "out") == 0
    solution = json.loads((tmp_path / "out/solution.json").read_text())
    assert solution["definition"] == "scale_d8" and re.fullmatch(r"scale_d8_kernelsmith_\w+_\d+", solution["name"])
    assert solution["spec"] == {"languages": ["pytorch"], "target_hardware": ["LOCAL"], "entry_point": "main.py::run",
                                "dependencies": [], "destination_passing_style": False}
    text = solution["sources"][0]["content"]
    assert text.startswith(CANDIDATE.rstrip())
    x = torch.randn(4, 8)
    outputs = loaded(text, tmp_path / "main.py").run(x, 0.5)
    assert isinstance(outputs, tuple) and torch.equal(outputs[0], x * 0.5) and torch.equal(outputs[1], x.sum(1))


def test_a_solution_for_flashinfer_bench(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for kind, file in (("definitions", "scale_d8.json"), ("workloads", "scale_d8.jsonl")):
        (data / kind / "scale").mkdir(parents=True)
        (data / kind / "scale" / file).write_text(json.dumps(DEFINITION if kind == "definitions" else WORKLOAD))
    task = made(tmp_path / "task", "--flashinfer-bench", data, "scale_d8")
    own = "import triton\n\n\ndef run():\n    return 3\n\n\n" + CANDIDATE.replace("[x * eps, x.sum(1)]", "{'y': x * eps, 'z': x.sum(1)}")
    run = published_runs.searched(tmp_path / "a.run", task, own)
    assert packages.publish(run, "--as", "flashinfer-bench", "--out", tmp_path / "out", "--name", "mine") == 0
    solution = json.loads((tmp_path / "out/solution.json").read_text())
    assert solution["name"] == "mine" and solution["spec"]["language"] == "triton"
    assert solution["spec"]["entry_point"] == "main.py::kernelsmith_run"
    text = solution["sources"][0]["content"].replace("import triton", "")
    x = torch.randn(4, 8)
    assert [one.shape for one in loaded(text, tmp_path / "main.py").kernelsmith_run(x, 0.5)] == [(4, 8), (4,)]


def test_a_submission_for_gpu_mode_takes_their_data(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "--gpu-mode", problem(tmp_path / "double_py"))
    run = published_runs.searched(tmp_path / "a.run", task, DOUBLED)
    assert packages.publish(run, "--as", "gpu-mode", "--out", tmp_path / "out") == 0
    text = (tmp_path / "out/submission.py").read_text()
    assert text.startswith(DOUBLED.rstrip()) and "if i in [2] else one" in text
    theirs = loaded((task / "reference.py").read_text(), tmp_path / "reference.py")
    data = theirs.generate_input(5, 3)
    assert torch.equal(loaded(text, tmp_path / "submission.py").custom_kernel(data), theirs.ref_kernel(data))


def test_the_reference_of_gpu_mode_gets_its_buffers(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "--gpu-mode", problem(tmp_path / "double_py"))
    theirs = loaded((task / "reference.py").read_text(), tmp_path / "reference.py")
    torch.manual_seed(8)
    [data] = theirs.get_inputs(rows=5, kind="a: b")
    assert data[1:] == ({"scale": 2}, {"empty": (5,), "dtype": "float32"})
    assert torch.equal(data[0], theirs.generate_input(5, 8)[0]), "the seed is that of the judge's generator"
    assert torch.equal(theirs.Model()(data), 2 * data[0])
    assert theirs.check([2 * data[0]], data) is None and theirs.check([data[0]], data) == "not twice as much"
    assert torch.Generator is torch._C.Generator


def test_other_runs_are_refused(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "--gpu-mode", problem(tmp_path / "double_py"))
    run = published_runs.searched(tmp_path / "a.run", task, DOUBLED + "\n\ndef custom_kernel(data):\n    return data\n")
    with pytest.raises(ks.Error, match="a custom_kernel of its own"):
        packages.publish(run, "--as", "gpu-mode", "--out", tmp_path / "out")
    with pytest.raises(ks.Error, match="no problem of SOL-ExecBench"):
        packages.publish(run, "--as", "sol-execbench", "--out", tmp_path / "out")
    with pytest.raises(ks.Error, match="made from one run"):
        packages.publish(run, run, "--as", "gpu-mode", "--out", tmp_path / "out")
    slow = published_runs.searched(tmp_path / "b.run", task, DOUBLED, speedup=0.5)
    assert packages.publish(slow, "--as", "gpu-mode", "--out", tmp_path / "out", "--force") == 1


# Their packages import GPU libraries at the top, which their schema does not need.
SCHEMA = """import sys, types
top = sys.modules[sys.argv[1]] = types.ModuleType(sys.argv[1])
top.__path__ = [sys.argv[2] + "/" + sys.argv[1]]
schema = __import__(sys.argv[3], fromlist=["Solution"])
print(schema.Solution.model_validate_json(sys.stdin.read()).name)
"""


@pytest.mark.parametrize(("kind", "package", "module"), [("flashinfer-bench", "flashinfer_bench", "data.solution"),
                                                         ("sol-execbench", "sol_execbench", "core.data.solution")])
def test_the_arenas_own_schema_takes_it(kind: str, package: str, module: str, tmp_path: Path) -> None:
    """KERNELSMITH_FLASHINFER_BENCH and KERNELSMITH_SOL_EXECBENCH name folders with their packages (needs pydantic, and
    docstring_parser for the first)."""
    theirs = os.environ.get(f"KERNELSMITH_{package.upper()}")
    if not theirs:
        pytest.skip(f"KERNELSMITH_{package.upper()} names no folder")
    task = made(tmp_path / "task", "--sol-execbench", definition(tmp_path / "sol"))
    text = (task / "task.yaml").read_text()
    (task / "task.yaml").write_text(text.replace("of SOL-ExecBench.", f"of {ARENAS[kind]}."))
    run = published_runs.searched(tmp_path / "a.run", task, CANDIDATE)
    assert packages.publish(run, "--as", kind, "--out", tmp_path / "out") == 0
    done = subprocess.run([sys.executable, "-B", "-c", SCHEMA, package, theirs, f"{package}.{module}"], text=True,
                          input=(tmp_path / "out/solution.json").read_text(), capture_output=True, check=False)
    assert "scale_d8_kernelsmith" in done.stdout, done.stderr
