"""Climbs a hill: the whole of a search whose evaluator and proposer are two Python functions.

    python hill.py            keeps nothing
    python hill.py hill.run   keeps the run in a folder; said again, it goes on with 500 iterations more
"""

import os
import sys

import kernelsmith as ks


def score(source):
    """Higher is better; the top, 10, is at (3, -2)."""
    x, y = map(float, source.text.split())
    return 10 - ((x - 3) ** 2 + (y + 2) ** 2) ** 0.5


def nudge(request):
    """A child of the parent that the search chose."""
    x, y = map(float, request.parent.source.text.split())
    return f"{x + request.rng.normal(0, 0.5)} {y + request.rng.normal(0, 0.5)}"


def main(folder=None):
    done = ks.Run.open(folder).counts["iterations"] if folder and os.path.exists(folder) else 0
    outcome = ks.run(seed="0 0", evaluator=score, proposer=nudge, iterations=done + 500, out=folder)
    print(f"{outcome.counts['iterations']} iterations, best {outcome.best.fitness:.3f} at {outcome.best.source.text}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
