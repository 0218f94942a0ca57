"""Returns and advantages: golden numbers, what is missing, and random cases against plain loops."""

import numpy as np
import pytest
from kernelsmith import learning

NEAR = {"rtol": 0, "atol": 1e-6}


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), **NEAR)


def turns(result):
    """The values of turns that count, as lists."""
    return [[value for value in row if value is not None] for row in result.tolist()]


def test_returns_to_go():
    close(learning.returns_to_go([[0, 1.5, 2.25]]).values, [[3.75, 3.75, 2.25]])
    close(learning.returns_to_go([[0, 1.5, 2.25]], gamma=0.9).values, [[3.1725, 3.525, 2.25]])
    assert turns(learning.returns_to_go([[1.25], [0, 0, 0]])) == [[1.25], [0, 0, 0]]


def test_a_turn_without_a_reward_hides_the_returns_before_it():
    found = learning.returns_to_go([[2, None, 1], [1, 1]])
    assert found.tolist() == [[None, None, 1], [2, 1, None]] and found.left_out == 2


@pytest.mark.parametrize("rewards, groups, arguments, wanted", [
    ([0, 1.5, 0, 3], None, {}, [-.783349, .261116, -.783349, 1.305582]),
    ([0, 1.5, 0, 3], None, {"epsilon": 1e-4}, [-.783295, .261098, -.783295, 1.305492]),
    ([0, 1.5, 0, 3], None, {"divide_by_std": False}, [-1.125, .375, -1.125, 1.875]),
    ([1, 1, 1, 1], None, {}, [0, 0, 0, 0]),
    ([0] * 7 + [4], None, {}, [-.353553] * 7 + [2.474872]),
    ([0] * 7 + [4], None, {"divide_by_std": False}, [-.5] * 7 + [3.5]),
    ([2], None, {"alone": "keep"}, [1.999998]),
    ([2], None, {"alone": "keep", "divide_by_std": False}, [2]),
    ([2], None, {}, [0]),
    ([1, None, 3], None, {"epsilon": 1e-4}, [-.707057, 0, .707057]),
    ([1, None, 3], None, {"divide_by_std": False}, [-1, 0, 1]),
    ([None, 2], None, {}, [0, 0]),
    ([None, None], None, {}, [0, 0]),
    ([1.5, 1, .75, 0, 0, 1.25, 2, 0], None, {},
     [.899002, .245182, -.081727, -1.062457, -1.062457, .572092, 1.552821, -1.062457]),
    ([1.5, 1, .75, 0, 0, 1.25, 2, 0], None, {"divide_by_std": False},
     [.6875, .1875, -.0625, -.8125, -.8125, .4375, 1.1875, -.8125]),
    ([0, 5, 1.5, 9, 0, 3], ["a", "b", "a", "b", "a", "a"], {"divide_by_std": False}, [-1.125, -2, .375, 2, -1.125, 1.875]),
])
def test_grpo(rewards, groups, arguments, wanted):
    found = learning.grpo(rewards, groups, **arguments)
    close(found.values, wanted)
    assert found.valid.tolist() == [reward is not None for reward in rewards]
    assert found.left_out == rewards.count(None)


@pytest.mark.parametrize("rewards, arguments, wanted", [
    ([0, 1.5, 0, 3], {}, [-1.5, .5, -1.5, 2.5]),
    ([1, 3], {}, [-2, 2]),
    ([0] * 7 + [4], {}, [-.571429] * 7 + [4]),
    ([1, 1, 1], {}, [0, 0, 0]),
    ([2], {}, [0]),
    ([2], {"alone": "keep"}, [2]),
    ([None, 2], {"alone": "keep"}, [0, 2]),
    ([], {}, []),
])
def test_rloo(rewards, arguments, wanted):
    close(learning.rloo(rewards, **arguments).values, wanted)


UNEVEN = [[.5, 1, 2], [0, 0, 1], [.5, .5], [.25]]


@pytest.mark.parametrize("rewards, arguments, wanted", [
    (UNEVEN, {}, [[2.75, 2.25, 1], [-.583333, -.75, -1], [-.583333, -1.5], [-1.583333]]),
    (UNEVEN, {"gamma": .5}, [[1.083333, 1.5, 1], [-.583333, -.75, -1], [.083333, -.75], [-.583333]]),
    ([[0, 1.5], [1.25, 0]], {}, [[.25, 1.5], [-.25, -1.5]]),
    ([[1, 2]], {}, [[3, 2]]),
    ([[1, 2]], {"alone": "zero"}, [[0, 0]]),
    ([[1, 1]] * 3, {}, [[0, 0]] * 3),
])
def test_trloo(rewards, arguments, wanted):
    found = turns(learning.trloo(rewards, **arguments))
    assert [len(row) for row in found] == [len(row) for row in wanted]
    close(sum(found, []), sum(wanted, []))


