"""The workloads of a task: one `get_inputs` with other arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kernelsmith_process.framing import Failure, Message


@dataclass(frozen=True)
class Workload:
    name: str = ""  # empty if the task has only this one
    arguments: dict[str, Any] = field(default_factory=dict)  # of get_inputs()


def read_workloads(request: Message) -> list[Workload]:
    """The request's workloads; one without arguments if it names none."""
    told = request.get("workloads") or [{}]
    if not isinstance(told, list) or not all(isinstance(one, dict) and isinstance(one.get("arguments", {}), dict) for one in told):
        raise Failure("machine", "run", "bad_request", "workloads are objects with a name and arguments")
    return [Workload(str(one.get("name", "")), one.get("arguments", {})) for one in told]


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
