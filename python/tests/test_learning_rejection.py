"""Mismatch rejection, profiling ratio and rejection: golden numbers, both readings, what is missing, random cases."""

import numpy as np
import pytest
from kernelsmith import learning


def matched(*trajectories, valid=None, **arguments):
    """Over log-ratios of trajectories of turns of equal lengths."""
    ratios = np.array(trajectories, dtype=float)
    valid = np.ones(ratios.shape, dtype=bool) if valid is None else np.array(valid)
    return learning.mismatch_rejection(ratios - 1, np.full(ratios.shape, -1.0), valid, **arguments)


@pytest.mark.parametrize("ratios, weight, keep", [
    ([.0005] * 4, 1.000500125, True), ([.0015] * 4, 1.001501126, False), ([-.0012] * 4, .998800720, False),
    ([1, -1, 0], 1.0, True), ([-10, 5, 5], 1.0, False), ([30, 30], np.exp(20), False),
])
def test_one_sequence(ratios, weight, keep):
    found = matched([ratios])
    assert found.weights[0, 0] == pytest.approx(weight, rel=1e-9) and found.keep.tolist() == [[keep]]
    assert found.rejected == (not keep)


def test_masked_tokens_are_not_read_and_no_token_is_no_turn():
    found = matched([[-8, .0005, .0005]], [[0, 0, 0]], valid=[[[False, True, True]], [[False] * 3]])
    assert found.keep.tolist() == [[True], [False]] and found.rejected == 0
    assert np.isnan(found.weights[1, 0])
    hidden = learning.mismatch_rejection([[[np.nan, -1]]], [[[-1, -1]]], np.array([[[False, True]]]))
    assert hidden.keep.all()


@pytest.mark.parametrize("turns, trajectory, turn", [
    ([[.003, .003], [-.003, -.003]], [True, True], [False, False]),
    ([[.003, .003], [0, 0]], [False, False], [False, True]),
    ([[-10, 0], [5, 5]], [False, True], [False, False]),
])
def test_two_turns_in_both_readings(turns, trajectory, turn):
    assert matched(turns).keep.tolist() == [trajectory]
    assert matched(turns, over="turn").keep.tolist() == [turn]


def test_the_veto():
    assert matched([[-10, 5, 5]], veto=None).keep.all()
    below, above = np.log(1e-4) - .001, np.log(1e-4) + .001
    found = matched([[below, -below], [above, -above]])
    assert found.vetoed.tolist() == [[True, False]] and found.keep.tolist() == [[False, True]] and found.rejected == 1


@pytest.mark.parametrize("call", [
    lambda: matched([[np.nan]]), lambda: matched([[0.0]], over="token"), lambda: matched([[0.0]], veto=0),
    lambda: learning.mismatch_rejection([[0.0]], [[0.0]], [[True]]), lambda: matched([[0.0]], valid=[[[1]]]),
])
def test_bad_log_probabilities_are_an_error(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("seed", range(20))
def test_mismatch_is_the_mean_over_valid_tokens(seed):
    generator = np.random.default_rng(seed)
    ratios = generator.normal(scale=.002, size=(3, 2, 4))
    valid = generator.random(ratios.shape) < .7
    for over in ("trajectory", "turn"):
        found = matched(*ratios, valid=valid, over=over)
        for row, turn in np.ndindex(3, 2):
            there = valid[row] if over == "trajectory" else valid[row, turn]
            own = (ratios[row] if over == "trajectory" else ratios[row, turn])[there]
            inside = own.size > 0 and .999 <= np.exp(own.mean()) <= 1.001
            assert found.keep[row, turn] == (inside and valid[row, turn].any())


def test_profiling_ratio():
    found = learning.profiling_ratio([86.15, .015, 0, None, 3], [100, 100, 0, 10, None])
    np.testing.assert_allclose(found.values, [.8615, .00015, 0, np.nan, np.nan], rtol=0, atol=1e-9)
    assert found.left_out == 2
    for own, total in (([2], [1]), ([-1], [1]), ([float("nan")], [1])):
        with pytest.raises(ValueError):
            learning.profiling_ratio(own, total)


def test_profiling_ratio_forgives_sums_in_another_order():
    times = np.random.default_rng(0).lognormal(2, 1, size=(1000, 12))
    for dtype in (np.float64, np.float32):
        own = times.astype(dtype)
        assert (np.cumsum(own, axis=1)[:, -1] > np.cumsum(own[:, ::-1], axis=1)[:, -1]).any(), "else this tests nothing"
        found = learning.profiling_ratio(np.cumsum(own, axis=1)[:, -1], np.cumsum(own[:, ::-1], axis=1)[:, -1])
        assert (found.values <= 1).all() and found.values == pytest.approx(1)
    with pytest.raises(ValueError):
        learning.profiling_ratio([1.001], [1])


def profiled(ratio, correct=None, **arguments):
    correct = [True] * len(ratio) if correct is None else correct
    return learning.profiling_rejection(ratio, correct, np.random.default_rng(1), **arguments)


def test_probability_of_being_kept():
    found = profiled([0, .3, .33, .35, .399, .4, .8615])
    np.testing.assert_allclose(found.probability, [0, 0, .3, .5, .99, 1, 1], rtol=0, atol=1e-6)
    assert not found.keep[:2].any() and found.keep[-2:].all()


def test_rounding_comes_first_if_asked_for():
    assert profiled([.3049]).probability == pytest.approx([.049])
    assert profiled([.3049], decimals=2).probability == pytest.approx([0])


def test_incorrect_samples_and_fast_ones_are_kept():
    assert profiled([0, None], correct=[False, False]).keep.all()
    assert profiled([float("nan")], correct=[False], speedup=[float("nan")], speedup_threshold=1.5).keep.all()
    found = profiled([0] * 4, speedup=[1, 1.5, 2, None], speedup_threshold=1.5)
    assert found.keep.tolist() == [False, True, True, False] and found.left_out == 0


def test_what_has_no_score_is_not_kept_but_counted():
    found = profiled([.9, None, .9], correct=[None, True, True])
    assert found.keep.tolist() == [False, False, True] and found.left_out == 2


def test_width_0_is_a_cut():
    assert profiled([.29, .3, .31], width=0).probability.tolist() == [0, 1, 1]


def test_draws_repeat_and_are_independent():
    many = profiled([.35] * 20_000)
    assert (many.keep == profiled([.35] * 20_000).keep).all()
    assert many.keep.mean() == pytest.approx(.5, abs=.02)
    assert (many.keep[1:] == profiled([0] + [.35] * 19_999).keep[1:]).all()
