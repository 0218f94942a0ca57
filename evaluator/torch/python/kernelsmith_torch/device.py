"""The device that a candidate believes to have: its figures by compute capability, and PyTorch's functions that ask."""

from __future__ import annotations

import contextlib
import types
from dataclasses import dataclass
from typing import Any

import torch

from .recording import CPU, CUDA, Refused

# Compute capability: a device of it, multiprocessors, bytes of shared memory that a block may have, of memory, of L2.
# An honest candidate chooses grids by them; a plan for another device of the capability runs all the same.
_FIGURES = {
    75: ("Tesla T4", 40, 65536, 16 << 30, 4 << 20),
    80: ("NVIDIA A100-SXM4-80GB", 108, 166912, 80 << 30, 40 << 20),
    86: ("NVIDIA A10", 72, 101376, 24 << 30, 6 << 20),
    89: ("NVIDIA L40S", 142, 101376, 48 << 30, 96 << 20),
    90: ("NVIDIA H100 80GB HBM3", 132, 232448, 80 << 30, 50 << 20),
    100: ("NVIDIA B200", 148, 232448, 180 << 30, 126 << 20),
    103: ("NVIDIA B300", 148, 232448, 270 << 30, 126 << 20),
    120: ("NVIDIA GeForce RTX 5090", 170, 101376, 32 << 30, 96 << 20),
}


@dataclass(frozen=True)
class Device:
    arch: int
    name: str
    multiprocessors: int
    shared: int
    memory: int
    l2: int

    @staticmethod
    def of(arch: int) -> Device:
        """ValueError where the capability is unknown."""
        if arch not in _FIGURES:
            raise ValueError(f"no figures for compute capability {arch}: one of {', '.join(map(str, _FIGURES))}")
        return Device(arch, *_FIGURES[arch])

    def for_triton(self) -> dict[str, int]:
        return {"max_shared_mem": self.shared, "max_num_regs": 65536, "multiprocessor_count": self.multiprocessors,
                "warpSize": 32, "sm_clock_rate": 1_980_000, "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}

    def for_torch(self) -> types.SimpleNamespace:
        major, minor = divmod(self.arch, 10)
        return types.SimpleNamespace(
            name=self.name, major=major, minor=minor, total_memory=self.memory, L2_cache_size=self.l2,
            multi_processor_count=self.multiprocessors, warp_size=32, max_threads_per_block=1024,
            max_threads_per_multi_processor=1024 if self.arch == 75 else 1536 if self.arch in (86, 89, 120) else 2048,
            regs_per_multiprocessor=65536, shared_memory_per_block=49152, shared_memory_per_block_optin=self.shared,
            shared_memory_per_multiprocessor=self.shared + 1024, is_integrated=False, gcnArchName="")


def install(device: Device) -> None:
    """Answers for PyTorch's questions about its device, and refusals; for the rest of this process."""
    _install_cuda(device)
    refused = {
        (torch, "compile"): ("torch.compile", "write the fused kernel with Triton"),
        (torch.cuda, "CUDAGraph"): ("CUDAGraph", "the plan is run in a graph already"),
        (torch.cuda, "graph"): ("torch.cuda.graph", "the plan is run in a graph already"),
        (torch.cuda, "make_graphed_callables"): ("make_graphed_callables", "the plan is run in a graph already"),
    }
    for (module, name), (what, hint) in refused.items():
        setattr(module, name, _refusing(what, hint))
    # Scripted functions run as Python: the interpreter of TorchScript would choose operators for a CPU.
    torch.jit.script = lambda function=None, *args, **kwargs: function
    _install_autocast()


def _install_cuda(device: Device) -> None:
    stream = types.SimpleNamespace(
        cuda_stream=0, stream_id=0, device=CUDA, synchronize=_nothing, wait_stream=_nothing, wait_event=_nothing,
        record_event=_nothing, query=lambda: True)
    answers: dict[str, Any] = {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": _nothing, "_lazy_init": _nothing,
        "device_count": lambda: 1, "current_device": lambda: 0, "set_device": _nothing, "synchronize": _nothing,
        "empty_cache": _nothing, "get_device_name": lambda *_: device.name,
        "get_device_capability": lambda *_: divmod(device.arch, 10),
        "get_device_properties": lambda *_: device.for_torch(), "is_bf16_supported": lambda *_, **__: True,
        "mem_get_info": lambda *_: (device.memory, device.memory), "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0, "memory_reserved": lambda *_: 0, "reset_peak_memory_stats": _nothing,
        "manual_seed": _nothing, "manual_seed_all": _nothing, "ipc_collect": _nothing,
        "current_stream": lambda *_: stream, "default_stream": lambda *_: stream, "Stream": lambda *_, **__: stream,
        "stream": lambda *_: contextlib.nullcontext(), "device": lambda *_: contextlib.nullcontext(),
        "device_of": lambda *_: contextlib.nullcontext(), "set_stream": _nothing, "Event": _Event,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    for name in ("range_push", "range_pop", "mark"):
        setattr(torch.cuda.nvtx, name, _nothing)


def _install_autocast() -> None:
    autocast = torch.amp.autocast_mode.autocast

    def on_cuda(device_type: str = "cuda", dtype: torch.dtype | None = None, enabled: bool = True,
                cache_enabled: bool | None = None) -> Any:
        # The cache would hand a cast weight of one call to another, with no operator for the plan.
        return autocast(CPU.type, dtype=dtype or torch.float16, enabled=enabled, cache_enabled=False)

    torch.autocast = torch.amp.autocast = on_cuda
    torch.cuda.amp.autocast = lambda enabled=True, dtype=torch.float16, cache_enabled=True: on_cuda(
        dtype=dtype, enabled=enabled)


class _Event:
    def __init__(self, *_: Any, **__: Any) -> None:
        self.record = self.wait = self.synchronize = _nothing

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        raise Refused("reads_values", "a candidate cannot time anything while it is planned", "use triton.autotune")


def _refusing(what: str, hint: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Refused("not_allowed", f"{what} cannot stand in a plan", hint)

    return refuse


def _nothing(*_: Any, **__: Any) -> None:
    pass
