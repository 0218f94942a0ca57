"""Compares outputs with the expected ones on the device, in pieces of bounded memory. Pure functions."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from . import judge, singles
from .accelerator import hash_of, pieces
from .judge import Found
from .timing import poison_of
from .truth import Expected, flattened

_LARGEST = 1e300  # JSON has no infinity
_KINDS = ("wrong", "not_finite", "not_written")  # the worst last

Moved = Callable[[int, int, bool], "list[torch.Tensor] | None"]
"""The reference's outputs for moved inputs, by call and run; in fp64 if the last argument is true."""


@dataclass
class Findings:
    """The findings in a batch. `error` is the worst error divided by the allowed error."""

    error: float
    digest: str
    wrong: dict[str, Any] | None


def compare_batch(expected: Sequence[Sequence[Expected]], actual: Sequence[Sequence[torch.Tensor]],
                  moved: Moved = lambda call, run, wide: None) -> Findings:
    """Compares every output of every call."""
    shapes = compare_shapes(expected, actual)
    if shapes.wrong is not None:
        return shapes
    rows, places = [], []
    for call, (wanted, outputs) in enumerate(zip(expected, actual)):
        for tensor, (one, output) in enumerate(zip(wanted, outputs)):
            for rule in (one, one.capped()):
                if rule is not None and output.numel():
                    rows.append(look(rule, output))
                    places.append((call, tensor, rule))
    error, wrong = 0.0, None
    for (call, tensor, rule), waves in zip(places, _on_host(rows)):
        judged = _judged(rule, actual[call][tensor], judge.joined(waves), _tensor_of(moved, call, tensor))
        error = max(error, min(judged.error, _LARGEST))
        if judged.kind is not None and wrong is None:
            wrong = _describe(rule, actual[call][tensor], call, tensor, judged)
    return Findings(error, shapes.digest, wrong)


def compare_shapes(expected: Sequence[Sequence[Expected | torch.Tensor]], actual: Sequence[Sequence[torch.Tensor]]) -> Findings:
    """Compares numbers, shapes and types of the outputs only."""
    hashes = []
    for call, (wanted, outputs) in enumerate(zip(expected, actual)):
        if len(wanted) != len(outputs):
            return _misshapen(call, 0, [len(outputs)], [len(wanted)])
        for tensor, (one, output) in enumerate(zip(wanted, outputs)):
            if tuple(one.shape) != tuple(output.shape) or one.dtype != output.dtype:
                return _misshapen(call, tensor, [str(output.dtype), list(output.shape)], [str(one.dtype), list(one.shape)])
            hashes.append(hash_of(output))
    numbers = torch.stack(hashes).tolist() if hashes else []
    return Findings(0.0, hashlib.sha256(",".join(map(str, numbers)).encode()).hexdigest(), None)


def refused(call: int, problem: str, digest: str) -> Findings:
    """The outputs of a call are not what a reference's own check accepts."""
    return Findings(_LARGEST, digest, {"call": call, "tensor": 0, "index": [], "count": 0, "kind": "check", "problem": problem,
                                       "actual": 0, "expected": 0, "allowed": 0, "worst": _LARGEST})


@dataclass
class _Judged:
    """The verdict on one output. `worst` is the error at `index`, divided by `allowed`."""

    error: float
    kind: str | None = None
    count: int = 0
    index: int = 0
    worst: float = 0.0
    allowed: float | None = None


def _judged(one: Expected, output: torch.Tensor, found: Found, moved: singles.Moved) -> _Judged:
    off = one.off(found.squares) if one.blocks is not None else 0.0
    alone = found.counts[0] and not found.counts[1] + found.counts[2]
    if one.by_budget and alone and off <= 1:
        single = singles.judged(one, output, found.counts[0], moved)
        if single is not None:
            error = max(off, found.worst_within, single.worst)
            return _Judged(error, "wrong" if single.count else None, single.count, single.index, single.worst, single.allowed)
    worst_at = max(found.worst_at, 0)
    counts = [found.counts[0] if found.counts[0] > one.may_differ else 0, *found.counts[1:]]
    error = max(found.worst if any(counts) else found.worst_within, off) if one.per_element else off
    for fault in (2, 1, 0):
        if counts[fault]:
            index = worst_at if fault == 0 else found.firsts[fault]
            return _Judged(max(error, found.worst), _KINDS[fault], found.counts[fault], index, found.worst)
    if not off <= 1:
        return _Judged(error, "wrong", flattened(output).numel(), worst_at, off)
    return _Judged(error)


