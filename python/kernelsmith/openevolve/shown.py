"""The part of an artifact for a prompt."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
_SECRETS = re.compile(
    r"\bsk-[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b|\bBearer\s+\S{8,}"
    r"|(?P<name>\b(?:api[_-]?key|token|password|passwd|secret)\s*[=:]\s*)\S+", re.IGNORECASE)


def filtered(text: str) -> str:
    """The text without terminal escapes, keys and passwords."""
    return _SECRETS.sub(lambda found: (found.group("name") or "") + "[redacted]", _ESCAPES.sub("", text))


def tail(text: str, most: int) -> str:
    """The last `most` bytes, which hold errors and results, and the number of bytes left out before them."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    return f"[{len(data) - most} bytes left out]\n" + data[len(data) - most:].decode("utf-8", "ignore")
