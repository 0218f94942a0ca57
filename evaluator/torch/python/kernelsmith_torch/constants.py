"""Keeps the values of tensors that a constructor computes from numbers alone, so that the constructor can read them:
torch.linspace(0, 1, 9).tolist(). In a call, it keeps those of inputs that a workload fixes, and of what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import _disable_current_modes

from .counting import Mode

_aten = torch.ops.aten
_MAKERS = frozenset({_aten.linspace.default, _aten.logspace.default, _aten.arange.default, _aten.arange.start,
                     _aten.arange.start_step})
# What these give does not follow from values.
_UNSET = frozenset({_aten.empty_like.default, _aten.new_empty.default, _aten.new_empty_strided.default})
_MOST = 4_096  # numbers of a tensor


class Constants(Mode):
    """Entered around a constructor or a call, whose operators are then recorded, and also executed on values."""

    def __init__(self, known: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()) -> None:
        """`known`: inputs whose values are known, with their values."""
        super().__init__()
        self._inputs = {one.untyped_storage()._cdata for one, _ in known}
        # By identity: the tensor, kept alive, and its values.
        self._values: dict[int, tuple[torch.Tensor, torch.Tensor]] = {id(one): (one, value) for one, value in known}

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        read = [one for one in _pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        if function._schema.is_mutable:
            self._forget(read)
        if torch.Tag.nondeterministic_seeded in function.tags or function in _UNSET:
            return function(*args, **kwargs)
        if read and function is _aten._local_scalar_dense.default and id(read[0]) in self._values:
            return self._computed(function, args, kwargs)
        made = function(*args, **kwargs)
        if function in _MAKERS or read and all(id(one) in self._values for one in read):
            leaves = _pytree.tree_leaves(made)
            if all(isinstance(one, torch.Tensor) and one.numel() <= _MOST and one.device.type == "cpu" for one in leaves):
                self._values |= {id(one): (one, value) for one, value in
                                 zip(leaves, _pytree.tree_leaves(self._computed(function, args, kwargs)), strict=True)}
        return made

    def written(self, storages: set[int]) -> None:
        """Forgets the values in memory that a kernel may have written. It gets inputs, too, and may only read them."""
        lost = storages - self._inputs
        self._values = {key: kept for key, kept in self._values.items() if kept[0].untyped_storage()._cdata not in lost}

    def _computed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def value(leaf: Any) -> Any:
            return self._values[id(leaf)][1] if isinstance(leaf, torch.Tensor) else leaf

        with _disable_current_modes():
            return function(*_pytree.tree_map(value, args), **_pytree.tree_map(value, kwargs))

    def _forget(self, written: list[torch.Tensor]) -> None:
        """Forgets all values that may share memory with a written tensor."""
        places = {one.untyped_storage()._cdata for one in written}
        if any(one.untyped_storage()._cdata in places for one, _ in self._values.values()):
            self._values.clear()
