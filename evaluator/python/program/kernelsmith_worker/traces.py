"""Tracebacks for authors of evaluators and programs."""

from __future__ import annotations

import os
import sys
import traceback

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST_WORDS = 8000


def plain(text: str) -> str:
    """Makes text encodable in UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def current() -> str:
    """The end of the current exception's traceback, without our own frames at its beginning."""
    kind, error, frames = sys.exc_info()
    while frames is not None and os.path.dirname(frames.tb_frame.f_code.co_filename) == _HERE:
        frames = frames.tb_next
    return plain("".join(traceback.format_exception(kind, error, frames)))[-_MOST_WORDS:]
