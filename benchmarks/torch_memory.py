"""Six searches at once on one GPU, of tasks of the torch backend that need 2 to 20 GB. Needs `kernelsmith` on the PATH.

    python3 benchmarks/torch_memory.py [--evaluations 34]

Prints rejections, errors and how the runs ended. Stops in time for --limit seconds, and exits with 1 if something was not
as it must be.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time

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


def write_task(folder: pathlib.Path, name: str, reference: str) -> pathlib.Path:
    task = folder / name
    task.mkdir()
    (task / "task.yaml").write_text(f"version: 1\nname: {name}\nbackend: torch\n"
                                    "files: {reference: reference.py, seed: seed.py}\n")
    (task / "reference.py").write_text(reference)
    (task / "seed.py").write_text(SEED)
    return task


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
            task = write_task(folder, name, NEIGHBOUR % rows)
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
    arguments.add_argument("--evaluations", type=int, default=34)
    arguments.add_argument("--limit", type=float, default=440, help="seconds")
    return neighbours(arguments.parse_args())


if __name__ == "__main__":
    sys.exit(main())
