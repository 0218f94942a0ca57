"""The same numbers as verl's and KernelGYM's own functions, where they are installed.

verl: `pip install verl`. KernelGYM is no package: KERNELSMITH_KERNELGYM names a clone of hkust-nlp/KernelGYM, whose
functions need verl, too.
"""

import importlib.util
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from kernelsmith import learning

CASES = 1000
NEAR = {"rtol": 1e-6, "atol": 1e-6}

torch = pytest.importorskip("torch", reason="verl's and KernelGYM's functions need torch")
verl = pytest.importorskip("verl.trainer.ppo.core_algos", reason="verl is not installed")


@pytest.fixture(scope="module")
def kernelgym():
    """Loads a file of a clone by itself: its packages want a whole trainer."""
    clone = os.environ.get("KERNELSMITH_KERNELGYM")
    if not clone:
        pytest.skip("KERNELSMITH_KERNELGYM names no clone of KernelGYM")
    for name, wanted in (("verl_patch.utils.metric", "PolicyOutput"),
                         ("verl.tools.sandbox_fusion_tools", "TokenBucketWorker")):
        stand_in = types.ModuleType(name)
        setattr(stand_in, wanted, None)
        sys.modules.setdefault(name, stand_in)

    def load(file):
        spec = importlib.util.spec_from_file_location(f"kernelgym_{Path(file).stem}", Path(clone) / "drkernel" / file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def cases():
    for seed in range(CASES):
        yield np.random.default_rng(seed)


def batch(generator):
    count = generator.integers(1, 10)
    rewards = generator.choice([0, .5, 1, 1.5, 2.25, 3.0], size=count)
    groups = np.array([f"prompt {number}" for number in generator.integers(0, 3, size=count)])
    return rewards, groups, torch.tensor(rewards)[:, None], torch.ones(count, 1, dtype=torch.float64)


def test_verl_advantages():
    for generator in cases():
        rewards, groups, scores, mask = batch(generator)
        for divide in (True, False):
            theirs = verl.compute_grpo_outcome_advantage(scores, mask, groups, norm_adv_by_std_in_grpo=divide)[0]
            ours = learning.grpo(rewards, groups, divide_by_std=divide, alone="keep")
            np.testing.assert_allclose(ours.values, theirs[:, 0], **NEAR)
        theirs = verl.compute_rloo_outcome_advantage(scores, mask, groups)[0]
        np.testing.assert_allclose(learning.rloo(rewards, groups, alone="keep").values, theirs[:, 0], **NEAR)
        theirs = verl.compute_rloo_vectorized_outcome_advantage(scores, mask, groups)[0]
        np.testing.assert_allclose(learning.rloo(rewards, groups).values, theirs[:, 0], **NEAR)


def log_ratios(generator):
    ratios = generator.normal(scale=.002, size=(3, 2, 4))
    ratios[generator.random(ratios.shape) < .02] = -10
    valid = generator.random(ratios.shape) < .8
    valid[:, :, 0] = True
    return ratios, valid


def test_verl_mismatch_over_whole_trajectories():
    """verl's documented settings for it; its band bounds 1 / w, and its veto drops trajectories."""
    helper = pytest.importorskip("verl.trainer.ppo.rollout_corr_helper")
    for generator in cases():
        ratios, valid = log_ratios(generator)
        flat = torch.tensor(ratios.reshape(3, 8)), torch.tensor(valid.reshape(3, 8)).double()
        theirs, _ = helper.compute_rollout_rejection_mask(*flat, "seq_mean_k1", f"{1 / 1.001}_{1 / .999}")
        ours = learning.mismatch_rejection(ratios, 0 * ratios, valid, veto=None)
        assert (ours.keep.all(axis=1) == (theirs.numpy().sum(axis=1) > 0)).all()


def test_kernelgym_trloo(kernelgym):
    algorithms = kernelgym("verl_patch/trainer/code/ppo/core_algos.py")
    for generator in cases():
        lengths = generator.integers(1, 4, size=5)
        rewards = [generator.choice([0, .5, 1, 2.5], size=length).tolist() for length in lengths]
        masked = [(generator.random(length) < .2).tolist() for length in lengths]
        groups = generator.integers(0, 2, size=5)
        ours = learning.trloo(rewards, groups, gamma=.9, masked=masked)
        scores, kept, numbers = np.zeros((5, 3)), np.zeros((5, 3), dtype=bool), np.full((5, 3), -1)
        for row, length in enumerate(lengths):
            kept[row, 3 - length:] = ~np.array(masked[row])
            scores[row, 3 - length:] = np.array(rewards[row]) * kept[row, 3 - length:]
            numbers[row, 3 - length:] = np.arange(1, length + 1)
        theirs, _ = algorithms.compute_multi_turn_rloo_outcome_advantage(
            torch.tensor(scores.reshape(-1, 1)), torch.ones(15, 1), torch.tensor(kept.ravel()),
            torch.tensor(numbers.ravel()), np.repeat(groups, 3), 3, gamma=.9)
        theirs = theirs.numpy().reshape(5, 3)
        for row, length in enumerate(lengths):
            np.testing.assert_allclose(ours.values[row, :length], theirs[row, 3 - length:], **NEAR)


@pytest.mark.parametrize("over, level", [("trajectory", "geometric"), ("turn", "turn_geo")])
def test_kernelgym_mismatch(kernelgym, over, level):
    helper = kernelgym("verl_patch/trainer/code/ppo/mismatch_helper.py")
    for generator in cases():
        ratios, valid = log_ratios(generator)
        _, theirs, _ = helper.compute_rollout_importance_weights_and_rejection_mask(
            torch.tensor(ratios.reshape(6, 4)), torch.zeros(6, 4, dtype=torch.float64),
            torch.tensor(valid.reshape(6, 4)).double(),
            max_turns=2, rollout_rs=level, rollout_rs_threshold=1.001, rollout_rs_threshold_lower=.999,
            rollout_token_veto_threshold=1e-4)
        ours = learning.mismatch_rejection(ratios, 0 * ratios, valid, over=over)
        assert (ours.keep == (theirs.numpy().sum(axis=1) > 0).reshape(3, 2)).all()


def test_kernelgym_profiling(kernelgym, monkeypatch):
    helper = kernelgym("kernel/rewards/coverage_helper.py")
    drawn = []
    monkeypatch.setattr(torch, "bernoulli", lambda chance: drawn.append(chance.numpy().ravel()) or chance)
    for generator in cases():
        ratio, correct, speedup = generator.random(6), generator.random(6) < .7, generator.lognormal(size=6)
        helper.compute_coverage_rejection_mask(
            torch.tensor(ratio), torch.tensor(ratio), torch.ones(6, 2), torch.tensor(correct), speedup=torch.tensor(speedup),
            speedup_threshold=1.5)
        ours = learning.profiling_rejection(ratio, correct, generator, speedup=speedup, speedup_threshold=1.5)
        np.testing.assert_allclose(ours.probability, drawn[-1], **NEAR)


def test_kernelgym_reward(kernelgym):
    pytest.importorskip("httpx", reason="KernelGYM's client needs httpx")
    client = kernelgym("kernel/rewards/reward_client.py").KernelRewardClient
    coverage = types.SimpleNamespace(enable=True, weight=.5, reward_type="time_coverage")
    config = types.SimpleNamespace(coverage_reward=coverage)
    theirs = types.SimpleNamespace(penalty_score=0.0, speedup_reward_upper_bound=3.0, speedup_reward_lower_bound=1.0,
                                   init_correct_weight=.5, init_performance_weight=.5, reward_config=config)
    theirs.compute_coverage_reward = types.MethodType(client.compute_coverage_reward, theirs)
    for generator in cases():
        correct, decoy = bool(generator.random() < .7), bool(generator.random() < .1)
        speedup = None if generator.random() < .1 else float(generator.lognormal())
        own = float(generator.random())
        result = {"status": "completed", "correctness": correct, "compiled": True, "speedup": speedup, "decoy_kernel": decoy,
                  "metadata": {"num_custom_kernels": 1, "num_total_kernels": 2,
                               "custom_kernel_cuda_time_in_profiling_us": own,
                               "total_kernel_run_time_in_profiling_us": 1.0}}
        ours = learning.dr_kernel_reward_as_coded([correct], [speedup], [own], decoy=[decoy], least_speedup=1.0)
        assert ours.values[0] == pytest.approx(client.calculate_reward_speedup(theirs, result)["reward"], abs=1e-9)
