"""Prints the tables of the worlds from what `search_quality --recorded` wrote.

    python3 worlds.py RESULTS.csv... [--base ours]     A12 of every arm against the base, with its 95 % bootstrap interval
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

import document
from stats import a12, a12_draws, interval

CONTROLS = ("any-parent", "worst-parent")
MEASURES = ("score", "qd", "coverage", "seen")
SETTING = ("kind", "start", "in_flight", "budget")


def read(paths: list[Path]) -> dict:
    """(world, start, in flight, budget) -> task -> arm -> an array of seeds by MEASURES."""
    rows = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                arms = rows[tuple(row[name] for name in SETTING)][row["task"]]
                arms[row["arm"]][int(row["seed"])] = [float(row[name]) for name in MEASURES]
    return {
        setting: {task: {arm: np.array([seeds[s] for s in sorted(seeds)]) for arm, seeds in arms.items()} for task, arms in tasks.items()}
        for setting, tasks in rows.items()
    }


def against(tasks: dict, arm: str, base: str, rng) -> tuple[float, float, float]:
    """The mean over the tasks of A12 of the best score, and its interval."""
    pairs = [(arms[arm][:, 0], arms[base][:, 0]) for arms in tasks.values()]
    draws = np.mean([a12_draws(a, b, rng) for a, b in pairs], axis=0)
    return float(np.mean([a12(a, b) for a, b in pairs])), *interval(draws)


def text(found: tuple[float, float, float]) -> str:
    value, low, high = found
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def controls(tasks: dict, base: str, rng) -> str:
    """On which tasks the base is neither better nor worse than a control: they cannot tell searches apart."""
    blind = []
    for task, arms in tasks.items():
        for control in CONTROLS:
            _, low, high = against({task: arms}, base, control, rng)
            if low <= 0.5 <= high:
                blind.append(f"{task} ({control})")
    return "Ties a control, so it decides nothing: " + (", ".join(blind) if blind else "no task") + "."


def table(tasks: dict, base: str, rng) -> str:
    first = next(iter(tasks.values()))
    rows = []
    for arm in first:
        means = np.mean([arms[arm].mean(axis=0) for arms in tasks.values()], axis=0)
        compared = "" if arm == base else text(against(tasks, arm, base, rng))
        rows.append([arm, compared, f"{means[0]:.3f}", f"{means[1]:.1f}", f"{means[2]:.2f}", f"{means[3]:.1f}"])
    return document.table(["arm", f"A12 against {base}", "log speedup", "QD-score", "coverage", "structures"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--base", default="ours")
    arguments = parser.parse_args()
    rng = np.random.default_rng(45)
    for (world, start, in_flight, budget), tasks in read(arguments.results).items():
        print(f"\n{world}, {budget} evaluations, {in_flight} in flight, start: {start}; {len(tasks)} tasks")
        if all(control in next(iter(tasks.values())) for control in CONTROLS):
            print(controls(tasks, arguments.base, rng))
        print("\n" + table(tasks, arguments.base, rng))


if __name__ == "__main__":
    main()
