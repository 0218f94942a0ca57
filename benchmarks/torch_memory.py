"""The torch backend with tasks of gigabytes, alone on a GPU and beside each other. Needs a GPU, and `kernelsmith` on the PATH.

    python3 benchmarks/torch_memory.py sizes [--only 19_ReLU ... | --sample 60 | --all] [--slice 1/4] [--beside 4]
    python3 benchmarks/torch_memory.py neighbours [--evaluations 34]

`sizes`: KernelBench's files at their own sizes, from the folder that $KERNELBENCH names, each reference as its own candidate;
without the variable five look-alikes. Prints name, GB needed, score, seconds. `--sample` draws by the day, from levels 1 to 3;
`--all` takes them all. With `--beside` several are evaluated at once, each by a process of its own, as neighbours on the GPU.
`neighbours`: six searches at once, of tasks that need 2 to 20 GB. Prints rejections, errors and how the runs ended.
Both stop in time for --limit seconds, and exit with 1 if something was not as it must be.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

LARGE = ["4_Matrix", "19_ReLU", "21_Sigmoid", "87_conv", "93_masked"]
ONE_S = 150  # of a task, at most

LOOK_ALIKES = {
    "4_Matrix_vector": """
class Model(nn.Module):
    def forward(self, A, B):
        return torch.matmul(A, B)
def get_inputs():
    return [torch.rand(256 * 8, 131072 * 8), torch.rand(131072 * 8, 1)]
""",
    "19_ReLU": """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(4096, 393216)]
""",
    "21_Sigmoid": """
class Model(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)
def get_inputs():
    return [torch.rand(4096, 393216)]
""",
    "87_conv_pointwise_2D": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(64, 128, kernel_size=1, bias=False)
    def forward(self, x):
        return self.conv(x)
def get_inputs():
    return [torch.rand(16, 64, 1024, 1024)]
""",
    "93_masked_cumsum": """
class Model(nn.Module):
    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=1)
def get_inputs():
    return [torch.rand(32768, 32768), torch.randint(0, 2, (32768, 32768)).bool()]
""",
}

NEIGHBOUR = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2 + 1
def get_inputs():
    return [torch.randn(%d, 1 << 20)]
def get_init_inputs():
    return []
"""

SEED = """import torch, triton
import triton.language as tl

# EVOLVE-BLOCK-START
BLOCK = 1024  # @tune 256 512 1024 2048 4096
WARPS = 4  # @tune 1 2 4 8
ROUNDS = 1  # @tune 1 2 4


