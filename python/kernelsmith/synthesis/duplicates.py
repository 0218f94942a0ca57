"""Finds equal modules: by the graphs of their plans if both have a plan, else by their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy

from ..learning.dataset.similar import jaccard, signature
from .computation import Operators, graph_hash, kinds_hash
from .normal_form import fingerprint, shingles

_BANDS, _ROWS = 32, 4  # 128 permutations: pairs with a Jaccard index of 0.6 are compared with a probability of 98.8 %


@dataclass(frozen=True, slots=True)
class Same:
    """The equal record, the rule that found it, and the similarity of the texts."""

    id: str
    by: str
    similarity: float


class Seen:
    """The records kept so far. `threshold`: the Jaccard index at which modules without plans count as
    equal."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._graphs: dict[str, list[str]] = defaultdict(list)
        self._depths: dict[tuple[str, str], str] = {}
        self._prints: dict[str, list[str]] = defaultdict(list)
        self._bands: dict[tuple[int, bytes], list[str]] = defaultdict(list)
        self._codes: dict[str, str] = {}
        self._planned: set[str] = set()

    def add(self, id_: str, code: str, operators: Operators) -> None:
        self._codes[id_] = code
        self._prints[fingerprint(code)].append(id_)
        if operators:
            self._planned.add(id_)
            self._graphs[graph_hash(operators)].append(id_)
            self._depths.setdefault((fingerprint(code), kinds_hash(operators)), id_)
        for band in _bands(code):
            self._bands[band].append(id_)

    def match(self, code: str, operators: Operators) -> Same | None:
        """The closest equal record."""
        return self._of_plan(code, operators) or self._of_text(code, bool(operators))

    def _of_plan(self, code: str, operators: Operators) -> Same | None:
        if not operators:
            return None
        share, id_ = self._nearest(code, self._graphs.get(graph_hash(operators), ()))
        if id_:
            return Same(id_, "graph of the plan", round(share, 4))
        deeper = self._depths.get((fingerprint(code), kinds_hash(operators)))
        return Same(deeper, "syntax tree, and kinds of operators", 1.0) if deeper else None

    def _of_text(self, code: str, planned: bool) -> Same | None:
        """Different plans mean different tasks, so only modules without a plan are compared by text."""
        def open_(ids: Iterable[str]) -> list[str]:
            return [id_ for id_ in ids if not (planned and id_ in self._planned)]

        equal = open_(self._prints.get(fingerprint(code), ()))
        if equal:
            return Same(equal[0], "syntax tree", 1.0)
        share, id_ = self._nearest(code, open_({id_ for band in _bands(code) for id_ in self._bands.get(band, ())}))
        return Same(id_, "shingles", round(share, 4)) if id_ and share >= self._threshold else None

    def _nearest(self, code: str, ids: Iterable[str]) -> tuple[float, str]:
        ours = shingles(code)
        return max(((jaccard(ours, shingles(self._codes[id_])), id_) for id_ in sorted(ids)), default=(0.0, ""))


def _bands(code: str) -> list[tuple[int, bytes]]:
    of = numpy.ascontiguousarray(_signature(code)).reshape(_BANDS, _ROWS)
    return [(at, of[at].tobytes()) for at in range(_BANDS)]


@lru_cache(maxsize=16_384)
def _signature(code: str) -> Any:
    return signature(shingles(code))
