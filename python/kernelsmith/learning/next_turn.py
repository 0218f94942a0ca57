"""The message before a model's next turn: its verdict as the service tells it, and the request for a better program.

The text is kernelsmith._core's, which test-time scaling (`kernelsmith stts`) uses, too.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .form import asked_form
from .judge import Judged

TURN_VERSION: int = _core.TURN_VERSION
"""Rises when the text of a turn changes."""


def feedback(judged: Judged, request: str | None = None) -> str:
    """The message before the next turn. It shows no figure of a decoy.

    `request` ends the message. Without it the message asks for the same form as the prompt (`Judged.asked`):
    edits, or else the whole program. A trainer takes `functools.partial(feedback, request="...")`.

    >>> from kernelsmith.learning import Reward
    >>> wrong = Reward("a", 0.0, correct=False, decoy=False, rejection="wrong_output", message="y[3] is 7, and 8 is right")
    >>> print(feedback(Judged(0.0, wrong, "y = 7"), "Correct it."))
    Here is the server's feedback on your last implementation. Use it, and all your earlier replies, to improve the implementation.
    <BLANKLINE>
    Server feedback (status, figures, errors):
    {
      "status": "completed",
      "compiled": true,
      "correctness": false,
      "decoy_kernel": false,
      "error_code": "wrong_output",
      "error_message": "y[3] is 7, and 8 is right"
    }
    <BLANKLINE>
    Correct it.
    """
    reward = judged.reward
    return _core.turn(correct=bool(reward.correct), decoy=bool(reward.decoy), speed=reward.speedup,
                      over_baseline=reward.over_baseline is not False, own_share=reward.own_share,
                      code=reward.rejection or "", message=reward.message, advice=reward.advice,
                      edits=judged.asked == "edits", request=request or "")


def feedback_after(evaluation: str, prompt: Any) -> str:
    """The same message after an evaluation of a run's journal, as JSON, before the reply to `prompt`."""
    return _core.turn_of(evaluation, asked_form(prompt) == "edits")
