#!/usr/bin/env python3
"""Null searches: every program is the task's seed with another constant that nothing reads, so all are equally fast. The yardstick is
the seed, so an honest figure is 1. Prints how the figures of the bests spread around 1 and how many of their intervals hold it. The
control is what the same searches would have reported by the measurement that made a program win: it must lie above 1.

    null_search.py [--task tests/tasks/stencil5] [--searches 40] [--first 1] [--evaluations 36]     needs `kernelsmith` on the PATH
"""

import argparse
import json
import math
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

VALUES = 64  # of the constant: more than any search here evaluates


def null_task(task: Path, folder: Path) -> None:
    """The task in `folder`, with one knob that changes the binary and no instruction of a call."""
    shutil.copytree(task, folder)
    text = (folder / "task.yaml").read_text()
    (folder / "task.yaml").write_text(re.sub(r", yardstick: [\w.]+|, baseline: [\w.]+", "", text))
    [seed] = folder.glob("seed.*")
    source = re.sub(r"// @tune.*", "", seed.read_text())
    knob = f"constexpr int kNull = 0;  // @tune {' '.join(map(str, range(VALUES)))}\n"
    for kernel in re.findall(r"__global__ void (\w+)\(", source):
        source = source.replace(f"__global__ void {kernel}(", f"template <int kUnused>\n__global__ void {kernel}(")
        source = source.replace(f"{kernel}<<<", f"{kernel}<kNull><<<")
    if "__global__" not in source:
        knob += "__attribute__((used)) static const int kMark = kNull;\n"
    start = "// EVOLVE-BLOCK-START\n"
    seed.write_text(source.replace(start, start + knob) if start in source else
                    re.sub(r"((?:^#include.*\n|^//.*\n|^\s*\n)*)", lambda head: f"{head[1]}{start}{knob}// EVOLVE-BLOCK-END\n", source, count=1,
                           flags=re.M))


def search(task: Path, evaluations: int, seed: int, folder: Path) -> tuple[dict, float, int]:
    """The run's figure, the highest ratio that a program had when it was first measured, and how many programs there were."""
    run = folder / f"{seed}.run"
    subprocess.run(["kernelsmith", "run", task, "--evaluations", str(evaluations), "--seed", str(seed), "--out", run],
                   check=True, capture_output=True)
    shown = json.loads(subprocess.run(["kernelsmith", "show", run, "--json"], check=True, capture_output=True).stdout)
    assert shown["best"]["confirmed"], "the best was not confirmed"
    lines = subprocess.run(["kernelsmith", "export", run], check=True, capture_output=True, text=True).stdout.splitlines()
    told = [one for one in map(json.loads, lines) if one["type"] == "evaluation"]
    first = [report["over_yardstick"]["median"] for one in told if one["attempt"] == 0
             for report in [one["evaluation"]["report"]] if report.get("over_yardstick")]
    shutil.rmtree(run)
    return shown["best"]["evaluation"]["over_yardstick"], max(first), len(first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", type=Path, default=Path("tests/tasks/stencil5"))
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--first", type=int, default=1, help="seed of the first search")
    parser.add_argument("--evaluations", type=int, default=36)
    asked = parser.parse_args()
    figures, highest = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        null_task(asked.task, folder / asked.task.name)
        for number in range(asked.first, asked.first + asked.searches):
            figure, first, programs = search(folder / asked.task.name, asked.evaluations, number, folder)
            figures.append(figure)
            highest.append(first)
            print(f"{number}: {figure['median']:.4f} [{figure['low']:.4f}, {figure['high']:.4f}], {programs} programs, the highest first "
                  f"measurement {first:.4f}", flush=True)
    medians = [figure["median"] for figure in figures]
    error = 1.96 * statistics.stdev(medians) / math.sqrt(len(medians))
    hold = sum(figure["low"] <= 1 <= figure["high"] for figure in figures)
    print(f"figures: mean {statistics.fmean(medians):.4f} +- {error:.4f}, {hold} of {len(figures)} intervals hold 1")
    print(f"control, the highest first measurement: mean {statistics.fmean(highest):.4f}")


if __name__ == "__main__":
    main()
