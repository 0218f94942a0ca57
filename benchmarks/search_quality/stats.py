"""The bench's statistics: A12 with a bootstrap interval, and Wilcoxon's signed rank test with Holm's correction."""

import math

import numpy as np

BOOTSTRAPS = 2000


def wins(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each pair: 1 if a's member is better, a half if they are equal."""
    return (a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b[None, :])


def a12(a: np.ndarray, b: np.ndarray) -> float:
    return float(wins(a, b).mean())


def a12_draws(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A12 of resampled seeds. A seed stands for both: equal seeds draw equal worlds."""
    n = len(a)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS) / n
    return np.einsum("ki,ij,kj->k", weights, wins(a, b), weights, optimize=True)


def interval(draws: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def wilcoxon(differences: np.ndarray) -> float:
    """Two-sided p of the signed rank test, by its normal approximation with ties; zeros are left out."""
    d = differences[differences != 0]
    if len(d) == 0:
        return 1.0
    sizes, inverse, counts = np.unique(np.abs(d), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n = len(d)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (counts**3 - counts).sum() / 48
    z = abs(ranks[d > 0].sum() - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def holm(p: dict[str, float]) -> dict[str, float]:
    adjusted, highest = {}, 0.0
    for position, name in enumerate(sorted(p, key=p.get)):
        highest = max(highest, min(1.0, (len(p) - position) * p[name]))
        adjusted[name] = highest
    return adjusted
