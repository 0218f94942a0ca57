#!/usr/bin/env python3
"""Null searches: every program is the seed with other names and a constant that nothing reads, so all are equally fast. The yardstick
of the task must be its seed: an honest figure is 1 then. Prints how the final figures spread around 1 and how many of their intervals hold it. The control is what the same searches
would have reported by the measurement that made a program win: it must lie above 1.

Usage: null_search.py [--task tests/tasks/stencil5] [--searches 40] [--evaluations 30]
"""

import argparse
import itertools
import math
import re
import shutil
import statistics
import tempfile
from pathlib import Path

import kernelsmith as ks


class Renamed:
    """The seed with other names of its GPU kernels, and a constant of another value."""

    def __init__(self, task: Path, first: int) -> None:
        [seed] = task.glob("seed.*")
        self.name, self.text = seed.name, seed.read_text()
        self.numbers = itertools.count(first)

    def __call__(self, request: ks.ProposalRequest) -> ks.Child:
        number = next(self.numbers)
        mark = "// EVOLVE-BLOCK-END"
        constant = f"__attribute__((used)) static const int kNull = {number};\n"
        text = self.text.replace(mark, constant + mark) if mark in self.text else self.text + constant
        for kernel in re.findall(r"__global__ void(?: __launch_bounds__\([^)]*\))? (\w+)\(", text):
            text = re.sub(rf"\b{kernel}\b", f"{kernel}_{number}", text)
        return ks.Child({self.name: text}, [request.parent.id] if request.parent else [])


def search(task: Path, evaluations: int, number: int) -> tuple[ks.Measurement, float]:
    """The figure of the run, and the highest ratio that any program had when it was first measured."""
    folder = Path(tempfile.mkdtemp()) / "null.run"
    outcome = ks.run(task, proposer=Renamed(task, 1000 * number), evaluations=evaluations, seed=number, out=folder, workers=1)
    run = ks.Run.open(folder)
    first = [program.evaluation.report.over_yardstick.median for program in run.programs() if program.evaluation.accepted]
    shutil.rmtree(folder.parent)
    return outcome.confirmation.report.over_yardstick, max(first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", type=Path, default=Path("tests/tasks/stencil5"))
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--evaluations", type=int, default=30)
    asked = parser.parse_args()
    figures, highest = [], []
    for number in range(1, asked.searches + 1):
        figure, first = search(asked.task, asked.evaluations, number)
        figures.append(figure)
        highest.append(first)
        print(f"{number}: {figure.median:.4f} [{figure.low:.4f}, {figure.high:.4f}], the highest first measurement {first:.4f}", flush=True)
    medians = [figure.median for figure in figures]
    error = statistics.stdev(medians) / math.sqrt(len(medians))
    hold = sum(figure.low <= 1 <= figure.high for figure in figures)
    print(f"figures: mean {statistics.fmean(medians):.4f} +- {1.96 * error:.4f}, {hold} of {len(figures)} intervals hold 1")
    print(f"control, the highest first measurement: mean {statistics.fmean(highest):.4f}")


if __name__ == "__main__":
    main()
