"""Constructs, calls and sizes one module in its own process. Writes the result to a pipe as JSON."""

# mypy: ignore-errors
from __future__ import annotations

import random
import sys
import types
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode

from . import construct, forward, patches, sizes

MOST_STATE = 4 << 30  # bytes of parameters and buffers
_MOST_MODELS = 8


def probe(task: dict[str, Any]) -> dict[str, Any]:
    """Returns {"arguments", "inputs", ...}, or {"refused", "message"}."""
    before = patches.snapshot()
    random.seed(0)
    torch.manual_seed(0)
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        try:
            made = _found(task)
        except Refused as refused:
            made = {"refused": refused.code, "message": refused.message}
        except (SystemExit, KeyboardInterrupt):
            made = {"refused": "exits", "message": "it ended the process"}
        except MemoryError:
            made = {"refused": "memory", "message": "memory ran out"}
        except BaseException as error:  # noqa: BLE001 - others' code raises anything
            made = {"refused": "does_not_load", "message": f"{type(error).__name__}: {error}"}
    changed = patches.changed(before)
    return {"refused": "patches_torch", "message": changed} if changed else made


class Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def _found(task: dict[str, Any]) -> dict[str, Any]:
    module = types.ModuleType("extracted")
    module.nn, module.F = torch.nn, torch.nn.functional  # type: ignore[attr-defined]
    sys.modules["extracted"] = module
    exec(compile(task["code"], "reference.py", "exec"), module.__dict__)  # noqa: S102 - this is what the sandbox is for
    hints = task.get("annotations", {})
    models = construct.made(module, task.get("calls", []), hints.get("__init__", {}))
    first: Refused | None = None  # error of the first model's call
    said = None
    try:
        for _ in range(_MOST_MODELS):
            model, arguments, origin = models.send(said)
            try:
                return {**_called(model.eval(), hints.get("forward", {}), task), "arguments": arguments,
                        "origin": origin}
            except Refused as refused:
                first, said = first or refused, refused.message
                if refused.code not in ("no_inputs", "no_size", "no_work"):
                    break
    except construct.NotMade as failed:
        raise first or Refused("not_constructed", str(failed)) from None
    raise first or Refused("not_constructed", "no arguments were found")


def _called(model: torch.nn.Module, hints: dict[str, str], task: dict[str, Any]) -> dict[str, Any]:
    state = sum(one.numel() * one.element_size() for one in model.state_dict().values() if isinstance(one, torch.Tensor))
    if state > MOST_STATE:
        raise Refused("too_large", f"{state} bytes of parameters")
    try:
        specs, measured = sizes.fitted(model, forward.found(model, hints, task.get("skip", 0), task.get("below")))
        small = sizes.small(model, specs, measured)
    except forward.NoInputs as failed:
        reads = any(word in str(failed) for word in ("data-dependent", "DataDependent", "_local_scalar_dense"))
        raise Refused("reads_values" if reads else "no_inputs", str(failed)) from None
    except (DataDependentOutputException, DynamicOutputShapeException) as failed:
        raise Refused("reads_values", str(failed)) from None
    except sizes.Unstable:
        raise Refused("not_deterministic", "two calls with the same inputs did different work") from None
    except sizes.NoWork:
        raise Refused("no_work", "it views its inputs only") from None
    except sizes.NoSize as failed:
        raise Refused("no_size", str(failed)) from None
    return {"inputs": [one.source() for one in specs], "small": [one.source() for one in small],
            "roofline_us": round(measured.seconds * 1e6, 1), "flops": measured.flops, "bytes": measured.bytes, "state_bytes": state}
