"""Suggests other inputs from the text of an error."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from .specs import BATCH, BOOLS, FLOATS, IDS, LENGTH, LIST, SIDE, TEXT, Spec, standard

_MOST_SIZE = 1 << 16
_RANKS = (
    r"[Ee]xpected (\d)-?D", r"(\d)D \(unbatched\) or (\d)D", r"(\d)-?D or (\d)-?D", r"expected (\d), got",
    r"unpack \(expected (\d)", r"expected (\d) dim", r"must be (\d)-?[dD]", r"Expected (\d)-dim",
    r"a (\d)-?[dD] (?:input|tensor)", r"dim\(\) == (\d)", r"with (\d) dim", r"number of dimensions.*?(\d)",
    r"expects? (\d)D", r"(\d)-?[dD][- ]?(?:array|vector|tensor|input)")
# The actual and the expected size in an error.
_SAID = (
    (r"to have (?P<should>\d+) channels, but got (?P<has>\d+)", False),
    (r"shapes cannot be multiplied \(\d+x(?P<has>\d+) and (?P<should>\d+)x", False),
    (r"reduction dim, but got \[\d+, (?P<has>\d+)\] X \[(?P<should>\d+),", False),
    (r"expected input with shape \[\*, (?P<should>\d+)\].* size ?\[[\d, ]*?(?P<has>\d+)\]", False),
    (r"should contain (?P<has>\d+) elements not (?P<should>\d+)", False),
    (r"[Ee]xpect(?:ed|ing)[a-z ]* (?P<should>\d+),? (?:but )?got (?P<has>\d+)", True),
    (r"tensor a \((?P<has>\d+)\) must match the size of tensor b \((?P<should>\d+)\)", True),
)
_SHAPE = re.compile(r"\[(\d+(?:, \d+)*)\]")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")
Specs = tuple[Spec, ...]


def repairs(specs: Specs, message: str) -> Iterator[Specs]:
    """Other inputs, the likely ones first."""
    message = message[:2000]
    if any(first in message and second in message for first, second in (
            ("indices", "Long"), ("LongTensor", ""), ("embedding", "Float"), ("used as indices must be long", ""))):
        yield from _each(specs, lambda one: Spec(IDS, one.sizes[:2] if len(one.sizes) < 4 else (BATCH, LENGTH)), FLOATS)
    if re.search(r"not implemented for '(Long|Int|Bool)'|same dtype|expected scalar type Float|floating.?point|"
                 r"must have the same dtype|Long and Float|Bool and Float|integral type", message):
        yield from _each(specs, lambda one: standard(max(2, len(one.sizes)), 512), IDS)
    if "integer and Boolean" in message:
        yield from _each(specs, lambda one: Spec(BOOLS, one.sizes), FLOATS)
    if re.search(r"same (size|shape|dim)|differing shape|as the input", message):
        yield tuple(specs[0] if one.is_tensor else one for one in specs)
    yield from _ranks(specs, message)
    yield from _sizes(specs, message)
    if re.search(r"not (iterable|subscriptable)|cannot unpack|must be (a )?(tuple|list)|tuple of|list of|len\(\)", message):
        yield from _each(specs, lambda one: Spec(LIST, parts=(one, one)), FLOATS)
    if "'list'" in message or "list object" in message:
        yield from _each(specs, lambda one: one.parts[0], LIST)
    if re.search(r"NoneType|'(int|float)' object has no attribute|but got (int|float)", message):
        yield from _each(specs, lambda one: standard(3, 512), TEXT)
    for text in re.findall(r"shape '\[(\d+(?:, \d+)+)\]' is invalid", message):
        sizes = [int(size) for size in text.split(", ")]
        for one, other in itertools.pairwise(sizes):  # a picture's rows and columns as one axis of a sequence
            yield from _replaced(specs, LENGTH, one * other)
    if re.search(r"invalid for input of size|divisible|divide|multiple of|perfect|evenly|not compatible", message):
        for length in (196, 197, 49, 64, 1024):
            yield from _replaced(specs, LENGTH, length)
        for side in (56, 28, 14, 7, 16, 64, 224):
            yield from _replaced(specs, SIDE, side)


def _each(specs: Specs, change, kind: str) -> Iterator[Specs]:  # type: ignore[no-untyped-def]
    """Changes all specs of a kind, and then each alone."""
    places = [at for at, one in enumerate(specs) if one.kind == kind]
    if len(places) > 1:
        yield tuple(change(one) if one.kind == kind else one for one in specs)
    for place in places:
        yield tuple(change(one) if at == place else one for at, one in enumerate(specs))


def _ranks(specs: Specs, message: str) -> Iterator[Specs]:
    wanted = list(dict.fromkeys(int(digit) for pattern in _RANKS for found in re.findall(pattern, message)
                                for digit in (found if isinstance(found, tuple) else (found,))))
    if message.startswith("KeyError: ") or any(word in message for word in (
            "too many values", "not enough values", "size mismatch", "Dimension out of range", "permute", "dims")):
        wanted += [rank for rank in (4, 3, 2, 5) if rank not in wanted]
    for rank in wanted:
        if 1 <= rank <= 6:
            yield from _each(specs, lambda one, rank=rank: of_rank(one, rank), FLOATS)
            if rank == 4:  # channels last
                yield from _each(specs, _channels_last, FLOATS)
            if rank <= 2:
                yield from _each(specs, lambda one, rank=rank: one.resized((BATCH, LENGTH)[:rank]), IDS)


def _channels_last(one: Spec) -> Spec:
    return one.resized((BATCH, SIDE, SIDE, one.sizes[-1])) if len(one.sizes) in (2, 3) else one


def of_rank(one: Spec, rank: int) -> Spec:
    old = len(one.sizes)
    if old == rank:
        return one
    channels = one.sizes[-1] if old in (2, 3) else one.sizes[1] if old > 3 else 64
    return standard(rank, 64 if channels == 1 < old else channels)  # of a picture in grey a row is not one number


def _sizes(specs: Specs, message: str) -> Iterator[Specs]:
    """Replaces sizes that the error names, then sizes in which two of its shapes differ, then each number of
    the error by every other one."""
    for has, should in dict.fromkeys((*_said(message), *_different(message))):
        yield from _replaced(specs, has, should)
    numbers = list(dict.fromkeys(int(text) for text in _NUMBER.findall(message)))[:12]
    numbers = [number for number in numbers if 0 < number <= _MOST_SIZE]
    for has in numbers:
        for should in numbers:
            if has != should > 1:  # an axis of 1 fits everything
                yield from _replaced(specs, has, should)
    for has in numbers:  # a product of sizes was flattened
        for should in numbers:
            if has > should and has % should == 0:
                yield from _replaced(specs, LENGTH, max(1, LENGTH * should // has))


def _said(message: str) -> Iterator[tuple[int, int]]:
    for pattern, either in _SAID:
        found = re.search(pattern, message)
        if found:
            has, should = int(found["has"]), int(found["should"])
            yield has, should
            if either:
                yield should, has


def _different(message: str) -> Iterator[tuple[int, int]]:
    """The differing sizes of two shapes in an error. The shapes are aligned at the last size."""
    shapes = [[int(size) for size in text.split(", ")] for text in _SHAPE.findall(message)[:3]]
    for one, other in itertools.combinations(shapes, 2):
        for first, second in zip(reversed(one), reversed(other), strict=False):
            if first != second and 1 not in (first, second):
                yield first, second
                yield second, first


def _replaced(specs: Specs, has: int, should: int) -> Iterator[Specs]:
    """Replaces the size `has` by `should`: in all places but batches, then in one place at a time, from the last."""
    def everywhere(one: Spec) -> Spec:
        return one.resized(tuple(should if size == has and at else size for at, size in enumerate(one.sizes)))

    changed = tuple(everywhere(one) if one.is_tensor else one for one in specs)
    if changed != specs:
        yield changed
    for place, one in enumerate(specs):
        if one.is_tensor:
            for at in reversed(range(len(one.sizes))):
                if one.sizes[at] == has:
                    sizes = (*one.sizes[:at], should, *one.sizes[at + 1:])
                    yield (*specs[:place], one.resized(sizes), *specs[place + 1:])
