"""Fits the simulated proposer to the recorded searches in $KERNELSMITH_SEARCH_DATA.

    python3 fit.py            writes fit.json and the tables of residuals in docs/search-quality.md

fit.json holds fitted numbers only: no text, program or measurement of the recordings.
"""

import json
import os
from pathlib import Path

import numpy as np

import document
from model import PROBABILITIES, SCALE, KNOTS, MAX_GAP, Samples, fit_dependence, fit_lift, fit_task, quantile, rejection
from model import standing_of, standings_in
from replay import Draws, best_so_far, replayed
from traces import Trace, adaexplore, changed_shares, codeevolve

# A child of another kernel's tree counts this much: least loss on parents held out, of .02 .05 .1 .2 .4 1.
BORROWED = {"kernel": 0.1, "mathematics": 0.0}
REPLAYS = 40
NOISE = 0.01  # of one evaluation's logarithm; the recordings do not hold any
CHECKED = (10, 20, 40, 80)


class Family:
    """Traces that are fitted together."""

    def __init__(self, name: str, traces: list[Trace]):
        self.name, self.traces, self.borrowed = name, traces, BORROWED[name]
        scores: dict[str, list[float]] = {}
        for trace in traces:
            scores.setdefault(trace.task, []).extend(row.score for row in trace.rows if row.score is not None)
        self.scales = {task: np.sort(values) for task, values in scores.items()}
        self.lift = fit_lift(traces, self.scales)
        self.samples = Samples(traces, self.scales, self.lift)
        self.dependence = fit_dependence(self.samples, self.borrowed)

    def task(self, task: str) -> dict:
        return fit_task(self.samples, task, self.borrowed)

    def without(self, left_out: Trace) -> dict:
        others = [trace for trace in self.traces if trace is not left_out]
        return fit_task(Samples(others, self.scales, self.lift), left_out.task, self.borrowed)


def families(data: Path) -> list[Family]:
    islands = codeevolve(data)
    problems = sorted({trace.task for trace in islands})
    return [Family("kernel", adaexplore(data))] + [
        Family("mathematics", [trace for trace in islands if trace.task == problem]) for problem in problems
    ]


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(item) for item in value]
    return round(float(value), 4) if isinstance(value, (float, np.floating)) else value


def described(family: Family, task: str) -> dict:
    scale = family.scales[task]
    fitted = family.task(task) | family.dependence | {"family": family.name, "lift": family.lift}
    fitted.setdefault("small", fitted["large"])
    fitted["gap"].setdefault("small", fitted["gap"]["large"])
    fitted["lift"].setdefault("small", fitted["lift"]["large"])
    fitted["size"].setdefault("small", fitted["size"]["large"])
    if "small" not in {row.step for trace in family.traces for row in trace.rows}:
        fitted["lift"]["small"] = fitted["lift"]["large"]
    seed = next(trace.seed_score for trace in family.traces if trace.task == task)
    fitted["seed_standing"] = float(standing_of(np.array([seed]), scale)[0])
    fitted["score"] = np.interp(SCALE, standing_of(scale, scale), scale) if family.name == "kernel" else by_rank()
    return rounded(fitted)


def by_rank() -> np.ndarray:
    """A problem without speedups: its order counts, so its scale is put on speedups of 1 to 8."""
    return (SCALE - SCALE[0]) / (SCALE[-1] - SCALE[0]) * np.log(8)


def checks(family: Family, rng) -> list[str]:
    """What the recordings found, and what a replay of traces that the fit has not seen finds."""
    observed, predicted = [], []
    for trace in family.traces:
        draws = Draws(family.without(trace), family.dependence, rng)
        scale, repeats = family.scales[trace.task], max(2, REPLAYS // sum(t.task == trace.task for t in family.traces))
        observed.append(outcome(trace, standings_in(trace, scale)))
        predicted += [outcome(trace, replayed(trace, scale, draws, family.lift)) for _ in range(repeats)]
    return [f"{o:.2f} / {p:.2f}" for o, p in zip(np.nanmean(observed, 0), np.nanmean(predicted, 0), strict=True)]


def outcome(trace: Trace, standings: np.ndarray) -> list[float]:
    rejected = np.isnan(standings)
    parents = [(row.parent, i) for i, row in enumerate(trace.rows) if row.parent >= 0 and not rejected[row.parent]]
    better = np.mean([standings[i] > standings[p] + 1e-6 for p, i in parents]) if parents else np.nan
    best = best_so_far(standings)
    return [rejected.mean(), better, *(best[min(n, len(best)) - 1] for n in CHECKED), best[-1]]


def main() -> None:
    data = Path(os.environ.get("KERNELSMITH_SEARCH_DATA") or exit("set KERNELSMITH_SEARCH_DATA to the folder of recordings"))
    rng = np.random.default_rng(45)
    fitted = families(data)
    changed = changed_shares(data)
    tasks = {task: described(family, task) for family in fitted for task in family.scales}
    grid = {"knots": KNOTS, "probabilities": PROBABILITIES, "scale": SCALE, "max_gap": MAX_GAP}
    # An edit names the lines that go and those that come; a rewrite is the whole file.
    costs = {"large": 1.0, "small": 2 * changed["small"]}
    text = json.dumps(rounded(grid | {"noise": NOISE, "cost": costs}) | {"tasks": tasks}, separators=(",", ":"))
    Path(__file__).with_name("fit.json").write_text(text.replace('},"', '},\n"') + "\n")

    bests = [f"best at {n}" for n in (*CHECKED, "end")]
    head = ["task (recorded / predicted)", "rejected", "better than parent", *bests]
    rows = [["kernels" if f.name == "kernel" else next(iter(f.scales)), *checks(f, rng)] for f in fitted]
    document.replace("fit", document.table(head, rows))


if __name__ == "__main__":
    main()