@triton.jit
def step(x, y, n, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK * ROUNDS
    for i in tl.static_range(ROUNDS):
        at = start + i * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < n)
        tl.store(y + at, tl.maximum(v, 0.0) * 2 + 1, mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        step[(triton.cdiv(x.numel(), BLOCK * ROUNDS),)](x, y, x.numel(), BLOCK=BLOCK, ROUNDS=ROUNDS, num_warps=WARPS)
        return y
# EVOLVE-BLOCK-END
"""
# Rows of 4 MiB: tasks that need some 5, 8, 12, 17, 17 and 20 GB.
ROWS = [8, 40, 90, 150, 150, 200]


def write_task(folder: pathlib.Path, name: str, reference: str, policy: str, seed: str = "") -> pathlib.Path:
    task = folder / name
    task.mkdir()
    files = "reference: reference.py" + (", seed: seed.py" if seed else "")
    (task / "task.yaml").write_text(f"version: 1\nname: {re.sub('[^a-z0-9]+', '_', name.lower())}\nbackend: torch\n"
                                    f"files: {{{files}}}\ntorch: {{policy: {policy}}}\n")
    (task / "reference.py").write_text(reference)
    if seed:
        (task / "seed.py").write_text(seed)
    return task


def problems(arguments: argparse.Namespace) -> dict[str, str]:
    """Texts of references by name."""
    folder = os.environ.get("KERNELBENCH", "")
    if not folder:
        head, tail = "import torch\nimport torch.nn as nn\n", "def get_init_inputs():\n    return []\n"
        found = {name: head + text + tail for name, text in LOOK_ALIKES.items()}
        return {n: t for n, t in found.items() if not arguments.only or any(n.startswith(o) for o in arguments.only)}
    files = sorted(path for path in pathlib.Path(folder).rglob("level[123]/*.py"))
    if arguments.sample or arguments.all:
        if arguments.sample:
            files = random.Random(datetime.date.today().isoformat()).sample(files, min(arguments.sample, len(files)))
        at, of = map(int, arguments.slice.split("/"))
        files = files[at - 1::of]
    else:
        wanted = arguments.only or LARGE
        files = [path for path in files if any(path.name.startswith(name) for name in wanted) and
                 (arguments.only or path.parent.name == "level1")]
    return {f"{path.parent.name[5:]}:{path.stem}": path.read_text() for path in files}


def evaluate(folder: pathlib.Path, name: str, text: str, limit_s: float) -> tuple[str, str]:
    """The GB that the task needs and its score, or an empty text and what went wrong."""
    task = write_task(folder, re.sub("[^A-Za-z0-9]+", "_", name), text, "any")
    candidate = task / "candidate.py"
    candidate.write_text(text + "\n\nclass ModelNew(Model):\n    pass\n")
    try:
        done = subprocess.run(["kernelsmith", "evaluate", "--quick", "--json", str(task), str(candidate)],
                              capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return "", f"no answer in {limit_s:.0f} s"
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return "", f"exit status {done.returncode}: {done.stderr.strip()[-200:]}"
    if "error" in told:
        return "", f"error {told['error']['code']}: {told['error']['message'][:160]}"
    if not told["accepted"]:
        return "", f"rejected {told['code']}: {told['diagnostics'][:160]}"
    need = re.search(r"all processes: ([0-9.]+) GiB", told["artifacts"].get("memory.txt", ""))
    return need[1] if need else "", f"{told['speedup']['median']:.4f}" if isinstance(told["speedup"], dict) else \
        str(told["speedup"])


def sizes(arguments: argparse.Namespace) -> int:
    end, missed = time.monotonic() + arguments.limit, 0
    print(f"{'problem':44} {'GB':>6} {'score':>8} {'s':>5}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.beside) as pool:

        def row(problem: tuple[str, str]) -> tuple[str, str, str, float]:
            left, start = end - time.monotonic(), time.monotonic()
            told = evaluate(pathlib.Path(folder), *problem, min(ONE_S, left)) if left > 10 else ("", "not tried")
            return (problem[0], *told, time.monotonic() - start)

        rows = [pool.submit(row, problem) for problem in problems(arguments).items()]
        for done in concurrent.futures.as_completed(rows):
            name, need, score, seconds = done.result()
            print(f"{name[:44]:44} {need:>6} {score:>8} {seconds:5.0f}", flush=True)
            try:
                missed += abs(float(score) - 1) > 0.01
            except ValueError:
                missed += 1
    print(f"{missed} not within 1 +- 0.01")
    return 1 if missed else 0


def rejections_in(value: object) -> collections.Counter:
    """Codes of rejections anywhere in a record of a run."""
    found: collections.Counter = collections.Counter()
    if isinstance(value, dict):
        if isinstance(value.get("code"), str) and isinstance(value.get("stage"), str):
            found[value["code"]] += 1
        for child in value.values():
            found += rejections_in(child)
    elif isinstance(value, list):
        for child in value:
            found += rejections_in(child)
    return found


def neighbours(arguments: argparse.Namespace) -> int:
    bad, evaluations = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        runs = []
        for i, rows in enumerate(ROWS):
            name = f"neighbour{i}_{rows}"
            task = write_task(folder, name, NEIGHBOUR % rows, "own_kernels", SEED)
            log = open(folder / f"{name}.log", "w", encoding="utf-8")
            runs.append((name, folder / f"{name}.run", log, subprocess.Popen(
                ["kernelsmith", "run", str(task), "--evaluations", str(arguments.evaluations), "--time",
                 f"{arguments.limit - 120:.0f}s", "--workers", "2", "--out", str(folder / f"{name}.run")],
                stdout=log, stderr=log)))
        end = time.monotonic() + arguments.limit
        print(f"{'run':18} {'status':>6} {'evaluated':>9} {'rejected':24} errors; how it ended")
        for name, out, log, process in runs:
            try:
                status = str(process.wait(max(end - time.monotonic(), 1)))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                status = "killed"
            log.close()
            words = (folder / f"{name}.log").read_text(encoding="utf-8")
            shown = subprocess.run(["kernelsmith", "show", "--json", str(out)], capture_output=True, text=True, timeout=60)
            told = json.loads(shown.stdout) if shown.returncode == 0 else {}
            count = counts_in(told)
            exported = subprocess.run(["kernelsmith", "export", str(out)], capture_output=True, text=True, timeout=60)
            codes = collections.Counter()
            for line in exported.stdout.splitlines():
                if line.startswith("{"):
                    codes += rejections_in(json.loads(line))
            errors = words.count("met an error")
            ended = ([line for line in words.splitlines() if line.startswith(("ended", "error"))] or ["?"])[-1]
            evaluations += count
            bad += status != "0" or bool(codes)
            print(f"{name:18} {status:>6} {count:9} {str(dict(codes))[:24]:24} {errors}; {ended[:90]}", flush=True)
            waited = words.count("waiting: ")
            if waited:
                print(f"{'':18} waited for a neighbour's memory {waited} times")
    print(f"{evaluations} evaluations, {bad} runs with rejections or another end")
    return 1 if bad else 0


def counts_in(told: object) -> int:
    """Evaluations, wherever a run's view has its counts."""
    if isinstance(told, dict):
        counts = told.get("counts")
        if isinstance(counts, dict) and "evaluations" in counts:
            return int(counts["evaluations"])
        return max([counts_in(child) for child in told.values()] or [0])
    return 0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("what", choices=["sizes", "neighbours"])
    arguments.add_argument("--only", nargs="*", default=[], help="names, or how they begin")
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--all", action="store_true", help="every problem of levels 1 to 3")
    arguments.add_argument("--beside", type=int, default=1, help="problems at once")
    arguments.add_argument("--slice", default="1/1", help="the first of four parts: 1/4")
    arguments.add_argument("--evaluations", type=int, default=34)
    arguments.add_argument("--limit", type=float, default=440, help="seconds")
    arguments = arguments.parse_args()
    return {"sizes": sizes, "neighbours": neighbours}[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
