"""Fails on phrases that the project does not write any more (phrases.txt), beyond those that allowed.txt still holds.

    check_prose.py SOURCE_DIR

A failure is printed as file:line, with the phrase and what to write instead, and makes the exit status 1. allowed.txt has
a line for each file with old phrases: the path and their number. A number that is too high fails too: it can only go down.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from prose import READERS, texts_of

HERE = Path(__file__).parent
LEFT_OUT = ("build", ".venv", "tests/regressions", "tests/prose")


@dataclass(frozen=True)
class Phrase:
    pattern: re.Pattern
    better: str


@dataclass(frozen=True)
class Hit:
    path: str
    line: int
    phrase: str
    better: str

    def __str__(self):
        return f'{self.path}:{self.line}: "{self.phrase}": write {self.better}'


def lines_of(text):
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_phrases(text):
    pairs = (line.rsplit(" => ", 1) for line in lines_of(text))
    return [Phrase(re.compile(pattern), better) for pattern, better in pairs]


def read_allowed(text):
    """{path: number of old phrases}."""
    return {path: int(count) for path, count in (line.split() for line in lines_of(text))}


def files_of(root):
    """Files with prose, relative to `root`, without what git does not hold: build folders and runs."""
    for folder, folders, names in os.walk(root):
        relative = Path(folder).relative_to(root)
        folders[:] = sorted(
            name for name in folders
            if not name.startswith(".") and not name.endswith(".run") and (relative / name).as_posix() not in LEFT_OUT
        )
        yield from (relative / name for name in sorted(names) if Path(name).suffix in READERS)


def hits_in(root, path, phrases):
    found = []
    for text in texts_of(root / path):
        for phrase in phrases:
            for match in phrase.pattern.finditer(text.text):
                words = match[0].strip(" \n.;:|")
                found.append(Hit(path.as_posix(), text.line_at(match.start()), words, phrase.better))
    return sorted(found, key=lambda hit: hit.line)


def check(root, phrases, allowed):
    """What is wrong, a line each."""
    wrong = []
    counts = {}
    for path in files_of(root):
        hits = hits_in(root, path, phrases)
        counts[path.as_posix()] = len(hits)
        if len(hits) > allowed.get(path.as_posix(), 0):
            wrong += map(str, hits)
    for path, count in allowed.items():
        if counts.get(path, 0) < count:
            wrong.append(f"allowed.txt: {path} has {counts.get(path, 0)} old phrases now, not {count}: lower the number")
    return wrong


def main():
    phrases = read_phrases((HERE / "phrases.txt").read_text(encoding="utf-8"))
    allowed = read_allowed((HERE / "allowed.txt").read_text(encoding="utf-8"))
    wrong = check(Path(sys.argv[1]).resolve(), phrases, allowed)
    print("\n".join(wrong) or f"no phrase of {len(phrases)} beyond the {sum(allowed.values())} that are allowed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
