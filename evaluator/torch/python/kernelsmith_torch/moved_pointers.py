"""Updates addresses in memory when a setup's tensors are moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .module_check import Symbol, Upload
from .module_replay import LoadedModules, Tensors

_BYTES = 8


def repoint(ops: Sequence[Any], tensors: Tensors, moved: Mapping[int, torch.Tensor], modules: LoadedModules) -> None:
    """Updates tables of pointers in moved tensors and kept variables. `tensors` are the old tensors. `moved`
    has the bytes at their new places, by the addresses of the old storages. A word that was overwritten later
    is left unchanged."""

    def address_of(id_: int) -> int:
        return tensors[id_].untyped_storage().data_ptr()

    for op in ops:
        if not isinstance(op, (Upload, Symbol)):
            continue
        for pointer in op.pointers:
            target = moved.get(address_of(pointer.to.id))
            if target is None:
                continue
            old, new = (base + pointer.at for base in (address_of(pointer.to.id), target.data_ptr()))
            if isinstance(op, Symbol):
                content = modules.kept(op.module, op.name)
                modules.replace_kept(op.module, op.name, _replaced(content, op.at + pointer.offset, old, new))
            elif (memory := moved.get(address_of(op.to.to.id))) is not None:
                at = op.to.at + pointer.offset
                word = memory[at:at + _BYTES]
                changed = _replaced(bytes(word.tolist()), 0, old, new)
                word.copy_(torch.tensor(list(changed), dtype=torch.uint8))


def _replaced(content: bytes, at: int, old: int, new: int) -> bytes:
    word = slice(at, at + _BYTES)
    if content[word] != old.to_bytes(_BYTES, "little"):
        return content
    return content[:at] + new.to_bytes(_BYTES, "little") + content[at + _BYTES:]
