"""The bench's statistics: A12 with a bootstrap interval."""

import numpy as np

BOOTSTRAPS = 1000


def wins(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each pair: 1 if a's member is better, a half if they are equal."""
    return (a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b[None, :])


def a12(a: np.ndarray, b: np.ndarray) -> float:
    return float(wins(a, b).mean())


def a12_draws(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A12 of resampled seeds. A seed stands for both: equal seeds draw equal worlds."""
    n = len(a)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS) / n
    return ((weights @ wins(a, b)) * weights).sum(axis=1)


def interval(draws: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)
