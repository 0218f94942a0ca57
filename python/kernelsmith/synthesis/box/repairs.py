"""Other inputs to try, from the words of an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .specs import BATCH, FLOATS, IDS, LENGTH, LIST, SIDE, TEXT, Spec, standard

_MOST_SIZE = 1 << 16
_RANKS = (
    r"expected (\d)D",
    r"(\d)D \(unbatched\) or (\d)D",
    r"(\d)-?D or (\d)-?D",
    r"expected (\d), got",
    r"unpack \(expected (\d)",
    r"expected (\d) dim",
    r"must be (\d)-?[dD]",
    r"Expected (\d)-dim",
    r"a (\d)-?[dD] (?:input|tensor)",
    r"dim\(\) == (\d)",
    r"with (\d) dim",
    r"[Ee]xpected (\d)D",
    r"number of dimensions.*?(\d)",
     r"expects? (\d)D")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")
Specs = tuple[Spec, ...]


def repairs(specs: Specs, message: str) -> Iterator[Specs]:
    """The likely ones first."""
    message = message[:2000]
    if any(first in message and second in message
           for first, second in (("indices", "Long"), ("LongTensor", ""), ("embedding", "Float"))):
        yield from _each(specs, lambda one: Spec(IDS, one.sizes[:2] if len(one.sizes) < 4 else (BATCH, LENGTH)), FLOATS)
    if re.search(
    r"not implemented for '(Long|Int|Bool)'|same dtype|expected scalar type Float|floating.?point|must have the same dtype|"
    r"Long and Float|Bool and Float|integral type",
     message):
        yield from _each(specs, lambda one: standard(max(2, len(one.sizes)), 512), IDS)
    yield from _ranks(specs, message)
    yield from _sizes(specs, message)
    if re.search(r"not (iterable|subscriptable)|cannot unpack|must be (a )?(tuple|list)|list of|len\(\)", message):
        yield from _each(specs, lambda one: Spec(LIST, parts=(one, one)), FLOATS)
    if "'list'" in message or "list object" in message:
        yield from _each(specs, lambda one: one.parts[0], LIST)
    if "NoneType" in message:
        yield from _each(specs, lambda one: standard(3, 512), TEXT)
    if re.search(r"invalid for input of size|divisible|divide|multiple of|perfect|evenly|not compatible", message):
        for length in (196, 197, 49, 64, 1024):
            yield from _replaced(specs, LENGTH, length)
        for side in (56, 28, 14, 7, 16, 64, 224):
            yield from _replaced(specs, SIDE, side)


def _each(specs: Specs, change, kind: str) -> Iterator[Specs]:  # type: ignore[no-untyped-def]
    """All specs of a kind changed; then each alone."""
    places = [at for at, one in enumerate(specs) if one.kind == kind]
    if len(places) > 1:
        yield tuple(change(one) if one.kind == kind else one for one in specs)
    for place in places:
        yield tuple(change(one) if at == place else one for at, one in enumerate(specs))


def _ranks(specs: Specs, message: str) -> Iterator[Specs]:
    wanted = list(dict.fromkeys(int(digit) for pattern in _RANKS for found in re.findall(pattern, message)
                                for digit in (found if isinstance(found, tuple) else (found,))))
    if "too many values" in message or "not enough values" in message or "size mismatch" in message or \
            "Dimension out of range" in message or message.startswith("KeyError: "
                "") or "permute" in message or "dims" in message:
        wanted += [rank for rank in (4, 3, 2, 5) if rank not in wanted]
    for rank in wanted:
        if 1 <= rank <= 6:
            yield from _each(specs, lambda one, rank=rank: _of_rank(one, rank), FLOATS)
            if rank == 4:  # channels last
                yield from _each(specs, lambda one: one.resized((BATCH, SIDE, SIDE,
                    one.sizes[-1])) if len(one.sizes) in (2, 3) else one,
                                 FLOATS)
            if rank <= 2:
                yield from _each(specs, lambda one, rank=rank: one.resized((BATCH, LENGTH)[:rank]), IDS)


def _of_rank(one: Spec, rank: int) -> Spec:
    old = len(one.sizes)
    if old == rank:
        return one
    channels = one.sizes[-1] if old in (2, 3) else one.sizes[1] if old > 3 else 64
    return standard(rank, channels)


def _sizes(specs: Specs, message: str) -> Iterator[Specs]:
    """One number of the message is the size that a tensor has, another the one that it should have."""
    numbers = list(dict.fromkeys(int(text) for text in _NUMBER.findall(message)))[:12]
    numbers = [number for number in numbers if 0 < number <= _MOST_SIZE]
    for has in numbers:
        for should in numbers:
            if has != should:
                yield from _replaced(specs, has, should)
    for has in numbers:  # a product of sizes was flattened
        for should in numbers:
            if has > should and has % should == 0:
                yield from _replaced(specs, LENGTH, max(1, LENGTH * should // has))


def _replaced(specs: Specs, has: int, should: int) -> Iterator[Specs]:
    """All such sizes, but a batch; then one at a time, from the last."""
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
