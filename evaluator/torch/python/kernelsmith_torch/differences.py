"""Finds differences between two plans of a candidate, recorded with tensors at different addresses: a difference was
computed from an address."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from typing import Any

from . import cubin_facts
from .plan_format import decode
from .recording import Refused


def refuse_differences(first: bytes, second: bytes, where: str) -> None:
    """Raises Refused if the plans differ. `where` is the line that requested an address."""
    if first == second:
        return
    what, line = next(_differences(first, second), ("the plan", ""))
    raise Refused("address_as_number", f"{what} changes if the tensors are at other addresses, as they are in each call",
                  "compute nothing from data_ptr() but keys of caches and alignment; initialise structures that kernels get "
                  "(P p{};)", line or where)


def _differences(first: bytes, second: bytes) -> Iterator[tuple[str, str]]:
    """Describes each difference, with its line."""
    for one, other in itertools.zip_longest(_entries(first), _entries(second)):
        if one is None or other is None:
            yield "the number of operators and launches", ""
        elif one != other:
            yield _words(one, other), one.get("line", "")


def _entries(plan: bytes) -> Iterator[dict[str, Any]]:
    """Entries of the setup and all alternatives. Launches contain their kernels, whose numbers differ between plans,
    and the offset of each argument."""
    told, cubins = decode(plan)
    modules = [cubin_facts.read(cubin) for cubin in cubins[len(told["kernels"]):]]
    for entry in itertools.chain(told["setup"], told.get("draws", []), *(alternative["ops"] for alternative in told["alternatives"])):
        if "launch" in entry:
            number = entry["launch"]
            yield {**entry, "launch": told["kernels"][number]["name"], "code": cubins[number]}
        elif "run" in entry:
            yield {**entry, "layout": modules[entry["run"]].kernels[entry["kernel"]].parameters}
        else:  # strides appear if a kernel reads them, and then the kernel shows the difference
            yield {key: value for key, value in entry.items() if key != "strides"}


def _words(one: dict[str, Any], other: dict[str, Any]) -> str:
    keys = [key for key in one if one[key] != other.get(key)]
    name = _name(one) or "a constant tensor"
    if "constant" in one:
        return "a constant tensor"
    if name != _name(other) or not keys or keys[0] not in _PARTS:
        return f"what is called ({name})"
    if keys[0] == "args":
        differing = [i for i, (a, b) in enumerate(zip(one["args"], other["args"])) if a != b]
        return f"argument {differing[0]} of {name}" if differing else f"the number of arguments of {name}"
    if keys[0] in ("params", "pointers") and "run" in one:
        return _argument(one, other)
    return f"{_PARTS[keys[0]]} of {name}"


def _argument(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Describes the differing argument of an extension's kernel, which is computed from an address or
    uninitialised."""
    params = [base64.b64decode(entry["params"]) for entry in (one, other)]
    offsets = [i for i, (a, b) in enumerate(zip(*params)) if a != b]
    offsets += [told[0] for told in one["pointers"] + other["pointers"] if told not in one["pointers"] or
                told not in other["pointers"]]
    at = min(offsets, default=0)
    number, (begin, _) = max((i, place) for i, place in enumerate(one["layout"]) if place[0] <= at)
    return (f"a number computed from an address, or uninitialised bytes of the kernel's argument {number}: byte "
            f"{at - begin} of it, for {one['kernel']},")


def _name(entry: dict[str, Any]) -> str | None:
    """The name of an operator, a kernel, or an entry of an extension."""
    kinds = ("memset", "copy", "upload", "symbol")
    return entry.get("aten") or entry.get("launch") or entry.get("kernel") or next((k for k in kinds if k in entry), None)


_PARTS = {"args": "", "kwargs": "an argument", "grid": "the grid", "code": "the compiled code (a constant)",
          "out": "the result", "overload": "the overload", "line": "the line",
          "params": "a number among the parameters", "pointers": "a pointer", "data": "the data", "block": "the block",
          "shared": "the shared memory", "at": "the place", "bytes": "the size", "value": "the value"}
