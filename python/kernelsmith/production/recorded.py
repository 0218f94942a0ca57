"""Records the arguments and results of modules' calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .runtime.lies import relaid
from .models import Loaded
from .torch_here import their_errors, torch_here


@dataclass(frozen=True)
class Call:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any


def recorded(loaded: Loaded, paths: Iterable[str]) -> dict[str, list[Call]]:
    """The calls of these modules in one run, with copies of their tensors."""
    torch = torch_here()
    calls: dict[str, list[Call]] = {path: [] for path in paths}
    pending: dict[str, list[tuple[Any, Any]]] = {path: [] for path in calls}
    hooks = []
    for path in calls:
        module = loaded.model.get_submodule(path)

        def before(_: Any, args: Any, kwargs: Any, path: str = path) -> None:
            pending[path].append((copied(args), copied(kwargs)))

        def after(_: Any, __: Any, ___: Any, output: Any, path: str = path) -> None:
            args, kwargs = pending[path].pop()
            calls[path].append(Call(args, kwargs, copied(output)))

        hooks += [module.register_forward_pre_hook(before, with_kwargs=True),
                  module.register_forward_hook(after, with_kwargs=True)]
    try:
        with torch.no_grad(), their_errors(Path(loaded.name)):
            loaded.run()
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def copied(tree: Any) -> Any:
    """Copies of tensors with the same strides and shared storages."""
    return relaid(tree, lambda flat: flat.clone())


def tensors(tree: Any) -> list[Any]:
    """The leaves that are tensors, in PyTorch's order."""
    torch = torch_here()
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
