"""The expected outputs: the reference with fp64 parameters and inputs is the truth, and docs/tolerance.md's rule gives the
tolerances (judge.py). D, by which a sum's rounding is measured, is here the RMS of the truth over a block of elements. Single
elements get a second check (singles.py).
"""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from . import judge
from .accelerator import full_precision, pieces
from .layout import change, write
from .memory import is_memory
from .model_source import Inputs, Reference, run_model
from .wide_convolution import TRANSPOSED, AsProducts
from .workloads import Tolerance

BLOCK = 1024
"""The elements that share a part of their tolerance, unless rows of 64 to 1024 do."""
_FEWEST = 64
_FEW = 64  # an output with fewer elements is too small to estimate the reference's error
_FEW_SEEDS = (11, 12, 13, 14)
_MOST_TERMS = 16_384  # 2 sqrt(n) units are still far from TF32's 2^13
_CAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass
class Expected:
    """One output of one set of inputs, flat. Complex numbers are pairs."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    truth: torch.Tensor  # in the output's dtype
    own: torch.Tensor | None = None  # for integers: the reference's own output, which is also right
    row: int = BLOCK  # for reals, as all that follows: the elements of a block
    on_value: float = 0.0
    blocks: torch.Tensor | None = None  # float64, of each block
    rms_limit: float = math.inf
    judged: float = 1.0  # elements
    per_element: bool = True
    may_differ: int = 0  # so many elements may be beyond their tolerance
    either: bool = False  # an element's two parts of the tolerance do not add up
    cap: float | None = None  # the largest error of any element
    by_budget: bool = False  # its elements, by the rule's budget and not by the task's own figures

    def bytes(self) -> int:
        return sum(part.nbytes for part in (self.truth, self.own, self.blocks) if part is not None)

    def allowed(self, at: torch.Tensor) -> torch.Tensor:
        """The tolerance of elements, by their indices on the truth's device."""
        assert self.blocks is not None
        shared = self.blocks[(at // self.row).to(self.blocks.device)].to(at.device)
        steep = self.on_value * self.truth[at].double().abs()
        return torch.maximum(shared, steep) if self.either else shared + steep

    def capped(self) -> Expected | None:
        """The same output, of which no element may be off by more than the cap."""
        if self.cap is None or self.blocks is None:
            return None
        return replace(self, on_value=0.0, blocks=torch.full_like(self.blocks, self.cap), may_differ=0, rms_limit=math.inf)

    def off(self, squares: float) -> float:
        """The RMS of the errors, as a fraction of the allowed one."""
        return math.sqrt(squares / max(self.judged, 1.0)) / self.rms_limit


class Models:
    """The reference's modules that all workloads of a task share."""

    def __init__(self, reference: Reference, precision: str, in_fp64: bool) -> None:
        self.plain = reference.model()
        self.wide: Any = reference.model().double() if in_fp64 else None
        self.low: Any = reference.model().to(_CAST[precision]) if precision in _CAST else None
        self.yardstick = reference.model()


class Bank:
    """Truths of all workloads of a task, the most recently used ones within `most_bytes` of memory."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[tuple[Any, ...], list[Expected]] = OrderedDict()
        self._held = 0

    def get(self, key: tuple[Any, ...], find: Callable[[], list[Expected]]) -> list[Expected]:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = find()
        size = _bytes_of(found)
        if size <= self.most_bytes:
            self._kept[key] = found
            self._held += size
            while self._held > self.most_bytes:
                self._held -= _bytes_of(self._kept.popitem(last=False)[1])
        return found

    def forget(self, owner: Any) -> None:
        """Drops the truths whose keys begin with the owner."""
        for key in [key for key in self._kept if key[0] is owner]:
            self._held -= _bytes_of(self._kept.pop(key))

    def all(self) -> list[list[Expected]]:
        return list(self._kept.values())


def _bytes_of(found: list[Expected]) -> int:
    return sum(one.bytes() for one in found)


class Truth:
    """Expected outputs for a reference, kept in a bank. Not thread-safe."""

    def __init__(self, reference: Reference, models: Models, precision: str, tolerance: Tolerance, bank: Bank) -> None:
        self._reference, self._precision, self._tolerance = reference, precision, tolerance
        self._model, self._low = models.plain, models.low
        self._wide = models.wide if tolerance.truth == "fp64" else None
        self._bank = bank
        self.on_host = False
        """Whether truths lie in the host's pinned memory, instead of on the device."""
        self._few: dict[int, list[tuple[float, float]]] = {}
        self._sizes: dict[int, list[float]] = {}
        self.notes: list[str] = []
        sources = [*reference.draw(0, _FEW_SEEDS[0]).tensors(), *self._model.state_dict().values()]
        self._dimensions = [tuple(t.shape) for t in sources if t.is_floating_point()]

    def expected(self, variant: int, seed: int) -> list[Expected]:
        """The outputs for a set of inputs. Passes on exceptions of the reference."""
        return self._bank.get((self, variant, seed), lambda: self._find(variant, seed))

    def forget(self) -> None:
        """Drops everything that can be computed again."""
        self._bank.forget(self)

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
            if [t.shape for t in low] != [t.shape for t in plain]:
                raise RuntimeError(f"the outputs have other shapes in {self._precision} than in fp32")
        return plain, wide, low

    def moved(self, variant: int, seed: int, run: int, in_fp64: bool = False) -> list[torch.Tensor] | None:
        """Outputs of the reference on inputs and parameters that are moved by up to half a unit in the last
        place, differently in each run; None if the reference refuses them, or does not run in fp64."""
        if in_fp64 and self._wide is None:
            return None
        random = torch.Generator(self._reference.device).manual_seed((seed + run + 1) % 2**63)
        inputs = self._reference.draw(variant, seed)
        try:
            with torch.no_grad():
                change(inputs.leaves, lambda flat: _moved(flat, random))
                for parameter in _state(self._model):
                    write(parameter, _moved(parameter, random))
            if not in_fp64:
                return run_model(self._model, inputs)
            self._widen_state()
            return _run_wide(self._wide, inputs, self._precision)
        except Exception as error:  # noqa: BLE001 - a reference may refuse inputs in any way
            if is_memory(error):
                raise
            return None
        finally:
            self._reference.restore(self._model)
            if in_fp64:
                self._widen_state()

    def _widen_state(self) -> None:
        """Copies the model's parameters and buffers to the one in fp64."""
        with torch.no_grad():
            for target, source in zip(_state(self._wide), _state(self._model), strict=True):
                write(target, source)

    def _find(self, variant: int, seed: int) -> list[Expected]:
        if self._tolerance.policy == "allclose" and variant not in self._sizes:
            for one in {0, variant} - self._sizes.keys():
                self._sizes[one] = [_size(r) for r in run_model(self._model, self._reference.draw(one, _FEW_SEEDS[0]))]
        plain, wide, low = self.answers(variant, seed)
        if variant not in self._few and any(_real(r) and _count(r) < _FEW for r in plain):
            del plain, wide, low  # so that the answers to other seeds have their memory
            self._more(variant)
            plain, wide, low = self.answers(variant, seed)
        found: list[Expected] = []
        while wide:  # one output after the other; only the truth of each is kept
            t, r, p = wide.pop(0), plain[len(found)], low[len(found)]
            if _real(r):
                found.append(self._budgeted(r, t, p, variant, len(found)))
            else:
                found.append(Expected(tuple(r.shape), r.dtype, _alone(flattened(t.to(r.dtype))), _alone(flattened(r))))
            del t
            plain[len(found) - 1] = low[len(found) - 1] = None
        return found

    def _budgeted(self, r: torch.Tensor, t: torch.Tensor, p: torch.Tensor, variant: int, index: int) -> Expected:
        policy, device, count = self._tolerance.policy, r.device, _count(r)
        least = self._more(variant)[index] if count < _FEW and policy != "allclose" else (0.0, 0.0)
        growth = self._growth(variant, index)
        how = judge.derivation(r.dtype, policy, self._precision, (self._tolerance.rtol, self._tolerance.atol * growth),
                               self._terms(r), self._wide is None, least)
        one = Expected(tuple(r.shape), r.dtype, r, row=_row(r), on_value=how.on_value, per_element=policy != "normwise",
                       may_differ=count - math.ceil(self._tolerance.matched * count), either=self._tolerance.either,
                       cap=None if self._tolerance.cap is None else self._tolerance.cap * growth, by_budget=policy == "auto")
        own, wide = flattened(r), flattened(t)
        low = own if p is r else flattened(p.to(r.dtype))
        one.truth = torch.empty(count, dtype=own.dtype, device="cpu" if self.on_host else device,
                                pin_memory=self.on_host and own.is_cuda)
        blocks = -(-count // one.row)
        one.blocks = torch.empty(blocks, dtype=torch.float64, device=device)
        sums = torch.empty((blocks, 3), dtype=torch.float64, device=device)
        told = torch.frombuffer(bytearray(how), dtype=torch.uint8).to(device)
        for part in pieces(count, one.row) if self.on_host else [slice(0, count)] * bool(count):
            at = slice(part.start // one.row, None)
            values = torch.empty(part.stop - part.start, dtype=own.dtype, device=device) if self.on_host else one.truth
            judge.run("derive", judge.name_of(own.dtype), device, -(-(part.stop - part.start) // one.row), wide[part], own[part], low[part], part.stop - part.start,
                      one.row, told, values, one.blocks[at], sums[at])
            if values is not one.truth:
                one.truth[part] = values
        one.rms_limit, norm = judge.limits(how, sums)
        one.judged = float(sums[:, 2].sum())
        if one.may_differ:
            one.rms_limit = math.inf  # the elements that may differ may be far off
        if policy == "normwise":
            one.on_value = 0.0
            one.blocks.fill_(norm)
        return one

    def _growth(self, variant: int, index: int) -> float:
        """How many times larger an output is than for the given inputs, for which a task states absolute errors. At least 1."""
        if not self._sizes:
            return 1.0
        given, here = self._sizes[0][index], self._sizes[variant][index]
        return max(1.0, here / given) if given > 0 and math.isfinite(here) else 1.0

    def _more(self, variant: int) -> list[tuple[float, float]]:
        """The largest RMS of the reference's error and of the truth on a few fixed seeds, for each output."""
        if variant not in self._few:
            found: list[tuple[float, float]] = []
            for seed in _FEW_SEEDS:
                plain, wide, low = self.answers(variant, seed)
                for index, (r, t, p) in enumerate(zip(plain, wide, low)):
                    if len(found) <= index:
                        found.append((0.0, 0.0))
                    if _real(r) and _count(r) < _FEW:
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


def own_errors(dtype: torch.dtype) -> float:
    """k: the tolerance of an element, in units of the reference's own error."""
    return judge.derivation(dtype, "auto", "fp32", (0.0, 0.0), 1.0, False, (0.0, 0.0)).own_errors


def _state(model: torch.nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _count(output: torch.Tensor) -> int:
    """The reals of an output."""
    return output.numel() * (2 if output.is_complex() else 1)


def _row(output: torch.Tensor) -> int:
    """The elements of a block: a row, if it is long enough to estimate an error and short enough to be alike."""
    row = output.shape[-1] * (2 if output.is_complex() else 1) if output.dim() > 1 else BLOCK
    return row if _FEWEST <= row <= BLOCK else BLOCK


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
    transposes = any(isinstance(part, TRANSPOSED) for part in model.modules())
    on_gpu = any(one.is_cuda for one in inputs.tensors())
    change(inputs.leaves, lambda flat: _cast(flat, torch.float64))
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # for tensors that forward() makes
    try:
        with full_precision(precision), AsProducts() if on_gpu and transposes else contextlib.nullcontext():
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
    """The elements, contiguous, as the kernels require: reshape(-1) leaves a column or a diagonal strided."""
    flat = tensor.detach().reshape(-1).contiguous().resolve_neg()
    return torch.view_as_real(flat.resolve_conj()).reshape(-1) if flat.is_complex() else flat


def _size(output: torch.Tensor) -> float:
    """The RMS of the elements."""
    flat = flattened(output)
    return math.sqrt(sum(float(flat[part].double().square().sum()) for part in pieces(flat.numel())) / max(flat.numel(), 1))


def _rms(values: torch.Tensor) -> torch.Tensor:
    return values.square().mean().sqrt()
