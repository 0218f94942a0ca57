"""Restores texts from the journal (docs/formats.md, JSON)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

_MARK = "base64:"
_TEXTS = ("text", "reasoning", "system", "user")


def plain(text: str) -> str:
    """Bytes that are not UTF-8 become surrogates, as with errors="surrogateescape"."""
    if not text.startswith(_MARK):
        return text
    return base64.b64decode(text[len(_MARK):]).decode(errors="surrogateescape")


def plain_reply(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A kept reply with its four texts."""
    return {**reply, **{name: plain(reply[name]) for name in _TEXTS if name in reply}}
