"""Rewards of the two papers: golden numbers, and what becomes of failures of candidates and machines."""

import numpy as np
import pytest
from kernelsmith import learning

GOLDEN = [(1, 2.08, .8615, 1.97075), (1, 1.01, .00015, 1.005075), (1, 7.5, .5, 2.25), (1, .8, .4, 1.1), (1, 3, 1, 2.5)]


@pytest.mark.parametrize("function", [learning.dr_kernel_reward, learning.dr_kernel_reward_as_coded])
def test_dr_kernel(function):
    correct, speedup, ratio, wanted = map(list, zip(*GOLDEN))
    np.testing.assert_allclose(function(correct, speedup, ratio).values, wanted, rtol=0, atol=1e-9)
    assert function([1], [.8], [.4], least_speedup=1).values == pytest.approx([.7])
    assert function([1], [1.2]).values == pytest.approx([1.1])
    weights = {"correct_weight": 1, "speedup_weight": 1, "profiling_weight": 1}
    assert function([True], [2.08], [.8615], **weights).values == pytest.approx([3.9415])


def test_the_speedup_of_what_is_wrong():
    assert learning.dr_kernel_reward([False], [2], [.5]).tolist() == [0]
    assert learning.dr_kernel_reward_as_coded([False], [2], [.5]).tolist() == [1]
    assert learning.dr_kernel_reward_as_coded([False, True], [2, 2], decoy=[True, None]).tolist() == [0, 1.5]


def test_what_dr_kernel_does_without_a_measurement():
    missing = ([True, True, None, False], [None, 1.2, 2, None], [1, None, 1, None])
    found = learning.dr_kernel_reward(*missing)
    assert found.tolist() == [None, None, None, 0] and found.left_out == 3 and np.isnan(found.values[:3]).all()
    coded = learning.dr_kernel_reward_as_coded(*missing)
    assert coded.tolist() == [1, 1.1, None, 0] and coded.left_out == 1


def test_kernel_smith():
    found = learning.kernel_smith_reward([1, 1, 1, 0, 1, 0], [3, 2, 1.5, 3, 2, None], [2, 2, 2, 2, .5, None])
    assert found.tolist() == [1.5, 1, .75, 0, 4, 0] and found.left_out == 0
    found = learning.kernel_smith_reward([None, True, True, True], [3, None, 3, 3], [2, 2, None, 2])
    assert found.tolist() == [None, None, None, 1.5] and found.left_out == 3


def test_what_does_not_matter_may_be_nan():
    nan = float("nan")
    assert learning.dr_kernel_reward([False, None, True], [nan, nan, 2], [nan, nan, 0]).tolist() == [0, None, 1.5]
    assert learning.kernel_smith_reward([False, None, True], [nan, nan, 3], [nan, 0, 2]).tolist() == [0, None, 1.5]
    assert learning.dr_kernel_reward_as_coded([False, None], [2, nan], [nan, nan]).tolist() == [1, None]
    with pytest.raises(ValueError):  # there the speedup of what is wrong counts
        learning.dr_kernel_reward_as_coded([False], [nan])


def test_a_broken_machine_changes_no_advantage():
    whole = learning.kernel_smith_reward([True, True, False], [3, 2, None], [2, 2, 2])
    broken = learning.kernel_smith_reward([True, None, True, False], [3, None, 2, None], [2, 2, 2, 2])
    for function in (learning.grpo, learning.rloo, learning.entropic_advantages):
        found = function(broken)
        np.testing.assert_allclose(found.values[[0, 2, 3]], function(whole).values, rtol=0, atol=1e-12)
        assert found.values[1] == 0 and not found.valid[1] and found.left_out == 1


@pytest.mark.parametrize("call", [
    lambda: learning.dr_kernel_reward([True], [float("nan")]), lambda: learning.dr_kernel_reward([.5], [1]),
    lambda: learning.dr_kernel_reward([True], [1, 2]), lambda: learning.dr_kernel_reward_as_coded([True], [float("nan")]),
    lambda: learning.kernel_smith_reward([True], [1], [0]),
    lambda: learning.kernel_smith_reward([True], [float("inf")], [1]),
])
def test_wrong_values_are_an_error(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("seed", range(20))
def test_rewards_are_the_formulas(seed):
    generator = np.random.default_rng(seed)
    correct, speedup, ratio = generator.random(30) < .6, generator.lognormal(size=30), generator.random(30)
    gated = learning.dr_kernel_reward(correct, speedup, ratio).values
    coded = learning.dr_kernel_reward_as_coded(correct, speedup, ratio).values
    wanted = [c * (.5 + .5 * min(s, 3) + .5 * p) for c, s, p in zip(correct, speedup, ratio)]
    np.testing.assert_allclose(gated, wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(coded, gated + ~correct * .5 * np.minimum(speedup, 3), rtol=0, atol=1e-12)
    assert (gated >= 0).all() and (gated <= 2.5).all()
