"""The judge's library (evaluator/measure): the rule of tolerance, and the kernels that judge. On the CPU these are functions
of the library; for a GPU NVRTC compiles their text, for each type when it is first used. Trusted code. Not thread-safe.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

import torch

_THREADS = 256
_BLOCKS = 4  # of a multiprocessor: enough loads in flight to read at the speed of memory
_LANES = 32
_NAMES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
          torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2"}


class Derivation(ctypes.Structure):
    """rule::Derivation: how the tolerances of an output follow from its truth."""

    _fields_ = [(name, ctypes.c_double) for name in (
        "element", "rms", "rounded", "rounded_rms", "own_errors", "tiny", "unit", "least_error", "least_spread",
        "on_value")] + [("policy", ctypes.c_uint64)]


class Found(ctypes.Structure):
    """rule::Found: the findings in an output. `counts` and `firsts` are of wrong, not finite and not written elements."""

    _fields_ = [("squares", ctypes.c_double), ("worst", ctypes.c_double), ("worst_at", ctypes.c_int64),
                ("worst_within", ctypes.c_double), ("counts", ctypes.c_int64 * 3), ("firsts", ctypes.c_int64 * 3)]


class _Question(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("dtype", "policy", "precision")] + [
        (name, ctypes.c_double) for name in ("rtol", "atol", "terms", "own_is_truth", "least_error", "least_spread")]


@functools.cache
def _library() -> ctypes.CDLL:
    path = os.environ.get("KERNELSMITH_JUDGE_LIBRARY")
    if not path:
        raise RuntimeError("libkernelsmith_judge.so is not found: install kernelsmith, or name it in KERNELSMITH_JUDGE_LIBRARY")
    library = ctypes.CDLL(path)
    library.kernelsmith_judge_text.restype = ctypes.c_char_p
    library.kernelsmith_judge_join.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    return library


def name_of(dtype: torch.dtype) -> str:
    """The name of a real dtype's kernels."""
    return _NAMES[dtype.to_real() if dtype.is_complex else dtype]


def derivation(dtype: torch.dtype, policy: str, precision: str, figures: tuple[float, float], terms: float,
               own_is_truth: bool, least: tuple[float, float]) -> Derivation:
    """The budget of an output. `figures`: rtol and atol; `least`: the least error of the reference and the least spread."""
    question = _Question(name_of(dtype).encode(), policy.encode(), precision.encode(), *figures,
                         terms, float(own_is_truth), *least)
    how = Derivation()
    if not _library().kernelsmith_judge_derivation(ctypes.byref(question), ctypes.byref(how)):
        raise ValueError(f"outputs of {dtype}")
    return how


def limits(how: Derivation, sums: torch.Tensor) -> tuple[float, float]:
    """The limit of the RMS of error / tolerance, and for normwise the tolerance of every element. `sums`: what derive wrote."""
    total = (ctypes.c_double * 3)(*sums.sum(0).tolist())
    limit, norm = ctypes.c_double(), ctypes.c_double()
    _library().kernelsmith_judge_limits(ctypes.byref(how), total, ctypes.byref(limit), ctypes.byref(norm))
    return limit.value, norm.value


def joined(waves: torch.Tensor) -> Found:
    """The findings of all waves, which lie on the host, a row for each."""
    rows = waves.contiguous().clone()
    _library().kernelsmith_judge_join(rows.data_ptr(), rows.shape[0])
    return Found.from_buffer_copy(rows[0].numpy().tobytes())


def waves(device: torch.device, parts: int) -> int:
    """How many waves run() starts for work of so many parts; each wave writes one result. A small output needs few, and what
    many idle ones write would be copied and joined on the host."""
    return _grid(device, parts) * _THREADS // _LANES if device.type == "cuda" else 1


def parts_of(count: int) -> int:
    """The parts of work on single elements or words: a wave's with all its loads in flight (kTogether in kernels.h)."""
    return -(-count // (8 * _LANES))


def room_for_findings(device: torch.device, parts: int) -> torch.Tensor:
    return torch.empty((waves(device, parts), ctypes.sizeof(Found) // 8), dtype=torch.int64, device=device)


def run(name: str, kind: str, device: torch.device, parts: int, *arguments: Any) -> None:
    """Starts kernelsmith_NAME_KIND on the device's current stream, for work of so many parts. Tensors are passed as addresses,
    bools in 32 bits."""
    values, types = zip(*map(_argument, arguments))
    if device.type != "cuda":
        function = getattr(_library(), f"kernelsmith_{name}_{kind}")
        function(*[form(value) for form, value in zip(types, values)])
        return
    from cuda.bindings import driver

    stream = torch.cuda.current_stream(device).cuda_stream
    driver_ok(driver.cuLaunchKernel(_function(name, kind, device), _grid(device, parts), 1, 1, _THREADS, 1, 1, 0, stream, (values, types), 0))


def _argument(value: Any) -> tuple[Any, Any]:
    if value is None:
        return 0, ctypes.c_void_p
    if isinstance(value, torch.Tensor):
        return value.data_ptr(), ctypes.c_void_p
    if isinstance(value, float):
        return value, ctypes.c_double
    return (int(value), ctypes.c_uint32) if isinstance(value, bool) else (value, ctypes.c_uint64)


def _grid(device: torch.device, parts: int) -> int:
    return max(1, min(_largest_grid(device), -(-parts * _LANES // _THREADS)))


@functools.cache
def _largest_grid(device: torch.device) -> int:
    return _BLOCKS * torch.cuda.get_device_properties(device).multi_processor_count


@functools.cache
def _function(name: str, kind: str, device: torch.device) -> Any:
    from cuda.bindings import driver

    return driver_ok(driver.cuModuleGetFunction(_module(kind, device), f"kernelsmith_{name}_{kind}".encode()))


@functools.cache
def _module(kind: str, device: torch.device) -> Any:
    from cuda.bindings import driver, nvrtc

    numbers = f"#define KERNELSMITH_THREADS {_THREADS}\n#define KERNELSMITH_LANES {_LANES}\n"
    text = f"{numbers}{_library().kernelsmith_judge_text().decode()}\nKERNELSMITH_KERNELS_{kind}\n".encode()
    program = driver_ok(nvrtc.nvrtcCreateProgram(text, b"judge.cu", 0, [], []))
    options = ["--gpu-architecture=sm_{}{}".format(*torch.cuda.get_device_capability(device)).encode(), b"--std=c++17"]
    result = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(result[0]) != 0:
        log = b" " * driver_ok(nvrtc.nvrtcGetProgramLogSize(program))
        driver_ok(nvrtc.nvrtcGetProgramLog(program, log))
        raise RuntimeError(f"NVRTC cannot compile the judge's kernels: {log.decode(errors='replace')}")
    image = b" " * driver_ok(nvrtc.nvrtcGetCUBINSize(program))
    driver_ok(nvrtc.nvrtcGetCUBIN(program, image))
    return driver_ok(driver.cuModuleLoadData(image))


def driver_ok(result: tuple[Any, ...]) -> Any:
    """The result of a call of the driver or of NVRTC; raises RuntimeError with the name of the error."""
    if int(result[0]) != 0:
        raise RuntimeError(f"CUDA error: {result[0].name}")
    return result[1] if len(result) > 1 else None
