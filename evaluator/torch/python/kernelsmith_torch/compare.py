"""Compares outputs with the expected ones on the device, in pieces of bounded memory. Pure functions."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from . import fused, singles
from .accelerator import hash_of, pieces
from .timing import poison_of
from .truth import BLOCK, Expected, flattened

_LARGEST = 1e300  # JSON has no infinity
_NONE = 2**53
_KINDS = ("wrong", "not_finite", "not_written")  # the worst last


@dataclass
class Findings:
    """The findings in a batch. `error` is the worst error divided by the allowed error."""

    error: float
    digest: str
    wrong: dict[str, Any] | None


def compare_batch(expected: Sequence[Sequence[Expected]], actual: Sequence[Sequence[torch.Tensor]],
                  moved: Callable[[int, int], list[torch.Tensor] | None] = lambda call, run: None) -> Findings:
    """Compares every output of every call. `moved` gives the reference's outputs for moved inputs, by call and run."""
    rows, hashes, places = [], [], []
    for call, (wanted, outputs) in enumerate(zip(expected, actual)):
        if len(wanted) != len(outputs):
            return _misshapen(call, 0, [len(outputs)], [len(wanted)])
        for tensor, (one, output) in enumerate(zip(wanted, outputs)):
            if one.shape != tuple(output.shape) or one.dtype != output.dtype:
                return _misshapen(call, tensor, [str(output.dtype), list(output.shape)], [str(one.dtype), list(one.shape)])
            hashes.append(hash_of(output))
            if output.numel():
                rows.append(_look(one, output))
                places.append((call, tensor))
    numbers = torch.stack(hashes).tolist() if hashes else []
    digest = hashlib.sha256(",".join(map(str, numbers)).encode()).hexdigest()
    error, wrong = 0.0, None
    for (call, tensor), row in zip(places, torch.stack(rows).tolist() if rows else []):
        one, output = expected[call][tensor], actual[call][tensor]
        elements = one.truth.numel()
        limit = 1 + 4 / math.sqrt(elements)
        if one.scale is not None and one.per_element and row[3] and not row[5] + row[7] and _off(row, elements) <= limit:
            more = singles.granting(one, output, _tensor_of(moved, call, tensor))
            if more is not None:
                one, row = more, _look(more, output).tolist()
        worst, worst_at = row[0], int(row[1])
        off = _off(row, elements) / limit if one.scale is not None else 0.0
        error = max(error, min(max(worst, off), _LARGEST))
        kind, count, index = None, 0, 0
        for name, number, first in zip(_KINDS, row[3::2], row[4::2]):
            if number:
                kind, count, index = name, int(number), worst_at if name == "wrong" else int(first)
        if kind is None and not off <= 1:
            kind, count, index = "wrong", elements, worst_at
            worst = off
        if kind is not None and wrong is None:
            wrong = _describe(one, output, call, tensor, kind, count, index, min(worst, _LARGEST))
    return Findings(error, digest, wrong)


def _off(row: list[float], elements: int) -> float:
    """The RMS of an output's error, as a fraction of the allowed one."""
    return math.sqrt(max(row[2], 0.0) / elements)


def _tensor_of(moved: Callable[[int, int], list[torch.Tensor] | None], call: int, tensor: int) -> singles.Moved:
    def find(run: int) -> torch.Tensor | None:
        outputs = moved(call, run)
        return None if outputs is None else outputs[tensor]

    return find


def _look(one: Expected, output: torch.Tensor) -> torch.Tensor:
    """[worst ratio, its index, sum of squares of error / scale, then count and first index of each kind]."""
    flat = flattened(output)
    poison = _poison_bits(flat)
    if one.allowed is not None and fused.usable(flat) and one.truth.device == flat.device:
        return _look_fused(one, flat, poison, slice(0, flat.numel()))
    row: torch.Tensor | None = None
    for part in pieces(flat.numel()):
        found = _look_at(one, flat[part], poison, part)
        row = found if row is None else _joined(row, found)
    assert row is not None
    return row


