"""PyTorch's operators for calls from an extension's C++, with ATen's names and order of arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import extension_abi as abi
from .recording import CPU, CUDA, Refused, Tape

# Arguments that C++ passes by position and Python by name: the number of arguments before them.
_BY_NAME = {
    **{name + end: (2, ("alpha",)) for name in ("add", "sub") for end in ("", "_")},
    **{name + end: (3, ("beta", "alpha")) for name in ("addmm", "addmv", "addr", "addbmm", "baddbmm") for end in ("", "_")},
    **{name + end: (3, ("value",)) for name in ("addcmul", "addcdiv") for end in ("", "_")},
    "div": (2, ("rounding_mode",)), "div_": (2, ("rounding_mode",)), "gelu": (1, ("approximate",)),
    "scaled_dot_product_attention": (6, ("scale", "enable_gqa")),
}
# These accept the shape {}, which C++ passes as "not given".
_SHAPED = ("empty", "zeros", "ones", "rand", "randn", "full")
_DTYPE_BY_POSITION = ("softmax", "log_softmax", "view")
_READING = {"item": ".item()", "equal": "equal()"}


class Operators:
    """Executes operators for C++. `take` makes a tensor of a value, `multiply` is cuBLAS's product."""

    def __init__(self, tape: Tape, take: Callable[[abi.Value], Any], multiply: Callable[..., None]) -> None:
        self._tape, self._take, self._multiply = tape, take, multiply

    def ask(self, name: str, values: list[abi.Value]) -> Any:
        if name == "cublas.gemm":
            return self._multiply(*map(self._take, values))
        short = name.removeprefix(".")
        if short in _READING:
            raise Refused("reads_values", f"{_READING[short]} in C++ reads a tensor's values, which planning does not have",
                          "leave the decision to a kernel; only shapes are known", self._tape.line())
        out = {}
        if short.endswith("_out"):
            short, out = short.removesuffix("_out"), {"out": self._take(values.pop(0))}
        args, kwargs = self._bound(short, values)
        kwargs.update(out)
        if short in _SHAPED and (not args or args[0] is None):
            args = [[], *args[1:]]
        if special := _SPECIAL.get(short):
            return special(*args, **kwargs)
        function = _function(short)
        return function(*_with_lists(function, args), **kwargs)

    def _bound(self, name: str, values: list[abi.Value]) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for value in values:
            if value.kind == abi.OPTIONS:
                kwargs.update(_options([value.integers[i] for i in range(3)]))
            elif value.kind == abi.FORMAT:
                kwargs["memory_format"] = self._take(value)
            elif value.kind == abi.DEVICE:
                kwargs["device"] = self._take(value)
            elif value.kind == abi.DTYPE and name not in _DTYPE_BY_POSITION:
                kwargs["dtype"] = self._take(value)
            else:
                args.append(self._take(value))
        before, names = _BY_NAME.get(name, (len(args), ()))
        kwargs.update((key, v) for key, v in zip(names, args[before:]) if v is not None)
        return args[:before], kwargs


def _options(numbers: list[int]) -> dict[str, Any]:
    dtype, device, memory_format = numbers
    told: dict[str, Any] = {}
    if dtype >= 0:
        told["dtype"] = abi.DTYPES.get(dtype, torch.complex64)
    if device >= 0:
        told["device"] = CUDA if device else CPU
    if memory_format >= 0:
        told["memory_format"] = abi.FORMATS[memory_format]
    return told


def _function(name: str) -> Callable:
    if name in ("batch_norm", "instance_norm"):
        return getattr(torch, name)  # recorded whole (composites.py)
    if name == "scaled_dot_product_attention":
        return torch.nn.functional.scaled_dot_product_attention
    return getattr(torch.ops.aten, name)


def _with_lists(function: Any, args: list[Any]) -> list[Any]:
    """C++ accepts a number as a list of one if no overload accepts the number itself."""
    if not isinstance(function, torch._ops.OpOverloadPacket):
        return args
    return [[v] if type(v) is int and i in _lists(function) else v for i, v in enumerate(args)]


@functools.cache
def _lists(function: torch._ops.OpOverloadPacket) -> frozenset[int]:
    """Positions that are lists of integers in some overload, and a number or tensor in none."""
    lists, others = set(), set()
    for overload in function.overloads():
        for i, argument in enumerate(getattr(function, overload)._schema.arguments):
            kind = str(argument.type).removeprefix("Optional[").removesuffix("]")
            if kind.startswith("List[int"):
                lists.add(i)
            elif kind in ("int", "number", "Tensor", "float"):
                others.add(i)
    return frozenset(lists - others)


def _index(tensor: torch.Tensor, indices: list[Any]) -> torch.Tensor:
    return tensor[_indices(indices)]


def _index_put(tensor: torch.Tensor, indices: list[Any], value: Any) -> torch.Tensor:
    tensor[_indices(indices)] = value
    return tensor


def _indices(told: list[Any]) -> tuple:
    return tuple(slice(*each) if isinstance(each, tuple) else Ellipsis if isinstance(each, str) else each for each in told)


def _to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """The arguments of `to`: a type, a device, options or another tensor; then non_blocking and copy."""
    if args and isinstance(args[0], torch.Tensor):
        return tensor.to(args[0])
    named = dict(zip(("non_blocking", "copy"), args))
    return tensor.to(**{key: v for key, v in {**kwargs, **named}.items() if v is not None})


_SPECIAL: dict[str, Callable] = {
    "to": _to,
    "view": lambda tensor, size_or_dtype: tensor.view(size_or_dtype),
    "index": _index,
    "index_put_": _index_put,
    "tensor": torch.tensor,
    "rdiv": lambda tensor, number: number / tensor,
    "slice": lambda tensor, dim=0, start=None, end=None, step=1: torch.ops.aten.slice.Tensor(tensor, dim, start, end, step),
    # Only these two have no operator of their name.
    "relu6": lambda tensor: torch.nn.functional.relu6(tensor),
    "contiguous": lambda tensor, memory_format=torch.contiguous_format: tensor.contiguous(memory_format=memory_format),
}
