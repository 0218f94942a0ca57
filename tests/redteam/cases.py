#!/usr/bin/env python3
"""The red team's cases, each as a whole text.

    cases.py show FILE                 prints the case
    cases.py all FOLDER                prints all cases below FOLDER as JSON, by their paths there
    cases.py shorten FILE [BASE]       makes the whole file a patch of its twin, or of BASE

README.md beside this file describes patches. One that does not apply is an error.
"""

import difflib
import json
import sys
from itertools import groupby
from pathlib import Path


class Unreadable(Exception):
    """Why a case has no whole text."""


def whole(path: Path) -> str:
    """The case's text; a file that is no patch holds it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".patch":
        return text
    declaration, changes = split(text, path)
    base = base_of(path, said(declaration, "base:") or said(declaration, "twin:"))
    body = changed(path, split(whole(base), base)[1], changes)
    return "\n".join([*(line for line in declaration if line.split()[1] != "base:"), *body, ""])


def split(text: str, path: Path) -> tuple[list[str], list[str]]:
    """The comments at the beginning, which declare the case, and the lines after them."""
    lines = text.splitlines()
    mark = "# " if ".py" in path.suffixes else "// "
    end = next((i for i, line in enumerate(lines) if not line.startswith(mark)), len(lines))
    return lines[:end], lines[end:]


def said(declaration: list[str], key: str) -> str:
    return next((line.split(key, 1)[1].strip() for line in declaration if line.split()[1] == key), "")


def base_of(path: Path, name: str) -> Path:
    """The file of the case NAME of the same task, or TASK/NAME."""
    file = path.parent.parent / (name if "/" in name else f"{path.parent.name}/{name}")
    names = (file.name + path.suffixes[0], file.name + path.suffixes[0] + ".patch")
    there = [found for found in map(file.with_name, names) if found.is_file()]
    if not name or len(there) != 1:
        raise Unreadable(f"{path}: {len(there)} files hold its base '{name}'")
    return there[0]


def changed(path: Path, body: list[str], changes: list[str]) -> list[str]:
    """The base's lines, with each change made at the only place that has its lines ' ' and '-'."""
    made = []
    for change in (list(lines) for filled, lines in groupby(changes, bool) if filled):
        old = [line[1:] for line in change if line[0] != "+"]
        at = places_of(old, body)
        if len(at) != 1 or any(line[0] not in " -+" for line in change):
            raise Unreadable("\n".join([f"{path}: {len(at)} places in the base have these lines ' ' and '-':", *change]))
        made.append((at[0], at[0] + len(old), [line[1:] for line in change if line[0] != "-"]))
    result: list[str] = []
    done = 0
    for begin, end, new in sorted(made):
        if begin < done:
            raise Unreadable(f"{path}: two changes have the same line: {body[begin]}")
        result += body[done:begin] + new
        done = end
    return result + body[done:]


def places_of(old: list[str], body: list[str]) -> list[int]:
    return [i for i in range(len(body)) if old and body[i:i + len(old)] == old]


def patch_of(path: Path, name: str) -> str:
    """The whole file at `path` as a patch of its twin, or of the case `name`."""
    declaration, after = split(path.read_text(encoding="utf-8"), path)
    base = base_of(path, name or said(declaration, "twin:"))
    if name:
        declaration.append(f"{declaration[0].split()[0]} base: {name}")
    before = split(whole(base), base)[1]
    script = []
    for what, i, j, k, m in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if what == "equal":
            script += [" " + line for line in before[i:j]]
        else:
            script += ["-" + line for line in before[i:j]] + ["+" + line for line in after[k:m]]
    shown = shown_of(script, before)
    text = list(declaration)
    for is_shown, lines in groupby(zip(script, shown), lambda pair: pair[1]):
        if is_shown:  # an empty line would end the change
            text += ["", *(part for line, _ in lines for part in (("-", "+") if line == " " else (line,)))]
    return "\n".join([*text, ""])


def shown_of(script: list[str], before: list[str]) -> list[bool]:
    """Which lines a patch shows: those changed, and as many around them as it takes to find one place."""
    shown = [line[0] != " " for line in script]
    for at in range(len(script)):
        begin, end = at, at
        while shown[at]:
            while begin > 0 and shown[begin - 1]:
                begin -= 1
            while end < len(script) and shown[end]:
                end += 1
            if len(places_of([line[1:] for line in script[begin:end] if line[0] != "+"], before)) == 1:
                break
            beside = [i for i in (begin - 1, end) if 0 <= i < len(script)]
            shown[max(beside, key=lambda i: script[i] != " ")] = True  # rather a line with text
    return shown


def all_of(folder: Path) -> dict[str, str]:
    """By the paths that the whole files would have."""
    texts: dict[str, str] = {}
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        name = str(path.relative_to(folder)).removesuffix(".patch")
        if name in texts:
            raise Unreadable(f"{path}: the case is there whole, too")
        texts[name] = whole(path)
    return texts


def main(command: str, file: str, base: str = "") -> None:
    path = Path(file).resolve()
    if command == "show":
        print(whole(path), end="")
    elif command == "all":
        print(json.dumps(all_of(path)))
    elif command == "shorten":
        patch = path.with_name(path.name + ".patch")
        patch.write_text(patch_of(path, base), encoding="utf-8")
        if whole(patch).encode() != path.read_bytes():
            patch.unlink()
            raise Unreadable(f"{path}: the patch would not give it again; are its line ends the usual ones?")
        path.unlink()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("show", "all", "shorten"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (Unreadable, OSError) as error:
        sys.exit(str(error))
