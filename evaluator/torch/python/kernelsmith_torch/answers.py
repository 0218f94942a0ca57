"""PyTorch's answers about its device while a plan is recorded, and its refusals. Both last for the rest of
this process."""

from __future__ import annotations

import os
from typing import Any

import torch

from . import compiled, custom_ops, draws, streams
from .device import Device
from .recording import CPU, CUDA, Tape

# The CUDA versions of PyTorch's builds; libraries query them on import.
_CUDA_VERSION = "12.8"
_HIP_VERSION = "6.4.0"


def install(device: Device, tape: Tape) -> None:
    """Installs the answers and the refusals."""
    _install_cuda(device)
    _install_accelerator()
    _install_private()
    streams.install(tape)
    compiled.install()
    custom_ops.install()
    draws.install(tape)
    process = os.getpid
    os.getpid = lambda: _Process(process())
    # Scripted functions run as Python, because TorchScript's interpreter would choose operators for a CPU.
    torch.jit.script = lambda function=None, *args, **kwargs: function
    torch.Tensor.record_stream = _nothing
    torch.nn.RNNBase.flatten_parameters = _nothing  # cuDNN would move the parameters on a missing device
    _install_autocast()


class _Process(int):
    """A process number that prints as "0": names of extensions contain it, and each planning is another process."""

    def __repr__(self) -> str:
        return "0"

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        return format(0, how)


def _install_cuda(device: Device) -> None:
    os.environ["GEMS_VENDOR"] = device.maker.gems  # FlagGems would run nvidia-smi when it is imported
    if device.kind == "hip":
        torch.version.cuda, torch.version.hip = None, torch.version.hip or _HIP_VERSION
    else:  # MetaX's PyTorch keeps CUDA's names
        torch.version.cuda = torch.version.cuda or _CUDA_VERSION
    answers: dict[str, Any] = {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": _nothing, "_lazy_init": _nothing,
        "device_count": lambda: 1, "current_device": lambda: 0, "set_device": _nothing, "synchronize": _nothing,
        "_exchange_device": lambda _: 0, "_maybe_exchange_device": lambda _: 0,
        "empty_cache": _nothing, "get_device_name": lambda *_, **__: device.name,
        "get_device_capability": lambda *_, **__: device.capability,
        "get_device_properties": lambda *_, **__: device.for_torch(), "is_bf16_supported": lambda *_, **__: True,
        "is_tf32_supported": lambda: device.kind == "cuda" and device.arch >= 80,
        "get_arch_list": lambda: [device.compiler_name],
        "mem_get_info": lambda *_: (device.memory, device.memory), "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0, "memory_reserved": lambda *_: 0, "reset_peak_memory_stats": _nothing,
        "ipc_collect": _nothing,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    torch.cuda.device.__init__ = _guard  # in autograd's backward a fake reports its real device, the CPU
    for name in ("range_push", "range_pop", "mark"):
        setattr(torch.cuda.nvtx, name, _nothing)


def _install_accelerator() -> None:
    answers: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: 1,
        "current_accelerator": lambda *_, **__: torch.device("cuda"),
        "current_device_index": lambda: 0, "current_device_idx": lambda: 0, "set_device_index": _nothing,
        "set_device_idx": _nothing, "synchronize": _nothing, "empty_cache": _nothing,
        "current_stream": lambda *_: torch.cuda.current_stream(), "set_stream": lambda stream: torch.cuda.set_stream(stream),
    }
    for name, answer in answers.items():
        setattr(torch.accelerator, name, answer)
    torch.get_device_module = lambda device=None: torch.cuda if device is None else getattr(torch, torch.device(device).type)


def _install_private() -> None:
    """The functions that Inductor's output calls."""
    guards = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype, device=CUDA)
    guards._reinterpret_tensor = custom_ops.reinterpreted
    for name, answer in {"_cuda_getCurrentRawStream": lambda *_: 0, "_cuda_getDevice": lambda: 0,
                         "_cuda_setDevice": _nothing, "_cuda_exchangeDevice": lambda _: 0, "_cuda_maybeExchangeDevice": lambda _: 0,
                         "_cuda_getDeviceCount": lambda: 1}.items():
        setattr(torch._C, name, answer)


def _install_autocast() -> None:
    autocast = torch.amp.autocast_mode.autocast

    class OnCuda(autocast):
        """Autocast of the CPU's fakes, without a cache: the cache would pass a cast weight from one call to another,
        without an operator for the plan."""

        def __init__(self, device_type: str = "cuda", dtype: torch.dtype | None = None, enabled: bool = True,
                     cache_enabled: bool | None = None) -> None:
            super().__init__(CPU.type, dtype=dtype or torch.float16, enabled=enabled, cache_enabled=False)

    class OfCuda(OnCuda):
        def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
            super().__init__("cuda", dtype, enabled)

    torch.autocast = torch.amp.autocast = OnCuda
    torch.cuda.amp.autocast = OfCuda


def _guard(self: torch.cuda.device, device: Any) -> None:
    self.idx, self.prev_idx = 0, -1


def _nothing(*_: Any, **__: Any) -> None:
    pass
