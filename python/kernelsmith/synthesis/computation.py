"""Identifies a plan's computation by hashes of its operators' graph, which ignore shapes, constants and
layout."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .families import LAYOUT

Operators = Sequence[Sequence[Any]]  # of each operator: its name, and the places of the operators that it reads
_ROUNDS = 3
# Layout operators that count, because a transposition is another task, as in KernelBench. `t` does not count:
# it transposes a linear layer's weight.
_TRANSPOSITIONS = frozenset({"permute", "transpose", "movedim", "swapaxes", "swapdims"})
# Operators with a bias, and the same operators without it.
_ALIKE = {"addmm": "mm", "baddbmm": "bmm", "addmv": "mv"}


def computing(operators: Operators) -> list[tuple[str, list[int]]]:
    """The operators that compute or transpose, each with those of them that it reads, directly or through
    views."""
    place: dict[int, list[int]] = {}
    made: list[tuple[str, list[int]]] = []
    for at, (name, read) in enumerate(operators):
        through = sorted({inner for one in read for inner in place[one]})
        if name in LAYOUT and name not in _TRANSPOSITIONS:
            place[at] = through
        else:
            place[at] = [len(made)]
            plain = str(name).rstrip("_")
            made.append((_ALIKE.get(plain, plain), through))
    return made


def graph_hash(operators: Operators) -> str:
    """The Weisfeiler-Lehman hash of computing()'s graph. Shapes and constants do not count."""
    return _hash(sorted(_labels(operators, _ROUNDS)))


def kinds_hash(operators: Operators) -> str:
    """A similar hash that ignores repeated parts, so that networks of different depth are equal."""
    return _hash(sorted(set(_labels(operators, 1))))


def _labels(operators: Operators, rounds: int) -> list[str]:
    graph = computing(operators)
    readers: dict[int, list[int]] = defaultdict(list)
    for at, (_, read) in enumerate(graph):
        for one in read:
            readers[one].append(at)
    labels = [name for name, _ in graph]
    for _ in range(rounds):
        labels = [_hash([labels[at], *(labels[one] for one in read), "|", *sorted(labels[one] for one in readers[at])])
                  for at, (_, read) in enumerate(graph)]
    return labels


def _hash(parts: list[str]) -> str:
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=12).hexdigest()
