"""Keyword arguments as run.yaml's settings."""

import difflib
import json
import os
from collections.abc import Mapping
from typing import Any

from ._errors import Error
from ._proposers import _Configured

# Budgets of run.yaml that may be arguments of their own, like the command's options.
_BUDGETS = ("iterations", "evaluations", "calls", "wall_time_s", "usd", "until_flat")

_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("iterations", "evaluations", "calls", "workers", "random_seed", "pipeline"), ("a whole number", (int,))),
    **dict.fromkeys(("wall_time_s", "usd", "until_flat"), ("a number", (int, float))),
    **dict.fromkeys(("budgets", "islands", "migration", "sampler", "limits", "archive", "memory"),
                    ("a dict", (Mapping,))),
    "deterministic": ("True or False", (bool,)),
    "durability": ("a text", (str,)),
    "operators": ("a list or a dict", (list, tuple, Mapping)),
}


def settings_from(settings: dict[str, Any], proposer: Any) -> tuple[str, Any]:
    """The settings as JSON for run.yaml, and `proposer` if it is a Python object."""
    settings = dict(settings)
    for name, value in settings.items():
        _check_type(name, value)
    budgets = {name: settings.pop(name) for name in _BUDGETS if name in settings}
    if budgets:
        settings["budgets"] = {**settings.get("budgets", {}), **budgets}
    for name in settings:  # run.yaml's reader suggests none of these; 0.85 distinguishes evaluator from evaluations
        for known in difflib.get_close_matches(name, _BUDGETS, 1, 0.85):
            raise Error(f"unknown key '{name}'", "bad_input", "the keyword arguments", f"did you mean {known}?")
    if "random_seed" in settings:
        settings["seed"] = settings.pop("random_seed")
    if isinstance(proposer, type) and issubclass(proposer, _Configured):
        raise TypeError(f"this is a class, not an instance: write {proposer.__name__}(...)")
    if isinstance(proposer, _Configured):
        settings["proposer"] = proposer.settings
        proposer = None
    return json.dumps({"version": 1, **settings}, default=_plain), proposer


def _check_type(name: str, value: Any) -> None:
    """Checks only the type: run.yaml's reader checks the contents of a section."""
    if name not in _TYPES:
        return
    words, types = _TYPES[name]
    plain = value.tolist() if hasattr(value, "tolist") else value  # NumPy's numbers
    if not isinstance(plain, types) or (isinstance(plain, bool) and types != (bool,)):
        raise TypeError(f"{name} is {words}, not {type(value).__name__}")


def _plain(value: Any) -> Any:
    """Converts paths and NumPy's numbers to JSON."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a setting must be a plain value, not {type(value).__name__}")
