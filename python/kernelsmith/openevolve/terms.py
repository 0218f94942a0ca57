"""Translates errors of the engine for users of an OpenEvolve task."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .._errors import Error

_KEYS = {"proposer.limits.total_s": "llm.timeout", "proposer.limits.silence_s": "llm.timeout",
         "proposer.limits.first_token_s": "llm.timeout", "proposer.key": "llm.api_key",
         "proposer.requests_per_minute or proposer.concurrency": "evaluator.parallel_evaluations"}


def in_users_terms(error: Error, evaluator: Path) -> Error:
    """The error with the place in the user's evaluator, if host.py names it, and with this configuration's
    keys."""
    message, where, hint = error.message, error.where, error.hint
    found = re.search(rf"ImportError: ({re.escape(str(evaluator))}:\d+): (.*)", message, re.DOTALL)
    if found:
        where, message = found.group(1), f"the evaluator cannot be imported: {found.group(2)}"
        missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", message)
        hint = f"{sys.executable} -m pip install {missing.group(1)}" if missing else hint
    return Error(_keys(message), error.code, where, _keys(hint))


def _keys(text: str) -> str:
    text = re.sub(r"--set '?(proposer\.\w+(?:\.\w+)?)=[^'\s]*'?", r"\1", text)
    for name, own in _KEYS.items():
        text = text.replace(name, own)
    return text