def test_a_masked_turn_is_in_no_baseline():
    masked = [[False, True, False], [False, False, False]]
    found = learning.trloo([[1, 0, 2], [0, 1, 1]], masked=masked)
    close(found.values, [[1, 0, 1], [-1, 2, -1]])
    assert found.valid.tolist() == [[True, False, True], [True] * 3] and found.left_out == 0
    close(learning.trloo([[1, 0, 2], [0, 1, 1]], masked=masked, alone="zero").values, [[1, 0, 1], [-1, 0, -1]])


def test_a_masked_turn_without_a_reward_is_still_unknown():
    found = learning.returns_to_go([[1, None, 2]], masked=[[False, True, False]])
    assert found.tolist() == [[None, None, 2]] and found.left_out == 1


def test_turns_without_a_reward_are_left_out_of_baselines():
    found = learning.trloo([[1, None, 3], [1, 1, 1], [0, 0, 0]])
    close(found.values, [[0, 0, 2.5], [3, 2, -.5], [-3, -2, -2]])
    assert found.left_out == 2


def test_a_turn_that_failures_left_alone_has_no_advantage():
    """One that nobody else reached keeps its return."""
    found = learning.trloo([[1, 2], [None], [1, None]])
    close(found.values, [[0, 0], [0, 0], [0, 0]])
    close(learning.trloo([[1, 2], [1]]).values, [[2, 2], [-2, 0]])
    close(learning.trloo([[1, 2], [None], [5]], ["a", "a", "b"]).values, [[0, 2], [0, 0], [5, 0]])


@pytest.mark.parametrize("call", [
    lambda: learning.grpo([1, float("nan")]), lambda: learning.rloo(np.array([1, np.inf])),
    lambda: learning.trloo([[1, float("nan")]]), lambda: learning.grpo([1, 2], ["a"]),
    lambda: learning.grpo([[1, 2], [3, 4]]), lambda: learning.grpo([1, "x"]), lambda: learning.grpo(3.0),
    lambda: learning.grpo([1, [2]]), lambda: learning.grpo([1, 2], valid=[1, 0]), lambda: learning.grpo([1, 2], alone="one"),
    lambda: learning.trloo([[1, 2]], masked=[[True]]),
])
def test_what_is_not_a_reward_is_an_error(call):
    with pytest.raises(ValueError):
        call()


def test_the_error_names_the_place():
    with pytest.raises(ValueError, match=r"turn_rewards\[1, 0\] is nan"):
        learning.trloo([[1, 2], [float("nan")]])


def test_marked_places_are_not_read():
    found = learning.rloo(np.array([1, np.nan, 3]), valid=np.array([True, False, True]))
    close(found.values, [-2, 0, 2])
    assert found.left_out == 1


def samples(generator):
    count = generator.integers(1, 12)
    rewards = [None if generator.random() < .2 else float(value) for value in generator.normal(size=count)]
    return rewards, generator.integers(0, 3, size=count).tolist()


def others_mean(rewards, groups, index):
    others = [reward for at, (reward, group) in enumerate(zip(rewards, groups))
              if at != index and group == groups[index] and reward is not None]
    return np.mean(others) if others else None


@pytest.mark.parametrize("seed", range(20))
def test_rloo_is_the_loop_over_the_others(seed):
    rewards, groups = samples(np.random.default_rng(seed))
    means = [others_mean(rewards, groups, index) for index in range(len(rewards))]
    wanted = [0 if reward is None or mean is None else reward - mean for reward, mean in zip(rewards, means)]
    close(learning.rloo(rewards, groups).values, wanted)


@pytest.mark.parametrize("seed", range(20))
def test_groups_add_up_to_zero_and_order_does_not_matter(seed):
    generator = np.random.default_rng(seed)
    rewards, groups = samples(generator)
    order = generator.permutation(len(rewards))
    for function in (learning.grpo, learning.rloo):
        found = function(rewards, groups).values
        close(np.bincount(groups, found), 0 * np.bincount(groups))
        shuffled = function([rewards[at] for at in order], [groups[at] for at in order]).values
        close(shuffled, found[order])


@pytest.mark.parametrize("seed", range(20))
def test_trloo_is_rloo_of_each_turn(seed):
    generator = np.random.default_rng(seed)
    rewards = [generator.normal(size=generator.integers(1, 5)).tolist() for _ in range(6)]
    groups = generator.integers(0, 2, size=6).tolist()
    found = learning.trloo(rewards, groups, gamma=.9)
    returns = learning.returns_to_go(rewards, gamma=.9)
    for turn in range(found.values.shape[1]):
        there = [at for at in range(6) if len(rewards[at]) > turn]
        wanted = learning.rloo(returns.values[there, turn], [groups[at] for at in there], alone="keep")
        close(found.values[there, turn], wanted.values)
