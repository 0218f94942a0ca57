"""Which of a conversation's turns a trainer drops because of their profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .judge import Judged
from .profiling import Profiled, profiling_rejection


def rejected_by_profile(turns: Sequence[Judged], generator: np.random.Generator, arguments: Mapping[str, Any]) -> Profiled:
    """`profiling_rejection` of judged turns, with its further arguments. A decoy counts as incorrect, as in KernelGYM."""
    correct = [None if turn.score is None else bool(turn.reward.correct and not turn.reward.decoy) for turn in turns]
    return profiling_rejection([turn.reward.own_share for turn in turns], correct, generator, **arguments)
