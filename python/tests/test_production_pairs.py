"""Two arms in turn, and the interval of their ratio."""

from __future__ import annotations

import random

import pytest
from kernelsmith.production.runtime.pairs import alternate, compared


def test_the_order_changes_from_pair_to_pair() -> None:
    ran: list[str] = []
    result = alternate(lambda: ran.append("old") or 2e-6, lambda: ran.append("new") or 1e-6, pairs=6, warm_up=1)
    assert ran == ["old", "new", *["old", "new", "new", "old"] * 3]
    assert (result.old_us, result.new_us, result.ratio, result.low, result.high, result.spread) == (2, 1, 2, 2, 2, 0)
    assert str(result) == "2.0 us to 1.0 us: 2.000x [2.000, 2.000], 6 pairs, spread 0.00 %"


def test_a_drift_that_both_arms_share_is_no_gain() -> None:
    drift = [1e-3 * 1.1**at for at in range(20)]
    result = compared(drift, drift)
    assert (result.low, result.ratio, result.high) == (1, 1, 1) and result.spread > 0.2


@pytest.mark.parametrize("pairs", [6, 11, 30])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(pairs: int) -> None:
    draw = random.Random(7)
    hits = 0
    for _ in range(1000):
        olds, news = ([draw.lognormvariate(0, 0.1) for _ in range(pairs)] for _ in range(2))
        result = compared(olds, news)
        hits += result.low <= 1 <= result.high
    assert 940 <= hits


def test_few_pairs_have_no_interval() -> None:
    with pytest.raises(ValueError, match="six pairs"):
        alternate(lambda: 1.0, lambda: 1.0, pairs=5)
