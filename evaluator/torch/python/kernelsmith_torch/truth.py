"""The expected outputs: the truth in fp64 and the tolerance. For torch, docs/tolerance.md's rule is:

    each element:   |c - t| <= k max(e, E) + 4 g u max(|t|, T) + s |t| + tiny
    over an output: RMS of |c - t| / (4 E + g u T + s T / 2 + tiny) <= 1 + 4 / sqrt(elements)

t is the truth (the reference with fp64 parameters and inputs), e = |r - t| the reference's own error, E and T the
RMS of e and t over 1024 elements in a row, u the unit roundoff of fp32 (or fp64), s a rounding step of the
coarsest of the output's dtype and the declared precision, k 16, or 2 for outputs in 16 bits. g = max(16, 2
sqrt(n)) for sums of n terms (at most 16384). So no candidate has to be more accurate than the reference, and one
that rounds its inputs to TF32 is detected. Single elements get a second check (singles.py).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import torch

from . import fused
from .accelerator import full_precision, pieces
from .layout import change, write
from .model_source import Inputs, Reference, is_memory, run_model

BLOCK = 1024
_FEW = 64  # an output with fewer elements is too small to estimate the reference's error
_FEW_SEEDS = (11, 12, 13, 14)
_MOST_TERMS = 16_384  # 2 sqrt(n) units are still far from TF32's 2^13
_STEP = {"fp32": 0.0, "tf32": 2.0**-10, "bf16": 2.0**-7, "fp16": 2.0**-10}
_CAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Tolerance:
    policy: str = "default"  # default, allclose, normwise
    rtol: float = 0.0
    atol: float = 0.0


@dataclass
class Expected:
    """One output of one set of inputs, flat. Complex numbers are pairs."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    truth: torch.Tensor  # float64; float32 for outputs in 16 bits; the values of integers
    allowed: torch.Tensor | None = None  # for reals: an element's allowed error; infinite if any is allowed
    scale: torch.Tensor | None = None  # for reals: the error's allowed RMS in each block; None if any is allowed
    own: torch.Tensor | None = None  # for integers: the reference's own output, which is also right
    per_element: bool = True

    def bytes(self) -> int:
        parts = (self.truth, self.allowed, self.scale, self.own)
        return sum(part.numel() * part.element_size() for part in parts if part is not None)


