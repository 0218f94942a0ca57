"""Replaces a model's modules by a package, and restores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._errors import Error
from .models import Loaded
from .recorded import Call, recorded, tensors
from .torch_here import torch_here


class Places:
    """The modules of a model that a package serves. Raises Error if there is no such module."""

    def __init__(self, loaded: Loaded, package: Any, paths: Sequence[str] = ()) -> None:
        self._model = loaded.model
        self.package = package
        self.calls = _fitting(loaded, package, paths)
        if not self.calls:
            sizes = [bucket["sizes"] for bucket in package.FACTS["buckets"]]
            raise Error("no module of the model fits the package", "bad_input", loaded.name,
                        f"it serves {package.FACTS['schema']} at {sizes}; "
                        "parameters must have the same names, inputs the same sizes and dtypes")
        self.originals = {path: self._model.get_submodule(path) for path in self.calls}
        self.swapped = {path: swapped_module(module, package, self.calls[path]) for path, module in self.originals.items()}

    def put(self, in_place: bool) -> None:
        for path in self.calls:
            self._model.set_submodule(path, (self.swapped if in_place else self.originals)[path])

    def served(self) -> int:
        """The number of calls that kernels have served so far."""
        return sum(module.served for module in self.swapped.values())

    def require(self, loaded: Loaded, in_place: bool) -> None:
        """Raises Error unless kernels serve a step at every place, or without `in_place` at no place."""
        before = self.served()
        with torch_here().no_grad():
            loaded.run()
        wanted = len(self.calls) if in_place else 0
        if self.served() - before != wanted:
            raise Error(f"the swap is not in place: kernels served {self.served() - before} of {wanted} modules in a step",
                        "internal", loaded.name)


def _fitting(loaded: Loaded, package: Any, paths: Sequence[str]) -> dict[str, Call]:
    """The first call of each module whose parameters and inputs fit the package, by the module's path."""
    named = dict(loaded.model.named_modules())
    for path in paths:
        if path not in named:
            raise Error("the model has no such module", "not_found", f"--at {path}")
    own = own_states(package)
    alike = [path for path in (paths or named) if path and _has_states(named[path], own)]
    calls = recorded(loaded, alike)
    return {path: called[0] for path, called in calls.items()
            if called and package.same_constants(named[path])
            and package.fitting(arguments_of(named[path], package, called[0])) is not None}


def disagreements(module: Any, package: Any, call: Call) -> list[str]:
    """The differences between package and module, on recorded arguments and on inputs of other scales."""
    def arguments(_: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return arguments_of(module, package, Call(args, kwargs, None))

    return list(package.agreement.disagreements(torch_here().nn.Module.__call__, arguments, (module, *call.args), call.kwargs))


def own_states(package: Any) -> list[str]:
    """The states that a model's module must have. The constants of a task's graph come from the package."""
    return [name for name in package.FACTS["states"] if not name.startswith("lifted_tensor")]


def _has_states(module: Any, names: list[str]) -> bool:
    held = {name for name, _ in module.named_parameters()}
    return held <= set(names) <= held | {name for name, _ in module.named_buffers()}


def arguments_of(module: Any, package: Any, call: Call) -> tuple[Any, ...]:
    """The operator's arguments for a call of the module."""
    return (*tensors((call.args, call.kwargs)), *states_of(module, package))


def states_of(module: Any, package: Any) -> tuple[Any, ...]:
    """The module's parameters and buffers, the package's constants, and the constructor's arguments (with the
    module's values if it has them)."""
    facts = package.FACTS
    stored = facts["buckets"][0]["arguments"]
    init = [each.get("value") for each in stored[len(stored) - len(facts["init"]):]] if facts["init"] else []
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    lacking = [name for name in facts["states"] if name not in held]
    if lacking:
        constants = dict(package.reference.Model(*init).named_buffers())
        device = next(iter(held.values())).device if held else "cpu"
        held |= {name: constants[name].to(device) for name in lacking}
    return (*(held[name] for name in facts["states"]),
            *(package.agreement.value_at(module, facts["constants"]["attributes"].get(name, name), value)
              for name, value in zip(facts["init"], init, strict=True)))


def swapped_module(original: Any, package: Any, call: Call) -> Any:
    """A module that asks the package first; its outputs have the original's structure."""
    torch = torch_here()
    rest, spec = torch.utils._pytree.tree_flatten(call.output)
    rest = [None if isinstance(leaf, torch.Tensor) else (leaf,) for leaf in rest]

    class Swapped(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.original = original
            self.states = states_of(original, package)
            self.served = 0

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.original, name)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            arguments = (*tensors((args, kwargs)), *self.states)
            if not package.applies(*arguments):
                return self.original(*args, **kwargs)
            self.served += 1
            given = package.call(*arguments)
            leaves = iter(given if isinstance(given, tuple) else (given,))
            return torch.utils._pytree.tree_unflatten([next(leaves) if leaf is None else leaf[0] for leaf in rest], spec)

    return Swapped().eval()
