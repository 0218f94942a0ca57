"""Kernels for the work on every output of every call, with one pass over memory; PyTorch's operators need twenty.
accelerator.py and compare.py define the results and compute them with PyTorch's operators if these kernels are
unavailable: on the CPU and without Triton. Trusted code.
"""

from __future__ import annotations

import functools

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # PyTorch without Triton
    triton = None

MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""SplitMix64's constants: the step from place to place, and two factors. All are odd, so that they lose
nothing modulo 2^64."""

_BLOCK = 1024
_ROUNDS = 8  # blocks of a program
_FEWEST = 1 << 16  # elements: below this a launch of this kind takes longer than PyTorch's own


def usable(tensor: torch.Tensor) -> bool:
    """Whether the functions below support tensors like this one."""
    return triton is not None and tensor.is_cuda and tensor.numel() >= _FEWEST


def weighted_sum(words: torch.Tensor, key: int) -> torch.Tensor:
    """accelerator.hash_of() of words of 32 bits, or bytes."""
    programs = triton.cdiv(words.numel(), _BLOCK * _ROUNDS)
    parts = torch.empty(programs, dtype=torch.int64, device=words.device)
    _weighted_sum[(programs,)](words, parts, words.numel(), key, *MIX, _BLOCK, _ROUNDS)
    return parts.sum()


def rounding(truth: torch.Tensor, own: torch.Tensor, low: torch.Tensor | None, figures: tuple[float, ...],
             allowed: torch.Tensor) -> torch.Tensor:
    """truth.py's tolerances for an output `own` and its truth: of each element, written to `allowed`, and of each 1024.
    `low` is the answer in the declared precision, if that is another one. `figures`: own_errors, 4 g u, g u, step, tiny."""
    blocks = triton.cdiv(truth.numel(), _BLOCK)
    scale = torch.empty(blocks, dtype=torch.float64, device=truth.device)
    _rounding[(blocks,)](truth, own, own if low is None else low, allowed, scale, _numbers(figures, truth.device),
                         truth.numel(), low is not None, _BLOCK, num_warps=8)
    return scale


@functools.lru_cache(maxsize=64)
def _numbers(figures: tuple[float, ...], device: torch.device) -> torch.Tensor:
    """On the device, because Triton passes floats in 32 bits. Kept, because making it waits for the device."""
    return torch.tensor(figures, dtype=torch.float64, device=device)


def look(actual: torch.Tensor, bits: torch.Tensor, truth: torch.Tensor, allowed: torch.Tensor,
         scale: torch.Tensor | None, poison: int, per_element: bool, largest: float, none: int) -> torch.Tensor:
    """compare.py's row for a flat tensor of reals: worst ratio and where, the sum of squares of error over scale (one for
    each 1024 elements), then count and first index of wrong, not finite and not written elements; `none` is no index."""
    programs = triton.cdiv(actual.numel(), _BLOCK * _ROUNDS)
    cells = torch.empty((9, programs), dtype=torch.float64, device=actual.device)
    _look[(programs,)](actual, bits, truth, allowed, allowed if scale is None else scale, cells, actual.numel(), programs,
                       poison, largest, float(none), per_element, scale is not None, _BLOCK, _ROUNDS, num_warps=8)
    worst, at = cells[0].max(0)
    squares, counts, firsts = cells[2].sum(), cells[3::2].sum(1), cells[4::2].amin(1)
    return torch.stack([worst, cells[1][at], squares, counts[0], firsts[0], counts[1], firsts[1], counts[2], firsts[2]])


if triton is not None:

    @triton.jit
    def _weighted_sum(words, parts, n, key, STEP: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr,
                      BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
        program = tl.program_id(0).to(tl.int64)
        total = tl.zeros((BLOCK,), tl.uint64)
        for step in range(ROUNDS):
            at = (program * ROUNDS + step) * BLOCK + tl.arange(0, BLOCK)
            word = tl.load(words + at, mask=at < n, other=0).to(tl.int64).to(tl.uint64)
            weight = at.to(tl.uint64) * STEP + key.to(tl.uint64)
            weight = (weight ^ (weight >> 30)) * FIRST
            weight = (weight ^ (weight >> 27)) * SECOND
            total += word * (weight ^ (weight >> 31))
        tl.store(parts + program, tl.sum(total, 0).to(tl.int64))

    @triton.jit
    def _rounding(truth, own, low, allowed, scale, numbers, n, HAS_LOW: tl.constexpr, BLOCK: tl.constexpr):
        block = tl.program_id(0).to(tl.int64)
        at = block * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        infinity = float("inf")
        own_errors, four_gu, gu = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
        step, tiny = tl.load(numbers + 3), tl.load(numbers + 4)
        t = tl.load(truth + at, mask=inside, other=0)
        r = tl.load(own + at, mask=inside, other=0).to(tl.float64)
        error = tl.abs(r - t)
        judged = error < infinity
        if HAS_LOW:
            other = tl.abs(tl.load(low + at, mask=inside, other=0).to(tl.float64) - t)
            judged = judged & (other < infinity)
            error = tl.maximum(error, other)
        true_is_finite, own_is_finite = tl.abs(t) < infinity, tl.abs(r) < infinity
        error = tl.where(judged, error, 0.0)
        magnitude = tl.where(true_is_finite & own_is_finite, tl.abs(t), 0.0)
        count = tl.minimum(n - block * BLOCK, BLOCK).to(tl.float64)
        error_rms = tl.sqrt(tl.sum(error * error, 0) / count)
        truth_rms = tl.sqrt(tl.sum(magnitude * magnitude, 0) / count)
        most = own_errors * tl.maximum(error, error_rms) + four_gu * tl.maximum(magnitude, truth_rms)
        most += step * magnitude + tiny
        most = tl.where(true_is_finite == own_is_finite, most, infinity)
        tl.store(allowed + at, most.to(tl.float32), mask=inside)
        tl.store(scale + block, 4 * error_rms + gu * truth_rms + step / 2 * truth_rms + tiny)

    @triton.jit
    def _look(actual, bits, truth, allowed, scale, cells, n, programs, poison, largest: tl.constexpr, none: tl.constexpr,
              PER_ELEMENT: tl.constexpr, HAS_SCALE: tl.constexpr, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
        program = tl.program_id(0).to(tl.int64)
        infinity = float("inf")
        worst = tl.full((BLOCK,), -1.0, tl.float64)
        worst_at = tl.zeros((BLOCK,), tl.float64)
        squares = tl.zeros((BLOCK,), tl.float64)
        wrong = tl.zeros((BLOCK,), tl.int32)
        broken = tl.zeros((BLOCK,), tl.int32)
        unwritten = tl.zeros((BLOCK,), tl.int32)
        first_wrong = tl.zeros((BLOCK,), tl.float64) + none
        first_broken = tl.zeros((BLOCK,), tl.float64) + none
        first_unwritten = tl.zeros((BLOCK,), tl.float64) + none
        for step in range(ROUNDS):
            at = (program * ROUNDS + step) * BLOCK + tl.arange(0, BLOCK)
            inside = at < n
            place = at.to(tl.float64)
            c = tl.load(actual + at, mask=inside, other=0).to(tl.float64)
            t = tl.load(truth + at, mask=inside, other=0).to(tl.float64)
            most = tl.load(allowed + at, mask=inside, other=1).to(tl.float64)
            same = (c == t) | ((c != c) & (t != t)) | (most == infinity) | (at >= n)
            true_is_finite = tl.abs(t) < infinity
            both = (tl.abs(c) < infinity) & true_is_finite
            error = tl.where(same | (both == 0), 0.0, tl.abs(c - t))
            ratio = tl.where(same, 0.0, tl.where(both, error / most, largest))
            lost = (same == 0) & (both == 0)
            if PER_ELEMENT:
                bad = ratio > 1
            else:
                bad = lost
                ratio = tl.where(bad, ratio, 0.0)
            if HAS_SCALE:
                block = tl.load(scale + at // 1024, mask=inside, other=1).to(tl.float64)
                squares += (error / block) * (error / block)
            poisoned = bad & (tl.load(bits + at, mask=inside, other=0) == poison)
            not_finite = lost & true_is_finite & (poisoned == 0)
            plain = bad & (poisoned == 0) & (not_finite == 0)
            better = inside & (ratio > worst)
            worst_at = tl.where(better, place, worst_at)
            worst = tl.where(better, ratio, worst)
            wrong += plain.to(tl.int32)
            broken += not_finite.to(tl.int32)
            unwritten += poisoned.to(tl.int32)
            first_wrong = tl.minimum(first_wrong, tl.where(plain, place, none))
            first_broken = tl.minimum(first_broken, tl.where(not_finite, place, none))
            first_unwritten = tl.minimum(first_unwritten, tl.where(poisoned, place, none))
        highest = tl.max(worst, 0)
        tl.store(cells + program, highest)
        tl.store(cells + programs + program, tl.min(tl.where(worst == highest, worst_at, none), 0))
        tl.store(cells + 2 * programs + program, tl.sum(squares, 0))
        tl.store(cells + 3 * programs + program, tl.sum(wrong, 0).to(tl.float64))
        tl.store(cells + 4 * programs + program, tl.min(first_wrong, 0))
        tl.store(cells + 5 * programs + program, tl.sum(broken, 0).to(tl.float64))
        tl.store(cells + 6 * programs + program, tl.min(first_broken, 0))
        tl.store(cells + 7 * programs + program, tl.sum(unwritten, 0).to(tl.float64))
        tl.store(cells + 8 * programs + program, tl.min(first_unwritten, 0))
