"""The values of a checked plan for the runner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from .checks import Ref
from .layout import Arrangement
from .module_check import DeviceOp, Module


@dataclass
class Aten:
    """An operator. `out` has the structure of its result: a Ref, None, or a list of these."""

    function: Any
    args: list[Any]
    kwargs: dict[str, Any]
    out: Any
    frees: list[int] = field(default_factory=list)  # ids that are not used later
    draws: str = ""  # in setup, for a random operator: the generator that it draws from, `cpu` or `cuda`
    strides: list[tuple[int, ...]] = field(default_factory=list)  # of its results, if kernels rely on them

    @property
    def name(self) -> str:
        return self.function.name()


@dataclass(frozen=True)
class TensorMap:
    """A tensor for TMA, in the driver's numbers; dimensions from the innermost one."""

    base: Ref
    type: int
    shape: list[int]
    strides: list[int]  # in bytes, of all dimensions except the innermost
    box: list[int]
    swizzle: int
    nan: bool


@dataclass
class Launch:
    """A launch of kernel number `kernel`."""

    kernel: int
    grid: tuple[int, int, int]
    args: list[tuple[str, Any]]
    line: str
    frees: list[int] = field(default_factory=list)


@dataclass
class Constant:
    """A tensor of given values; only in setup."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    values: list[Any]
    out: Ref
    frees: list[int] = field(default_factory=list)


@dataclass
class Seed:
    """Seeds the generators of `which`: cuda or all; only in setup."""

    seed: int
    which: str
    frees: list[int] = field(default_factory=list)


Op = Aten | Launch | Constant | Seed | DeviceOp


@dataclass
class TensorInfo:
    id: int
    dtype: torch.dtype
    shape: tuple[int, ...]


@dataclass
class Alternative:
    name: str
    ops: list[Op]
    outputs: list[TensorInfo]


@dataclass
class Kernel:
    name: str
    cubin: bytes
    shared: int
    warps: int
    ctas: int
    global_scratch: int  # bytes for each block
    profile_scratch: int


@dataclass
class Plan:
    inputs: list[TensorInfo]
    state: dict[str, int]
    setup: list[Op]
    alternatives: list[Alternative]
    kernels: list[Kernel]
    modules: list[Module] = field(default_factory=list)
    lies: Arrangement | None = None  # the inputs' layout in the planner; may be missing in a handwritten plan
    draws: list[Op] = field(default_factory=list)  # made before each call, which is given `drawn`
    drawn: list[int] = field(default_factory=list)
