"""How much the torch backend's ratio scatters over processes: one Triton kernel beside its PyTorch reference, at three
durations, in as many pairs of judge and runner as asked for. Prints mean and coefficient of variation. Needs a GPU.

    python3 benchmarks/torch_noise.py [--processes 10]
"""

import argparse
import pathlib
import random
import statistics
import tempfile

from torch_workers import compare, planner, prepare, worker

# Rows of 4096 floats, by what a call then takes on an H100, in microseconds.
ROWS = {"5": 512, "10": 1024, "50": 6 << 10}
PAIRS = 24

REFERENCE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.randn(%d, 4096)]
def get_init_inputs():
    return []
"""

CANDIDATE = """
import torch, triton
import triton.language as tl
@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, e / tl.sum(e, 0))
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=4096, num_warps=8)
        return y
"""


def ratio_of(judge, runner, path: pathlib.Path, plan: bytes) -> tuple[float, float]:
    """The median ratio of the pairs, and the candidate's microseconds."""
    told = prepare(judge, runner, path)
    runner.ask(plan, do="load", alone=True)
    ratios, times = [], []
    for pair in range(PAIRS):
        sets = [random.getrandbits(62) for _ in range(random.randint((told["slots"] + 1) // 2, told["slots"]))]
        us = {}
        for who in (judge, runner) if pair % 2 else (runner, judge):
            do = "yardstick" if who is judge else "run"
            us[who] = who.ask(do=do, variant=0, sets=sets)[0]["us"] / len(sets)
        if found := compare(judge, runner, 0, sets)["wrong"]:
            raise SystemExit(f"wrong: {found}")
        ratios.append(us[judge] / us[runner])
        times.append(us[runner])
    return statistics.median(ratios), statistics.median(times)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--processes", type=int, default=10)
    arguments = arguments.parse_args()
    planning = planner()
    pairs = [(worker("judge"), worker("runner")) for _ in range(arguments.processes)]
    with tempfile.TemporaryDirectory() as folder:
        plans, found = {}, {name: [] for name in ROWS}
        for name, rows in ROWS.items():
            path = pathlib.Path(folder, f"rows{rows}.py")
            path.write_text(REFERENCE % rows)
            _, plan = planning.ask(do="plan", reference=path.read_text(), candidate=CANDIDATE, name="candidate.py", arch=90,
                                   timeout_s=30, most_bytes=64 << 20)
            plans[name] = path, plan
        for judge, runner in pairs:  # one pair after the other: all of them do not fit a GPU
            for name, (path, plan) in plans.items():
                found[name].append(ratio_of(judge, runner, path, plan))
            judge.end()
            runner.end()
        for name in ROWS:
            ratios = [ratio for ratio, _ in found[name]]
            print(f"about {name} us: {statistics.median(us for _, us in found[name]):.2f} us a call, ratio "
                  f"{statistics.mean(ratios):.4f}, cv {100 * statistics.stdev(ratios) / statistics.mean(ratios):.3f} %, "
                  f"{min(ratios):.4f} to {max(ratios):.4f} in {len(ratios)} processes", flush=True)
    planning.end()


if __name__ == "__main__":
    main()
