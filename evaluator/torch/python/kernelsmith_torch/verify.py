"""`python3 -m kernelsmith_torch.verify REFERENCE CANDIDATE`: runs a candidate in plain PyTorch, like KernelBench's
harness.

Nothing is planned or replayed: the candidate's Python runs in this process, its C++ extensions are built by
PyTorch, some calls at each workload are compared with the reference's, and calls from Python are timed by events. So this
process trusts the candidate like its user does, and its verdict is not a score. Prints one JSON object, in the last line.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from .accelerator import Device, use_precision
from .model_source import Reference, blaming, run_plainly, where_in
from .workloads import Tolerance, Workload, read_workloads

_FIRST_SEED = 42
_COMPARED_CALLS = 5
_WARM_UPS = 3
_FIRST_DISCARDED = 1
# More than any GPU's L2, so that no timed call finds its inputs in it.
_SWEPT_BYTES = 256 << 20
# KernelBench's tolerances, relative and absolute. It has none for tf32, which is at least as accurate as bf16.
_TOLERANCE = {"fp32": 1e-4, "tf32": 1e-2, "bf16": 1e-2, "fp16": 1e-2}
_MOST_PROBLEM = 2_000


@dataclass
class Verdict:
    """The result. Times are means in microseconds, and of several workloads their geometric means; 0 if nothing was timed."""

    stage: str = "build"
    """The first thing that failed: build, construct, run, compare, time; or `done`."""
    problem: str = ""
    build_s: float = 0
    reference_us: float = 0
    candidate_us: float = 0
    device: str = ""
    torch: str = torch.__version__


def main(line: list[str] | None = None) -> None:
    chosen = arguments_of(line)
    if not chosen.cpu and not torch.cuda.is_available():
        print(json.dumps({"failed": f"PyTorch {torch.__version__} sees no GPU to run the candidate on", "code": "no_gpu"}))
        return
    device = Device(None if chosen.cpu else chosen.device)
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "{}.{}".format(*device.facts()["capability"]))
    with tempfile.TemporaryDirectory(prefix="kernelsmith-verify-") as folder:
        os.environ["TORCH_EXTENSIONS_DIR"] = folder
        try:
            told = asdict(verify(chosen, device))
        except Failure as failure:
            told = {"failed": f"{failure.where}: {failure.message}", "code": failure.code}
        print("\n" + json.dumps(told))


def verify(chosen: argparse.Namespace, device: Device) -> Verdict:
    """Goes through the stages. Raises Failure if the reference fails or does not fit on the device."""
    use_precision(chosen.precision)
    workloads = read_workloads({"workloads": json.loads(chosen.workloads)})
    reference = Reference(chosen.reference, device.torch, chosen.cast, workloads[0])
    verdict = Verdict(device=device.facts()["device"])
    try:
        began = time.monotonic()
        module = _load(chosen.candidate)
        verdict.build_s = time.monotonic() - began
        verdict.stage = "construct"
        candidate = reference.made_by(module.ModelNew)
        use_precision(chosen.precision)  # again: the candidate's file may have changed it
        model = reference.model()
        times = []
        for at, workload in enumerate(workloads):
            here, rule = reference.at(workload), _rule_of(workload, chosen.precision)
            with _naming(workload):
                verdict.stage = "run"
                for call in range(_COMPARED_CALLS):
                    _compare_call(here, model, candidate, _FIRST_SEED + call, rule, device)
                verdict.stage = "time"
                if at in chosen.timed or not chosen.timed:
                    inputs = here.draw(0, _FIRST_SEED)
                    times.append([_mean_us(lambda: run_plainly(one, inputs), device, chosen.trials)  # noqa: B023
                                  for one in (candidate, model)])
        verdict.candidate_us, verdict.reference_us = map(statistics.geometric_mean, zip(*times))
        verdict.stage = "done"
    except Failure:
        raise
    except Different as error:
        verdict.stage, verdict.problem = "compare", str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a candidate may raise anything
        verdict.problem = f"{where_in(error, chosen.candidate)}: {type(error).__name__}: {error}"[:_MOST_PROBLEM]
    return verdict


class Different(ValueError):
    """Outputs that are not the reference's."""


