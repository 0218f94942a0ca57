"""Calls of an extension's functions from Python: arguments, results and errors as in pybind11."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from . import extension_abi as abi
from .recording import CPU, CUDA

_TYPES = {"T": "torch.Tensor", "f": "float", "b": "bool", "s": "str", "n": "Union[int, float, bool]", "y": "torch.dtype",
          "d": "torch.device", "m": "torch.memory_format", "I": "List[int]", "i": "int", "u": "int"}


class _Unfit(Exception):
    """The argument has another type."""


class Signature:
    """The signature of one function: the letters of its parameters (binding.hpp), their names and defaults."""

    def __init__(self, name: str, letters: str, names: str, defaults: list[Any]) -> None:
        self.name = name
        self.letters = [each for each in letters.split(",") if each]
        self.names = [each for each in names.split(",") if each]
        self._defaults = defaults

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in order. Raises pybind11's TypeError."""
        bound, left = list(args), dict(kwargs)
        for i in range(len(bound), len(self.letters)):
            if i < len(self.names) and self.names[i] in left:
                bound.append(left.pop(self.names[i]))
            elif i < len(self._defaults) and self._defaults[i] is not MISSING:
                bound.append(self._defaults[i])
            else:
                break
        if left or len(bound) != len(self.letters):
            raise self.unfit(args, kwargs)
        return bound

    def unfit(self, args: tuple, kwargs: dict[str, Any]) -> TypeError:
        named = [self.names[i] if i < len(self.names) else f"arg{i}" for i in range(len(self.letters))]
        wanted = ", ".join(f"{name}: {_type(letters)}" for name, letters in zip(named, self.letters))
        given = ", ".join([*map(_shown, args), *(f"{key}={_shown(v)}" for key, v in kwargs.items())])
        return TypeError(f"{self.name}(): incompatible function arguments. The following argument types are supported:\n"
                         f"    1. ({wanted})\n\nInvoked with: {given}")


MISSING = object()


class Arguments:
    """Values of one call, and the objects that keep them alive. `give` makes a handle of a tensor."""

    def __init__(self, give: Callable[[torch.Tensor], int], release: Callable[[int], None]) -> None:
        self._give, self._release = give, release
        self._handles: list[int] = []
        self._kept: list[Any] = []

    def values(self, signature: Signature, bound: list[Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        values = (abi.Value * (len(bound) + 1))()
        try:
            for value, letters, given in zip(values, signature.letters, bound):
                self._put(value, letters, given)
        except _Unfit:
            raise signature.unfit(args, kwargs) from None
        return values

    def drop(self) -> None:
        for handle in self._handles:
            self._release(handle)

    def _put(self, value: abi.Value, letters: str, given: Any) -> None:
        kind = letters[0]
        if kind == "?":
            if given is not None:
                self._put(value, letters[1:], given)
            return
        if kind == "[":
            self._put_list(value, letters[1:], given)
            return
        _PUT[kind](self, value, letters, given)

    def _put_list(self, value: abi.Value, letters: str, given: Any) -> None:
        if not isinstance(given, (list, tuple)):
            raise _Unfit
        many = (abi.Value * (len(given) + 1))()
        for each, element in zip(many, given):
            self._put(each, letters, element)
        self._kept.append(many)
        value.kind, value.count, value.values = abi.LIST, len(given), many

    def _put_tensor(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, torch.Tensor):
            raise _Unfit
        handle = self._give(given)
        self._handles.append(handle)
        value.kind, value.tensor = abi.TENSOR, handle

    def _put_integer(self, value: abi.Value, letters: str, given: Any) -> None:
        bits = 8 * int(letters[1:])
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if letters[0] == "i" else (0, (1 << bits) - 1)
        if isinstance(given, (float, torch.Tensor)) or not hasattr(given, "__index__") or not least <= int(given) <= most:
            raise _Unfit
        value.kind, value.integer = abi.INT, _signed(int(given))

    def _put_real(self, value: abi.Value, _: str, given: Any) -> None:
        if isinstance(given, torch.Tensor) or not (hasattr(given, "__float__") or hasattr(given, "__index__")):
            raise _Unfit
        value.kind, value.real = abi.DOUBLE, float(given)

    def _put_bool(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, bool):
            raise _Unfit
        value.kind, value.integer = abi.BOOL, given

    def _put_text(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, str):
            raise _Unfit
        text = ctypes.c_char_p(given.encode())
        self._kept.append(text)
        value.kind, value.text = abi.STRING, text

    def _put_number(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, (bool, int, float)):
            raise _Unfit
        self._put(value, "f" if isinstance(given, float) else "i8", given)

    def _put_dtype(self, value: abi.Value, _: str, given: Any) -> None:
        if given not in abi.NUMBER_OF_DTYPE:
            raise _Unfit
        value.kind, value.integer = abi.DTYPE, abi.NUMBER_OF_DTYPE[given]

    def _put_device(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, (str, torch.device)):
            raise _Unfit
        value.kind, value.integer = abi.DEVICE, int(str(given).startswith("cuda"))

    def _put_format(self, value: abi.Value, _: str, given: Any) -> None:
        if given not in abi.FORMATS:
            raise _Unfit
        value.kind, value.integer = abi.FORMAT, abi.FORMATS.index(given)

    def _put_integers(self, value: abi.Value, _: str, given: Any) -> None:
        if not isinstance(given, (list, tuple)) or not all(isinstance(each, int) for each in given):
            raise _Unfit
        integers = (ctypes.c_int64 * (len(given) + 1))(*given)
        self._kept.append(integers)
        value.kind, value.count, value.integers = abi.INTS, len(given), integers


_PUT = {"T": Arguments._put_tensor, "i": Arguments._put_integer, "u": Arguments._put_integer, "f": Arguments._put_real,
        "b": Arguments._put_bool, "s": Arguments._put_text, "n": Arguments._put_number, "y": Arguments._put_dtype,
        "d": Arguments._put_device, "m": Arguments._put_format, "I": Arguments._put_integers}


def taken(value: abi.Value, tensor: Callable[[int], torch.Tensor]) -> Any:
    """Converts a value to Python; `tensor` finds the tensor of a handle."""
    if value.kind == abi.TENSOR:
        return tensor(value.tensor)
    if value.kind == abi.INTS:
        return [value.integers[i] for i in range(value.count)]
    if value.kind in (abi.LIST, abi.TUPLE):
        many = [taken(value.values[i], tensor) for i in range(value.count)]
        return tuple(many) if value.kind == abi.TUPLE else many
    return _TAKEN[value.kind](value)


_TAKEN: dict[int, Callable[[abi.Value], Any]] = {
    abi.NONE: lambda value: None,
    abi.MISSING: lambda value: MISSING,
    abi.BOOL: lambda value: bool(value.integer),
    abi.INT: lambda value: value.integer,
    abi.DOUBLE: lambda value: value.real,
    abi.STRING: lambda value: value.text.decode(errors="replace"),
    abi.DTYPE: lambda value: abi.DTYPES.get(value.integer, torch.complex64),
    abi.DEVICE: lambda value: CUDA if value.integer else CPU,
    abi.FORMAT: lambda value: abi.FORMATS[value.integer],
}


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _type(letters: str) -> str:
    if letters[0] == "?":
        return f"Optional[{_type(letters[1:])}]"
    return f"List[{_type(letters[1:])}]" if letters[0] == "[" else _TYPES[letters[0]]


def _shown(v: Any) -> str:
    return f"tensor(shape={list(v.shape)}, dtype={v.dtype})" if isinstance(v, torch.Tensor) else repr(v)[:200]
