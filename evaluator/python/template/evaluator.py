"""evaluate(program_path) scores one program. It returns a number, or a dict of numbers: the search maximises
`fitness` or `combined_score`; every other number is a feature that an axis of the archive can read."""

import math
import runpy


def height(x, y):
    hill = 3 * math.exp(-((x - 2.2) ** 2) - (y + 1.7) ** 2)
    waves = math.cos(2 * x) * math.cos(2 * y)
    return hill + waves - 0.05 * (x * x + y * y)


def evaluate(program_path):
    x, y = runpy.run_path(program_path)["point"]()
    return {"combined_score": height(x, y), "x": x, "y": y}
