"""The judge's worker: runs the reference, times it as the yardstick, computes the truth, and compares outputs. A task has one
or several workloads (judged_workload.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from kernelsmith_process.framing import Failure, Message

from .accelerator import PRECISIONS, Device, use_precision
from .judged_workload import JudgedWorkload, Spent, Surroundings
from .memory import Shortage, keeps_calls, missing, neighbours, reserve
from .model_source import Reference
from .sharing import Inbox
from .timing import Clock
from .truth import Bank, Models
from .workloads import naming, read_workloads, workload_of

# The models that a task usually needs: the truth's two, and the yardstick.
_MODELS = 3


class ReferenceProcess:
    """Holds one task at a time. Not thread-safe."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._clock = Clock(device)
        self._inbox = Inbox(device)
        self._early: Reference | None = None
        self._forget()

    def _forget(self) -> None:
        self._workloads: list[JudgedWorkload] = []
        self._prepared = self._keeps = False
        self._latest: JudgedWorkload | None = None

    def handlers(self) -> dict[str, Callable[[Message, bytes], Message]]:
        steps = {"read": self.read, "try": self.try_reference, "prepare": self.prepare, "yardstick": self.yardstick,
                 "compare": self.compare, "release": self.release}
        return {name: self._sparing(step) for name, step in steps.items()}

    def _sparing(self, step: Callable[[Message, bytes], Message]) -> Callable[[Message, bytes], Message]:
        """Runs a step. Large tasks free caches after it, and a failure for lack of memory names whose fault it is."""

        def do(request: Message, blob: bytes) -> Message:
            try:
                return step(request, blob)
            except Failure as failure:
                if failure.code == "out_of_memory":
                    raise self._short(failure, bool(request.get("alone"))) from failure.__cause__
                raise
            finally:
                if not self._prepared or any(one.gives_back for one in self._workloads):
                    with contextlib.suppress(RuntimeError):
                        self._inbox.close()
                    self._device.give_back()

        return do

    def _short(self, failure: Failure, alone: bool) -> Failure:
        total, free, own = self._device.memory()
        shortage = Shortage(total, free, own, 0, failure.more["asked"], 0, alone)
        if not alone or shortage.strangers() > reserve(total):
            return Failure("machine", "run", "busy", f"{failure.message}: {neighbours(shortage)}",
                           "wait for the processes that use this GPU, or end them", failure.where)
        return Failure("task", "run", "out_of_memory", f"{failure.message}: {missing(shortage)}",
                       "make the inputs smaller, or take a GPU with more memory", failure.where)

    def release(self, _: Message, __: bytes) -> Message:
        """Drops everything that can be made again."""
        if self._prepared:
            for one in self._workloads:
                one.release()
        else:
            self._forget()
            self._model = None
        self._inbox.close()
        self._device.give_back()
        return {}

    def read(self, request: Message, _: bytes) -> Message:
        """Loads the reference for prepare() as far as that needs no GPU."""
        self._early = Reference.early(str(request["reference"]), self._device.torch, bool(request.get("cast")), _MODELS,
                                      read_workloads(request)[0])
        return {}

    def try_reference(self, request: Message, _: bytes) -> Message:
        """Does the part of prepare() that times nothing, so that other tasks may use the device meanwhile."""
        self._forget()
        self._try(request)
        return {}

    def _try(self, request: Message) -> None:
        """Loads the reference, checks it at each workload, and measures its memory."""
        path, precision, told = str(request["reference"]), request["precision"], read_workloads(request)
        if precision not in PRECISIONS:
            raise Failure("machine", "run", "bad_request", f"precision {precision}: one of {', '.join(PRECISIONS)}")
        self._spent = Spent(self._device)
        use_precision(precision)
        self._clock.kernels.load(request)
        early, self._early = self._early, None
        reference = early or Reference(path, self._device.torch, bool(request.get("cast")), told[0])
        use_precision(precision)  # again: the reference's own file may have changed it
        self._notes: list[str] = []
        models = Models(reference, precision, any(one.tolerance.truth == "fp64" for one in told))
        shared = Surroundings(self._device, self._clock, self._inbox, self._spent, models, precision, self._notes,
                              Bank(int(request.get("bank_bytes", 1 << 30))))
        reference.drop_spares()
        workloads = []
        for workload in told:
            with naming(workload):
                workloads.append(JudgedWorkload(shared, reference.at(workload), workload.tolerance))
        self._state, self._model, self._workloads, self._told = list(reference.state()), shared.models.yardstick, workloads, told

    def prepare(self, request: Message, _: bytes) -> Message:
        """Tries the reference unless that was done, and times it at each workload."""
        if self._prepared or not self._workloads:
            self._forget()
            self._try(request)
        model = self._baseline(request.get("baseline", "eager") == "compile")
        found = []
        told = request.get("workloads") or [{}]
        for workload, one, facts in zip(self._told, self._workloads, told):
            with naming(workload):
                found.append(one.prepare({**request, "slots": facts.get("slots")}, model))
            if len(self._workloads) > 1:
                one.release()
        self._keeps = self._share_memory(found)
        self._prepared = True
        self._spent.begin("bandwidth")
        notes = list(dict.fromkeys(note for one in self._workloads for note in one.notes()))
        return {"workloads": found, "state": self._state, "bytes_per_us": self._clock.copy_rate(),
                "notes": notes + self._notes, "spent_s": self._spent.told()}

    def _baseline(self, compiles: bool) -> Any:
        if compiles and any(one.draws_in_forward for one in self._workloads):
            self._notes.append("the reference draws in forward(): it is timed without torch.compile, which draws other numbers")
            return self._model
        if compiles and len(self._workloads) == 1:
            return torch.compile(self._model)
        if compiles:  # for each shape by itself, as for a task of one workload
            torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 4 * len(self._workloads))
            return torch.compile(self._model, dynamic=False)
        return self._model

    def _share_memory(self, found: list[Message]) -> bool:
        """Whether the recorded calls of all workloads stay on the device. Adds the others' to each one's need."""
        sizes = [one.recorded_bytes for one in self._workloads]
        keeps = not any(one.gives_back for one in self._workloads) and keeps_calls(sizes, self._device.memory()[0])
        for size, told in zip(sizes, found):
            for key in ("judge", "need"):
                told["memory"][key] += sum(sizes) - size if keeps else 0
        return keeps

    def yardstick(self, request: Message, _: bytes) -> Message:
        """Times the reference on sets of inputs."""
        return self._chosen(request).yardstick(request)

    def compare(self, request: Message, _: bytes) -> Message:
        """Compares outputs of a runner, or the yardstick's own."""
        return self._chosen(request).compare(request)

    def _chosen(self, request: Message) -> JudgedWorkload:
        if not self._prepared:
            raise Failure("machine", "run", "bad_request", "no task is prepared")
        chosen = self._workloads[workload_of(request, len(self._workloads))]
        if self._latest is not chosen and self._latest is not None and not self._keeps:
            self._latest.release()
        self._latest = chosen
        return chosen
