"""Finds the form for which a prompt asks, and checks whether a reply has it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["edits", "program"]

_EDIT = re.compile(r"^[ \t]*<{5,}[ \t]*SEARCH\b", re.MULTILINE)
_PROGRAM = re.compile(r"fenced (code )?block|whole (file|program)", re.IGNORECASE)


def asked_form(prompt: Any) -> Form | None:
    """The form for which a prompt (a text or messages) asks: SEARCH/REPLACE edits if it shows an edit, or a
    whole program. None if the prompt does not say.

    >>> asked_form("Give edits:\\n<<<<<<< SEARCH\\na\\n=======\\nb\\n>>>>>>> REPLACE"), asked_form("Give the whole file.")
    ('edits', 'program')
    """
    text = _text(prompt)
    if _EDIT.search(text):
        return "edits"
    return "program" if _PROGRAM.search(text) else None


def form_followed(prompt: Any, reply: str) -> bool | None:
    """Whether the reply has the form for which the prompt asks; None if the prompt does not say."""
    asked = asked_form(prompt)
    return None if asked is None else (asked == "edits") == bool(_EDIT.search(reply))


def _text(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, Sequence):
        return ""
    return "\n".join(str(one.get("content") or "") for one in prompt
                     if isinstance(one, Mapping) and one.get("role") != "assistant")
