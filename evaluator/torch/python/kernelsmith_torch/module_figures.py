"""Figures of the device code of a plan's extensions: its variables, and the maximum resources of a launched kernel."""

from __future__ import annotations

from typing import Any

from . import cubin_facts
from .cubin import resources


def figures_of(plan: dict[str, Any], number: int, cubin: bytes) -> dict[str, int]:
    """`registers` and `spills` of a thread, `shared` of a block; empty if nothing is launched or the file does not
    contain them."""
    launched: dict[str, int] = {}
    for alternative in plan["alternatives"]:
        for op in alternative["ops"]:
            if op.get("run") == number:
                launched[op["kernel"]] = max(op["shared"], launched.get(op["kernel"], 0))
    try:
        facts = cubin_facts.read(cubin).kernels if launched else {}
    except ValueError:
        return {}
    most: dict[str, int] = {}
    for name, shared in launched.items():
        if name in facts:
            told = {**resources(cubin, name), "shared": shared + facts[name].shared}
            most.update({key: max(value, most.get(key, 0)) for key, value in told.items()})
    return most


def variable_bytes(cubin: bytes) -> int:
    """Returns 0 if the file is damaged: the check of the plan finds the damage."""
    try:
        return cubin_facts.read(cubin).loaded_bytes
    except ValueError:
        return 0
