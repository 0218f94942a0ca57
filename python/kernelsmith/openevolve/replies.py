"""Makes the child that a model's reply describes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import _core
from .keys import KEYS

STANDARD = next(key.default for key in KEYS if key.path == "diff_pattern")
_MARKS = re.compile(r"^[ \t]*(<{7} SEARCH|={7}|>{7} REPLACE)[ \t]*\r?$", re.MULTILINE)
_ORDER = ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")
_BLOCK = re.compile(r"^\W*EVOLVE-BLOCK-(START|END)\b")


@dataclass(frozen=True)
class Child:
    code: str
    changes: str


def edits_in(reply: str, pattern: str) -> list[tuple[str, str]]:
    """(SEARCH, REPLACE) pairs; empty if the standard markers are not in the right order."""
    if pattern != STANDARD:
        return [(found.group(1).rstrip(), found.group(2).rstrip()) for found in re.finditer(pattern, reply, re.DOTALL)]
    edits, parts, begin = [], list[str](), 0
    for found in _MARKS.finditer(reply):
        if found.group(1) != _ORDER[len(parts)]:
            return []
        parts.append(reply[begin:found.start()].rstrip())
        begin = found.end() + 1
        if len(parts) == len(_ORDER):
            edits.append((parts[1], parts[2]))
            parts = []
    return [] if parts else edits


def apply(code: str, edits: list[tuple[str, str]]) -> tuple[str, int]:
    """Applies each edit at its first match, and returns the code and the number of matches."""
    lines, applied = code.split("\n"), 0
    for search, replace in edits:
        wanted = search.split("\n")
        at = _place(lines, wanted)
        if at is not None:
            lines[at:at + len(wanted)] = replace.split("\n")
            applied += 1
    return "\n".join(lines), applied


def _place(lines: list[str], wanted: list[str]) -> int | None:
    """Matches exactly, else ignoring white space at the ends of lines."""
    for text, search in ((lines, wanted), ([one.rstrip() for one in lines], [one.rstrip() for one in wanted])):
        for at in range(len(text) - len(search) + 1):
            if text[at:at + len(search)] == search:
                return at
    return None


def program_in(reply: str, language: str) -> str:
    """The first code block of the language, else the first code block, else the whole reply."""
    for fence in (rf"```{re.escape(language)}[ \t]*\r?\n(.*?)```", r"```(?:[^\s`]*[ \t]*\r?\n)?(.*?)```"):
        found = re.search(fence, reply, re.DOTALL)
        if found:
            return found.group(1).strip()
    return reply.strip()


def _parts(code: str) -> tuple[list[str], list[str]] | None:
    """The text outside of the blocks, with markers, and the text inside; None if a marker has no partner."""
    outside, inside, current = list[str](), list[str](), list[str]()
    is_open = False
    for line in code.split("\n"):
        found = _BLOCK.match(line)
        if found and (found.group(1) == "START") == is_open:
            return None
        if found and not is_open:
            outside.append("\n".join([*current, line]))
            current = []
        elif found:
            inside.append("\n".join(current))
            current = [line]
        else:
            current.append(line)
        is_open = is_open != bool(found)
    return None if is_open else ([*outside, "\n".join(current)], inside)


def has_whole_blocks(code: str) -> bool:
    """Whether every marker has its partner."""
    return _parts(code) is not None


def kept_outside(parent: str, child: str) -> str | None:
    """The child with the parent's text outside of the blocks; None if the blocks do not correspond."""
    old, new = _parts(parent), _parts(child)
    if old is None or not old[1]:
        return child
    if new is None or len(new[1]) != len(old[1]):
        return None
    pieces = [old[0][0]]
    for block, behind in zip(new[1], old[0][1:], strict=True):
        pieces += [block, behind] if block else [behind]
    return "\n".join(pieces)


def child_of(reply: str, parent: str, *, diff: bool, pattern: str, language: str, most: int, line: int = 100,
             lines: int = 30) -> Child | _core.Refusal:
    """The child from the reply, or the reason why there is none. The child may have at most `most`
    characters."""
    edits, code = edits_in(reply, pattern) if diff else [], ""
    if edits:
        code, applied = apply(parent, edits)
        if applied == 0:
            return _core.Refusal(f"none of the {len(edits)} SEARCH texts is in the program", "edit_unmatched")
        changes = summary(edits, line, lines)
    else:
        code, changes = program_in(reply, language), "Full rewrite"
        if parent.endswith("\n"):
            code += "\n"
    kept = kept_outside(parent, code) if edits or not diff else None
    if kept is None or (not edits and diff):  # the engine reads more forms of replies
        found = _core.extract(reply, _core.Source(parent), edits_only=False)
        if isinstance(found, _core.Refusal):
            return found
        kept = found.text
    if kept == parent and code != parent and code:
        return _core.Refusal("the reply changes only text outside of the EVOLVE-BLOCKs, which was put back", "unchanged")
    if kept == parent:
        return _core.Refusal("the reply does not change the program", "unchanged")
    if len(kept) > most:
        return _core.Refusal(f"{len(kept)} characters are more than max_code_length, {most}", "too_large")
    return Child(kept, changes)


def summary(edits: list[tuple[str, str]], line: int, lines: int) -> str:
    """The edits in words, for the history of later prompts."""
    said = []
    for at, (search, replace) in enumerate(edits, 1):
        old, new = search.strip().split("\n"), replace.strip().split("\n")
        if len(old) == len(new) == 1:
            said.append(f"Change {at}: '{old[0]}' to '{new[0]}'")
        else:
            said.append(f"Change {at}: Replace:\n{_cut(old, line, lines)}\nwith:\n{_cut(new, line, lines)}")
    return "\n".join(said)


def _cut(texts: list[str], line: int, lines: int) -> str:
    kept = ["  " + (one if len(one) <= line else one[:line - 3] + "...") for one in map(str.rstrip, texts[:lines])]
    if len(texts) > lines:
        kept.append(f"  ... ({len(texts) - lines} more lines)")
    return "\n".join(kept)
