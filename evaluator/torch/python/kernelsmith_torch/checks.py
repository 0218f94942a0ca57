"""Checks of single values in untrusted JSON: each returns the value or raises Failure (candidate, `bad_plan`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from kernelsmith_process.framing import Failure

MOST_LIST = 65_536
MOST_TEXT = 1024
MOST_NAME = 8192  # CUTLASS's kernels have some thousands of characters
MOST_IDS = 1 << 20


@dataclass(frozen=True)
class Ref:
    """A tensor of the plan, by its id."""

    id: int


def refuse(what: str, where: str = "") -> NoReturn:
    raise Failure("candidate", "plan", "bad_plan", f"the plan is not one: {what}",
                  "a planner of another version, or a plan that was changed", where)


def object_of(value: Any, what: str, needs: set[str] | None = None, may: set[str] | None = None) -> None:
    if not isinstance(value, dict) or len(value) > MOST_LIST:
        refuse(f"{what} is not an object")
    if needs is not None and not needs <= set(value) <= needs | (may or set()):
        refuse(f"{what} lacks a member or has one too many")


def list_of(value: Any, most: int, what: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        refuse(f"{what} are not a list of at most {most}")
    return value


def integer_of(value: Any, least: int, most: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        refuse(f"{what} is not a whole number from {least} to {most}")
    return value


def text_of(value: Any, what: str, most: int = MOST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > most:
        refuse(f"{what} is not a text of at most {most} characters")
    return value


def name_of(value: Any, what: str) -> str:
    """A text that is passed to libraries as a name."""
    if not text_of(value, what, MOST_NAME).isascii() or not value.isprintable():
        refuse(f"{what} has strange characters")
    return value


def tensor_of(value: Any, known: set[int]) -> Ref:
    """{"t": id} of a known tensor."""
    object_of(value, "a tensor", {"t"})
    id_ = integer_of(value["t"], 0, MOST_IDS - 1, "a tensor's id")
    if id_ not in known:
        refuse(f"tensor {id_} is used before an operation gives it")
    return Ref(id_)
