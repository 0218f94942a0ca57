"""The workloads of a task: one `get_inputs` with other arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from kernelsmith_process.framing import Failure, Message


@dataclass(frozen=True)
class Tolerance:
    """How wrong an output may be (docs/tolerance.md). kernelsmith decides which one counts at a workload."""

    policy: str = "auto"  # auto, allclose, normwise
    rtol: float = 0.0
    atol: float = 0.0
    matched: float = 1.0  # the share of an output's elements that must be within, for allclose
    cap: float | None = None  # the largest error of any element
    either: bool = False  # an element is within by rtol or by atol, not by their sum
    truth: str = "fp64"  # or the reference's own answer: "reference"

    @staticmethod
    def of(told: Message) -> Tolerance:
        return Tolerance(**{one.name: told[one.name] for one in fields(Tolerance) if one.name in told})


@dataclass(frozen=True)
class Workload:
    name: str = ""  # empty if the task has only this one
    arguments: dict[str, Any] = field(default_factory=dict)  # of get_inputs()
    tolerance: Tolerance = Tolerance()


def read_workloads(request: Message) -> list[Workload]:
    """The request's workloads; one without arguments if it names none."""
    told = request.get("workloads") or [{}]
    if not isinstance(told, list) or not all(isinstance(one, dict) and isinstance(one.get("arguments", {}), dict) for one in told):
        raise Failure("machine", "run", "bad_request", "workloads are objects with a name and arguments")
    return [Workload(str(one.get("name", "")), one.get("arguments", {}), Tolerance.of(one.get("tolerance", {}))) for one in told]


def workload_of(request: Message, count: int) -> int:
    """The number of the request's workload; 0 if it has none."""
    number = request.get("workload", 0)
    if type(number) is not int or not 0 <= number < count:
        raise Failure("machine", "run", "bad_request", f"a workload below {count} is wanted")
    return number


@contextmanager
def naming(workload: Workload) -> Iterator[None]:
    """Adds the workload's name to a Failure."""
    try:
        yield
    except Failure as failure:
        if workload.name:
            failure.message = f"at workload {workload.name}: {failure.message}"
        raise