def _on_host(rows: list[torch.Tensor]) -> list[torch.Tensor]:
    """The findings, copied together: each copy waits for the device."""
    return list(torch.cat(rows).cpu().split([len(row) for row in rows])) if rows else []


def _tensor_of(moved: Moved, call: int, tensor: int) -> singles.Moved:
    def find(run: int, wide: bool) -> torch.Tensor | None:
        outputs = moved(call, run, wide)
        return None if outputs is None else outputs[tensor]

    return find


def look(one: Expected, output: torch.Tensor, indices: torch.Tensor | None = None) -> torch.Tensor:
    """The findings of each wave. `indices` takes the number of wrong elements and, after it, as many of their indices as it has
    room for."""
    actual = flattened(output)
    device, poison = actual.device, _poison(actual)
    if one.blocks is None:
        assert one.own is not None
        parts_of_work = judge.parts_of(actual.numel())
        found = judge.room_for_findings(device, parts_of_work)
        judge.run("look_bits", str(actual.element_size()), device, parts_of_work, actual, one.truth.to(device), one.own, actual.numel(), poison, found)
        return found
    capacity = 0 if indices is None else indices.numel() - 1
    if one.truth.device == device:
        parts = iter([(slice(0, actual.numel()), one.truth)])
    else:
        parts = _brought(one.truth, device, one.row)
    rows = []
    for part, truth in parts:
        blocks = -(-(part.stop - part.start) // one.row)
        rows.append(judge.room_for_findings(device, blocks))
        judge.run("look", judge.name_of(actual.dtype), device, blocks, actual[part], truth, one.blocks[part.start // one.row:],
                  part.stop - part.start, one.row, one.on_value, one.either, one.per_element, poison, part.start, rows[-1], indices, capacity)
    return torch.cat(rows)


def _brought(truth: torch.Tensor, device: torch.device, row: int) -> Iterator[tuple[slice, torch.Tensor]]:
    """Slices of a truth on the host, on the device. The next one is copied while this one is compared."""
    here, there = torch.cuda.current_stream(device), torch.cuda.Stream(device)
    places: list[tuple[torch.Tensor, Any]] = []
    for number, part in enumerate(pieces(truth.numel(), row)):
        if len(places) < 2:
            places.append((torch.empty(part.stop - part.start, dtype=truth.dtype, device=device), torch.cuda.Event()))
            there.wait_stream(here)  # the place may be in use until then
        place, read = places[number % 2]
        target = place[:part.stop - part.start]
        with torch.cuda.stream(there):
            read.wait(there)
            target.copy_(truth[part], non_blocking=True)
        here.wait_stream(there)
        yield part, target
        read.record(here)


def _describe(one: Expected, output: torch.Tensor, call: int, tensor: int, judged: _Judged) -> dict[str, Any]:
    allowed = judged.allowed
    if allowed is None:
        at = torch.tensor([judged.index], device=one.truth.device)
        allowed = float(one.allowed(at)) if one.blocks is not None else 0.0
    element = judged.index // 2 if one.dtype.is_complex else judged.index
    place = []
    for n in reversed(one.shape):
        place.append(element % n)
        element //= n
    return {"call": call, "tensor": tensor, "index": place[::-1], "count": judged.count, "kind": judged.kind,
            "actual": told(flattened(output)[judged.index].item()), "expected": told(one.truth[judged.index].item()),
            "allowed": told(allowed), "worst": min(judged.worst, _LARGEST)}


def told(value: float | int | bool) -> float | int | dict[str, str]:
    """Converts a number for JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return int(value) if isinstance(value, bool) else value


def _misshapen(call: int, tensor: int, actual: list[Any], expected: list[Any]) -> Findings:
    return Findings(_LARGEST, "", {"call": call, "tensor": tensor, "index": [], "count": 0, "kind": "shape",
                                   "actual": actual, "expected": expected, "allowed": 0, "worst": _LARGEST})


def _poison(flat: torch.Tensor) -> int:
    return int.from_bytes(bytes([poison_of(flat.dtype)] * 8), sys.byteorder)
