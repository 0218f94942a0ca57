"""The tables of a campaign. Everything is computed from the rows of the runs that have ended."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import document
import numpy as np
from curves import svg
from stats import BOOTSTRAPS, a12, a12_draws, interval

# Equal rows give equal tables.
_SEED = 1

Rows = list[dict]
Pairs = dict[str, tuple[np.ndarray, np.ndarray]]  # by problem: the speedups of two arms, by seed


def used(speedup: float) -> float:
    """A problem without a faster kernel keeps its reference."""
    return max(speedup, 1.0)


def paired(rows: Rows, arm: str, rival: str) -> Pairs:
    """Only seeds that both have."""
    by_problem: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        by_problem[row["problem"]][row["arm"]][row["seed"]] = row["speedup"]
    both = {problem: sorted(arms[arm].keys() & arms[rival].keys()) for problem, arms in by_problem.items()}
    return {problem: (np.array([by_problem[problem][arm][seed] for seed in seeds]),
                      np.array([by_problem[problem][rival][seed] for seed in seeds])) for problem, seeds in both.items() if seeds}


def _over_problems(draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means over resampled problems; a row for each problem, a column for each resampling of its seeds."""
    problems = len(draws)
    weights = rng.multinomial(problems, np.full(problems, 1 / problems), size=draws.shape[1]) / problems
    return (weights * draws.T).sum(axis=1)


def chance(pairs: Pairs, rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """A12: the chance that a run of the first arm finds a faster kernel than one of the second, the mean over problems."""
    draws = np.array([a12_draws(ours, theirs, rng) for ours, theirs in pairs.values()])
    return float(np.mean([a12(ours, theirs) for ours, theirs in pairs.values()])), interval(_over_problems(draws, rng))


def _mean_log(values: Sequence[np.ndarray], rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """The geometric mean over problems of values by seed. Problems and seeds are resampled."""
    draws = []
    for logs in values:
        chosen = rng.integers(len(logs), size=(BOOTSTRAPS, len(logs)))
        draws.append(logs[chosen].mean(axis=1))
    low, high = interval(_over_problems(np.array(draws), rng))
    return math.exp(np.mean([logs.mean() for logs in values])), (math.exp(low), math.exp(high))


def ratio(pairs: Pairs, rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """The first arm's speedup over the second's, of the same problem and seed."""
    return _mean_log([np.log([used(a) / used(b) for a, b in zip(ours, theirs, strict=True)]) for ours, theirs in pairs.values()], rng)


def _logs(rows: Rows, of: Callable[[dict], float]) -> list[np.ndarray]:
    """Logarithms of speedups by problem."""
    by_problem = defaultdict(list)
    for row in rows:
        by_problem[row["problem"]].append(math.log(used(of(row))))
    return [np.array(logs) for logs in by_problem.values()]


def arm_figures(rows: Rows, arms: list[str]) -> Rows:
    """A record for each arm: its own figures, and those against the first arm."""
    figures = []
    for arm in (arm for arm in arms if any(row["arm"] == arm for row in rows)):
        rng = np.random.default_rng(_SEED)
        own = [row for row in rows if row["arm"] == arm]
        record: dict = {"arm": arm, "runs": len(own), "problems": len({row["problem"] for row in own})}
        record["correct"] = np.mean([row["speedup"] > 0 for row in own])
        record["faster"] = np.mean([row["speedup"] > 1 for row in own])
        record["shortcuts"] = np.mean([row["shortcut"] for row in own])
        record["speedup"], (record["speedup_low"], record["speedup_high"]) = _mean_log(_logs(own, lambda row: row["speedup"]), rng)
        for name in ("calls", "evaluations", "usd"):
            record[name] = np.mean([row[name] for row in own])
        pairs = paired(rows, arm, arms[0]) if arm != arms[0] else {}
        record["pairs"] = sum(len(ours) for ours, _ in pairs.values())
        if pairs:
            record["a12"], (record["a12_low"], record["a12_high"]) = chance(pairs, rng)
            record["ratio"], (record["ratio_low"], record["ratio_high"]) = ratio(pairs, rng)
        figures.append(record)
    return figures


def _cell(record: dict, name: str) -> str:
    return f"{record[name]:.3g} [{record[name + '_low']:.3g}, {record[name + '_high']:.3g}]" if name in record else ""


def markdown(rows: Rows, figures: Rows, arms: list[str], calls: int) -> str:
    head = ["arm", "runs", "correct", "faster", "shortcuts", "speedup", f"ratio to {arms[0]}", f"A12 against {arms[0]}", "pairs",
            "calls", "evaluations", "USD"]
    table = [[one["arm"], one["runs"], *(f"{one[name]:.0%}" for name in ("correct", "faster", "shortcuts")),
              *(_cell(one, name) for name in ("speedup", "ratio", "a12")), one["pairs"] or "",
              *(f"{one[name]:.4g}" for name in ("calls", "evaluations", "usd"))] for one in figures]
    told = [one["arm"] for one in figures]
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    by_problem = [[problem, *(" ".join(f"{row['speedup']:.3g}" for row in rows if (row["problem"], row["arm"]) == (problem, arm))
                              for arm in told)] for problem in problems]
    return (f"# {calls} calls a run\n\n![The best so far by the number of calls](picture.svg)\n\n{document.table(head, table)}\n\n"
            f"The speedup of each seed's best, measured again:\n\n{document.table(['problem', *told], by_problem)}\n")


def _write_csv(path: Path, rows: Rows) -> None:
    fields = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(rows)


def curves(rows: Rows, arms: list[str], calls: int) -> dict[str, list[float]]:
    """By arm, after each call: the geometric mean over problems of what the search had found."""
    found = {}
    for arm in arms:
        if own := [row for row in rows if row["arm"] == arm]:
            found[arm] = [math.exp(np.mean([logs.mean() for logs in _logs(own, lambda row: row["best_by_call"][call])]))
                          for call in range(1, calls + 1)]
    return found


def write(out: Path, rows: Rows, arms: list[str], calls: int) -> None:
    """report.md, runs.csv, arms.csv and picture.svg; nothing if no run has ended."""
    if not rows:
        return
    figures = arm_figures(rows, arms)
    (out / "report.md").write_text(markdown(rows, figures, arms, calls))
    _write_csv(out / "arms.csv", figures)
    _write_csv(out / "runs.csv", [{**row, "best_by_call": " ".join(f"{best:.6g}" for best in row["best_by_call"])} for row in rows])
    (out / "picture.svg").write_text(svg(curves(rows, arms, calls), figures))
