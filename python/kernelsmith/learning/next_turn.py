"""What a model is shown of an evaluation before its next turn."""

from __future__ import annotations

from .judge import Judged

MOST_CHARACTERS = 2000  # of a compiler's or a checker's report: the prompt of the next turn grows by it


def feedback(judged: Judged) -> str:
    """The message before the next turn. It shows no figure of a candidate without a verdict.

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
        return _asking(f"Your program is correct. Its speedup is {reward.speedup:.3g}{_share(judged)}.", "Make it faster.")
    if reward.decoy:
        return _asking("Your program was rejected: it does the work without a kernel of its own, or evades the measurement.",
                       "Write a kernel that does the work.")
    return _asking(f"Your program was rejected ({reward.rejection}):\n{reward.message[:MOST_CHARACTERS]}", "Correct it.")


def _share(judged: Judged) -> str:
    share = judged.reward.own_share
    return "" if share is None else f"; {share:.0%} of its GPU time is in kernels of its own"


def _asking(verdict: str, request: str) -> str:
    return f"{verdict}\n\n{request} Answer with the whole program in one fenced code block."
