"""Rows for supervised fine-tuning, selected by Kernel-Smith's two filters."""

from __future__ import annotations

from collections.abc import Sequence

from .balance import balanced
from .rules import NO_FIGURE, NO_GAIN, Tally, improvement, in_form, unsound
from .settings import Settings
from .steps import Step


def select(steps: Sequence[Step], settings: Settings, tally: Tally) -> list[tuple[Step, ...]]:
    """Every correct translation, and steps from an accepted program with a gain beyond noise: equally many of
    each level of difficulty."""
    seen: set[tuple[str, str, str]] = set()
    kept: list[Step] = []
    for step in in_form(steps, settings, tally):
        rule = unsound(step) or _without_gain(step, settings.over)
        identity = _identity(step)
        if not rule and identity in seen:
            rule = "same change as another row"
        if rule:
            tally.drop(step, rule)
        else:
            seen.add(identity)
            kept.append(step)
    return [(step,) for step in (balanced(kept, tally) if settings.balance else kept)]


def _identity(step: Step) -> tuple[str, str, str]:
    base = step.run.base(step)
    return step.run.task.key, "" if base is None else step.run.codes[base], step.run.codes[step.ticket]


def _without_gain(step: Step, over: str) -> str:
    if step.run.base(step) is None:
        return ""
    if over == "parent":
        found = improvement(step)
        return found if isinstance(found, str) else ""
    speedup = step.verdict.speedup if step.verdict else None
    return NO_FIGURE if speedup is None else "" if speedup.low > 1 else NO_GAIN
