"""Packs 26 circles into the unit square and prints them as a JSON list of [x, y, radius]."""

import json
import math
import random

CIRCLES = 26


# EVOLVE-BLOCK-START
def grid(rows):
    """Rows of equal length; the circles that are left over go into the gaps between the first ones."""
    columns = CIRCLES // rows
    centers = [((c + 0.5) / columns, (r + 0.5) / rows) for r in range(rows) for c in range(columns)]
    gaps = [((g + 1) / columns, 1 / rows) for g in range(CIRCLES - len(centers))]
    return centers + gaps


def hexagons(rows):
    """Rows in turn longer and shorter, each shifted by half a circle."""
    lengths = [CIRCLES // rows + (r < CIRCLES % rows) for r in range(rows)]
    lengths = sorted(lengths, reverse=True)[::2] + sorted(lengths, reverse=True)[1::2]
    return [((c + 0.5) / length, (r + 0.5) / rows) for r, length in enumerate(lengths) for c in range(length)]


def rings(rows):
    """One circle in the middle, the others on rings around it."""
    count = rows - 2
    shares = [CIRCLES * (r + 1) // (count * (count + 1) // 2) for r in range(count)]
    shares[-1] += CIRCLES - 1 - sum(shares)
    centers = [(0.5, 0.5)]
    for r, share in enumerate(shares):
        radius = 0.46 * (r + 1) / count
        for k in range(share):
            angle = 2 * math.pi * (k + 0.5 * r) / share
            centers.append((0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle)))
    return centers


LAYOUT = grid  # @tune grid hexagons rings
ROWS = 5  # @tune 4 5 6
STEPS = 250  # @tune 250 1000 4000 16000
REACH = 0.2  # @tune 0.05 0.1 0.2 0.4
SWEEPS = 1  # @tune 1 2 4
SEED = 1  # @tune 1 2 3 4 5 6 7 8


def radii_of(centers):
    """Radii for fixed centers: all begin at half the way to their neighbours, then each grows as far as it can."""
    walls = [min(x, y, 1 - x, 1 - y) for x, y in centers]
    between = [[math.dist(a, b) for b in centers] for a in centers]
    everyone = range(len(centers))
    radii = [min(walls[i], min(between[i][k] for k in everyone if k != i) / 2) for i in everyone]
    for _ in range(SWEEPS):
        for i in everyone:
            radii[i] = min(walls[i], min(between[i][k] - radii[k] for k in everyone if k != i))
    return radii


def pack():
    """Moves one circle at a time, less and less far, and keeps what makes the sum larger."""
    chance = random.Random(SEED)
    centers = LAYOUT(ROWS)
    best = sum(radii_of(centers))
    for step in range(STEPS):
        reach = REACH * (1 - step / STEPS)
        i = chance.randrange(CIRCLES)
        old = centers[i]
        centers[i] = tuple(min(max(value + chance.uniform(-reach, reach), 0.01), 0.99) for value in old)
        total = sum(radii_of(centers))
        if total > best:
            best = total
        else:
            centers[i] = old
    return [(x, y, radius) for (x, y), radius in zip(centers, radii_of(centers))]
# EVOLVE-BLOCK-END


print(json.dumps(pack()))
