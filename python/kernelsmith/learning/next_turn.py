"""The feedback on an evaluation before a model's next turn."""

from __future__ import annotations

from .judge import Judged

MOST_CHARACTERS = 2000  # limit of a compiler's or a checker's report, which becomes part of the next prompt
_WHOLE = "Answer with the whole program in one fenced code block."
_FORMS = {
    "edits": "Answer with SEARCH/REPLACE edits of your last readable program, in the form of the first message.",
    "program": _WHOLE, None: _WHOLE,
}


def feedback(judged: Judged, request: str | None = None) -> str:
    """The message before the next turn. It shows no figure of a candidate without a verdict.

    `request` ends the message. Without it the message asks for the same form as the prompt (`Judged.asked`):
    edits, or else the whole program. A trainer takes `functools.partial(feedback, request="...")`.

    >>> from kernelsmith.learning import Reward
    >>> wrong = Reward("a", 0.0, correct=False, decoy=False, rejection="wrong_output", message="y[3] is 7, and 8 is right")
    >>> print(feedback(Judged(0.0, wrong, "y = 7")))
    Your program was rejected (wrong_output):
    y[3] is 7, and 8 is right
    <BLANKLINE>
    Correct it. Answer with the whole program in one fenced code block.
    """
    reward = judged.reward
    if reward.correct and not reward.decoy:
        figure, task = ("score", "Raise its score.") if reward.over_baseline is False else ("speedup", "Make it faster.")
        verdict = f"Your program is correct. Its {figure} is {reward.speedup:.3g}{_share(judged)}."
    elif reward.decoy:
        verdict = "Your program was rejected: it does the work without a kernel of its own, or evades the measurement."
        task = "Write a kernel that does the work."
    else:
        verdict = f"Your program was rejected ({reward.rejection}):\n{reward.message[:MOST_CHARACTERS]}"
        task = "Correct it."
    return f"{verdict}\n\n{request or f'{task} {_FORMS[judged.asked]}'}"


def _share(judged: Judged) -> str:
    share = judged.reward.own_share
    return "" if share is None else f"; {share:.0%} of its GPU time is in kernels of its own"
