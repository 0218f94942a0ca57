"""Finds licences of code, as SPDX identifiers, in licence files, project files, and lines of sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

UNKNOWN = "unknown"
_LINE = re.compile(r"SPDX-License-Identifier:([^\n]*)")
_FILE = re.compile(r"^(LICEN[CS]E|COPYING|UNLICENSE)([-._].*)?$", re.IGNORECASE)
_PROJECT = re.compile(r"""^license(?:-expression|\.text)?\s*=\s*(?:\{\s*text\s*=\s*)?["']?([^"'}\n]+)""", re.MULTILINE)
_CLASSIFIER = re.compile(r"License :: OSI Approved :: ([^\"'\n]+)")
_CLASSIFIERS = {"MIT License": "MIT", "Apache Software License": "Apache-2.0", "ISC License (ISCL)": "ISC"}
# A licence is recognised by its title near the beginning, or by a characteristic sentence. The first rule that fits
# decides, so restrictions come before the licences that they restrict.
_TITLE = 400
_RULES: tuple[tuple[str, str, int], ...] = (
    ("LicenseRef-restricted", r"non-?commercial|commons clause|research purposes only|business source license", 0),
    ("AGPL-3.0", r"gnu affero general public license", _TITLE),
    ("LGPL-3.0", r"gnu lesser general public license", _TITLE),
    ("GPL-2.0", r"gnu general public license version 2", _TITLE),
    ("GPL-3.0", r"gnu general public license", _TITLE),
    ("MPL-2.0", r"mozilla public license", _TITLE),
    ("CC0-1.0", r"cc0 1\.0 universal", _TITLE),
    ("CC-BY-4.0", r"attribution 4\.0 international", _TITLE),
    ("Apache-2.0", r"apache license,? version 2\.0|apache license version 2\.0, january 2004", 0),
    ("Unlicense", r"this is free and unencumbered software released into the public domain", 0),
    ("MIT", r"permission is hereby granted, free of charge, to any person obtaining a copy", 0),
    ("ISC", r"permission to use, copy, modify, and/?(?:or)? distribute this software for any purpose with or without fee is "
            r"hereby granted, provided", 0),
    # `(?=(...))\1` never looks for the sentence a second time: an atomic group, which Python 3.10 lacks.
    ("BSD-3-Clause", r"\A(?=(.*?redistribution and use in source and binary forms))\1.*(?:neither the name|names? of (?:its|the))",
     0),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms", 0))
_COMPILED = [(name, re.compile(pattern, re.DOTALL), head) for name, pattern, head in _RULES]


def is_licence_file(path: str) -> bool:
    return bool(_FILE.match(PurePosixPath(path).name)) and not path.endswith(".py")


def _marked(text: str) -> str:
    """The identifier in a line of the text; empty if there is none."""
    found = _LINE.search(text)
    name = found.group(1).strip().removesuffix("*/").removesuffix("-->").strip() if found else ""
    return name if re.fullmatch(r"[\w.+ ()-]{1,200}", name) else ""


def of_text(text: str) -> str:
    """The identifier of a licence's text; "unknown" if no rule fits."""
    marked = _marked(text)
    if marked:
        return marked
    plain = " ".join(re.sub(r"[^\w.,:/()'-]+", " ", text[:100_000].lower()).split())
    for name, pattern, head in _COMPILED:
        if pattern.search(plain[:head] if head else plain):
            return name
    return UNKNOWN


def of_project(text: str) -> str:
    """The licence in pyproject.toml, setup.cfg or setup.py."""
    found = _CLASSIFIER.search(text)
    if found:
        return _CLASSIFIERS.get(found.group(1).strip(), UNKNOWN)
    named = _PROJECT.search(text)
    name = named.group(1).strip() if named else ""
    return name if re.fullmatch(r"[A-Z][\w.+-]*(?: (?:AND|OR|WITH) [\w.+-]+)*", name) else UNKNOWN


def of_module(path: str, text: str, licences: Mapping[str, str], project: str) -> str:
    """A file's licence: from a line in the file, else from the licence files of the nearest folder, else the
    project's."""
    marked = _marked(text[:4096])
    if marked:
        return marked
    for folder in PurePosixPath(path).parents:
        here = sorted({name for file, name in licences.items() if PurePosixPath(file).parent == folder})
        if here:
            return " AND ".join(here)
    return project


def allowed(expression: str, names: Iterable[str]) -> bool:
    """Whether the list allows an SPDX expression: one side of each OR, and both sides of each AND. A licence
    with an exception must be listed with the exception."""
    tokens = re.findall(r"[()]|[\w.+-]+(?: WITH [\w.+-]+)?", expression)
    known = set(names)

    def either(at: int) -> tuple[bool, int]:
        good, at = both(at)
        while at < len(tokens) and tokens[at] == "OR":
            other, at = both(at + 1)
            good = good or other
        return good, at

    def both(at: int) -> tuple[bool, int]:
        good, at = one(at)
        while at < len(tokens) and tokens[at] == "AND":
            other, at = one(at + 1)
            good = good and other
        return good, at

    def one(at: int) -> tuple[bool, int]:
        if at >= len(tokens) or tokens[at] in (")", "AND", "OR"):
            return False, at + 1
        if tokens[at] != "(":
            return tokens[at] in known, at + 1
        good, at = either(at + 1)
        return (good, at + 1) if at < len(tokens) and tokens[at] == ")" else (False, at)

    good, end = either(0) if tokens and tokens.count("(") <= 20 else (False, 0)
    return good and end == len(tokens)
