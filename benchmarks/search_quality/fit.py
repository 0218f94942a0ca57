"""Fits the simulated proposer to the recorded searches in $KERNELSMITH_SEARCH_DATA, and writes fit.json.

fit.json holds fitted numbers only: no text, program or measurement of the recordings.
"""

import json
import os
from pathlib import Path

import numpy as np

from model import KNOTS, MAX_GAP, PROBABILITIES, SCALE, Samples, fit_dependence, fit_lift, fit_task, standing_of
from traces import adaexplore

# A child of another kernel's tree counts this much: least loss on parents held out, of .02 .05 .1 .2 .4 1.
BORROWED = 0.1
NOISE = 0.01  # of one evaluation's logarithm; the recordings do not hold any


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(item) for item in value]
    return round(float(value), 4) if isinstance(value, (float, np.floating)) else value


def fitted() -> dict:
    """By task."""
    traces = adaexplore(Path(os.environ.get("KERNELSMITH_SEARCH_DATA") or exit("set KERNELSMITH_SEARCH_DATA to the folder of recordings")))
    scales = {trace.task: np.sort([row.score for row in trace.rows if row.score is not None]) for trace in traces}
    lift = fit_lift(traces, scales)
    samples = Samples(traces, scales, lift)
    shared = fit_dependence(samples, BORROWED) | {"family": "kernel", "lift": lift}
    tasks = {}
    for trace in traces:
        scale = scales[trace.task]
        tasks[trace.task] = fit_task(samples, trace.task, BORROWED) | shared | {
            "seed_standing": float(standing_of(np.array([trace.seed_score]), scale)[0]),
            "score": np.interp(SCALE, standing_of(scale, scale), scale),
        }
    return tasks


def main() -> None:
    grid = {"knots": KNOTS, "probabilities": PROBABILITIES, "scale": SCALE, "max_gap": MAX_GAP}
    text = json.dumps(rounded(grid | {"noise": NOISE, "tasks": fitted()}), separators=(",", ":"))
    Path(__file__).with_name("fit.json").write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