def _look_fused(one: Expected, actual: torch.Tensor, poison: int, part: slice) -> torch.Tensor:
    """`part` begins with a BLOCK."""
    t, allowed = (tensor[part].to(actual.device, non_blocking=True) for tensor in (one.truth, one.allowed))
    scale = None if one.scale is None else one.scale[part.start // BLOCK:]
    row = fused.look(actual, _bits(actual), t, allowed, scale, poison, one.per_element, _LARGEST, _NONE)
    if part.start:  # indices are those of the whole
        row[1] += part.start
        row[4::2] = torch.where(row[4::2] < _NONE, row[4::2] + part.start, row[4::2])
    return row


def _look_at(one: Expected, actual: torch.Tensor, poison: int, part: slice) -> torch.Tensor:
    if one.allowed is not None and fused.usable(actual):
        return _look_fused(one, actual, poison, part)
    if one.allowed is None:
        assert one.own is not None
        bits, t, r = _bits(actual), _bits(one.truth[part]), _bits(one.own[part])
        bad = (bits != t) & (bits != r)
        ratio = torch.where(bad, (bits.double() - t.double()).abs() + 1, 0.0)
        broken = torch.zeros_like(bad)
        squares = torch.zeros((), dtype=torch.float64, device=actual.device)
    else:
        here = actual.device  # the truth may be on the host
        c, t, allowed = actual.double(), one.truth[part].to(here).double(), one.allowed[part].to(here).double()
        judged = ~allowed.isinf()
        same = (c == t) | (c.isnan() & t.isnan()) | ~judged
        both = c.isfinite() & t.isfinite()
        error = torch.where(same | ~both, 0.0, (c - t).abs())
        ratio = torch.where(same, 0.0, torch.where(both, error / allowed, _LARGEST))
        broken = ~same & ~both & t.isfinite()
        bad = ratio > 1 if one.per_element else ~same & ~both
        if not one.per_element:
            ratio = torch.where(bad, ratio, 0.0)
        squares = torch.zeros((), dtype=torch.float64, device=actual.device)
        if one.scale is not None:
            blocks = torch.arange(part.start, part.stop, device=actual.device) // BLOCK
            squares = (error / one.scale[blocks]).square().sum()
    unwritten = bad & (_bits(actual) == poison)
    broken = broken & ~unwritten
    plain = bad & ~unwritten & ~broken
    worst, at = ratio.max(0)
    cells = [worst, at.double() + part.start, squares]
    for mask in (plain, broken, unwritten):
        count = mask.sum()
        cells += [count.double(), torch.where(count > 0, mask.int().argmax().double() + part.start, float(_NONE))]
    return torch.stack(cells)


def _joined(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    higher = torch.where(b[0] > a[0], b, a)
    first = torch.minimum(a, b)
    total = a + b
    return torch.stack([higher[0], higher[1], total[2], total[3], first[4], total[5], first[6], total[7], first[8]])


def _describe(one: Expected, output: torch.Tensor, call: int, tensor: int, kind: str, count: int, index: int,
              worst: float) -> dict[str, Any]:
    allowed = 0.0
    if one.allowed is not None:
        allowed = float(one.allowed[index] if one.per_element or one.scale is None else one.scale[index // BLOCK])
    element = index // 2 if one.dtype.is_complex else index
    place = []
    for n in reversed(one.shape):
        place.append(element % n)
        element //= n
    return {"call": call, "tensor": tensor, "index": place[::-1], "count": count, "kind": kind,
            "actual": told(flattened(output)[index].item()), "expected": told(one.truth[index].item()),
            "allowed": told(allowed), "worst": worst}


def told(value: float | int | bool) -> float | int | dict[str, str]:
    """Converts a number for JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return int(value) if isinstance(value, bool) else value


def _misshapen(call: int, tensor: int, actual: list[Any], expected: list[Any]) -> Findings:
    return Findings(_LARGEST, "", {"call": call, "tensor": tensor, "index": [], "count": 0, "kind": "shape",
                                   "actual": actual, "expected": expected, "allowed": 0, "worst": _LARGEST})


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _bits(flat: torch.Tensor) -> torch.Tensor:
    return flat.view(_INTEGERS[flat.element_size()])


def _poison_bits(flat: torch.Tensor) -> int:
    size = flat.element_size()
    return int.from_bytes(bytes([poison_of(flat.dtype)] * size), sys.byteorder, signed=size > 1)