class Truth:
    """Expected outputs for a reference, kept within `bank_bytes` of memory. Not thread-safe."""

    def __init__(self, reference: Reference, precision: str, tolerance: Tolerance, bank_bytes: int) -> None:
        self._reference, self._precision, self._tolerance = reference, precision, tolerance
        self._model = reference.model()
        self._wide = self._make_wide()
        self._low = self._make_low()
        self._bank: OrderedDict[tuple[int, int], list[Expected]] = OrderedDict()
        self._bank_bytes, self._held = bank_bytes, 0
        self.on_host = False
        """Whether truths lie in the host's pinned memory, instead of on the device."""
        self._few: dict[int, list[tuple[float, float]]] = {}
        self.notes: list[str] = []
        sources = [*reference.draw(0, _FEW_SEEDS[0]).tensors(), *self._model.state_dict().values()]
        self._dimensions = [tuple(t.shape) for t in sources if t.is_floating_point()]

    def expected(self, variant: int, seed: int) -> list[Expected]:
        """The outputs for a set of inputs. Passes on exceptions of the reference."""
        key = (variant, seed)
        if key in self._bank:
            self._bank.move_to_end(key)
            return self._bank[key]
        found = self._find(variant, seed)
        size = sum(one.bytes() for one in found)
        if size <= self._bank_bytes:
            self._bank[key] = found
            self._held += size
            while self._held > self._bank_bytes:
                self._held -= sum(one.bytes() for one in self._bank.popitem(last=False)[1])
        return found

    def forget(self) -> None:
        """Drops everything that can be computed again."""
        self._bank.clear()
        self._held = 0

    def answers(self, variant: int, seed: int) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        """Outputs of the reference, in fp64, and in the declared precision (the same as the first if that is
        fp32 or TF32)."""
        plain = run_model(self._model, self._reference.draw(variant, seed))
        wide = self._answer_wide(variant, seed, plain)
        low = plain
        if self._low is not None:
            inputs = self._reference.draw(variant, seed)
            change(inputs.leaves, lambda flat: _cast(flat, _CAST[self._precision]))
            low = run_model(self._low, inputs)
        return plain, wide, low

    def moved(self, variant: int, seed: int, run: int) -> list[torch.Tensor] | None:
        """Outputs of the reference on inputs and parameters that are moved by up to half a unit in the last
        place, differently in each run; None if the reference refuses them."""
        random = torch.Generator(self._reference.device).manual_seed((seed + run + 1) % 2**63)
        inputs = self._reference.draw(variant, seed)
        try:
            with torch.no_grad():
                change(inputs.leaves, lambda flat: _moved(flat, random))
                for parameter in [*self._model.parameters(), *self._model.buffers()]:
                    write(parameter, _moved(parameter, random))
            return run_model(self._model, inputs)
        except Exception as error:  # noqa: BLE001 - a reference may refuse inputs in any way
            if is_memory(error):
                raise
            return None
        finally:
            self._reference.restore(self._model)

    def _find(self, variant: int, seed: int) -> list[Expected]:
        plain, wide, low = self.answers(variant, seed)
        found: list[Expected] = []
        while wide:  # one output after the other; only the truth of each is kept
            t, r, p = wide.pop(0), plain[len(found)], low[len(found)]
            one = Expected(tuple(r.shape), r.dtype, _alone(flattened(t)))
            if not _real(r):
                one.truth, one.own = _alone(flattened(t.to(r.dtype))), _alone(flattened(r))
            else:
                del t
                own = flattened(r)
                self._budget(one, own, own if p is r else flattened(p), self._terms(r), variant, len(found))
            plain[len(found)] = low[len(found)] = None
            found.append(one)
        return found

    def _budget(self, one: Expected, r: torch.Tensor, p: torch.Tensor, terms: int, variant: int, index: int) -> None:
        """Works in pieces, because intermediates take ten times the truth's memory."""
        allclose = self._tolerance.policy == "allclose"
        half = torch.finfo(one.dtype).bits == 16 and not allclose
        count = one.truth.numel()
        more = self._more(variant)[index] if count < _FEW and not allclose else (0.0, 0.0)
        truth = one.truth if not half and not self.on_host else self._place(one.truth, torch.float32 if half else torch.float64)
        one.allowed = self._place(one.truth, torch.float64 if allclose else torch.float32)
        scales = []
        for part in pieces(count):
            t = one.truth[part]
            if allclose:
                one.allowed[part] = self._figures(t, r[part])
            else:
                own = r[part]
                scales.append(self._rounding(one.dtype, t, own, own if p is r else p[part], terms, more, one.allowed[part]))
            if truth is not one.truth:
                truth[part] = t
        one.truth = truth
        if allclose:
            return
        one.scale = torch.cat(scales) if scales else torch.zeros(0, dtype=torch.float64, device=r.device)
        if self._tolerance.policy == "normwise":
            one.per_element = False
            one.scale = 4 * one.scale.square().mean().sqrt().expand_as(one.scale).contiguous()

    def _place(self, like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        if not self.on_host:
            return torch.empty_like(like, dtype=dtype)
        return torch.empty(like.shape, dtype=dtype, pin_memory=like.is_cuda)

    def _figures(self, t: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        """The tolerance of each element from the task's own numbers."""
        allowed = (self._tolerance.atol + self._tolerance.rtol * t.abs()).clamp_min(1e-300)
        allowed[r.isfinite() != t.isfinite()] = math.inf
        return allowed

    def _rounding(self, dtype: torch.dtype, t: torch.Tensor, r: torch.Tensor, p: torch.Tensor, terms: int,
                  more: tuple[float, float], place: torch.Tensor) -> torch.Tensor:
        """The tolerances for a part of an output that begins with a block: of each element, which are written to `place`,
        and of the error's RMS in each block."""
        info = torch.finfo(dtype)
        tiny = 2 * info.smallest_normal * info.eps if dtype == torch.float16 else 1024 * info.smallest_normal
        u = 2.0**-53 if dtype in (torch.float64, torch.complex128) else 2.0**-24
        gu = max(16.0, 2.0 * math.sqrt(terms)) * (1.0 if self._wide is not None else 4.0) * u
        step = max(info.eps, _STEP[self._precision])
        if fused.usable(t):
            allowed = place if place.device == t.device else torch.empty_like(place, device=t.device)
            scale = fused.rounding(t, r, None if p is r else p, (own_errors(dtype), 4 * gu, gu, step, tiny), allowed)
            if allowed is not place:
                place.copy_(allowed)
            return scale
        error = (r.double() - t).abs()
        if p is not r:
            error = torch.maximum(error, (p.double() - t).abs())
        finite = t.isfinite() & r.isfinite()
        error = torch.where(finite & error.isfinite(), error, 0.0)
        magnitude = torch.where(finite, t.abs(), 0.0)
        error_rms, truth_rms = _block_rms(error).clamp_min(more[0]), _block_rms(magnitude).clamp_min(more[1])
        allowed = own_errors(dtype) * torch.maximum(error, _of_each(error_rms, t.numel()))
        allowed += 4 * gu * torch.maximum(magnitude, _of_each(truth_rms, t.numel())) + step * magnitude + tiny
        allowed[t.isfinite() != r.isfinite()] = math.inf
        place.copy_(allowed)
        return 4 * error_rms + gu * truth_rms + step / 2 * truth_rms + tiny

    def _more(self, variant: int) -> list[tuple[float, float]]:
        """The largest RMS of the reference's error and of the truth on a few fixed seeds, for each output."""
        if variant not in self._few:
            found: list[tuple[float, float]] = []
            for seed in _FEW_SEEDS:
                plain, wide, low = self.answers(variant, seed)
                for index, (r, t, p) in enumerate(zip(plain, wide, low)):
                    if len(found) <= index:
                        found.append((0.0, 0.0))
                    if _real(r):
                        t = flattened(t)
                        errors = torch.stack([_rms(flattened(r).double() - t), _rms(flattened(p).double() - t),
                                              _rms(t)]).nan_to_num(0.0, 0.0, 0.0).tolist()
                        found[index] = (max(found[index][0], *errors[:2]), max(found[index][1], errors[2]))
            self._few[variant] = found
        return self._few[variant]

    def _terms(self, output: torch.Tensor) -> int:
        """The most terms that an output may sum: the product of a tensor's dimensions that the output lacks, or its
        longest dimension."""
        most = 1
        for shape in self._dimensions:
            left = list(output.shape)
            product = 1
            for n in shape:
                if n in left:
                    left.remove(n)
                else:
                    product *= n
            most = max(most, product, *shape, 1)
        return min(most, _MOST_TERMS)

    def _answer_wide(self, variant: int, seed: int, plain: list[torch.Tensor]) -> list[torch.Tensor]:
        if self._wide is None:
            return [_widened(t) for t in plain]
        inputs = self._reference.draw(variant, seed)
        try:
            wide = _run_wide(self._wide, inputs, self._precision)
            if [t.shape for t in wide] != [t.shape for t in plain]:
                raise TypeError("other shapes")
        except Exception as error:  # noqa: BLE001 - a reference may insist on its dtypes in any way
            if is_memory(error):
                raise
            self._wide = None
            self.notes.append(f"the reference does not run in fp64 ({type(error).__name__}: {str(error)[:200]}): its own "
                              "outputs are the truth")
            return [_widened(t) for t in plain]
        return [_widened(t) for t in wide]

    def _make_wide(self) -> Any:
        return self._reference.model().double()

    def _make_low(self) -> Any:
        return self._reference.model().to(_CAST[self._precision]) if self._precision in _CAST else None


def own_errors(dtype: torch.dtype) -> int:
    """k: the tolerance of an element, in units of the reference's own error."""
    return 2 if torch.finfo(dtype).bits == 16 else 16


def _moved(tensor: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Moves values as if they were rounded once more, up or down. Integers are kept, because they may be indices,
    counts or masks."""
    if tensor.dtype not in (torch.float32, torch.float64):
        return tensor
    half = torch.finfo(tensor.dtype).eps / 2
    found = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    flat, target = tensor.reshape(-1), found.view(-1)
    for part in pieces(flat.numel()):
        x = flat[part]
        change = x * torch.empty_like(x).uniform_(-half, half, generator=random)
        target[part] = torch.where(x.isfinite() & (x != x.round()), x + change, x)
    return found


def _run_wide(model: torch.nn.Module, inputs: Inputs, precision: str) -> list[torch.Tensor]:
    """Takes over the inputs and frees each one after casting it."""
    change(inputs.leaves, lambda flat: _cast(flat, torch.float64))
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # for tensors that forward() makes
    try:
        with full_precision(precision):
            return run_model(model, inputs)
    finally:
        torch.set_default_dtype(default)


def _cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def _alone(flat: torch.Tensor) -> torch.Tensor:
    """The tensor without the rest of its storage: a loss may share a storage with all the terms of its mean."""
    return flat.clone() if flat.untyped_storage().nbytes() > flat.nbytes else flat


def flattened(tensor: torch.Tensor) -> torch.Tensor:
    """The elements, contiguous, as the fused kernels require: reshape(-1) leaves a column or a diagonal strided."""
    flat = tensor.detach().reshape(-1).contiguous()
    return torch.view_as_real(flat.resolve_conj()).reshape(-1) if flat.is_complex() else flat


def _rms(values: torch.Tensor) -> torch.Tensor:
    return values.square().mean().sqrt()


def _of_each(blocks: torch.Tensor, count: int) -> torch.Tensor:
    """The value of its block for each of `count` elements."""
    return blocks.repeat_interleave(BLOCK)[:count]


def _block_rms(values: torch.Tensor) -> torch.Tensor:
    """The RMS of each BLOCK elements in a row; the last block may be shorter."""
    count = values.numel()
    padded = torch.nn.functional.pad(values, (0, -count % BLOCK)).view(-1, BLOCK)
    sizes = torch.full((padded.shape[0],), float(BLOCK), dtype=values.dtype, device=values.device)
    if count % BLOCK:
        sizes[-1] = count % BLOCK
    return (padded.square().sum(1) / sizes).sqrt()
