"""Makes the tables and the picture of docs/search-quality.md from what search_quality wrote.

    python3 report.py FOLDER [--print]     FOLDER holds what run.sh made; --print writes no file
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

import document
from picture import svg
from stats import a12, a12_draws, interval

OURS = "ours"
BANDIT = "bandit"
RIVALS = ("best-of-N", "openevolve")
KINDS = {"kernel": "kernels (fitted)", "mathematics": "mathematics (fitted)", "landscape": "landscapes (made up)"}


class Results:
    """Scores, wasted children and evaluations by (kind, unit, budget), then task, then arm; seeds in order."""

    def __init__(self, path: Path):
        self.cells = defaultdict(lambda: defaultdict(dict))
        rows = defaultdict(list)
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                key = (row["kind"], row["unit"], row["budget"]), row["task"], row["arm"]
                rows[key].append([float(row[name]) for name in ("score", "wasted", "evaluations")])
        for (cell, task, arm), values in rows.items():
            self.cells[cell][task][arm] = np.array(values)

    def budgets(self) -> list[tuple[str, str]]:
        return sorted({cell[1:] for cell in self.cells}, key=lambda b: (b[0] != "evaluations", float(b[1])))


def compared(tasks: dict, rng) -> dict[str, dict]:
    """By arm: ours against it over these tasks."""
    arms = [arm for arm in next(iter(tasks.values())) if arm != OURS]
    return {arm: _against(tasks, arm, rng) for arm in arms}


def _against(tasks, arm, rng) -> dict:
    ours, theirs = ([task[name] for task in tasks.values()] for name in (OURS, arm))
    draws = [a12_draws(a[:, 0], b[:, 0], rng) for a, b in zip(ours, theirs, strict=True)]
    return {
        "a12": np.mean([a12(a[:, 0], b[:, 0]) for a, b in zip(ours, theirs, strict=True)]),
        "interval": interval(np.mean(draws, axis=0)),
        "ahead": sum(interval(one)[0] > 0.5 for one in draws),
    }


def overview(results: Results, kind: str, rng) -> str:
    budgets = [b for b in results.budgets() if (kind, *b) in results.cells]
    found = {b: compared(results.cells[(kind, *b)], rng) for b in budgets}
    head = [f"{KINDS[kind]}: ours against", *(_name(budget) for budget in budgets)]
    rows = [[arm, *(_cell(found[b][arm]) for b in budgets)] for arm in found[budgets[0]]]
    return document.table(head, rows)


def _name(budget: tuple[str, str]) -> str:
    unit, amount = budget
    return f"{amount} evaluations" if unit == "evaluations" else f"the cost of {amount} rewrites"


def _cell(one: dict) -> str:
    low, high = one["interval"]
    return f"{one['a12']:.2f} [{low:.2f}, {high:.2f}]"


def curves(path: Path) -> list[tuple[str, dict[str, list[float]]]]:
    sums = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] != "landscape":
                panel = f"{KINDS[row['kind']]}, {row['budget']} evaluations"
                sums[panel][row["arm"]][int(row["evaluation"])].append(float(row["progress"]))
    return [
        (panel, {arm: [float(np.mean(points[i])) for i in sorted(points)] for arm, points in arms.items()})
        for panel, arms in sorted(sums.items(), key=lambda item: len(item[0]))
        if panel.endswith(" 200 evaluations")
    ]


def parts(results: Results) -> str:
    """What the default loses or gains if one thing is changed: A12 of the variant against it."""
    budgets = results.budgets()
    columns = [(kind, *budget) for kind in KINDS for budget in budgets]
    variants = [arm for arm in next(iter(results.cells[columns[0]].values())) if arm != OURS]
    head = ["variant against ours", *(f"{kind}, {amount}" for kind, _, amount in columns)]
    rows = []
    for variant in variants:
        cells = [results.cells[column].values() for column in columns]
        rows.append([variant, *(f"{np.mean([a12(t[variant][:, 0], t[OURS][:, 0]) for t in tasks]):.2f}" for tasks in cells)])
    return document.table(head, rows)


def bandit(equal: Results, unequal: Results, rng) -> str:
    """The bandit against weights: where all arms are of one model, and where models or operators differ."""
    rows = []
    for results, kinds in ((equal, list(KINDS)), (unequal, list(dict.fromkeys(cell[0] for cell in unequal.cells)))):
        for kind in kinds:
            rows.append([KINDS.get(kind, kind), *(_against_weights(results.cells[(kind, *b)], rng) for b in results.budgets())])
    return document.table(["the bandit against weights", *(_name(budget) for budget in equal.budgets())], rows)


def _against_weights(tasks: dict, rng) -> str:
    ours, theirs = ([task[name] for task in tasks.values()] for name in (BANDIT, OURS))
    pairs = list(zip(ours, theirs, strict=True))
    low, high = interval(np.mean([a12_draws(a[:, 0], b[:, 0], rng) for a, b in pairs], axis=0))
    text = f"{np.mean([a12(a[:, 0], b[:, 0]) for a, b in pairs]):.2f} [{low:.2f}, {high:.2f}]"
    wasted = [np.mean([task[:, 1].sum() / task[:, 2].sum() for task in side]) for side in (ours, theirs)]
    return f"{text}, wasted {wasted[0]:.0%} / {wasted[1]:.0%}" if wasted[1] > 0 else text


def bar(results: Results, rng) -> str:
    """The weakest comparison on the ten kernels, and on how many of them ours is ahead."""
    rows = []
    for unit, amount in results.budgets():
        found = compared(results.cells[("kernel", unit, amount)], rng)
        weakest = min(found, key=lambda arm: found[arm]["interval"][0])
        rows.append(
            [
                _name((unit, amount)),
                f"{weakest}: {found[weakest]['interval'][0]:.2f}",
                *(f"{found[rival]['ahead']} of 10" for rival in RIVALS),
            ]
        )
    head = ["kernels", "lowest lower bound of the mean A12", *(f"lower bound above .5 against {rival}" for rival in RIVALS)]
    return document.table(head, rows)


def main() -> None:
    rng = np.random.default_rng(45)
    folder = Path(sys.argv[1])
    results = Results(folder / "arms.csv")
    tables = {
        "bar": bar(results, rng),
        "arms": "\n\n".join(overview(results, kind, rng) for kind in KINDS),
        "bandit": bandit(Results(folder / "bandit.csv"), Results(folder / "unequal.csv"), rng),
        "variants": parts(Results(folder / "variants.csv")),
    }
    for name, text in tables.items():
        if "--print" in sys.argv:
            print(text, end="\n\n")
        else:
            document.replace(name, text)
    if "--print" not in sys.argv:
        (document.PAGE.parent / "images" / "search-quality.svg").write_text(svg(curves(folder / "curves.csv")))


if __name__ == "__main__":
    main()
