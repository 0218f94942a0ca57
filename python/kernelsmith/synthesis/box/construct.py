"""Constructs a foreign module. Takes arguments from calls, defaults, annotations and names, and then tries
others."""

# mypy: ignore-errors
from __future__ import annotations

import inspect
import re
import types
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

import torch
from kernelsmith_torch.constants import Constants

from . import guesses
from .wrong_arguments import Given, repaired

_MOST_TRIES = 40
_CONFIG = re.compile(r"^(config|cfg|conf|args|opt|options|hparams?|params|configs|hp|model_args|model_config|setting)$")
_PLAIN = (int, float, bool, str, type(None))


class NotMade(Exception):
    """No arguments were found. Holds the last error."""


class Config(types.SimpleNamespace):
    """An object with the requested attributes. layout.CONFIG_TEXT is the same class for the text of a
    task."""

    def get(self, name: str, default: Any = None) -> Any:
        return vars(self).get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in vars(self)

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]


def made(module: types.ModuleType, calls: list[dict[str, str]],
         hints: dict[str, str]) -> Generator[tuple[Any, list[str], str], str | None, None]:
    """Models with the texts of their arguments, and the origin of the arguments: "call", "default" or
    "guess". The caller sends this generator the error of the model's call. Raises NotMade."""
    kind = module.Model
    parameters = _parameters(kind.__init__)
    words, tried = "no constructor was tried", 0
    waiting = deque(_proposals(parameters, calls, hints))
    seen = [given for given, _ in waiting]

    def propose(given: Given, origin: str, words: str) -> None:
        others = [one for one in repaired(given, words[:2000]) if one not in seen]
        seen.extend(others)
        waiting.extendleft((one, origin) for one in reversed(others))

    while waiting and tried < _MOST_TRIES:
        given, origin = waiting.popleft()
        tried += 1
        try:
            texts = _listed(parameters, given)
            with Constants():
                model = kind(*[_value(text, module) for text in texts])
        except Exception as error:  # noqa: BLE001 - constructors may raise anything
            words = f"{type(error).__name__}: {error}"
            propose(given, origin, words)
        else:
            words = (yield model, texts, origin) or words
            propose(given, origin, words)
    raise NotMade(words)


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [one for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _proposals(parameters: list[inspect.Parameter], calls: list[dict[str, str]],
               hints: dict[str, str]) -> Iterator[tuple[dict[str, str], str]]:
    names = [one.name for one in parameters]
    needed = [one.name for one in parameters if one.default is one.empty]

    def options_of(name: str) -> tuple[str, ...]:
        return ("_Config()",) if _CONFIG.match(name) else guesses.of_argument(name, hints.get(name, ""))

    options = {name: options_of(name) for name in needed}
    for call in calls:
        given = {name: text for name, text in call.items() if name in names}
        yield {**{name: options[name][0] for name in needed}, **given}, "call" if set(needed) <= set(given) else "guess"
    first = {name: texts[0] for name, texts in options.items()}
    yield dict(first), "guess" if needed else "default"
    for name, texts in options.items():  # one other text at a time
        for text in texts[1:]:
            yield {**first, name: text}, "guess"
    for at in range(1, 4):  # other texts for all at once
        yield {name: texts[min(at, len(texts) - 1)] for name, texts in options.items()}, "guess"
    channels = {name: "64" for name in needed
                if re.search(r"dim|channel|feature|size|planes", name) and "kernel" not in name}
    if channels:
        yield {**first, **channels}, "guess"
    absent = {one.name: options_of(one.name)[0] for one in parameters if one.default is None}
    if absent:
        yield {**first, **absent}, "guess"


def _listed(parameters: list[inspect.Parameter], given: dict[str, str]) -> list[str]:
    """The arguments as a list for get_init_inputs(), up to the last argument that is given."""
    last = max((at for at, one in enumerate(parameters) if one.name in given), default=-1)
    return [given.get(one.name) or _default(one.default) for one in parameters[:last + 1]]


def _default(value: Any) -> str:
    if isinstance(value, _PLAIN) or isinstance(value, (tuple, list)) and all(isinstance(one, _PLAIN) for one in value):
        return repr(value)
    name = getattr(value, "__qualname__", "")
    home = getattr(value, "__module__", "") or ""
    if home.startswith("torch.nn.modules") and "." not in name:
        return f"nn.{name}"
    if home in ("extracted", "torch.nn.functional") and name and "<" not in name and "." not in name:
        return name if home == "extracted" else f"F.{name}"
    raise ValueError(f"the default {value!r} cannot be written")


def _value(text: str, module: types.ModuleType) -> Any:
    known = {**vars(module), "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "_Config": Config}
    return eval(text, known)  # noqa: S307 - in the sandbox
