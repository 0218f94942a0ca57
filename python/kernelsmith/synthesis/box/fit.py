"""Finds inputs that fit a module, or each other, only by accident: by broadcasting, or as a tensor of more axes."""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import torch
from kernelsmith_torch.counting import Mode
from torch.utils import _pytree as pytree


class Broadcasts(Mode):
    """Watches a call. `found` is a result that two different inputs have only together: in a module's own use one of them is
    expanded, not both."""

    def __init__(self, inputs: list[Any]) -> None:
        super().__init__()
        self._kept = [one for one in pytree.tree_leaves(inputs) if isinstance(one, torch.Tensor)]
        self._of = {id(one): frozenset({at}) for at, one in enumerate(self._kept)}
        self.found = ""

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = function(*args, **(kwargs or {}))
        read = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        made = [one for one in pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]
        sources = [self._of.get(id(one), frozenset()) for one in read]
        if made and torch.Tag.pointwise in function.tags and len({one for one in sources if one}) > 1:
            shapes = [tuple(one.shape) for one, source in zip(read, sources, strict=True) if source]
            if all(shape != tuple(made[0].shape) for shape in shapes):
                self.found = self.found or f"{' and '.join(map(str, shapes))} make {tuple(made[0].shape)}"
        self._kept += made  # an id must not name another tensor
        self._of |= {id(one): frozenset().union(*sources) for one in made}
        return result


def misfit(model: torch.nn.Module, inputs: list[Any]) -> str:
    """Calls the model. Says why the inputs are unlike its use; empty if nothing shows it. Raises the model's errors."""
    watch = Broadcasts(inputs)
    with watch:
        result = model(*inputs)
    if watch.found:
        return f"inputs are broadcast against each other: {watch.found}"
    given = [one for one in pytree.tree_leaves(inputs) if isinstance(one, torch.Tensor)]
    most = max((one.dim() for one in given), default=0)
    least = min((one.shape[0] for one in given if one.dim()), default=1)
    for one in pytree.tree_leaves(result):
        if isinstance(one, torch.Tensor) and one.dim() > most and (most > 2 and 1 in one.shape or one.shape[0] == 1 < least):
            return f"an output of {tuple(one.shape)} has more axes than the inputs, one of them without extent"
    return ""
