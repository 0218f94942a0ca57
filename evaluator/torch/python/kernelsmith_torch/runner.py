"""The runner's role of a worker: replays a plan on inputs that it draws, times it, and publishes the outputs. It never
computes expected outputs, because a candidate's kernels run in this process's context and can search its memory.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable
from typing import Any

import torch

from kernelsmith_process.framing import Failure, Message

from . import plan_format
from .accelerator import PRECISIONS, SMALL_GAP, Device, Seal, place, use_precision
from .layout import Arrangement, Layout, bytes_of, is_alone, write
from .memory import ALLOWANCE, CONTEXT, Shortage, gib, is_candidates, neighbours, reserve
from .model_source import VARIANTS, Inputs, Reference, blaming, check_sets
from .own_kernels import OTHER_POISON
from .plan_check import check_plan
from .plan_values import Alternative, Aten, Plan
from .replay import Program, blaming_candidate, is_own
from .sharing import Outbox
from .timing import Call, Clock, Footprint, Patience
from .workloads import read_workloads, workload_of

_FIRST_SEED = 1
# Failures after which the process is replaced anyway.
_LOST = ("crashed", "timed_out", "input_modified")
_TRIAL_REPLAYS = 5
# Bytes that fill the memory between an input's elements. As numbers they are far from any input, positive and
# negative, but finite, so that 0 times them is 0.
_GAPS = (0x4B, 0xCB)
_PARAMETERS = "parameters of the model, or memory next to them"


def _call_s_of(request: Message) -> float:
    """The time limit of calls; optional in a manual request."""
    return float(request.get("call_s", math.inf))


def _changes(what: str) -> Failure:
    return Failure("candidate", "integrity", "input_modified", f"the candidate changes {what}", "write to tensors of your own")


class Runner:
    """Holds one task and one plan at a time. Not thread-safe."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._clock = Clock(device)
        self._outbox = Outbox(device)
        self._early: Reference | None = None
        self._reference: Reference | None = None  # draws the inputs of the loaded workload
        self._tasks: list[Message] = []  # what the judge says of each workload
        self._memory: Message = {}  # the judge's memory plan of the loaded workload
        self._slots: list[tuple[Inputs, Any, list[torch.Tensor]]] = []
        self._calls: list[Call] = []
        self._pool: Any = None
        self._anchor: Call | None = None  # keeps the memory pool
        self._program: Program | None = None
        self._best: Alternative | None = None  # set when the plan is loaded
        self._alone = False
        self._peak = 0  # peak device bytes of a call

    def handlers(self) -> dict[str, Callable[[Message, bytes], Message]]:
        steps = {"read": self.read, "prepare": self.prepare, "load": self.load, "run": self.run, "publish": self.publish,
                 "profile": self.profile}
        return {name: self._sparing(step) for name, step in steps.items()}

    def _sparing(self, step: Callable[[Message, bytes], Message]) -> Callable[[Message, bytes], Message]:
        """Runs a step. Large tasks free caches after it, and a failure for lack of memory names whose fault it is."""

        def do(request: Message, blob: bytes) -> Message:
            try:
                return step(request, blob)
            except Failure as failure:
                if failure.code == "out_of_memory":
                    raise self._blamed(failure) from failure.__cause__
                if failure.fault == "candidate" and failure.code not in _LOST and self._is_changed():
                    raise _changes(f"{_PARAMETERS}, and then: {failure.message}") from failure
                raise
            finally:
                if self._memory.get("gives_back"):
                    self._device.give_back()

        return do

    def _blamed(self, failure: Failure) -> Failure:
        """The Failure, as the candidate's or the machine's fault."""
        if failure.fault == "machine":
            return failure
        total, free, own = self._device.memory()
        runner, need = int(self._memory.get("runner", 0)), int(self._memory.get("need", 0))
        shortage = Shortage(total, free, own, max(0, need - ALLOWANCE - runner), failure.more["asked"], runner + ALLOWANCE,
                            self._alone)
        doing = failure.more["doing"]
        if is_candidates(shortage):
            return Failure("candidate", "run", "out_of_memory", f"the GPU's memory ran out while {doing}: the candidate held "
                           f"{gib(own)}, and the reference takes {gib(runner)}", "use less memory", failure.where)
        return Failure("machine", "run", "busy", f"the GPU's memory ran out while {doing}: {neighbours(shortage)}",
                       "wait for the processes that use this GPU, or end them", failure.where)

    def _is_changed(self) -> bool:
        """Whether the candidate wrote to parameters. Inputs are made again for each batch."""
        return self._reference is not None and not self._state_seal.intact()

    def close(self) -> None:
        self._outbox.close()

    def read(self, request: Message, _: bytes) -> Message:
        """Loads the reference for prepare() as far as that needs no GPU."""
        self._early = self._early or Reference.early(str(request["reference"]), self._device.torch,
                                                     bool(request.get("cast")), 0, read_workloads(request)[0])
        return {}

    def prepare(self, request: Message, _: bytes) -> Message:
        """Loads the task: how to draw the inputs of its workloads, and make parameters."""
        if request["precision"] not in PRECISIONS:
            raise Failure("machine", "run", "bad_request", f"precision {request['precision']}")
        self._unload()
        self._tasks, workloads = request.get("workloads") or [request], read_workloads(request)
        early, self._early = self._early, None
        self._reference = early or Reference(str(request["reference"]), self._device.torch, bool(request.get("cast")),
                                             workloads[0])
        use_precision(request["precision"])
        self._references = [self._reference.at(workload) for workload in workloads]
        self._outlines: dict[int, tuple[Arrangement, Inputs]] = {}
        self._clock.kernels.load(request)
        with blaming(self._reference.path, "moving parameters to the device"):
            self._take_state()
        self._choose(0)
        return {}

    def _choose(self, workload: int) -> None:
        """Makes the inputs of a workload those of the next plan."""
        self._reference, told = self._references[workload], self._tasks[workload]
        self._capacity = int(told["slots"])
        self._memory = told.get("memory") or {}
        self._layouts = [Layout.read(layout) for layout in told.get("outputs") or []]  # optional in a manual request
        if workload not in self._outlines:
            drawn = self._reference.draw(0, _FIRST_SEED)
            lies = Arrangement.of(drawn.tensors())
            self._outlines[workload] = lies, drawn.with_tensors(
                [torch.empty_strided(lie.shape, lie.stride, dtype=lie.dtype, device="meta") for lie in lies.lies])
        self._lies, self._outline = self._outlines[workload]

    def _take_state(self) -> None:
        """Parameters and buffers on the device. The originals stay on the host, where no kernel can reach them."""
        assert self._reference is not None
        self._originals = self._reference.state()
        placed, self._state_memory = place(self._reference.state_lies(), self._device, SMALL_GAP)
        self._state = dict(zip(self._originals, placed))
        self._copy_state()

    def _copy_state(self) -> None:
        self._state_memory.fill_(OTHER_POISON)
        for name, value in self._originals.items():
            write(self._state[name], value)
        self._state_seal = Seal([self._state_memory])

    def _restore_state(self) -> None:
        """Resets to the reference's state, whatever an earlier candidate did."""
        if not self._state_seal.intact():
            self._copy_state()

    def _limit(self, alone: bool) -> None:
        """Limits memory: a candidate gets its share of the device, or all that the judge leaves if there is
        no other task."""
        self._alone = alone
        total = self._device.memory()[0]
        kin = int(self._memory.get("judge", 0)) + 2 * CONTEXT  # for a spare, and for this process
        self._device.limit(total - reserve(total) - kin if alone else int(self._memory.get("runner", total)) + ALLOWANCE)

    def load(self, request: Message, blob: bytes) -> Message:
        """Checks a plan for a workload, loads its kernels, and keeps the fastest of its alternatives. The constructor and
        each call may take `call_s`."""
        if self._reference is None:
            raise Failure("machine", "run", "bad_request", "no task is prepared")
        self._unload()
        self._choose(workload_of(request, len(self._tasks)))
        self._restore_state()
        self._limit(bool(request.get("alone")))
        self._wipe()
        try:
            text, cubins = plan_format.decode(blob)
        except plan_format.PlanError as error:
            raise Failure("candidate", "plan", "bad_plan", str(error), "plan the candidate again") from error
        facts = self._device.facts()
        plan = check_plan(text, cubins, tuple(facts["capability"]), self._device.torch)
        self._check_inputs(plan)
        with blaming_candidate("preparing the candidate"):
            self._call_s = _call_s_of(request)
            self._reference.seed_constructor()
            self._program = Program(plan, self._state, self._device, self._clock.kernels, self._layouts, self._wait_after_each())
            self._slots = [self._new_slot()]
            timed = []
            for alternative in plan.alternatives:
                timed.append(self._try(alternative, only=len(plan.alternatives) == 1))
        if all(isinstance(us, Failure) for us in timed):
            raise timed[0]
        best = plan.alternatives[min((us, i) for i, us in enumerate(timed) if not isinstance(us, Failure))[1]]
        aten = sum(isinstance(op, Aten) for op in best.ops)
        with blaming_candidate("preparing the candidate"):
            self._pool = self._clock.new_pool()
            self._anchor = None if self._memory.get("gives_back") else self._clock.hold(self._pool)
            with self._device.peak() as of_call:
                self._calls = [self._record(best, 0, self._pool)]
        self._peak = self._held() + of_call[0]
        self._best = best
        own = [op for op in best.ops if is_own(op)]
        return {"launches": len(own), "aten": aten, "own_ops": sorted({self._program.name_of(op) for op in own}),
                "best": best.name,
                "alternatives": [{"name": a.name, "us": None if isinstance(us, Failure) else us or None}
                                 for a, us in zip(plan.alternatives, timed)],
                "workspace_bytes": sum(size for size, _ in self._calls[0].footprint.ranges.values())}

    def _check_inputs(self, plan: Plan) -> None:
        if [(info.dtype, info.shape) for info in plan.inputs] != [(lie.dtype, lie.shape) for lie in self._lies.lies]:
            raise Failure("candidate", "plan", "bad_plan", "the plan's inputs are not those of the reference",
                          "plan the candidate with this reference")
        if plan.lies is not None and not plan.lies.is_like(self._lies):
            index, here, there = next((i, own, one) for i, (one, own) in enumerate(zip(plan.lies.lies, self._lies.lies))
                                      if one.matters() != own.matters())
            raise Failure("candidate", "plan", "bad_plan", f"input {index} has another layout on this device ({here.words()}) than "
                          f"where candidates are planned ({there.words()})", "let get_inputs() end with .contiguous()")

    def run(self, request: Message, _: bytes) -> Message:
        """One batch: draws inputs, poisons what the candidate writes, replays, and measures the time."""
        program = self._chosen()
        variant, sets = request["variant"], request["sets"]
        check_sets(variant, len(VARIANTS), sets, self._capacity)
        self._played = None
        with blaming_candidate("running the candidate"):
            us = self._clock.play(lambda: self._placed_anew(len(sets)), lambda: self._lay_out(program, variant, sets),
                                  Patience(_call_s_of(request)))
        self._played = self._calls
        return {"us": us}

    def publish(self, _: Message, __: bytes) -> Message:
        """Copies the outputs of the last batch to the outbox. Raises Failure if its inputs or parameters were
        changed."""
        self._loaded()
        if self._played is None:
            raise Failure("machine", "run", "bad_request", "there was no batch since the plan was loaded")
        with blaming_candidate("reading the candidate's outputs"):
            for seal, what in ((self._inputs_seal, "its inputs, or memory next to them"), (self._state_seal, _PARAMETERS)):
                if not seal.intact():
                    raise _changes(what)
            self._state_seal.close()
            outbox = self._outbox.publish([call.outputs for call in self._played])
        if not self._memory.get("together", True):
            self._drop_calls()
        return {"outbox": outbox}

    def profile(self, _: Message, __: bytes) -> Message:
        """Profiles a call: the time of each operation, in order."""
        program = self._chosen()
        with torch.no_grad(), blaming_candidate("profiling the candidate"):
            if not self._slots:
                self._slots = [self._new_slot()]
            self._fill(0, 0, _FIRST_SEED)
            self._wipe()
            for _ in range(2):
                times = self._clock.op_times(program.steps(self._best, self._given(0)), Patience(self._call_s))
        own = [is_own(op) for op in self._best.ops]
        total = sum(times)
        return {"ops": [{"name": program.name_of(op), "own": mine, "us": us}
                        for op, mine, us in zip(self._best.ops, own, times)],
                "own_share": sum(us for us, mine in zip(times, own) if mine) / total if total else 0.0,
                "peak_bytes": self._peak}

    def _held(self) -> int:
        """Bytes that exist before a call: parameters, the constructor's tensors, inputs."""
        return self._loaded().made_bytes + sum(self._reference.state_lies().sizes()) + sum(self._lies.sizes()) + sum(
            tensor.nbytes for tensor in self._slots[0][2])

    def _try(self, alternative: Alternative, only: bool) -> float | Failure:
        """Microseconds of a call, or the reason why it fails; failures of the device are raised. 0 if there is only
        one alternative."""
        program = self._loaded()
        inputs = self._given(0)
        try:
            with torch.no_grad(), blaming_candidate("running the candidate"):
                self._fill(0, 0, _FIRST_SEED)
                self._wipe()
                program.call(alternative, inputs, Footprint(), self._wait_after_each())
                self._device.finish()
                if only:
                    return 0.0
                call = self._record(alternative, 0, self._clock.new_pool())
                us = min(self._clock.play(lambda: [call], lambda: self._lay_out(program, 0, [_FIRST_SEED]),
                                          Patience(self._call_s)) for _ in range(_TRIAL_REPLAYS))
                self._clock.forget()
                return us
        except Failure as failure:
            if failure.code in ("crashed", "timed_out") or only:
                raise
            if failure.code == "out_of_memory":  # a neighbour must not choose the alternative
                blamed = self._blamed(failure)
                if blamed.fault == "machine":
                    raise blamed from failure.__cause__
            return failure

    def _wait_after_each(self) -> Callable[[], None]:
        """When kernels run for the first time, waits for each operation, so that slow loading on the host is not
        mistaken for a kernel that hangs."""
        patience = Patience(self._call_s)
        return lambda: patience.wait_for(self._device.mark())

    def _record(self, alternative: Alternative, slot: int, pool: Any) -> Call:
        program = self._loaded()
        footprint = Footprint()
        inputs = self._given(slot)
        program.reserve(alternative)
        return self._clock.record(lambda: program.call(alternative, inputs, footprint), footprint, pool)

    def _placed_anew(self, count: int) -> list[Call]:
        """Records calls of a batch at new addresses, so that addresses saved by earlier batches are useless.
        Recording takes time on the host but none on the device."""
        self._drop_calls()
        if self._device.drop_workspaces():
            self._clock.wipe_free_memory()  # the new calls would reuse the same memory
        self._loaded().renew(self._best)
        self._slots = [self._new_slot() for _ in range(count)]
        secrets.SystemRandom().shuffle(self._slots)
        # Calls are recorded in the order in which they are played, because a call's output may use the memory
        # of an earlier call's intermediate.
        self._calls = [self._record(self._best, slot, self._pool) for slot in range(count)]
        return self._calls

    def _forget_calls(self) -> None:
        """Drops the recorded calls and everything that uses their memory, including the seal."""
        self._clock.forget()
        self._calls, self._slots, self._played, self._inputs_seal = [], [], None, None

    def _drop_calls(self) -> None:
        self._forget_calls()
        if self._memory.get("gives_back"):
            self._pool = self._clock.new_pool()
            self._device.give_back()

    def _new_slot(self) -> tuple[Inputs, Any, list[torch.Tensor]]:
        tensors, memory = place(self._lies, self._device)
        return self._outline.with_tensors(tensors), memory, self._loaded().drawn()

    def _given(self, slot: int) -> list[torch.Tensor]:
        """The arguments of a call: its inputs and draws."""
        return [*self._slots[slot][0].tensors(), *self._slots[slot][2]]

    def _fill(self, slot: int, variant: int, seed: int) -> None:
        assert self._reference is not None
        sources = self._reference.draw(variant, seed).tensors()
        self._reference.seed_call(seed)
        for target, source in zip(self._given(slot), itertools.chain(sources, self._loaded().drawn())):
            write(target, source)
        if self._memory.get("gives_back"):
            sources = source = None
            self._device.give_back()

    def _lay_out(self, program: Program, variant: int, sets: list[int]) -> None:
        """Removes everything that an earlier batch wrote and that we computed from secrets: next to the inputs, in
        the outbox, and in unused memory."""
        for _, memory, _ in self._slots:
            memory.fill_(OTHER_POISON)
        for slot, seed in enumerate(sets):
            for tensor in self._slots[slot][0].tensors():
                if not is_alone(tensor):
                    bytes_of(tensor).fill_(_GAPS[seed % 2])
            self._fill(slot, variant, seed)
        program.restore()
        self._inputs_seal = Seal([memory for _, memory, _ in self._slots])
        self._wipe()

    def _wipe(self) -> None:
        """Overwrites unused memory that kernels can reach; it may contain outputs of another candidate."""
        self._outbox.wipe()
        self._clock.wipe_free_memory()
        self._clock.kernels.wipe()

    def _loaded(self) -> Program:
        if self._program is None:
            raise Failure("machine", "run", "bad_request", "no plan is loaded")
        return self._program

    def _chosen(self) -> Program:
        """The completely loaded program."""
        if self._best is None:
            raise Failure("machine", "run", "bad_request", "no plan is loaded")
        return self._loaded()

    def _unload(self) -> None:
        """Drops all that belongs to a candidate."""
        self._forget_calls()
        self._pool = self._anchor = None
        program, self._program, self._best = self._program, None, None
        if program is not None:
            program.close()
        del program
        self._device.drop_workspaces()
        self._device.give_back()
