"""Rewards, advantages and rejection rules for training on searches. They take and return NumPy arrays and
need no framework.

`kernelsmith.learning.trl` and `kernelsmith.learning.verl` plug them into the trainers TRL and verl.

Every function here treats missing scores in the same way:

- None means no score: the machine failed, the evaluation did not complete, or nobody evaluated. It never
  means 0.
- Entries without a score are left out of means, baselines and ranks. In the result their `valid` is False,
  and `left_out` is their number.
- Arrays of floats cannot hold None. For them `valid=`, booleans of the same shape, marks the entries with a
  score. The other entries are not read.
- NaN or infinity in an entry with a score is a ValueError.
- In results a missing reward, return or score is NaN, so that nobody takes it for 0. A missing advantage is
  0, so that it adds nothing to a gradient.
- A result with missing entries can be passed to the next function: `grpo(kernel_smith_reward(...))`.

A candidate that failed is not missing. It has a reward, usually 0.

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
