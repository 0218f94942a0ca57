"""Rows of several turns: chains from parent to child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .rules import Tally, in_form, unsound, without_gain
from .settings import Settings
from .steps import Step, gain

_Key = tuple[str, int]


def select(steps: Sequence[Step], settings: Settings, tally: Tally) -> list[tuple[Step, ...]]:
    """Rows, those of the best programs first. A step is the last turn of at most one row. It is an earlier
    turn of at most `turns` rows, so that a program with a hundred children does not fill a hundred rows. Each
    prompt is complete, so a row may begin at any step."""
    steps = in_form(steps, settings, tally)
    free = {step.key: (step, settings.turns) for step in steps}
    rows: list[tuple[Step, ...]] = []
    for end in sorted(steps, key=_best_first):
        chain = _chain(end, free, settings.turns)
        rule = unsound(end) or _without_gain(chain) or ("" if len(chain) > 1 else _why_alone(end, free))
        if rule:
            tally.drop(end, rule)
            continue
        rows.append(chain)
        for step in chain[:-1]:
            free[step.key] = step, free[step.key][1] - 1
    for row in rows:
        for step in row:
            tally.keep(step)
    return rows


def _best_first(step: Step) -> tuple[float, _Key]:
    verdict = step.verdict
    return -verdict.score.median if verdict and verdict.sound and verdict.score else float("inf"), step.key


def _chain(end: Step, free: Mapping[_Key, tuple[Step, int]], most: int) -> tuple[Step, ...]:
    chain = [end]
    while len(chain) < most and chain[-1].parent is not None:
        parent, times = free.get((end.run.id, chain[-1].parent), (end, 0))
        if not times:
            break
        chain.append(parent)
    return tuple(reversed(chain))


def _why_alone(end: Step, free: Mapping[_Key, tuple[Step, int]]) -> str:
    known = end.parent is not None and (end.run.id, end.parent) in free
    return "its parent's turn stands in enough rows" if known else "no turn before it"


def _without_gain(chain: tuple[Step, ...]) -> str:
    """Compares the last program with the one from which the first turn started, if there is one, and with
    accepted programs of earlier turns, so that no row ends with a slower program than it had."""
    first, last = chain[0], chain[-1]
    before = [step.ticket for step in chain[:-1] if step.verdict and step.verdict.accepted]
    base = first.run.base(first)
    if base is not None:
        before.append(base)
    rules = (without_gain(gain(last.run, last.ticket, program)) for program in before)
    return next(filter(None, rules), "")
