"""Which advantages have the true gradient, by enumeration of every outcome of a game of going on or stopping.

Each turn but the last is a choice: go on with a probability, or stop. A turn that is played pays its reward. Three players
are one group. A score is the derivative of the logarithm of a choice's probability by that turn's logit.
"""

import itertools
import math

import numpy as np
import pytest
from kernelsmith import learning

PLAYERS = 3


def plays(chances, pays):
    """(probability, rewards of the turns, scores of the choices) of each way to play."""
    chance, scores = 1.0, []
    for turn, go in enumerate(chances):
        yield chance * (1 - go), pays[:turn + 1], scores + [-go]
        chance, scores = chance * go, scores + [1 - go]
    yield chance, pays, scores


def mean_gradient(chances, pays, advantages):
    total = np.zeros(len(chances))
    for group in itertools.product(plays(chances, pays), repeat=PLAYERS):
        found = advantages([rewards for _, rewards, _ in group])
        probability = math.prod(chance for chance, _, _ in group)
        for row, (_, _, scores) in zip(found, group):
            total[:len(scores)] += probability * np.array(scores) * row[:len(scores)] / PLAYERS
    return total


def true_gradient(chances, pays):
    """The gradient of the mean of the sum of rewards: what going on is worth, times the derivative of its probability."""
    gradient, reach = [], 1.0
    for turn, go in enumerate(chances):
        worth, chance = 0.0, 1.0
        for later in range(turn + 1, len(pays)):
            worth += chance * pays[later]
            chance *= chances[later] if later < len(chances) else 1
        gradient.append(reach * go * (1 - go) * worth)
        reach *= go
    return np.array(gradient)


def grpo(rewards):
    whole = learning.grpo([sum(turns) for turns in rewards], divide_by_std=False).values
    return np.repeat(whole[:, None], 9, axis=1)


def normalised_turns(rewards):
    """Each turn's rewards without their mean, and the sum of those to come (MT-GRPO)."""
    width = max(map(len, rewards))
    table = np.zeros((len(rewards), width))
    for turn in range(width):
        there = [at for at, turns in enumerate(rewards) if len(turns) > turn]
        table[there, turn] = learning.grpo([rewards[at][turn] for at in there], divide_by_std=False).values
    return table[:, ::-1].cumsum(axis=1)[:, ::-1]


def trloo(rewards):
    return learning.trloo(rewards).values


def trloo_without_groups_of_one(rewards):
    return learning.trloo(rewards, alone="zero").values


@pytest.mark.parametrize("chance, true, of_grpo", [(.5, .125, .083333), (.8, .08, .053333)])
def test_one_choice(chance, true, of_grpo):
    game = ([chance], [1, .5])
    assert true_gradient(*game)[0] == pytest.approx(true, abs=1e-12)
    assert mean_gradient(*game, trloo)[0] == pytest.approx(true, abs=1e-9)
    assert mean_gradient(*game, grpo)[0] == pytest.approx(of_grpo, abs=1e-6)
    assert mean_gradient(*game, normalised_turns)[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_several_choices(seed):
    generator = np.random.default_rng(seed)
    game = (generator.uniform(.2, .8, size=3).tolist(), generator.uniform(.5, 2, size=4).tolist())
    true = true_gradient(*game)
    np.testing.assert_allclose(mean_gradient(*game, trloo), true, rtol=0, atol=1e-9)
    for biased in (grpo, normalised_turns, trloo_without_groups_of_one):
        assert np.abs(mean_gradient(*game, biased) - true).max() > 1e-3
