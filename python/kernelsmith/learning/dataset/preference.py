"""Rows of pairs: two answers to the same parent, the better one apart beyond noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .figures import gain
from .rules import NO_RATIO, Tally, overflows
from .settings import Settings
from .steps import Step


def select(steps: Sequence[Step], settings: Settings, tally: Tally) -> list[tuple[Step, ...]]:
    """The best with the worst, the second best with the second worst, as long as they are apart: no answer stands in two
    rows. Both were asked for the same change of the same program, under the same system message."""
    groups: dict[tuple[str, int | None, str, str], list[Step]] = defaultdict(list)
    for step in steps:
        groups[step.run.id, step.parent, step.operator, step.texts.system if step.texts else ""].append(step)
    return [pair for group in groups.values() for pair in _pairs(group, tally)]


def _pairs(group: list[Step], tally: Tally) -> list[tuple[Step, ...]]:
    ranked = sorted(group, key=lambda step: (-_merit(step), step.key))
    pairs: list[tuple[Step, ...]] = []
    while len(ranked) >= 2 and _better(ranked[0], ranked[-1]):
        pair = ranked.pop(0), ranked.pop()
        if _margin_overflows(*pair):
            for step in pair:
                tally.drop(step, NO_RATIO)
        else:
            pairs.append(pair)
    for step in ranked:
        tally.drop(step, "not apart beyond noise from other answers" if len(group) > 1 else "no other answer to its parent")
    return pairs


def _merit(step: Step) -> float:
    verdict = step.verdict
    return verdict.score.median if verdict and verdict.sound and verdict.score else float("-inf")


def _margin_overflows(one: Step, other: Step) -> bool:
    verdict = other.verdict
    return verdict is not None and verdict.sound and overflows(gain(one.run, one.ticket, other.ticket))


def _better(one: Step, other: Step) -> bool:
    ours, theirs = one.verdict, other.verdict
    if ours is None or theirs is None or not ours.sound:
        return False
    if not theirs.sound:
        return True
    found = gain(one.run, one.ticket, other.ticket)
    return found is not None and found.beyond_noise
