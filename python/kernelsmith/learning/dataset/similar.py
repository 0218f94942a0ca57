"""Finds tasks that are in a benchmark, by equal syntax trees or nearly equal shingles."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy
import numpy.typing

from ..._errors import Error
from .code_shape import fingerprint, language_of, shingles
from .tasks import readable

_PERMUTATIONS = 128
# Four standard errors of an estimate from 128 permutations. Pairs within this margin are compared exactly.
_SLACK = 0.15
_SUFFIXES = frozenset({".py", ".cpp", ".cu", ".cc", ".c", ".txt"})


@dataclass(frozen=True, slots=True)
class Match:
    """The benchmark's task to which a reference is too close."""

    file: str
    by: str  # "syntax tree" or "shingles"
    similarity: float


class Benchmark:
    """The references under a folder."""

    def __init__(self, folder: Path, threshold: float) -> None:
        if not folder.is_dir():
            raise Error("there is no such folder of references", "not_found", str(folder))
        files = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
        if not files:
            raise Error("the folder holds no references", "bad_input", str(folder),
                        f"they end with {', '.join(sorted(_SUFFIXES))}")
        texts = [path.read_text(errors="replace") for path in files]
        self._languages = set(map(language_of, texts))
        self._threshold = threshold
        self._names = [readable(path.relative_to(folder).as_posix()) for path in files]
        self._prints = {fingerprint(text): name for text, name in zip(reversed(texts), reversed(self._names), strict=True)}
        self._shingles = [shingles(text) for text in texts]
        self._signatures = numpy.stack([signature(one) for one in self._shingles])

    def compares(self, reference: str) -> bool:
        """Whether a reference of the benchmark is in the same language."""
        return language_of(reference) in self._languages

    def match(self, reference: str) -> Match | None:
        """The closest task of the benchmark, if it is too close."""
        equal = self._prints.get(fingerprint(reference))
        if equal is not None:
            return Match(equal, "syntax tree", 1.0)
        ours = shingles(reference)
        estimates = (self._signatures == signature(ours)).mean(axis=1)
        near = [(jaccard(ours, self._shingles[at]), -at) for at in numpy.flatnonzero(estimates >= self._threshold - _SLACK)]
        similarity, at = max(near, default=(0.0, 0))
        return Match(self._names[-at], "shingles", similarity) if similarity >= self._threshold else None


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def signature(of: frozenset[str]) -> numpy.typing.NDArray[numpy.uint64]:
    """MinHash: the share of equal places of two signatures estimates the Jaccard index of their sets."""
    hashes = numpy.array([zlib.crc32(one.encode(errors="surrogateescape")) for one in of], dtype=numpy.uint64)
    mixed = hashes[:, None] * _FACTORS + _OFFSETS  # modulo 2^64: multiply-shift hashing keeps the upper half
    lowest: numpy.typing.NDArray[numpy.uint64] = (mixed >> numpy.uint64(32)).min(axis=0)
    return lowest


_random = numpy.random.Generator(numpy.random.PCG64(0))
_FACTORS = _random.integers(0, 2**63, _PERMUTATIONS, dtype=numpy.uint64) * numpy.uint64(2) + numpy.uint64(1)
_OFFSETS = _random.integers(0, 2**63, _PERMUTATIONS, dtype=numpy.uint64)
