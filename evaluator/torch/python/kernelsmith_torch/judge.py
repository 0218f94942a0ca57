"""The judge's role of a worker: the reference, its time as the yardstick, the truth, and the comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kernelsmith_process.framing import Failure, Message

from . import compare as comparison
from .accelerator import Device, place_like, use_precision
from .model_source import VARIANTS, Inputs, Reference, blaming, constants, output_tensors, run_model
from .sharing import Inbox
from .timing import Call, Clock, Footprint, copy_rate
from .truth import Tolerance, Truth

PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
# Seeds of the checks when a task is prepared. The evaluator's own seeds are secret and have 63 bits.
_FIRST_SEED, _OTHER_SEED = 1, 2
# Of the free memory, the share that a batch's inputs and outputs may take in the judge. The runner holds them as well.
_SHARE_OF_MEMORY = 0.15
_WARM_UPS = 3
# Relative: far above what another order of sums changes, far below what dropout does.
_ATOMICS = 1e-3


class Judge:
    """Holds one task at a time. Not thread-safe."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._clock = Clock(device)
        self._inbox = Inbox(device)
        self._prepared = False
        self._played: tuple[int, tuple[int, ...]] | None = None

    def handlers(self) -> dict[str, Callable[[Message, bytes], Message]]:
        return {"prepare": self.prepare, "yardstick": self.yardstick, "compare": self.compare}

    def prepare(self, request: Message, _: bytes) -> Message:
        """Loads the reference, checks it, and measures what a batch can hold."""
        path, self._precision = str(request["reference"]), request["precision"]
        if self._precision not in PRECISIONS:
            raise Failure("machine", "run", "bad_request", f"precision {self._precision}: one of {', '.join(PRECISIONS)}")
        self._path = path
        self._clock.forget()
        self._slots: list[tuple[list[torch.Tensor], Inputs, Call, Any]] = []
        use_precision(self._precision)
        self._reference = Reference(path, self._device.torch)
        use_precision(self._precision)  # again: the reference's own file may have changed it
        wanted = request.get("tolerance", {})
        self._truth = Truth(self._reference, self._precision, Tolerance(
            wanted.get("policy", "default"), float(wanted.get("rtol", 0.0)), float(wanted.get("atol", 0.0))),
            int(request.get("bank_bytes", 1 << 30)))
        first = self._reference.draw(0, _FIRST_SEED)
        self._model = self._reference.model()
        with blaming(path, "running the reference"):
            outputs = self._check(first)
            self._variants = 1  # the usable ones come first, so that their numbers are VARIANTS' own
            while self._variants < len(VARIANTS) and self._usable(self._variants, first):
                self._variants += 1
        self._notes: list[str] = []
        if request.get("baseline", "eager") == "compile":
            self._model = torch.compile(self._model)
        inputs = first.tensors()
        call_us = self._measure_calls(float(request.get("batch_us", 200)), int(request.get("most_slots", 32)), first, outputs)
        self._prepared = True
        return {"inputs": [_shape(t) for t in inputs], "outputs": [_shape(t) for t in outputs],
                "state": list(self._reference.state()), "variants": list(VARIANTS[:self._variants]), "slots": self._capacity, "call_us": call_us,
                "compulsory_bytes": sum(t.numel() * t.element_size() for t in inputs),
                "bytes_per_us": copy_rate(self._device), "notes": self._truth.notes + self._notes}

    def yardstick(self, request: Message, _: bytes) -> Message:
        """Times the reference on sets of inputs."""
        variant, sets = self._sets(request)
        with blaming(self._path, "timing the reference"):
            times = self._play(variant, sets)
        self._played = (variant, tuple(sets))
        return {"us": times.us, "host_us": times.host_us}

    def compare(self, request: Message, _: bytes) -> Message:
        """Compares outputs that a runner published, or the yardstick's own."""
        variant, sets = self._sets(request)
        if request.get("own"):
            if self._played != (variant, tuple(sets)):
                raise Failure("machine", "correctness", "bad_request", "the last batch of the yardstick was another one")
            actual = [self._slots[i][2].outputs for i in range(len(sets))]
        else:
            actual = self._inbox.tensors(request.get("outbox"))
            if len(actual) != len(sets):
                raise Failure("machine", "correctness", "bad_outbox", f"{len(actual)} calls, where {len(sets)} were asked for")
        with torch.no_grad(), blaming(self._path, "computing the truth"):
            expected = [self._truth.expected(variant, seed) for seed in sets]
            found = comparison.compare_batch(expected, actual)
        return {"error": found.error, "digest": found.digest, "wrong": found.wrong}

    def _check(self, first: Inputs) -> list[torch.Tensor]:
        """The reference's outputs on the first inputs; Failure where they are not finite or change from run to run."""
        plain, wide, _ = self._truth.answers(0, _FIRST_SEED)
        if not plain:
            raise Failure("task", "run", "no_output", "forward() of the reference returns no tensor", "", self._path)
        for index, (own, true) in enumerate(zip(plain, wide)):
            if not _finite(own) or not _finite(true):
                raise Failure("task", "run", "not_finite", f"output {index} of the reference has elements that are NaN or "
                              "infinite", "choose inputs for which it is finite", self._path)
        inputs = self._reference.draw(0, _FIRST_SEED)
        torch.manual_seed(_OTHER_SEED)  # so that what forward() draws differs from the first time
        again = run_model(self._model, inputs)
        for index, (one, two) in enumerate(zip(plain, again)):
            if one.shape != two.shape or not _alike(one, two):
                raise Failure("task", "run", "not_deterministic", "two runs of the reference on the same inputs differ in "
                              f"output {index}", "let forward() draw nothing at random", self._path)
        other = self._reference.draw(0, _OTHER_SEED)
        if [_shape(t) for t in other.tensors()] != [_shape(t) for t in first.tensors()] or other.spec != first.spec:
            raise Failure("task", "run", "inputs_change", "get_inputs() gives other shapes or dtypes the second time",
                          "give tensors of the same shapes each time", self._path)
        if constants(other) != constants(first):
            raise Failure("task", "run", "inputs_change", "get_inputs() gives other values that are no tensors the second time",
                          "draw tensors only", self._path)
        return plain

    def _usable(self, variant: int, first: Inputs) -> bool:
        if not any(t.is_floating_point() for t in first.tensors()):
            return False
        try:
            plain, wide, _ = self._truth.answers(variant, _FIRST_SEED)
        except RuntimeError:
            return False
        return all(_finite(t) for t in [*plain, *wide])

    def _measure_calls(self, batch_us: float, most: int, first: Inputs, outputs: list[torch.Tensor]) -> float:
        """Sets the capacity: calls that take `batch_us`, at most `most` and what memory has room for. Gives the time of a
        call within such a batch."""
        size = sum(t.numel() * t.element_size() for t in [*first.tensors(), *outputs])
        self._capacity = room = max(1, min(most, int(_SHARE_OF_MEMORY * self._device.free_bytes() / max(size, 1))))
        with blaming(self._path, "timing the reference"):
            alone = min(self._play(0, [_FIRST_SEED]).us for _ in range(_WARM_UPS))
            self._capacity = max(1, min(room, int(batch_us / alone) + 1))
            for _ in range(2):  # calls in a row are shorter than one alone
                sets = list(range(1, self._capacity + 1))
                call_us = min(self._play(0, sets).us for _ in range(_WARM_UPS)) / len(sets)
                self._capacity = max(1, min(room, int(batch_us / call_us) + 1))
        return call_us

    def _play(self, variant: int, sets: list[int]) -> Any:
        while len(self._slots) < len(sets):
            self._slots.append(self._new_slot())

        def lay_out() -> None:
            for seed, (tensors, _, _, _) in zip(sets, self._slots):
                for target, source in zip(tensors, self._reference.draw(variant, seed).tensors()):
                    target.copy_(source)

        return self._clock.play([slot[2] for slot in self._slots[:len(sets)]], lay_out)

    def _new_slot(self) -> tuple[list[torch.Tensor], Inputs, Call, Any]:
        drawn = self._reference.draw(0, _FIRST_SEED)
        tensors, memory = place_like(drawn.tensors(), self._device)
        inputs = drawn.with_tensors(tensors)
        footprint = Footprint()

        def fill() -> None:
            for target, source in zip(tensors, drawn.tensors()):
                target.copy_(source)

        def function() -> list[torch.Tensor]:
            return output_tensors(self._model(*inputs.arguments()))

        with torch.no_grad():
            for _ in range(_WARM_UPS if not self._slots else 1):  # libraries and torch.compile get ready
                fill()
                function()
        fill()
        try:
            call = self._clock.record(function, footprint)
        except RuntimeError as error:
            self._device.finish()
            note = ("the reference cannot be captured in a CUDA graph "
                    f"({str(error).splitlines()[0][:200]}): it is timed with its launches")
            if note not in self._notes:
                self._notes.append(note)
            return tensors, inputs, self._clock.launched(function), memory
        own = {t.untyped_storage().data_ptr() for t in tensors}
        own |= {p.untyped_storage().data_ptr() for p in [*self._model.parameters(), *self._model.buffers()]}
        for output in call.outputs:
            if output.untyped_storage().data_ptr() not in own:
                footprint.add(output)
        return tensors, inputs, call, memory

    def _sets(self, request: Message) -> tuple[int, list[int]]:
        if not self._prepared:
            raise Failure("machine", "run", "bad_request", "no task is prepared")
        variant, sets = request["variant"], request["sets"]
        check_sets(variant, self._variants, sets, self._capacity)
        return variant, sets


def check_sets(variant: Any, variants: int, sets: Any, most: int) -> None:
    """Failure where a request's sets of inputs are none."""
    if variant not in range(variants) or not isinstance(sets, list) or not 0 < len(sets) <= most or \
            not all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in sets):
        raise Failure("machine", "run", "bad_request", f"a variant below {variants} and 1 to {most} seeds are wanted")


def _finite(tensor: torch.Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex()) or bool(tensor.isfinite().all())


def _alike(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether two runs differ by no more than the order of atomic additions explains."""
    if not (one.is_floating_point() or one.is_complex()):
        return torch.equal(one, two)
    return bool((one - two).abs().double().norm() <= _ATOMICS * one.abs().double().norm())


def _shape(tensor: torch.Tensor) -> dict[str, Any]:
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}
