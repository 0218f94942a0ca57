"""Waits for a language model's reply."""

from __future__ import annotations

from queue import SimpleQueue
from typing import Any

from . import _core


def reply_of(server: _core.Model, model: str, messages: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """The reply to one call, as _core.Model.start gives it. Raises the call's Error."""
    answers: SimpleQueue[Any] = SimpleQueue()
    server.start(model, messages, answers.put, **settings)
    answer = answers.get()
    if isinstance(answer, Exception):
        raise answer
    return dict(answer)
