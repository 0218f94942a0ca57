#!/usr/bin/env python3
"""The table of docs/search-quality.md, "Tuning": evaluations to within 5 % of a recorded space's optimum.

    cmake --build build/dev --target tuning_benchmark
    KERNELSMITH_SEARCH_DATA=... python3 benchmarks/search_quality/tuning_table.py \\
        --program build/dev/benchmarks/tuning_benchmark --ours ours.jsonl --kernel-tuner kt.jsonl

Runs our program on every space that --ours lacks, and lays its medians beside those of tuning_kernel_tuner.py's
results. A run that did not come near the optimum counts as the cap.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from tuning_spaces import SPACES

OURS = "kernelsmith"
# A strategy that needs more than this times as many evaluations as ours on every space has no row: nobody would choose it.
SHOWN = 1.5


def read_runs(path: Path) -> dict:
    """(space, strategy) -> evaluations of each run, and whether it arrived."""
    runs = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        runs[row["space"], row["strategy"]].append((row["found"] or row["cap"], row["found"] is not None))
    return runs


def run_ours(arguments, data: Path) -> None:
    """Appends what the results lack: 100 runs on recorded means, and 30 on the mean of three recorded repeats."""
    known = read_runs(arguments.ours) if arguments.ours.exists() else {}
    with arguments.ours.open("a") as out, tempfile.TemporaryDirectory() as folder:
        for name in arguments.spaces:
            if (name, OURS) in known:
                continue
            cache = Path(folder) / "cache.json"
            cache.write_bytes(gzip.decompress((data / SPACES[name][0]).read_bytes()))
            for repeats, draws in ((100, 0), (30, 3)):
                command = [arguments.program, name, cache, str(repeats), str(arguments.cap), str(draws)]
                subprocess.run(command, stdout=out, check=True)


def median_text(runs: list, repeats: int) -> str:
    """The median, `>` if it is the cap, and the number of runs in brackets if there are fewer than asked for."""
    if not runs:
        return "-"
    value = statistics.median(evaluations for evaluations, _ in runs)
    arrived = sum(found for _, found in runs) * 2 > len(runs)
    text = f"{'' if arrived else '> '}{value:.0f}"
    return text if len(runs) >= repeats else f"{text} ({len(runs)})"


def least_ratio(runs: dict, name: str, strategy: str) -> float:
    """Median evaluations over ours on a space."""
    def median(one: str) -> float:
        return statistics.median(n for n, _ in runs[name, one]) if runs[name, one] else float("inf")

    return median(strategy) / median(OURS)


def table(runs: dict, spaces: list, repeats: int) -> str:
    """A row for each search, a column for each space: ours, and each of Kernel Tuner's that is near it somewhere."""
    ours = [OURS, OURS + ", noisy", "random"]
    strategies = [one for one in sorted({strategy for _, strategy in runs} - {*ours, "random_sample"})
                  if any(least_ratio(runs, name, one) <= SHOWN for name in spaces)]
    strategies.sort(key=lambda strategy: statistics.median(
        statistics.median(n for n, _ in runs[name, strategy]) if runs[name, strategy] else float("inf") for name in spaces))
    lines = ["| search | " + " | ".join(f"{name}{'*' if SPACES[name][1] else ''}" for name in spaces) + " |",
             "|---" * (len(spaces) + 1) + "|"]
    for row in ours + strategies:
        cells = [median_text(runs[name, row], 30 if "noisy" in row else repeats) for name in spaces]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(runs: dict, spaces: list) -> str:
    """How often our median is below a strategy's, over the spaces on which both ran."""
    lines = []
    for strategy in sorted({strategy for _, strategy in runs} - {OURS, OURS + ", noisy", "random"}):
        both = [name for name in spaces if runs.get((name, strategy)) and runs.get((name, OURS))]
        lost = []
        for name in both:
            ours, theirs = (statistics.median(n for n, _ in runs[name, s]) for s in (OURS, strategy))
            if ours >= theirs:
                lost.append(f"{name} ({ours:.0f} against {theirs:.0f})")
        lines.append(f"- `{strategy}`: fewer on {len(both) - len(lost)} of {len(both)}"
                     + (f"; not on {', '.join(lost)}" if lost else ""))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--ours", type=Path, required=True)
    parser.add_argument("--kernel-tuner", type=Path, required=True)
    parser.add_argument("--cap", type=int, default=2000)
    parser.add_argument("--spaces", nargs="*", default=[name for name in SPACES if not name.startswith("pnpoly")])
    arguments = parser.parse_args()
    if arguments.program:
        run_ours(arguments, Path(os.environ["KERNELSMITH_SEARCH_DATA"]))
    runs = defaultdict(list, read_runs(arguments.ours) | read_runs(arguments.kernel_tuner))
    print(table(runs, arguments.spaces, 100))
    print()
    print(verdict(runs, arguments.spaces))


if __name__ == "__main__":
    main()
