"""Rewards, advantages and several turns for verl 0.9.1 (docs/learning.md, "With verl").

    reward.compute_score   custom_reward_function: path pkg://kernelsmith.learning.verl.reward
    estimator              algorithm.adv_estimator: ks_trloo or ks_grpo; verl finds it as a plugin
    agent_loop.KernelTurns an agent loop with a reward for each turn

`reward` does not need verl; the other two modules import it.
"""
