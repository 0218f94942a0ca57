"""Tracebacks as the authors of an evaluator and of programs read them."""

from __future__ import annotations

import os
import sys
import traceback

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST_WORDS = 8000


def plain(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def current() -> str:
    """The traceback of the exception that is handled: its end, without our own frames at its beginning."""
    kind, error, frames = sys.exc_info()
    while frames is not None and os.path.dirname(frames.tb_frame.f_code.co_filename) == _HERE:
        frames = frames.tb_next
    return plain("".join(traceback.format_exception(kind, error, frames)))[-_MOST_WORDS:]
