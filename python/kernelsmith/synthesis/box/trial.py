"""Executes a task on numbers, on the CPU: loads it as the judge does, and calls it on several sets of inputs."""

# mypy: ignore-errors
from __future__ import annotations

import math
import re
import warnings
from typing import Any

import torch
from kernelsmith_process.framing import Failure
from kernelsmith_torch.model_source import Inputs, Reference, is_memory, run_model

CPU_S = 30  # of a task's trial: two constructions, and a call for each input and three more
_PATH = "/tmp/trial.py"  # noqa: S108 - the sandbox's own
_SEED, _OTHER = 1, 2
# An output that changes by less than this share does not depend on what was changed. Sums in another order change
# float32 by about 1e-6.
_LEAST = 1e-4
# Two calls on the same inputs may differ by this, as in the judge's preparation.
_SAME = 1e-3
_BEYOND = re.compile(r"index -?\d+ is out of bounds for dimension \d+ with size (\d+)")
_OUTSIDE = ("out of range in self", "out of bounds", "out of range")


# Refusals after which other inputs may be sound.
OTHER_INPUTS = frozenset({"index_beyond_axis", "not_finite", "ignores_input", "constant_output", "does_not_run", "returns_input",
                          "mixes_samples"})


class Unsound(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def tried(reference: str) -> dict[str, Any]:
    """Nothing, or {"refused", "message"}; with "below" if indices below this number are within their axis."""
    with open(_PATH, "w", encoding="utf-8") as file:
        file.write(reference)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)  # memory that nobody writes becomes NaN
    warnings.simplefilter("ignore")
    try:
        _check(Reference(_PATH, torch.device("cpu")))
    except Unsound as unsound:
        return {"refused": unsound.code, "message": unsound.message}
    except Failure as failure:
        return _named(failure.code, failure.message)
    except MemoryError:
        return {"refused": "memory", "message": "memory ran out"}
    except (SystemExit, KeyboardInterrupt):
        return {"refused": "exits", "message": "it ended the process"}
    except BaseException as error:  # noqa: BLE001 - others' code raises anything
        return _named("out_of_memory" if is_memory(error) else "does_not_run", f"{type(error).__name__}: {error}")
    return {}


def _named(code: str, message: str) -> dict[str, Any]:
    beyond = _BEYOND.search(message)
    if beyond and int(beyond.group(1)):
        return {"refused": "index_beyond_axis", "message": message, "below": int(beyond.group(1))}
    if any(words in message for words in _OUTSIDE):
        return {"refused": "index_beyond_axis", "message": message}
    return {"refused": "memory" if code == "out_of_memory" else "does_not_run", "message": message}


def _check(reference: Reference) -> None:
    model = reference.model()
    unset = [name for name, value in model.state_dict().items() if not _finite(value)]
    first, other = reference.draw(0, _SEED), reference.draw(0, _OTHER)
    made = _called(model, first)
    torch.manual_seed(_OTHER)  # what forward() draws must not differ
    again = _called(model, first)
    changed = _called(model, other)
    for at, outputs in enumerate(zip(made, again, changed, strict=False)):
        _check_output(at, *outputs, unset)
        if any(_is_close(outputs[0], one) for one in first.tensors()):
            raise Unsound("returns_input", f"output {at} has the values of an input")
    for name, layer in model.named_modules():
        weight = getattr(layer, "weight", None)
        if isinstance(layer, _LAYERS) and isinstance(weight, torch.Tensor) and not weight.any():
            raise Unsound("zero_weights", f"the weights of {name or 'the module'} are 0, so its work changes nothing")
    for at, (one, two) in enumerate(zip(first.tensors(), other.tensors(), strict=True)):
        if torch.equal(one, two):
            raise Unsound("constant_input", f"input {at} is the same in every call")
        mixed = first.with_tensors([two if place == at else old for place, old in enumerate(first.tensors())])
        if not any(_moved(old, new) for old, new in zip(made, _called(model, mixed), strict=True)):
            raise Unsound("ignores_input", f"no output depends on input {at}")


    _check_samples(model, first, other, made)


def _check_samples(model: torch.nn.Module, first: Inputs, other: Inputs, made: list[torch.Tensor]) -> None:
    """If inputs have other numbers of axes, a sample of the one with the fewest must change its own sample alone. Else the axis of
    samples met an axis of the other input that happens to be as long."""
    given = first.tensors()
    samples = {one.shape[0] if one.dim() else 0 for one in [*given, *made]}
    least = min(range(len(given)), key=lambda at: given[at].dim(), default=0)
    if len(samples) > 1 or max(samples, default=0) < 2 or len({one.dim() for one in given}) < 2:
        return
    mixed = given[least].clone()
    mixed[0] = other.tensors()[least][0]
    found = _called(model, first.with_tensors([mixed if at == least else one for at, one in enumerate(given)]))
    if any(_moved(old[1:], new[1:]) for old, new in zip(made, found, strict=True)):
        raise Unsound("mixes_samples", f"a sample of input {least} changes the outputs of other samples")


_LAYERS = (torch.nn.Linear, torch.nn.modules.conv._ConvNd)


def _called(model: torch.nn.Module, inputs: Inputs) -> list[torch.Tensor]:
    """The outputs; the model may change its arguments and return them, so both are copies."""
    copies = inputs.with_tensors([one.clone() for one in inputs.tensors()])
    return [one.clone() for one in run_model(model, copies)]


def _check_output(at: int, made: torch.Tensor, again: torch.Tensor, changed: torch.Tensor, unset: list[str]) -> None:
    if made.shape != changed.shape:
        raise Unsound("reads_values", f"the shape of output {at} depends on values")
    if not (_finite(made) and _finite(changed)):
        if unset:
            raise Unsound("never_set", f"no value is ever given to {', '.join(unset)[:200]}")
        raise Unsound("not_finite", f"output {at} has elements that are NaN or infinite")
    if not _alike(made, again, _SAME):
        raise Unsound("not_deterministic", f"two calls on the same inputs differ in output {at}")
    if not _moved(made, changed):
        raise Unsound("constant_output", f"output {at} is the same for other inputs")


def _finite(value: torch.Tensor) -> bool:
    return not (value.is_floating_point() or value.is_complex()) or bool(value.isfinite().all())


def _moved(one: torch.Tensor, two: torch.Tensor) -> bool:
    return one.shape != two.shape or not _alike(one, two, _LEAST)


def _is_close(one: torch.Tensor, two: torch.Tensor) -> bool:
    return one.shape == two.shape and one.dtype == two.dtype and _alike(one, two, _LEAST)


def _alike(one: torch.Tensor, two: torch.Tensor, share: float) -> bool:
    if not (one.is_floating_point() or one.is_complex()):
        return torch.equal(one, two)
    return _norm(one - two) <= share * _norm(one)


def _norm(value: torch.Tensor) -> float:
    return math.sqrt(float(value.abs().double().square().sum()))
