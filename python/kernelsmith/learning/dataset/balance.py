"""Equal shares of the levels of difficulty."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from .rules import Tally
from .steps import Step


def balanced(steps: Sequence[Step], tally: Tally) -> list[Step]:
    """Keeps equally many steps of each level of difficulty, drawn by a hash and not by gain, in the order
    given. Keeps all steps of tasks without a level."""
    levels: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        level = step.run.task.difficulty.level
        if level is not None:
            levels[level].append(step)
    most = min(map(len, levels.values()), default=0)
    over = {step.key for members in levels.values() for step in sorted(members, key=_lot)[most:]}
    for step in steps:
        if step.key in over:
            tally.drop(step, "over the balance of difficulty")
    return [step for step in steps if step.key not in over]


def _lot(step: Step) -> bytes:
    return hashlib.sha256(f"{step.run.id} {step.ticket}".encode()).digest()
