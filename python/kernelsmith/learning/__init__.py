"""Rewards, advantages and rejection rules for training on searches: NumPy in, NumPy out, no framework.

`kernelsmith.learning.trl` and `kernelsmith.learning.verl` plug them into those trainers.

The convention about missing scores, which holds for every function here:

- None means no score: the machine failed, the evaluation did not complete, nobody evaluated. It is never 0.
- What has no score is left out of means, baselines and ranks. The result says so: `valid` is False there, and `left_out` is
  the number of such entries.
- Arrays of floats cannot hold None: `valid=`, booleans of the same shape, marks what has a score. What stands elsewhere is
  not read.
- NaN or infinity that is not marked is a ValueError.
- In results a missing reward, return or score is NaN, so that nobody takes it for 0. A missing advantage is 0: it then adds
  nothing to a gradient.
- A result with missing entries is an argument as it is: `grpo(kernel_smith_reward(...))`.

A candidate that failed is not missing. It has a reward, mostly 0.

    >>> from kernelsmith import learning
    >>> rewards = learning.kernel_smith_reward(correct=[True, True, False, None], child_speedup=[3, 2, None, None],
    ...                                        parent_speedup=[2, 2, 2, 2])
    >>> rewards.tolist(), rewards.left_out
    ([1.5, 1.0, 0.0, None], 1)
    >>> learning.rloo(rewards).values.round(3).tolist()
    [1.0, 0.25, -1.25, 0.0]

docs/learning.md is the guide.
"""

from .advantages import grpo, rloo, trloo
from .client import RewardClient
from .client_records import Candidate, Reward, RewardBatch
from .discover import Entropic, entropic_advantages, puct_scores
from .next_turn import feedback
from .history import Chosen, best_turns, best_window
from .judge import Judge, Judged, program_in
from .mismatch import Matched, mismatch_rejection
from .profiling import Profiled, profiling_ratio, profiling_rejection
from .returns import returns_to_go
from .rewards import dr_kernel_reward, dr_kernel_reward_as_coded, kernel_smith_reward
from .scores import Scored, as_scored

__all__ = [
    "Candidate", "Chosen", "Entropic", "Judge", "Judged", "Matched", "Profiled", "Reward", "RewardBatch", "RewardClient",
    "Scored", "as_scored", "best_turns", "best_window", "dr_kernel_reward", "dr_kernel_reward_as_coded",
    "entropic_advantages", "feedback", "grpo", "kernel_smith_reward", "mismatch_rejection", "profiling_ratio",
    "profiling_rejection", "program_in", "puct_scores", "returns_to_go", "rloo", "trloo",
]
