"""Rows of pairs: two answers to the same parent, one better beyond noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .rules import NO_RATIO, Tally, overflows
from .settings import Settings
from .steps import Step, gain


def select(steps: Sequence[Step], settings: Settings, tally: Tally) -> list[tuple[Step, ...]]:
    """Pairs the best answer with the worst, the second best with the second worst, and so on while they
    differ, so that no answer is in two rows. Both answers of a pair had the same request, the same program
    and the same system message."""
    groups: dict[tuple[str, int | None, str, str, str], list[Step]] = defaultdict(list)
    for step in steps:
        system, user = (step.texts.system, step.texts.user) if step.texts else ("", "")
        groups[step.run.id, step.parent, step.operator, system, user if settings.same_prompt else ""].append(step)
    return [pair for group in groups.values() for pair in _pairs(group, settings, tally)]


def _pairs(group: list[Step], settings: Settings, tally: Tally) -> list[tuple[Step, ...]]:
    ranked = sorted(group, key=lambda step: (-_merit(step), step.key))
    may_win = [step for step in ranked if gains(step) or not settings.gain_only]
    pairs: list[tuple[Step, ...]] = []
    no_ratio: set[object] = set()
    while may_win and _better(may_win[0], ranked[-1]):
        pair = may_win.pop(0), ranked.pop()
        if may_win and may_win[-1] is pair[1]:
            may_win.pop()
        if _margin_overflows(*pair):
            for step in pair:
                tally.drop(step, NO_RATIO)
                no_ratio.add(step.key)
        else:
            pairs.append(pair)
    alone = f"no other answer to its {'prompt' if settings.same_prompt else 'parent'}"
    apart = "not apart beyond noise from other answers" + (", or no gain" if settings.gain_only else "")
    used = {step.key for pair in pairs for step in pair} | no_ratio
    for step in group:
        if step.key not in used:
            tally.drop(step, apart if len(group) > 1 else alone)
    return pairs


def gains(step: Step) -> bool | None:
    """Whether the child is faster beyond noise than the program that it improves; None for a translation, or
    if not measured."""
    base = step.run.base(step)
    found = None if base is None else gain(step.run, step.ticket, base)
    return None if found is None else found.beyond_noise


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
