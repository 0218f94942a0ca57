"""Makes the tables "gains" and "shares" of docs/search-quality.md from what the program allocation wrote.

    python3 allocation_table.py GAINS.csv SHARES.csv [--print]     --print writes no file
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

import document
from stats import BOOTSTRAPS, interval

KINDS = {"kernel": "kernels", "mathematics": "mathematics"}
# The figures that a user of --until-flat may name, in percent.
EDGES = (1, 3, 10, 30)


def rows_of(path: str) -> list[dict]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def percent(logarithm: float) -> str:
    return f"{100 * np.expm1(logarithm):.3g} %"


def pair(expected, actual) -> str:
    """Means of the logarithms, as percent."""
    return f"{percent(np.mean(expected))} / {percent(np.mean(actual))}"


def by_evaluations(rows: list[dict]) -> str:
    cells = defaultdict(list)
    for row in rows:
        cells[row["kind"], int(row["made"])].append((float(row["expected"]), float(row["actual"])))
    made = sorted({key[1] for key in cells})
    lines = [[KINDS[kind], *(pair(*zip(*cells[kind, n], strict=True)) for n in made)] for kind in KINDS]
    return document.table(["gain expected / made by as many again, after", *map(str, made)], lines)


def by_expectation(rows: list[dict]) -> str:
    """Whether a figure that was expected is the one that came: what --until-flat relies on."""
    cells = defaultdict(list)
    for row in rows:
        place = int(np.searchsorted(EDGES, 100 * np.expm1(float(row["expected"]))))
        cells[row["kind"], place].append((float(row["expected"]), float(row["actual"])))
    names = [f"below {EDGES[0]} %", *(f"{a} to {b} %" for a, b in zip(EDGES, EDGES[1:], strict=False)), f"{EDGES[-1]} % or more"]
    lines = []
    for kind in KINDS:
        found = [cells[kind, place] for place in range(len(names))]
        lines.append([KINDS[kind], *(f"{pair(*zip(*one, strict=True))}, {len(one)}" if one else "-" for one in found)])
    return document.table(["gain expected / made, and how often it was expected", *names], lines)


def shares(rows: list[dict], rng) -> str:
    """The geometric mean over the tasks of the final speedup over the seed's, by seed."""
    scores, evaluations = defaultdict(lambda: defaultdict(list)), defaultdict(list)
    for row in rows:
        scores[int(row["rounds"]), row["how"]][row["seed"]].append(float(row["score"]))
        evaluations[int(row["rounds"]), row["how"]].append(int(row["evaluations"]))
    lines = []
    for rounds in sorted({key[0] for key in scores}):
        means = {how: np.array([np.mean(one) for one in scores[rounds, how].values()]) for how in ("equal", "adaptive")}
        ratio = means["adaptive"] - means["equal"]
        draws = rng.choice(ratio, (BOOTSTRAPS, len(ratio))).mean(axis=1)
        low, high = np.exp(interval(draws))
        got = evaluations[rounds, "adaptive"]
        lines.append(
            [
                f"10 x {rounds}",
                f"{np.exp(means['equal'].mean()):.3f}",
                f"{np.exp(means['adaptive'].mean()):.3f}",
                f"{np.exp(ratio.mean()):.3f} [{low:.3f}, {high:.3f}]",
                f"{np.mean(ratio > 0):.2f}",
                f"{min(got)} to {max(got)}",
            ]
        )
    head = ["evaluations", "equal", "adaptive", "adaptive over equal", "share of suites ahead", "evaluations of a task"]
    return document.table(head, lines)


def main() -> None:
    gains, handed_out = rows_of(sys.argv[1]), rows_of(sys.argv[2])
    tables = {
        "gains": by_evaluations(gains) + "\n\n" + by_expectation(gains),
        "shares": shares(handed_out, np.random.default_rng(45)),
    }
    for name, text in tables.items():
        if "--print" in sys.argv:
            print(text, end="\n\n")
        else:
            document.replace(name, text)


if __name__ == "__main__":
    main()
