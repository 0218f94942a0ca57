"""Rules for all kinds: which replies can be rows, and counts of steps that each rule dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .settings import Settings
from .steps import Gain, Step, gain

NO_GAIN = "no gain beyond noise"
NO_RATIO = "no finite ratio"
NO_FIGURE = "gain unknown: not measured, or on other hardware"


class Tally:
    """The fate of each step: kept, or the first rule that dropped it."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, int], str] = {}

    def drop(self, step: Step, rule: str) -> None:
        self._rules[step.key] = rule

    def keep(self, step: Step) -> None:
        """Records that the step is part of a row, whatever rule dropped it before."""
        self._rules.pop(step.key, None)

    def counts(self) -> list[tuple[str, int]]:
        """The counts, the largest first."""
        return sorted(Counter(self._rules.values()).items(), key=lambda item: (-item[1], item[0]))


def usable(steps: Iterable[Step], tally: Tally) -> list[Step]:
    """Steps with a complete reply whose child was evaluated, without repeats."""
    kept = []
    for step in steps:
        rule = _unusable(step)
        if rule:
            tally.drop(step, rule)
        else:
            kept.append(step)
    return kept


def _unusable(step: Step) -> str:
    if step.texts is None:
        return "no reply kept"
    if step.outcome != "evaluated":
        return {"refused": "refused: no child", "given back": "given back: no verdict"}.get(
            step.outcome, "repeat of an earlier program")
    if step.texts.cut or step.texts.finish_reason == "length":
        return "reply or prompt cut off"
    if not step.texts.readable:
        return "not UTF-8"
    base = step.run.base(step)
    return NO_RATIO if base is not None and overflows(gain(step.run, step.ticket, base)) else ""


def overflows(found: Gain | None) -> bool:
    """Whether the ratio overflows a float; JSON has no such number."""
    return found is not None and found.figure is not None and not found.figure.is_finite


def without_gain(found: Gain | None) -> str:
    """The rule that drops a row with this gain; empty if no rule drops it."""
    if found is None:
        return NO_FIGURE
    return NO_RATIO if overflows(found) else "" if found.beyond_noise else NO_GAIN


def in_form(steps: Iterable[Step], settings: Settings, tally: Tally) -> list[Step]:
    """Steps whose reply has the prompt's form, or whose prompt does not specify one; all of them with any_form."""
    kept = []
    for step in steps:
        if step.texts and step.texts.form_followed is False and not settings.any_form:
            tally.drop(step, "reply in another form than the prompt asks for")
        else:
            kept.append(step)
    return kept


def unsound(step: Step) -> str:
    """Why no model should learn from the child; empty if there is no reason."""
    verdict = step.verdict
    if verdict is None or not verdict.accepted:
        return f"rejected, {verdict.why.partition(':')[0]}" if verdict else "given back: no verdict"
    return f"not honest: {verdict.dishonest}" if verdict.dishonest else ""


def improvement(step: Step) -> Gain | str:
    """The gain over the program from which the step started, or the rule that drops the step. Not for
    translations."""
    base = step.run.base(step)
    assert base is not None
    found = gain(step.run, step.ticket, base)
    if found is None:
        return NO_FIGURE
    return without_gain(found) or found
