"""Random draws of a reference in forward(). KernelBench seeds both modules alike before a call. Here both receive the
same numbers, like inputs, because a CUDA graph cannot be seeded for each call, and in fp64 PyTorch draws other
numbers. The first call shows the draws, which must depend only on a seed and shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .counting import Mode
from .operators import is_given, takes_numbers


class ForwardDraws:
    """The draws of a module's forward(). `seed` seeds all generators."""

    def __init__(self, seed: Callable[[int], None]) -> None:
        self._seed = seed
        self._known: list[tuple[Any, tuple, dict[str, Any]]] | None = None

    def drawn(self, seed: int) -> list[torch.Tensor]:
        """The numbers of a call; none before the first call."""
        if not self._known:
            return []
        self._seed(seed)
        return [function(*tree_map(_scratch, args), **kwargs) for function, args, kwargs in self._known]

    @contextmanager
    def of_call(self, seed: int) -> Iterator[None]:
        """Used around a call of the module, which must not draw anything else."""
        if self._known is None:
            self._seed(seed)
            with _Learning() as learning:
                yield
            self._known = learning.found
        else:
            with giving(self.drawn(seed)):
                yield


@contextmanager
def giving(numbers: Sequence[torch.Tensor]) -> Iterator[None]:
    """Used around a call that receives its draws."""
    if not numbers:
        yield
        return
    with _Giving(numbers):
        yield


class _Mode(Mode):
    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        draws = takes_numbers(function, args, kwargs)
        return self.drawn(function, args, kwargs) if draws else function(*args, **kwargs)

    def drawn(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


class _Learning(_Mode):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Any, tuple, dict[str, Any]]] = []

    def drawn(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not is_given(function._schema.name, function._overloadname):
            raise TypeError(f"forward() draws by {function.name()}, whose numbers depend on more than a seed and shapes: "
                            "draw by torch.rand, torch.randn, uniform_ or normal_")
        result = function(*args, **kwargs)
        if any(argument.name == "dtype" for argument in function._schema.arguments):
            kwargs = {**kwargs, "dtype": result.dtype}  # independent of the default when it is drawn again
        self.found.append((function, tree_map(_outline, args), kwargs))
        return result


class _Giving(_Mode):
    def __init__(self, numbers: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._numbers = iter(numbers)

    def drawn(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        numbers = next(self._numbers, None)
        if numbers is None:
            raise TypeError(f"forward() draws by {function.name()}, and drew less in its first call")
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if first is not None and function._schema.is_mutable:
            return first.copy_(numbers)
        if not numbers.is_floating_point():
            return numbers
        return numbers.to(kwargs.get("dtype") or (torch.get_default_dtype() if first is None else first.dtype))


@dataclass(frozen=True)
class _Outline:
    """The tensor that a draw writes, or whose shape it has."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device


def _outline(value: Any) -> Any:
    return _Outline(value.shape, value.stride(), value.dtype, value.device) if isinstance(value, torch.Tensor) else value


def _scratch(value: Any) -> Any:
    return torch.empty_strided(value.shape, value.stride, dtype=value.dtype, device=value.device) if isinstance(
        value, _Outline) else value
