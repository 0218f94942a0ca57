"""Makes the tables and the picture of docs/search-quality.md from what search_quality wrote.

    python3 report.py RESULTS.csv... [--base ours] [--quality] [--section NAME] [--curves CURVES.csv]

Without --section the tables are printed. The base is compared with every other arm. --quality adds what each task can
decide, and QD-scores. With --curves the picture is drawn.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

import document
from picture import svg
from stats import a12, a12_draws, interval

CONTROLS = ("any-parent", "worst-parent")
UNDRAWN = (*CONTROLS, "best-parent")
NEAR = np.log(1.05)
MEASURES = ("score", "regret", "qd", "coverage", "seen")
DRAWN = "200"  # evaluations: the picture's budget
PANELS = ("plain", "kernels", "structures")

# Task -> arm -> an array of seeds by MEASURES.
Tasks = dict[str, dict[str, np.ndarray]]


def read(paths: list[Path]) -> dict[tuple[str, str], dict[tuple[str, str], Tasks]]:
    """(start, in flight) -> (kind, budget) -> tasks."""
    rows = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list))))
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                tasks = rows[row["start"], row["in_flight"]][row["kind"], row["budget"]]
                seed = [float(row[name]) for name in MEASURES]
                # Seeds begin with programs of different speeds, so what is compared is how near the optimum the best is.
                tasks[row["task"]][row["arm"]].append([seed[0] if np.isnan(seed[1]) else -seed[1], *seed[1:]])
    return {
        setting: {cell: {task: {arm: np.array(seeds) for arm, seeds in arms.items()} for task, arms in tasks.items()}
                  for cell, tasks in cells.items()}
        for setting, cells in rows.items()
    }


def compared(tasks: Tasks, arm: str, other: str, rng) -> tuple[float, float, float]:
    """The mean over the tasks of A12 of the arm's best score against the other's, and its interval."""
    pairs = [(arms[arm][:, 0], arms[other][:, 0]) for arms in tasks.values()]
    draws = np.mean([a12_draws(a, b, rng) for a, b in pairs], axis=0)
    return float(np.mean([a12(a, b) for a, b in pairs])), *interval(draws)


def level(tasks: Tasks, arm: str, other: str, rng) -> bool:
    _, low, high = compared(tasks, arm, other, rng)
    return low <= 0.5 <= high


def tied(tasks: Tasks, arm: str, rng) -> list[str]:
    """The controls that the arm is not told apart from."""
    known = [control for control in CONTROLS if arm not in CONTROLS and control in next(iter(tasks.values()))]
    return [control for control in known if level(tasks, arm, control, rng)]


def by_task(cells: dict, base: str, rng) -> str:
    """What each task can decide about the base."""
    rows = defaultdict(list)
    for (kind, _), tasks in cells.items():
        for task, arms in tasks.items():
            one = {task: arms}
            text = "ties " + " and ".join(tied(one, base, rng)) if tied(one, base, rng) else "decides"
            rows[kind, task].append("the controls tie" if level(one, *CONTROLS, rng) else text)
    budgets = dict.fromkeys(budget for _, budget in cells)
    return document.table([f"what a task decides about {base}", *budgets], [[f"{kind}: {task}", *row] for (kind, task), row in rows.items()])


def arms_of(cells: dict) -> list[str]:
    return list(next(iter(next(iter(cells.values())).values())))


def comparison(cells: dict, base: str, rng) -> str:
    rows = []
    for arm in arms_of(cells):
        if arm == base:
            continue
        row = [arm]
        for tasks in cells.values():
            value, low, high = compared(tasks, base, arm, rng)
            row.append(f"{value:.2f} [{low:.2f}, {high:.2f}]{' =' if tied(tasks, arm, rng) else ''}")
        rows.append(row)
    return document.table([f"{base} against", *(f"{kind}, {budget}" for kind, budget in cells)], rows)


def quality(cells: dict) -> str:
    """What the archive of structures holds, and how often the best is within 5 % of the optimum."""
    rows = []
    for arm in arms_of(cells):
        row = [arm]
        for tasks in cells.values():
            seeds = [arms[arm] for arms in tasks.values()]
            near = np.mean([np.mean(one[:, 1] <= NEAR) for one in seeds])
            qd, coverage, seen = np.mean([one[:, 2:].mean(axis=0) for one in seeds], axis=0)
            row.append(f"{qd:.1f}, {coverage:.0%}, {seen:.0f}, {near:.0%}")
        rows.append(row)
    head = "QD-score, coverage, structures seen, within 5 % of the optimum"
    return document.table([head, *(f"{kind}, {budget}" for kind, budget in cells)], rows)


def curves(path: Path) -> list[tuple[str, dict[str, list[float]]]]:
    sums = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["budget"] == DRAWN and row["arm"] not in UNDRAWN:
                sums[row["kind"]][row["arm"]][int(row["evaluation"])].append(float(row["progress"]))
    return [
        (f"{kind}, {DRAWN} evaluations", {arm: [float(np.mean(points[i])) for i in sorted(points)] for arm, points in sums[kind].items()})
        for kind in PANELS
    ]


def report(paths: list[Path], base: str, shows_quality: bool) -> str:
    rng = np.random.default_rng(45)
    parts = []
    for (start, in_flight), cells in read(paths).items():
        parts.append(f"{in_flight} in flight, {'from a seed' if start == 'seed' else 'without a seed'}:")
        parts.append(comparison(cells, base, rng))
        if shows_quality and all(kind in PANELS for kind, _ in cells):
            parts += [by_task(cells, base, rng), quality(cells)]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--base", default="ours")
    parser.add_argument("--section")
    parser.add_argument("--curves", type=Path)
    arguments = parser.parse_args()
    text = report(arguments.results, arguments.base, arguments.quality)
    if arguments.section:
        document.replace(arguments.section, text)
    else:
        print(text)
    if arguments.curves:
        (document.PAGE.parent / "images" / "search-quality.svg").write_text(svg(curves(arguments.curves)))


if __name__ == "__main__":
    main()