def _load(path: str) -> types.ModuleType:
    """The file as a module that Triton can read kernels from."""
    import importlib.util  # noqa: PLC0415

    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def _rule_of(workload: Workload, precision: str) -> Tolerance:
    """The figures of the task, or else KernelBench's."""
    if workload.tolerance.policy == "allclose":
        return workload.tolerance
    return Tolerance("allclose", _TOLERANCE[precision], _TOLERANCE[precision])


def _holds(rule: Tolerance, own: torch.Tensor, other: torch.Tensor) -> bool:
    if own.is_floating_point() and own.itemsize == 1:
        own, other = own.float(), other.float()

    def close(rtol: float, atol: float) -> torch.Tensor:
        return torch.isclose(other, own, rtol=rtol, atol=atol)

    if rule.cap is not None and own.is_floating_point() and not bool(close(0, rule.cap).all()):
        return False
    within = close(rule.rtol, 0) | close(0, rule.atol) if rule.either else close(rule.rtol, rule.atol)
    return bool(within.all()) or int(within.sum()) >= rule.matched * within.numel()


@contextmanager
def _naming(workload: Workload) -> Iterator[None]:
    """Adds the workload's name to a difference."""
    try:
        yield
    except Different as error:
        raise Different(f"at workload {workload.name}: {error}" if workload.name else str(error)) from error


def _compare_call(reference: Reference, model: torch.nn.Module, candidate: torch.nn.Module, seed: int, rule: Tolerance,
                  device: Device) -> None:
    inputs = reference.draw(0, seed)
    with blaming(reference.path, "running the reference"):
        reference.seed_call(seed)
        expected = run_plainly(model, inputs)
    reference.seed_call(seed)
    actual = run_plainly(candidate, inputs)
    device.finish()
    _compare(expected, actual, rule, reference.declared.check is None)
    if reference.declared.check is not None:
        try:
            problem = reference.declared.problem(actual, reference.draw(0, seed).arguments())
        except Failure as failure:
            if failure.fault == "task":
                raise
            problem = failure.message
        if problem:
            raise Different(problem)


def _compare(expected: list[torch.Tensor], actual: list[torch.Tensor], rule: Tolerance, values: bool) -> None:
    if len(actual) != len(expected):
        raise Different(f"{len(actual)} outputs, and the reference has {len(expected)}")
    for index, (own, other) in enumerate(zip(expected, actual)):
        for what in ("shape", "dtype", "device"):
            if getattr(own, what) != getattr(other, what):
                raise Different(f"output {index} has {what} {_word(getattr(other, what))}, and the reference's has "
                                f"{_word(getattr(own, what))}")
        if values and not _holds(rule, own, other):
            wrong = (own.double() - other.double()).abs().max().item() if own.is_floating_point() else "?"
            raise Different(f"output {index} differs by up to {wrong:.3g}" if isinstance(wrong, float)
                            else f"output {index} differs")


def _word(value: Any) -> str:
    return str(list(value)) if isinstance(value, torch.Size) else str(value).removeprefix("torch.")


def _mean_us(call: Callable[[], Any], device: Device, trials: int) -> float:
    """The mean of calls from Python, each with a swept L2."""
    for _ in range(_WARM_UPS):
        call()
    device.finish()
    times = [_one_us(call, device) for _ in range(_FIRST_DISCARDED + trials)]
    return statistics.mean(times[_FIRST_DISCARDED:])


def _one_us(call: Callable[[], Any], device: Device) -> float:
    if not device.is_cuda:
        began = time.perf_counter()
        call()
        return 1e6 * (time.perf_counter() - began)
    device.finish()
    torch.empty(_SWEPT_BYTES, dtype=torch.uint8, device=device.torch).fill_(42)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    device.finish()
    return 1000 * begin.elapsed_time(end)


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("candidate")
    parser.add_argument("--precision", choices=sorted(_TOLERANCE), default="fp32")
    parser.add_argument("--cast", action="store_true", help="cast both modules to fp32")
    parser.add_argument("--workloads", default="[]", help="a list of {name, arguments, tolerance} in JSON")
    parser.add_argument("--timed", type=int, action="append", default=[], help="the number of a workload to time; absent: all")
    parser.add_argument("--trials", type=int, default=100, help="timed calls")
    parser.add_argument("--device", type=int, default=0, help="the GPU's number in CUDA")
    parser.add_argument("--cpu", action="store_true", help="without a GPU: for tests")
    return parser.parse_args(line)


if __name__ == "__main__":
    main()
