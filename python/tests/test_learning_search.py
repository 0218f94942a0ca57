"""TTT-Discover's advantages and scores, and the turns that are shown again: golden numbers and random cases."""

import numpy as np
import pytest
from kernelsmith import learning

NEAR = {"rtol": 0, "atol": 1e-6}


@pytest.mark.parametrize("rewards, beta, wanted, found_beta", [
    ([0, 1.5, 0, 3], 2, [-.992933, -.851376, -.992933, 53.799953], 2),
    ([1, 1, 1], 2, [0, 0, 0], 2),
    ([1, 1.1, 1.2, 1.3], 2, [-.338529, -.150613, .106826, .472131], 2),
    ([0, 1.5, 0, 3], None, [-.905288, -.450166, -.905288, 9.882502], 1.081044),
    ([1, 1.1, 1.2, 1.3], None, [-.969633, -.866698, -.338701, 8.865418], 14.458592),
    ([1, 1, 1], None, [0, 0, 0], 1048576),
    ([5], 2, [0], 2),
    ([5], None, [0], 1048576),
])
def test_entropic_advantages(rewards, beta, wanted, found_beta):
    found = learning.entropic_advantages(rewards, beta=beta)
    np.testing.assert_allclose(found.values, wanted, **NEAR)
    np.testing.assert_allclose(found.betas, found_beta, **NEAR)


@pytest.mark.parametrize("seed", range(20))
def test_each_group_has_its_own_beta(seed):
    generator = np.random.default_rng(seed)
    rewards, groups = generator.normal(size=12), generator.integers(0, 3, size=12)
    found = learning.entropic_advantages([*rewards, None], [*groups, 0], beta=None)
    assert found.left_out == 1 and found.values[-1] == 0 and np.isnan(found.betas[-1])
    for group in np.unique(groups):
        there = np.flatnonzero(groups == group)
        alone = learning.entropic_advantages(rewards[there], beta=None)
        np.testing.assert_allclose(found.values[there], alone.values, **NEAR)
        if len(there) > 2:
            tilted = np.exp(found.betas[there[0]] * (rewards[there] - rewards[there].max()))
            tilted /= tilted.sum()
            assert (tilted * np.log(tilted * len(there))).sum() == pytest.approx(np.log(2), abs=1e-6)


def test_puct():
    unvisited = learning.puct_scores([1, 2, 4], [0, 0, 0], [None] * 3, group_size=8)
    np.testing.assert_allclose(unvisited.values, [1.5, 3, 5.5], **NEAR)
    visited = learning.puct_scores([1, 2, 4], [0, 8, 16], [None, 2.5, 4.2], group_size=8)
    np.testing.assert_allclose(visited.values, [2, 3.5, 5.2], **NEAR)
    fewer = learning.puct_scores([1, 2, 4], [0, 8, 16], [None, 2.5, 4.2], group_size=8, expansions=0)
    np.testing.assert_allclose(fewer.values, [1.5, 3, 4.7], **NEAR)


def test_puct_leaves_out_states_without_a_score():
    found = learning.puct_scores([1, None, 2, 4], [0, 0, 8, 16], [None, 9, 2.5, 4.2], group_size=8)
    np.testing.assert_allclose(found.values, [2, np.nan, 3.5, 5.2], **NEAR)
    assert found.left_out == 1
    assert learning.puct_scores([3], [5], [None]).tolist() == [3]
    assert learning.puct_scores([None], [0], [None]).tolist() == [None]
    with pytest.raises(ValueError):
        learning.puct_scores([1], [-1], [None])


@pytest.mark.parametrize("rewards, window, best", [
    ([0, 1.5, 0, 2, 1, .5, 2.2], [3, 4, 5, 6], [1, 3, 4, 6]),
    ([1] * 5, [0, 1, 2, 3], [0, 1, 2, 3]),
    ([2.5, 0, 0, 0, 2.4, 0], [0, 1, 2, 3], [0, 1, 2, 4]),
    ([None] * 5, [], []),
    ([1, 2], [0, 1], [0, 1]),
    ([3, None, 3, 0, 0, 3, 4], [3, 4, 5, 6], [0, 2, 5, 6]),
    ([3, None, 3, 1, 1, 0, 0], [0, 2, 3, 4], [0, 2, 3, 4]),
])
def test_turns_that_are_shown_again(rewards, window, best):
    assert learning.best_window(rewards).turns.tolist() == window
    assert learning.best_turns(rewards).turns.tolist() == best
    assert learning.best_window(rewards).left_out == rewards.count(None)


def test_nothing_is_kept_of_no_turns():
    with pytest.raises(ValueError):
        learning.best_window([1], keep=0)
