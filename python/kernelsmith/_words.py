"""Formats numbers and foreign texts for people."""

from __future__ import annotations

import unicodedata
from typing import Any

# Control bytes, characters that reorder or hide text (bidi marks, zero widths), surrogates, and line separators that
# editors do not show. Line ends and tabs are text.
_ODD_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_odd(character: str) -> bool:
    """Whether this character is invisible or makes others look different."""
    return unicodedata.category(character) in _ODD_CATEGORIES and character not in "\n\t"


def code_point(character: str) -> str:
    """"U+202E"."""
    return f"U+{ord(character):04X}"


def visible(text: str) -> str:
    """One line, with everything odd as an escape: "\\u202e"."""
    return "".join(_escape(one) if is_odd(one) or one in "\n\t" else one for one in text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def number(value: float) -> str:
    """Three significant digits, without an exponent if it reads well: "0.123", "12.3", "4510"."""
    if abs(value) < 1e-12:  # a zero after rounding
        return "0"
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.3g}"


def counted(count: int, what: str) -> str:
    """"1 call", "2 calls"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def measured(measurement: Any) -> tuple[str, str]:
    """"2.41x" and "[2.38, 2.44]"; the interval is empty if it has no width."""
    ratio = measurement.unit == "x"

    def written(value: float) -> str:
        if ratio and 0.095 <= abs(value) < 1000:
            return f"{value:.2f}"
        return f"{value:.6g}" if ratio or not measurement.unit else number(value)

    unit = measurement.unit if ratio or not measurement.unit else f" {measurement.unit}"
    interval = f"[{written(measurement.low)}, {written(measurement.high)}]"
    return written(measurement.median) + unit, interval if measurement.low < measurement.high else ""


def clock(seconds: float) -> str:
    """"0:42", "12:05", "3:00:00"."""
    total = round(max(0.0, seconds))
    hours, minutes, rest = total // 3600, total // 60 % 60, total % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def shortened(text: str, most: int) -> str:
    """One line of at most this many characters."""
    text = visible(text)
    return text if len(text) <= most else text[: most - 1] + "…"
