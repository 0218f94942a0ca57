"""One workload of a task as the judge sees it: its truths, the yardstick's recorded calls, and the comparison of outputs."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from kernelsmith_process.framing import Failure, Message

from . import compare as comparison
from .accelerator import Device, hashes_of, pieces, place
from .counting import Operations
from .forward_draws import giving
from .layout import Arrangement, distinct_bytes, layouts_of, write
from .memory import Layout, Measured, is_memory, lay_out, reserve, slots_for
from .model_source import VARIANTS, Inputs, Reference, blaming, check_sets, constants, output_tensors, run_model
from .sharing import Inbox
from .timing import Call, Clock, Footprint
from .truth import Bank, Models, Truth
from .workloads import Tolerance

# Seeds of the checks when a task is prepared. The evaluator's own seeds are secret and have 63 bits.
_FIRST_SEED, _OTHER_SEED = 1, 2
_WARM_UPS = 3
# A relative difference far above the effect of another order of sums, and far below the effect of dropout.
_ATOMICS = 1e-3
_MOST_PROBLEM = 1_000  # characters of what a reference's own check says
# If other inputs change an output by more than this relative difference, no comparison with a truth is
# needed.
_MOVED = 0.1

# The tensors of a call that are written before it, its inputs, the call, the owner of the tensors' memory, and what the call
# may read although the reference has replaced it.
Slot = tuple[list[torch.Tensor], Inputs, Call, Any, list[torch.Tensor]]


class Surroundings(NamedTuple):
    """What the workloads of a task share."""

    device: Device
    clock: Clock
    inbox: Inbox
    spent: Spent
    models: Models
    precision: str
    notes: list[str]
    bank: Bank


class JudgedWorkload:
    """Not thread-safe. `reference` draws this workload's inputs."""

    def __init__(self, shared: Surroundings, reference: Reference, tolerance: Tolerance) -> None:
        self._device, self._clock, self._inbox, self._spent, _, _, self._notes, bank = shared
        self._spent.begin("load")
        self._reference, self._path, self._declared = reference, reference.path, reference.declared
        self._model = shared.models.yardstick
        self._truth = Truth(reference, shared.models, shared.precision, tolerance, bank)
        self._bank_bytes = bank.most_bytes
        self._played: tuple[int, tuple[int, ...]] | None = None
        self._layout: Layout | None = None
        self._drop_slots()
        self._tried = self._try()

    @property
    def gives_back(self) -> bool:
        return self._layout is None or self._layout.gives_back

    @property
    def recorded_bytes(self) -> int:
        """The memory of the recorded calls. Call it after prepare()."""
        return self._capacity * (self._tried.measured.inputs + self._tried.measured.call)

    def release(self) -> None:
        """Drops everything that can be made again."""
        self._drop_slots()
        self._truth.forget()

    def _try(self) -> _Tried:
        """Checks the reference and measures its memory. Times nothing."""
        with self._device.peak() as drawing:
            drawn = self._reference.draw(0, _FIRST_SEED)
        first = _Outline(drawn)
        with blaming(self._path, "running least_bytes"):
            least = self._declared.least_bytes(drawn.arguments())
            first.compulsory_bytes = first.compulsory_bytes if least is None else least
        del drawn
        with blaming(self._path, "running the reference"):
            outputs, measured, still = self._check(first, drawing[0])
            self._spent.begin("variants")
            self._variants = 1  # usable variants come first, so that their numbers agree with VARIANTS
            while self._variants < len(VARIANTS) and (peak := self._usable(self._variants, first)) is not None:
                self._device.give_back()
                measured = replace(measured, draw=max(measured.draw, peak))
                self._variants += 1
        self._spent.begin("")
        return _Tried(first, outputs, measured, still)

    @property
    def draws_in_forward(self) -> bool:
        return bool(self._drawn_bytes)

    def prepare(self, request: Message, model: Any) -> Message:
        """Times the reference, as `model`, and plans its placement."""
        first, outputs, measured, still = self._tried
        self._model = model
        self._spent.begin("yardstick")
        total = self._device.memory()[0]
        usable = total - reserve(total)
        room = slots_for(measured, int(request.get("most_slots", 32)), self._device.facts()["l2_bytes"], total)
        # The number of calls in a batch is known only after one was measured. Until then, memory is laid out
        # for one call.
        self._layout = lay_out(measured, 1, self._bank_bytes, usable)
        call_us = self._measure_calls(float(request.get("batch_us", 200)), room)
        # A process that replaces another one has its batches, although calls are timed anew.
        self._capacity = int(request.get("slots") or self._capacity)
        self._layout = lay_out(measured, self._capacity, self._bank_bytes, usable)
        self._truth.on_host = self._layout.truth_on_host
        if not self._layout.together:
            self._drop_slots()
        self._spent.begin("checks")
        with blaming(self._path, "running the reference"):
            degenerate = self._unmoved(still)
        self._spent.begin("")
        return {"inputs": [_shape(t) for t in first.tensors],
                "outputs": [{**_shape(t), "stride": at.stride, "fresh": at.fresh} for t, at in zip(outputs, self._lie)],
                "degenerate": degenerate, "flops": self._flops, "variants": list(VARIANTS[:self._variants]),
                "slots": self._capacity, "call_us": call_us, "compulsory_bytes": first.compulsory_bytes,
                "memory": {**vars(measured), **self._layout.told()}}

    def notes(self) -> list[str]:
        return self._truth.notes

    def yardstick(self, request: Message) -> Message:
        """Times the reference on sets of inputs."""
        variant, sets = self._sets(request)
        with blaming(self._path, "timing the reference"):
            us = self._play(variant, sets)
        self._own = [slot[2].outputs for slot in self._slots[:len(sets)]]
        if not self._layout.together:
            copies = [[output.clone() for output in outputs] for outputs in self._own]
            self._drop_slots()
            self._own = copies
        self._played = (variant, tuple(sets))
        return {"us": us}

    def compare(self, request: Message) -> Message:
        """Compares outputs of a runner, or the yardstick's own."""
        variant, sets = self._sets(request)
        if request.get("own"):
            if self._played != (variant, tuple(sets)):
                raise Failure("machine", "correctness", "bad_request", "the last batch of the yardstick was another one")
            actual = self._own
        else:
            actual = self._inbox.tensors(request.get("outbox"))
            if len(actual) != len(sets):
                raise Failure("machine", "correctness", "bad_outbox", f"{len(actual)} calls, and {len(sets)} were asked for")
        began = time.monotonic()
        if self._declared.check is not None:
            found = self._checked(variant, sets, actual)
            return {"error": found.error, "digest": found.digest, "wrong": found.wrong, "truth_s": 0.0}
        with torch.no_grad(), blaming(self._path, "computing the truth"):
            expected = [self._truth.expected(variant, seed) for seed in sets]
            self._device.finish()  # otherwise the truth's time would count as comparing
            truth_s = time.monotonic() - began
            found = comparison.compare_batch(expected, actual, lambda call, run, wide: self._truth.moved(variant, sets[call], run, wide))
        return {"error": found.error, "digest": found.digest, "wrong": found.wrong, "truth_s": truth_s}

    def _checked(self, variant: int, sets: list[int], actual: list[list[torch.Tensor]]) -> comparison.Findings:
        """What the reference's own check says of the outputs, after their shapes and types."""
        found = comparison.compare_shapes([self._tried.outputs] * len(sets), actual)
        if found.wrong is not None:
            return found
        for call, (seed, outputs) in enumerate(zip(sets, actual)):
            # A comparison with NaN is false, so a check may find no fault in it.
            if not all(map(self._usual, outputs)):
                return comparison.refused(call, "the outputs have elements that are NaN or infinite", found.digest)
            inputs = self._reference.draw(variant, seed)
            with torch.no_grad():
                problem = self._declared.problem(outputs, inputs.arguments())
            if problem:
                return comparison.refused(call, problem[:_MOST_PROBLEM], found.digest)
        return found

    def _check(self, first: _Outline, draw_bytes: int) -> tuple[list[torch.Tensor], Measured, list[int]]:
        """The reference's outputs on the first inputs without their values, its memory, and the outputs that other
        inputs hardly change. Raises Failure if outputs are not finite or change between runs."""
        self._spent.begin("truth")
        with self._device.peak() as computing:
            plain, wide, low = self._truth.answers(0, _FIRST_SEED)
        self._spent.begin("checks")
        if not plain:
            raise Failure("task", "run", "no_output", "forward() of the reference returns no tensor", "", self._path)
        index = _first(zip(plain, wide), lambda own, true: self._usual(own) and self._usual(true))
        if index is not None:
            what = "NaN" if self._declared.may_be_infinite else "NaN or infinite"
            raise Failure("task", "run", "not_finite", f"output {index} of the reference has elements that are {what}",
                          "choose inputs for which it is finite, or say may_be_infinite = True in the reference", self._path)
        errors = [max(_off(one, true) for one in ([own] if rough is own else [own, rough])) if _real(own) else 0.0
                  for own, true, rough in zip(plain, wide, low)]
        del wide, low
        inputs = self._reference.draw(0, _FIRST_SEED)
        torch.manual_seed(_OTHER_SEED)  # so that what forward() draws differs from the first time
        with self._device.peak() as calling:
            again = run_model(self._model, inputs)
        self._drawn_bytes = _bytes(inputs.drawn())
        self._lie = layouts_of(again, [*inputs.tensors(), *self._model.state_dict().values()])
        del inputs
        index = _first(zip(plain, again), _alike)
        if index is not None and self._declared.check is None:
            raise Failure("task", "run", "not_deterministic", "two runs of the reference on the same inputs differ in "
                          f"output {index}", "let forward() draw nothing at random", self._path)
        del again
        self._device.give_back()
        inputs = self._reference.draw(0, _OTHER_SEED)
        other = _Outline(inputs)
        if not other.lies.is_like(first.lies) or other.spec != first.spec:
            raise Failure("task", "run", "inputs_change", "get_inputs() gives other shapes, dtypes or strides the second time",
                          "give tensors of the same shapes and strides each time", self._path)
        if other.constants != first.constants:
            raise Failure("task", "run", "inputs_change", "values of get_inputs() that are not tensors differ the second time",
                          "draw tensors only", self._path)
        moved = self._counted(inputs)
        still = [index for index, pair in enumerate(zip(plain, moved)) if _close(*pair, errors[index])]
        if self._declared.check is not None:
            still = []  # outputs may differ from those of the reference
        outputs = [torch.empty_like(t, device="meta") for t in plain]
        del plain, moved, inputs
        self._device.give_back()
        state = _bytes(list(self._model.state_dict().values()))
        inputs, wrote = sum(first.lies.sizes()) + self._drawn_bytes, _bytes(outputs)
        truth = sum(t.nbytes * (1 if _real(t) else 2) + t.numel() // 8 for t in outputs)
        needs = Measured(state, inputs, wrote, max(draw_bytes, inputs), max(calling[0], wrote), computing[0], truth)
        return outputs, needs, still

    def _counted(self, inputs: Inputs) -> list[torch.Tensor]:
        """The reference's outputs. Counts the operations of products, convolutions and attention with PyTorch's
        formulas."""
        operations = Operations()
        try:
            with operations:
                outputs = run_model(self._model, inputs)
            self._flops = operations.count
        except Exception as error:  # noqa: BLE001 - a reference that runs is usable even if it cannot be counted
            if is_memory(error):
                raise
            self._flops = 0
            outputs = run_model(self._model, self._reference.draw(0, _OTHER_SEED))
        return outputs

    def _unmoved(self, outputs: list[int]) -> list[int]:
        """The outputs that do not depend on the inputs: the reference's outputs for other inputs pass for the first
        ones, too."""
        for variant in range(self._variants if outputs else 0):
            found = run_model(self._model, self._reference.draw(variant, _FIRST_SEED if variant else _OTHER_SEED))
            if self._layout.gives_back:
                self._device.give_back()
            with torch.no_grad():
                truth = self._truth.expected(0, _FIRST_SEED)
                outputs = [i for i in outputs if comparison.compare_batch([[truth[i]]], [[found[i]]]).wrong is None]
        self._truth.forget()
        return outputs

    def _usable(self, variant: int, first: _Outline) -> int | None:
        """Bytes for drawing the variant; None if the reference's outputs on it are not finite."""
        if not any(t.is_floating_point() for t in first.tensors):
            return None
        try:
            with self._device.peak() as drawing:
                self._reference.draw(variant, _FIRST_SEED).drawn()
            self._spent.begin("truth")
            plain, wide, _ = self._truth.answers(variant, _FIRST_SEED)
            self._spent.begin("variants")
        except RuntimeError as error:
            if is_memory(error):
                raise
            return None
        return drawing[0] if all(map(self._usual, [*plain, *wide])) else None

    def _usual(self, tensor: torch.Tensor) -> bool:
        """Whether all elements are numbers, and finite unless the reference says that they need not be."""
        if not _real(tensor):
            return True
        flat = tensor.reshape(-1)
        if self._declared.may_be_infinite:
            return not any(bool(_computable(flat[part]).isnan().any()) for part in pieces(flat.numel()))
        return all(bool(_computable(flat[part]).isfinite().all()) for part in pieces(flat.numel()))

    def _measure_calls(self, batch_us: float, room: int) -> float:
        """Sets the capacity: the calls that take `batch_us`, at most `room`. Returns the time of a call within such a
        batch."""
        self._capacity = room
        with blaming(self._path, "timing the reference"):
            alone = min(self._play(0, [_FIRST_SEED]) for _ in range(_WARM_UPS))
            self._capacity = max(1, min(room, int(batch_us / alone) + 1))
            for _ in range(2):  # calls in a row take less time each than a single one
                sets = list(range(1, self._capacity + 1))
                call_us = min(self._play(0, sets) for _ in range(_WARM_UPS)) / len(sets)
                self._capacity = max(1, min(room, int(batch_us / call_us) + 1))
        return call_us

    def _drop_slots(self) -> None:
        self._clock.forget()
        self._slots, self._own, self._played = [], [], None

    def _play(self, variant: int, sets: list[int]) -> float:
        while len(self._slots) < len(sets):
            self._slots.append(self._new_slot())

        def lay_out() -> None:
            for seed, (tensors, *_) in zip(sets, self._slots):
                drawn = self._reference.draw(variant, seed)
                for target, source in zip(tensors, itertools.chain(drawn.tensors(), drawn.drawn())):
                    write(target, source)
                drawn = source = None  # frees them before the next set is drawn
            if self._layout.gives_back:
                self._device.give_back()
                # After freeing memory the first pass over memory takes up to a tenth longer. The runner makes that
                # pass before its clock starts, when it hashes its inputs. So this process makes it, too.
                hashes_of([slot[3] for slot in self._slots[:len(sets)]])

        calls = [slot[2] for slot in self._slots[:len(sets)]]
        return self._clock.play(lambda: calls, lay_out)

    def _new_slot(self) -> Slot:
        drawn: Inputs | None = self._reference.draw(0, _FIRST_SEED)
        given = len(drawn.tensors())
        tensors, memory = place(Arrangement.of([*drawn.tensors(), *drawn.drawn()]), self._device)
        inputs = drawn.with_tensors(tensors)
        footprint = Footprint()

        def fill() -> None:
            for target, source in zip(tensors, itertools.chain(drawn.tensors(), drawn.drawn())):
                write(target, source)

        def function() -> list[torch.Tensor]:
            with giving(tensors[given:]):
                return output_tensors(self._model(*inputs.arguments()))

        with torch.no_grad():
            for _ in range(_WARM_UPS if not self._slots else 1):  # lets libraries and torch.compile initialise
                fill()
                function()
        fill()
        drawn = None
        if self._layout.gives_back:
            self._device.give_back()
        try:
            call = self._clock.record(function, footprint)
        except RuntimeError as error:
            self._device.finish()
            note = ("the reference cannot be captured in a CUDA graph "
                    f"({str(error).splitlines()[0][:200]}): its time includes its launches")
            if note not in self._notes:
                self._notes.append(note)
            return tensors, inputs, self._clock.launched(function), memory, []
        own = {t.untyped_storage().data_ptr() for t in tensors}
        own |= {p.untyped_storage().data_ptr() for p in [*self._model.parameters(), *self._model.buffers()]}
        for output in call.outputs:
            if output.untyped_storage().data_ptr() not in own:
                footprint.add(output)
        return tensors, inputs, call, memory, self._reference.kept_by(self._model)

    def _sets(self, request: Message) -> tuple[int, list[int]]:
        variant, sets = request["variant"], request["sets"]
        check_sets(variant, self._variants, sets, self._capacity)
        return variant, sets


class Spent:
    """Seconds by step. A step lasts until the next begins, and the device ends a step's work within the step. Time
    of the step "" does not count."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._seconds: dict[str, float] = {}
        self._step, self._since = "load", time.monotonic()

    def begin(self, step: str) -> None:
        self._device.finish()
        now = time.monotonic()
        if self._step:
            self._seconds[self._step] = self._seconds.get(self._step, 0.0) + now - self._since
        self._step, self._since = step, now

    def told(self) -> dict[str, float]:
        self.begin("")
        return self._seconds


class _Tried(NamedTuple):
    """What trying the reference found."""

    outline: _Outline
    outputs: list[torch.Tensor]  # without values
    measured: Measured
    still: list[int]  # the outputs that other inputs hardly change


class _Outline:
    """The outline of inputs: everything but the tensors' values."""

    def __init__(self, inputs: Inputs) -> None:
        self.spec, self.constants = inputs.spec, constants(inputs)
        self.lies = Arrangement.of(inputs.tensors())
        self.compulsory_bytes = distinct_bytes(inputs.tensors())  # that a call must read
        self.tensors = [torch.empty_like(t, device="meta") for t in inputs.tensors()]


def _bytes(tensors: list[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _first(pairs: Iterable[tuple[torch.Tensor, torch.Tensor]], good: Callable[..., bool]) -> int | None:
    """The index of the first bad pair. Keeps no tensor."""
    return next((index for index, pair in enumerate(pairs) if not good(*pair)), None)


def _computable(tensor: torch.Tensor) -> torch.Tensor:
    """The elements in a type with arithmetic: floats of 8 bits have none."""
    return tensor.float() if tensor.is_floating_point() and tensor.itemsize == 1 else tensor


def _alike(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether the difference of two runs can be explained by the order of atomic additions."""
    if one.shape != two.shape:
        return False
    return _off(one, two) <= _ATOMICS * _size(one) if _real(one) else torch.equal(one, two)


def _close(one: torch.Tensor, other: torch.Tensor, error: float) -> bool:
    """Whether an output for other inputs is nearly equal; `error` is the norm of the difference."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return _off(one, other) <= _MOVED * _size(one) + 16 * error if _real(one) else torch.equal(one, other)


def _real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _off(one: torch.Tensor, two: torch.Tensor) -> float:
    """The norm of the difference."""
    one, two = one.reshape(-1), two.reshape(-1)

    def off(part: slice) -> torch.Tensor:
        a, b = _computable(one[part]), _computable(two[part])
        return (a - b).masked_fill_(a == b, 0)  # equal infinities, too

    return _norm(off(part) for part in pieces(one.numel()))


def _size(one: torch.Tensor) -> float:
    flat = one.reshape(-1)

    def finite(part: slice) -> torch.Tensor:
        values = _computable(flat[part])
        return values.masked_fill(~values.isfinite(), 0)

    return _norm(finite(part) for part in pieces(flat.numel()))


def _norm(parts: Iterable[torch.Tensor]) -> float:
    return math.sqrt(sum(float(part.abs().double().square().sum()) for part in parts))


def _shape(tensor: torch.Tensor) -> dict[str, Any]:
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}
