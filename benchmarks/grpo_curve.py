"""The curve of a training by grpo_over_serve.py: draws it as SVG, and says whether the reward rose beyond its noise.

    python benchmarks/grpo_curve.py OUT/curve.jsonl [-o curve.svg]

A line of the file is a step: `step`, `reward` (the mean over its samples with a score; null if there are none), `samples`,
`zeros`, `unscored`, `seconds`. Exit status 0 if the reward rose.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

ENDS = 10  # steps at either end that are compared
SIGMAS = 2  # a rise by fewer standard errors may be noise: one time in forty
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 720, 320, 56, 40, 30


def read(path):
    """The steps in order; a step that was repeated after an interruption counts as it was the last time."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [one for _, one in sorted({line["step"]: line for line in lines}.items())]


def means(steps):
    return [one["reward"] for one in steps if one["reward"] is not None]


def rise(steps):
    """The mean reward of the first steps and of the last ones, and the standard error of their difference; None if there are
    too few steps."""
    first, last = means(steps[:ENDS]), means(steps[-ENDS:])
    if len(steps) < 2 * ENDS or min(len(first), len(last)) < 2:
        return None
    noise = math.sqrt(statistics.variance(first) / len(first) + statistics.variance(last) / len(last))
    return statistics.mean(first), statistics.mean(last), noise


def rose(steps):
    found = rise(steps)
    return found is not None and found[1] - found[0] > SIGMAS * found[2]


def said(steps):
    found = rise(steps)
    if found is None:
        return f"{len(steps)} steps: too few to compare {ENDS} with {ENDS}"
    samples, unscored = (sum(one[name] for one in steps) for name in ("samples", "unscored"))
    return (f"{len(steps)} steps, {samples} samples, {unscored} without a score ({unscored / samples:.1%}); mean reward of the first "
            f"{ENDS} steps {found[0]:.3f}, of the last {ENDS} {found[1]:.3f}: {found[1] - found[0]:+.3f}, standard error {found[2]:.3f}")


def svg(steps):
    rewards = means(steps)
    most, count = max([*rewards, 1e-9]) * 1.05, max(steps[-1]["step"], 1)

    def at(step, reward):
        return (LEFT + (WIDTH - LEFT - 10) * step / count, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * reward / most)

    dots = [at(one["step"], one["reward"]) for one in steps if one["reward"] is not None]
    smooth = [at(steps[end - 1]["step"], statistics.mean(window)) for end in range(ENDS, len(steps) + 1)
              if (window := means(steps[end - ENDS:end]))]
    marks = [(at(0, most * part / 4), f"{most * part / 4:.2f}") for part in range(5)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="18">{said(steps)}</text>',
        *(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 10}" stroke="#ddd"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
          for (_, y), text in marks),
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="#9bb8d3"/>' for x, y in dots),
        '<polyline fill="none" stroke="#1f4e79" stroke-width="2" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in smooth) + '"/>',
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 10}" text-anchor="end">step (of {count}); dots: mean reward of a step; '
        f'line: mean of {ENDS} steps</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("curve", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    given = parser.parse_args()
    steps = read(given.curve)
    if not steps:
        raise SystemExit(f"{given.curve} has no step")
    (given.out or given.curve.with_suffix(".svg")).write_text(svg(steps))
    print(said(steps))
    sys.exit(not rose(steps))


if __name__ == "__main__":
    main()
