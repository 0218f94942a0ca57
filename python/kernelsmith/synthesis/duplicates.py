"""What is the same code, or the same computation: fingerprints, MinHash of shingles, and hashes of plans' graphs."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy

from ..learning.dataset.code_shape import normalised
from ..learning.dataset.similar import jaccard, signature

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SHINGLE = 5
_BANDS, _ROWS = 32, 4  # 128 permutations: pairs of a Jaccard index of 0.6 are looked at with 98.8 %
_ROUNDS = 3
# Graphs of fewer operators are equal by chance: then the texts have to be half the same, too.
_MANY_OPERATORS = 8
_HALF = 0.5
_HARNESS = frozenset({"get_inputs", "get_init_inputs", "_Config"})


@lru_cache(maxsize=8192)
def shape(code: str) -> str:
    """Code without names, numbers and layout, and its classes, functions and methods in an order of their own."""
    try:
        tree = ast.parse(code)
        kept: list[ast.stmt] = [node for node in tree.body if getattr(node, "name", "") not in _HARNESS
                and isinstance(node, (ast.ClassDef, ast.FunctionDef))]
        plain = ast.parse(normalised(ast.unparse(ast.Module(kept, []))))
        for node in plain.body:
            if isinstance(node, ast.ClassDef):
                node.body.sort(key=ast.unparse)
        return "\n".join(sorted(map(ast.unparse, plain.body)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return normalised(code)


def fingerprint(code: str) -> str:
    return hashlib.sha256(shape(code).encode(errors="surrogateescape")).hexdigest()


@lru_cache(maxsize=8192)
def shingles(code: str) -> frozenset[str]:
    tokens = _TOKEN.findall(shape(code))
    return frozenset(" ".join(tokens[at:at + _SHINGLE]) for at in range(max(1, len(tokens) - _SHINGLE + 1)))


def graph_hash(operators: list[list[Any]]) -> str:
    """Weisfeiler and Lehman's: of operators' names and of which reads which. Shapes and constants do not count."""
    labels = [str(name) for name, _ in operators]
    readers: dict[int, list[int]] = defaultdict(list)
    for at, (_, read) in enumerate(operators):
        for one in read:
            readers[one].append(at)
    for _ in range(_ROUNDS):
        labels = [_hash([labels[at], *(labels[one] for one in read), "|", *sorted(labels[one] for one in readers[at])])
                  for at, (_, read) in enumerate(operators)]
    return _hash(sorted(labels))


def _hash(parts: list[str]) -> str:
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Same:
    """Which record is the same, by which rule, and how near the texts are."""

    id: str
    by: str
    similarity: float


class Seen:
    """Records that were kept so far."""

    def __init__(self, threshold: float, any_graph: bool = False) -> None:
        self._threshold, self._any_graph = threshold, any_graph
        self._prints: dict[str, str] = {}
        self._graphs: dict[str, list[str]] = defaultdict(list)
        self._bands: dict[tuple[int, bytes], list[str]] = defaultdict(list)
        self._codes: dict[str, str] = {}

    def add(self, id_: str, code: str, operators: list[list[Any]]) -> None:
        self._codes[id_] = code
        self._prints.setdefault(fingerprint(code), id_)
        if operators:
            self._graphs[graph_hash(operators)].append(id_)
        for band in _bands(code):
            self._bands[band].append(id_)

    def match(self, code: str, operators: list[list[Any]]) -> Same | None:
        """The nearest that is the same."""
        equal = self._prints.get(fingerprint(code))
        if equal is not None:
            return Same(equal, "syntax tree", 1.0)
        ours = shingles(code)
        near = {id_ for band in _bands(code) for id_ in self._bands.get(band, ())}
        similar = max(((jaccard(ours, shingles(self._codes[id_])), id_) for id_ in sorted(near)), default=(0.0, ""))
        if similar[0] >= self._threshold:
            return Same(similar[1], "shingles", round(similar[0], 4))
        for id_ in self._graphs.get(graph_hash(operators), ()) if operators else ():
            share = jaccard(ours, shingles(self._codes[id_]))
            if self._any_graph or len(operators) >= _MANY_OPERATORS or share >= _HALF:
                return Same(id_, "graph of the plan", round(share, 4))
        return None


def _bands(code: str) -> list[tuple[int, bytes]]:
    of = numpy.ascontiguousarray(_signature(code)).reshape(_BANDS, _ROWS)
    return [(at, of[at].tobytes()) for at in range(_BANDS)]


@lru_cache(maxsize=8192)
def _signature(code: str) -> Any:
    return signature(shingles(code))
