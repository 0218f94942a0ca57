"""The constants in a module's graph: attributes that the module reads, and numbers in its code. Exporting the
module with another value of an attribute shows whether the graph depends on it. If the attribute is a float
that appears literally in the graph, it becomes an argument of the task's constructor. Kernels are made for
fixed values of all other constants."""

from __future__ import annotations

import contextlib
import logging
import math
import re
from collections.abc import Callable, Iterator
from string import Template
from typing import Any

from .._errors import Error
from .recorded import Call, copied
from .torch_here import torch_here

_TOKEN = r"\d+\.?\d*(?:e[+-]?\d+)?|\w+|\s+|."
_FLOAT = r"\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+"


def with_constants(module: Any, call: Call, draft: Callable[[], str]) -> tuple[str, str]:
    """The reference, made from a draft with open constants, and notes about the constants. `draft` exports
    the module again, and returns the same text for the same attributes."""
    tokens = re.findall(_TOKEN, draft(), re.DOTALL)
    arguments: dict[str, tuple[str, float]] = {}
    fixed: dict[str, Any] = {}
    for path, value in _read(module, call).items():
        places = _places(module, path, value, tokens, draft)
        if places is None:
            fixed[path] = value
        elif places:
            name = _name(path)
            arguments[name] = (path, value)
            for at in places:
                tokens[at] = f"self.{name}"
    text = "".join(tokens)
    literals = _literals(text)
    known = {"arguments": {name: path for name, (path, _) in arguments.items()}, "fixed": fixed, "literals": literals}
    groups = (([f"{path} = {value!r}" for path, value in arguments.values()], "arguments"),
              ([f"{path} = {value!r}" for path, value in fixed.items()], "kernels are for these values"),
              (literals, "the module's code"))
    said = "; ".join(f"{', '.join(group)} ({what})" for group, what in groups if group)
    return Template(text).substitute(
        constants=f"CONSTANTS = {known!r}",
        constructor="".join(f", {name}" for name in arguments),
        attributes="".join(f"        self.{name} = {name}\n" for name in arguments),
        init=", ".join(repr(value) for _, value in arguments.values())), said


def _name(path: str) -> str:
    name = path.replace(".", "__")
    return name if name.isidentifier() else f"at{name}"


def _places(module: Any, path: str, value: Any, tokens: list[str], draft: Callable[[], str]) -> list[int] | None:
    """The places where the text has the value literally. Empty if the text does not depend on the value, and
    None if it depends on the value in another way."""
    own = type(module.get_submodule(path.rpartition(".")[0])).__module__
    # Saves exports: an operator accepts no other string, and PyTorch's own modules use every attribute that
    # they read.
    if isinstance(value, str) or (type(value) is not float and own.startswith("torch.nn.")):
        return None
    other = _other(value)
    try:
        with _changed(module, path, other), _quiet():
            changed = re.findall(_TOKEN, draft(), re.DOTALL)
    except Error:
        return None
    # The new draft has a number again at each place at which `tokens` already has an attribute.
    apart = [at for at, (old, new) in enumerate(zip(tokens, changed, strict=False)) if old != new and not old.startswith("self.")]
    if not apart and len(tokens) == len(changed):
        return []
    is_it = type(value) is float and len(tokens) == len(changed) and all(
        tokens[at] == repr(value) and changed[at] == repr(other) for at in apart)
    return apart if is_it else None


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        return tuple(_other(each) for each in value)
    return math.nextafter(value, math.inf) if isinstance(value, float) else value + 1


@contextlib.contextmanager
def _changed(module: Any, path: str, value: Any) -> Iterator[None]:
    owner, _, name = path.rpartition(".")
    holder = module.get_submodule(owner)
    held = name in vars(holder)
    before = getattr(holder, name)
    try:
        setattr(holder, name, value)
        yield
    finally:
        setattr(holder, name, before)
        if not held:  # the class holds the attribute
            delattr(holder, name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses PyTorch's expected messages about values that it cannot export."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _read(module: Any, call: Call) -> dict[str, Any]:
    """The numbers and strings that a call reads from its modules, by path."""
    torch = torch_here()
    found: dict[str, Any] = {}
    own = {child: type(child) for child in module.modules()}
    try:
        for path, child in module.named_modules():
            with contextlib.suppress(TypeError):  # a class that is not written in Python
                child.__class__ = _watching(torch, own[child], f"{path}." if path else "", found)
        with torch.no_grad():
            module(*copied(call.args), **copied(call.kwargs))
    finally:
        for child, kind in own.items():
            child.__class__ = kind
    return found


def _watching(torch: Any, kind: Any, prefix: str, found: dict[str, Any]) -> Any:
    class Watching(kind):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            if not name.startswith("_") and not hasattr(torch.nn.Module, name) and name != "training" and _is_constant(value):
                found[prefix + name] = value
            return value

    return Watching


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(each, (int, float)) for each in value)
    return isinstance(value, (bool, int, float, str))


def _literals(text: str) -> list[str]:
    """The floats left in the graph, with the operators that use them."""
    body = text.partition("    def forward(")[2].partition("\ndef ")[0]
    found = [f"{number} in {operator.rpartition('.')[2]}"
             for line in body.splitlines() if (call := re.search(r"= ([\w.]+)\(", line))
             for operator in [call.group(1).removesuffix(".default").removesuffix(".Tensor").removesuffix(".Scalar")]
             for number in re.findall(rf"(?<![\w.])(?:{_FLOAT})", line[call.end():])]
    return list(dict.fromkeys(found))
