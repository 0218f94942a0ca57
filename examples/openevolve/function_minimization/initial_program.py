"""Looks for the lowest point of a function of two variables with a fixed number of calls."""

import random

CALLS = 200


# EVOLVE-BLOCK-START
def search(function, calls, rng):
    """Returns the best (x, y) that was found."""
    best, where = float("inf"), (0.0, 0.0)
    for _ in range(calls):
        x, y = rng.uniform(-5, 5), rng.uniform(-5, 5)
        value = function(x, y)
        if value < best:
            best, where = value, (x, y)
    return where
# EVOLVE-BLOCK-END


def run(function, seed):
    return search(function, CALLS, random.Random(seed))
