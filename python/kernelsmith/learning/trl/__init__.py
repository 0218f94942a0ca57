"""Rewards and several turns for TRL 1.16 (docs/learning.md, "With TRL"). Importing this module imports TRL and PyTorch.

    from kernelsmith.learning import Judge, RewardClient
    from kernelsmith.learning.trl import TurnsTrainer, reward_function

    judge = Judge(RewardClient("http://127.0.0.1:10907"))
    trl.GRPOTrainer(model, reward_funcs=reward_function(judge), train_dataset=rows)     # one turn
    TurnsTrainer(model, judge=judge, turns=3, train_dataset=rows)                       # several turns, TRLOO
"""

try:
    import trl as _trl  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
except ImportError as missing:
    raise ImportError(f"kernelsmith.learning.trl needs TRL 1.16 ({missing}): pip install 'trl==1.16.*'") from missing

from .reward_function import reward_function
from .turns_trainer import TurnsTrainer

__all__ = ["TurnsTrainer", "reward_function"]
