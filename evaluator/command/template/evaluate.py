"""evaluate.py CANDIDATE ANSWER: scores one candidate and writes one JSON object of numbers to the file ANSWER. The
search maximises `fitness`; every other number is a feature that an axis of the archive can read."""

import json
import math
import runpy
import sys


def height(x, y):
    hill = 3 * math.exp(-((x - 2.2) ** 2) - (y + 1.7) ** 2)
    waves = math.cos(2 * x) * math.cos(2 * y)
    return hill + waves - 0.05 * (x * x + y * y)


candidate, answer = sys.argv[1:]
x, y = runpy.run_path(candidate)["point"]()
with open(answer, "w", encoding="utf-8") as file:
    json.dump({"fitness": height(x, y), "x": x, "y": y}, file)
