"""How tensors lie in memory: their strides and offsets, and which of them share a storage. Needs only
PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def lies_of(tensors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """For each tensor: dtype, shape, strides, offset in bytes, and the storage's number."""
    storages: dict[int, int] = {}
    return [(each.dtype, tuple(each.shape), tuple(step for n, step in zip(each.shape, each.stride(), strict=True) if n > 1),
             each.storage_offset() * each.element_size(), storages.setdefault(each.untyped_storage()._cdata, len(storages)))
            for each in tensors]


def relaid(tree: Any, function: Callable[[Any], Any]) -> Any:
    """The tree with tensors laid out as before, in new storages. `function` takes the elements of an old
    storage as a flat tensor, and returns those of the new one."""
    import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]

    made: dict[tuple[int, Any], tuple[Any, Any]] = {}  # keeps the tensors, and so the identities of their storages

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        value = value.detach().resolve_conj().resolve_neg()
        if value.layout is not torch.strided:
            return function(value)
        storage = value.untyped_storage()
        if (storage._cdata, value.dtype) not in made:
            flat = torch.empty(0, dtype=value.dtype, device=value.device).set_(
                storage, 0, (storage.nbytes() // value.element_size(),), (1,))
            made[storage._cdata, value.dtype] = value, function(flat)
        return made[storage._cdata, value.dtype][1].as_strided(value.shape, value.stride(), value.storage_offset())

    return torch.utils._pytree.tree_map(one, tree)
