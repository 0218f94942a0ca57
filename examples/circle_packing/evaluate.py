"""Scores a packing: runs the candidate as a program of its own, checks every circle, writes the sum of the radii.

    evaluate.py CANDIDATE ANSWER
"""

import json
import math
import statistics
import subprocess
import sys

CIRCLES = 26
LIMIT_S = 20
SLACK = 1e-9  # for rounding in the candidate's own arithmetic


def packing_of(candidate):
    """The circles that the candidate prints. It is never imported: it could then change this program."""
    program = subprocess.run([sys.executable, "-I", candidate], stdout=subprocess.PIPE, timeout=LIMIT_S, check=False)
    if program.returncode != 0:
        sys.exit(f"the candidate ended with status {program.returncode}")
    try:
        circles = [tuple(float(number) for number in circle) for circle in json.loads(program.stdout)]
    except (TypeError, ValueError) as error:
        sys.exit(f"the candidate did not print a JSON list of [x, y, radius]: {error}")
    if len(circles) != CIRCLES or any(len(circle) != 3 for circle in circles):
        sys.exit(f"the candidate did not print {CIRCLES} circles of three numbers")
    return circles


def check(circles):
    for i, (x, y, radius) in enumerate(circles):
        if not all(map(math.isfinite, (x, y, radius))) or radius <= 0:
            sys.exit(f"circle {i} is no circle: {x} {y} {radius}")
        if min(x, y, 1 - x, 1 - y) < radius - SLACK:
            sys.exit(f"circle {i} leaves the square by {radius - min(x, y, 1 - x, 1 - y):.3g}")
        for k in range(i):
            overlap = radius + circles[k][2] - math.dist((x, y), circles[k][:2])
            if overlap > SLACK:
                sys.exit(f"circles {k} and {i} overlap by {overlap:.3g}")


def main(candidate, answer):
    circles = packing_of(candidate)
    check(circles)
    radii = [radius for _, _, radius in circles]
    metrics = {
        "fitness": sum(radii),
        "smallest_radius": min(radii),
        "largest_radius": max(radii),
        "radius_spread": statistics.pstdev(radii),
    }
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(metrics, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
