"""The parts of a report's HTML. Texts of candidates and models are foreign: everything goes through text()."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ._words import code_point, counted, is_odd

# Scripts do not run in the page, and it loads nothing, whatever a foreign text might have achieved.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

# A reader scrolls no further; the run has it all.
_LINES = 1500
_CHARACTERS_OF_A_LINE = 500
# difflib's time grows with the product of the lengths: four times as many pairs of lines can take ten seconds.
_COMPARED_PAIRS = 25_000_000


def text(foreign: str) -> str:
    """As HTML, with characters that would hide or turn others shown as their code points."""
    return "".join(f'<span class="odd">{code_point(one)}</span>' if is_odd(one) else html.escape(one)
                   for one in foreign)


def page(title: str, body: Iterable[str]) -> str:
    style = Path(__file__).with_name("_report.css").read_text(encoding="utf-8")
    head = (f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><title>{text(title)}</title>')
    parts = "\n".join(body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}\n<style>\n{style}</style></head>\n<body><main>\n{parts}\n' \
           "</main></body></html>\n"


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{text(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def card(label: str, value: str, *notes: str) -> str:
    lines = "".join(f"<p>{text(note)}</p>" for note in notes if note)
    return f'<div class="card"><h3>{text(label)}</h3><p class="value">{text(value)}</p>{lines}</div>'


def note(words: str) -> str:
    return f'<p class="note">{text(words)}</p>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Whole numbers stand at the right; a cell that is HTML is a Raw, and takes the room that is left."""
    def cell(value: Any) -> str:
        if isinstance(value, Raw):
            return f'<td class="listing">{value}</td>'
        if isinstance(value, int):
            return f'<td class="number">{value:,}</td>'
        return f"<td>{text(str(value))}</td>"

    kept = list(rows)
    numbers = {at for row in kept for at, value in enumerate(row) if isinstance(value, int)}
    titles = "".join(f'<th{" class=number" if at in numbers else ""}>{text(one)}</th>' for at, one in enumerate(head))
    lines = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in kept)
    return f'<div class="wide"><table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>'


class Raw(str):
    """HTML that was made here."""


def folded(summary: str, *parts: str) -> str:
    return f"<details><summary>{text(summary)}</summary>\n" + "\n".join(parts) + "</details>"


def listing(lines: Iterable[str]) -> str:
    return _code(("plain", line) for line in lines)


def diff(lines: Iterable[str]) -> str:
    """A unified diff, with colours for what was added and removed."""
    return _code(_kinds(lines))


def changes(before: dict[str, str], after: dict[str, str]) -> list[str] | None:
    """The unified diff of files by path; None if they are too long to be compared."""
    lines: list[str] = []
    for path in dict.fromkeys([*before, *after]):
        old, new = _lines(before.get(path, "")), _lines(after.get(path, ""))
        if old != new and len(old) * len(new) > _COMPARED_PAIRS:
            return None
        for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=4):
            lines.append(line.removesuffix("\n"))
            if not line.endswith("\n"):
                lines.append("\\ No newline at end of file")
    return lines


def _lines(content: str) -> list[str]:
    """With their ends; "\\n" is the only one."""
    whole, _, last = content.rpartition("\n")
    ended = [line + "\n" for line in whole.split("\n")] if "\n" in content else []
    return [*ended, last] if last else ended


def _kinds(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A removed line "-- x" is no file's name: what is inside of a hunk is known by the lengths in its head."""
    old = new = 0
    for line in lines:
        head = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
        if old <= 0 and new <= 0 and head:
            old, new = (int(length) if length is not None else 1 for length in head.groups())
            yield "at", line
        elif (old <= 0 and new <= 0) or line.startswith("\\"):
            yield "at", line
        else:
            old -= not line.startswith("+")
            new -= not line.startswith("-")
            yield {"+": "added", "-": "removed"}.get(line[:1], "plain"), line


def _code(lines: Iterable[tuple[str, str]]) -> str:
    shown: list[str] = []
    left_out = 0
    for kind, line in lines:
        if len(shown) == _LINES:
            left_out += 1
            continue
        more = len(line) - _CHARACTERS_OF_A_LINE
        rest = f'<span class="odd">… {counted(more, "more character")}</span>' if more > 0 else ""
        shown.append(f'<span class="{kind}">{text(line[:_CHARACTERS_OF_A_LINE])}{rest}\n</span>')
    if left_out:
        shown.append(f'<span class="at">… {counted(left_out, "more line")}</span>')
    return '<pre class="code">' + "".join(shown) + "</pre>"
