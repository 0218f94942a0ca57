"""A language model's reply, waited for."""

from __future__ import annotations

from queue import SimpleQueue
from typing import Any

from . import _core


def reply_of(server: _core.Model, model: str, messages: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """What _core.Model.start gives for a call. Raises the call's Error."""
    answers: SimpleQueue[Any] = SimpleQueue()
    server.start(model, messages, answers.put, **settings)
    answer = answers.get()
    if isinstance(answer, Exception):
        raise answer
    return dict(answer)
