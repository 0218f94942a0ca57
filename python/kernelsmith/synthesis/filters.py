"""Judges the sandbox's untrusted answer about a module: makes a record for the next stage, or a refusal."""

from __future__ import annotations

import ast
import re
from typing import Any

from . import allowed, families
from .stages import Record, refused

_CODE = re.compile(r"^[a-z0-9_]{1,40}\Z")
_NAME = re.compile(r"^[\w.:]{1,200}\Z")
_ORIGINS = ("call", "default", "guess", "model")
_MOST_TEXT = 96 << 10
_MOST_OUTPUT = 1 << 30  # numbers


def judged(record: Record, answer: dict[str, Any]) -> Record:
    """The judged record. `record` comes from the extraction."""
    code = answer.get("refused")
    if code is not None:
        known = isinstance(code, str) and _CODE.match(code)
        return refused(record, code if known else "breaks_sandbox", str(answer.get("message", "")))
    if not _is_whole(answer):
        return refused(record, "breaks_sandbox", "its answer has other fields")
    operators = answer["operators"]
    work = families.work(operators)
    for bad, name, words in (
            (len(answer["reference"]) > _MOST_TEXT, "too_large", "the file is too long"),
            (answer["launches"] > 0, "own_kernels", "it launches kernels of its own, but a task must begin with PyTorch's"),
            (not work, "no_work", "it copies or views its inputs only"),
            (not all(answer["depends"]), "constant_output", "an output does not depend on the inputs"),
            (any(answer["same"]), "returns_input", "an output is an input or a parameter as it is"),
            (any(_size(shape) > _MOST_OUTPUT or _size(shape) == 0 for _, shape in answer["outputs"]), "output_size",
             "an output is empty, or larger than a GPU holds")):
        if bad:
            return refused(record, name, words)
    forged = _forged(record, answer)
    if forged:
        return refused(record, "breaks_sandbox", f"its answer has {forged}")
    return {**record, "code": record["code"], **{name: answer[name] for name in _TYPES}}


_TYPES: dict[str, type | tuple[type, ...]] = {
    "reference": str, "operators": list, "outputs": list, "arguments": list, "inputs": list, "origin": str,
    "roofline_us": (int, float), "flops": int, "bytes": int, "state_bytes": int}


def _is_whole(answer: dict[str, Any]) -> bool:
    types = {**_TYPES, "depends": list, "same": list, "launches": int}
    return (all(isinstance(answer.get(name), kind) for name, kind in types.items()) and bool(answer["outputs"])
            and all(_is_operator(one, at) for at, one in enumerate(answer["operators"]))
            and all(_is_output(one) for one in answer["outputs"]))


def _is_operator(one: Any, at: int) -> bool:
    """Whether it is a name with the places of earlier operators."""
    return (isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], list)
            and all(isinstance(read, int) and 0 <= read < at for read in one[1]))


def _is_output(one: Any) -> bool:
    """Whether it is a type and a shape."""
    return (isinstance(one, list) and len(one) == 2 and isinstance(one[1], list)
            and all(isinstance(size, int) for size in one[1]))


def _forged(record: Record, answer: dict[str, Any]) -> str:
    """The values that an honest search cannot find; empty if there are none. They are refused because the
    judge executes the reference outside of the sandbox."""
    numbers = [answer["flops"], answer["bytes"], answer["state_bytes"],
               *(size for _, shape in answer["outputs"] for size in shape)]
    if not all(0 <= one < 1 << 62 for one in numbers) or not 0 <= answer["roofline_us"] < 1e9:
        return "impossible numbers"
    if answer["origin"] not in _ORIGINS or not all(_NAME.match(name) for name, _ in answer["operators"]):
        return "impossible names"
    try:
        for text in (*answer["arguments"], *answer["inputs"]):
            ast.parse(text, mode="eval")
        allowed.check(ast.parse(answer["reference"]))
    except allowed.Refusal as refusal:
        return f"text that is not allowed in a task: {refusal.code} {refusal.message}"
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as failed:
        return f"text that is not code: {failed}"
    return "" if record["code"].strip() in answer["reference"] else "other code"


def _size(shape: list[int]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size
