"""Records Triton's launches: kernels are compiled for a named target, without a GPU and without Triton's driver.
Specialisation is Triton's own: the binder of each JITFunction gets stand-ins for tensors with the runner's
alignment of addresses.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from triton._C.libtriton import ir, nvidia, passes
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend, get_ptx_version_from_options
from triton.compiler.errors import CompilationError
from triton.runtime import driver
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction

from . import cubin, descriptors
from .addresses import ALIGNMENT, offset_of
from .device import Device
from .recording import Refused, Tape
from .tuning import NotCompiled

_LEFTOVER = re.compile(r"^\.global \.align 1 \.b8 _\$_str\[\d+\] = .*\n", re.MULTILINE)
# Lines of the metadata after AMD's assembler code: registers of a thread, and spilled ones of 4 bytes.
_AMD_RESOURCE = re.compile(r"^\s+\.(vgpr_count|vgpr_spill_count): +(\d+)$", re.MULTILINE)

# Limits of a launch: the grid's second and third extents have 16 bits.
MOST_GRID = (2**31 - 1, 2**16 - 1, 2**16 - 1)


def target_of(device: Device) -> GPUTarget:
    return GPUTarget(device.kind, device.arch, device.lanes)


def backend_for(device: Device) -> str | None:
    """The name of Triton's backend that compiles for the device."""
    return next((name for name, backend in backends.items() if backend.compiler.supports_target(target_of(device))), None)


class Kernels:
    """The compiled kernels of one recording without duplicates: unused constants do not make another kernel."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.cubins: list[bytes] = []
        self._known: dict[Any, int] = {}

    def add(self, compiled: Any) -> int:
        data, binary = compiled.metadata, compiled.kernel
        told = {"name": data.name, "shared": data.shared, "warps": data.num_warps, "ctas": data.num_ctas,
                "global_scratch": getattr(data, "global_scratch_size", 0),
                "profile_scratch": getattr(data, "profile_scratch_size", 0), **_resources(compiled)}
        index = self._known.setdefault((binary, *told.items()), len(self.told))
        if index == len(self.told):
            self.told.append(told)
            self.cubins.append(binary)
        return index


def _resources(compiled: Any) -> dict[str, int]:
    """`registers` and `spills` of a thread; empty if the compiler does not report them."""
    if "amdgcn" not in compiled.asm:
        return cubin.resources(compiled.kernel, compiled.metadata.name)
    told = dict(_AMD_RESOURCE.findall(compiled.asm["amdgcn"]))
    return {"registers": int(told["vgpr_count"]), "spills": int(told["vgpr_spill_count"])} if len(told) == 2 else {}


class _Address:
    """A tensor for Triton's specialisation: only the address's alignment matters. `dtype` may differ."""

    def __init__(self, tensor: torch.Tensor, dtype: Any) -> None:
        self.tensor, self.dtype = tensor, dtype

    def data_ptr(self) -> int:
        return ALIGNMENT + offset_of(self.tensor)


class Recording:
    """Stands in for Triton's driver and launches in this process."""

    def __init__(self, tape: Tape, device: Device, kernels: Kernels) -> None:
        self.tape, self.device, self.kernels = tape, device, kernels
        self._compiled: dict[Any, Any] = {}

    def install(self) -> None:
        kind = type("Driver", (_Driver,), {"__init__": lambda made: _Driver.__init__(made, self.device)})
        name = backend_for(self.device)
        backends[name] = dataclasses.replace(backends[name], driver=kind)  # other code makes drivers, too
        driver.set_active(kind())
        CUDABackend.make_llir = _refusing_early(CUDABackend.make_llir, self.device.shared)
        CUDABackend.make_ptx = _without_leftover(CUDABackend.make_ptx)
        JITFunction.run = lambda kernel, *args, grid, warmup, **kwargs: self._run(kernel, args, grid, warmup, kwargs)

    def _run(self, kernel: JITFunction, args: tuple, grid: Any, warmup: bool, kwargs: dict[str, Any]) -> Any:
        kwargs["debug"] = bool(kwargs.get("debug", kernel.debug))
        for hook in kernel.pre_run_hooks:
            hook(*args, **kwargs)
        *_, backend, binder = kernel.device_caches[0]
        bound, specialisation, options = binder(*map(_stand_in, args), **{k: _stand_in(v) for k, v in kwargs.items()})
        options, signature, constants, attributes = kernel._pack_args(backend, kwargs, bound, specialisation, options)
        bound = {name: _itself(v) for name, v in bound.items()}
        for name, v in bound.items():
            self.tape.refuse_addresses(v, f"{name} of {kernel.__name__}")
        compiled = self._compile(kernel, signature, constants, attributes, options)
        if warmup:
            return compiled
        self._launch(compiled, grid(bound) if callable(grid) else grid, list(bound.values()))
        return compiled

    def _launch(self, compiled: Any, grid: Any, values: list[Any]) -> None:
        """`values` are for all parameters or for those that are not constants: Triton's versions differ."""
        kernel, signature = compiled.src.fn, compiled.src.signature
        if len(values) == sum(kind != "constexpr" for kind in signature.values()):
            given = iter(values)
            values = [None if kind == "constexpr" else next(given) for kind in signature.values()]
        extents = self._grid(grid)
        launched: list[tuple[str, Any]] = []
        layouts = iter(getattr(compiled.metadata, "tensordesc_meta", None) or ())
        for (name, kind), value in zip(signature.items(), values, strict=True):
            self._argument(f"{name} of {kernel.__name__}", kind, _itself(_stand_in(value)), launched, layouts)
        if all(extents):
            self.tape.launch(self.kernels.add(compiled), extents, launched)

    def _by_hand(self, compiled: Any) -> Callable[..., None]:
        """The compiled kernel that a candidate launches after a warm-up."""

        def run(x: int, y: int, z: int, stream: Any, function: Any, packed: Any, metadata: Any, enter: Any, leave: Any,
                *values: Any) -> None:
            self._launch(compiled, (x, y, z), list(values))

        return run

    def _compile(self, kernel: JITFunction, signature: dict, constants: dict, attributes: dict, options: Any) -> Any:
        key = (id(kernel), str((signature, constants, attributes, options)))
        if key not in self._compiled:
            self.tape.progress.doing(f"compiling {kernel.__name__}")
            source = kernel.ASTSource(kernel, signature, constants, attributes)
            target = target_of(self.device)
            try:
                compiled = kernel.compile(source, target=target, options=options.__dict__)
                compiled._init_handles()
            except Exception as error:  # noqa: BLE001 - MLIR's passes raise whatever they like
                raise NotCompiled(*_told(kernel, error, self.tape)) from None
            if getattr(compiled.metadata, "launch_cooperative_grid", False):
                raise Refused("not_allowed", "launch_cooperative_grid", "plan without barriers between programs",
                              self.tape.line())
            compiled._run = self._by_hand(compiled)
            self._compiled[key] = compiled
        return self._compiled[key]

    def _argument(self, name: str, kind: Any, v: Any, to: list[tuple[str, Any]], layouts: Iterator[Any]) -> None:
        if isinstance(kind, tuple):
            for inner, each in zip(kind, v, strict=True):
                self._argument(name, inner, each, to, layouts)
        elif kind == "constexpr":
            pass
        elif kind.startswith("tensordesc") and descriptors.is_descriptor(v):
            self._argument(name, "*", v.base, [], layouts)
            to += descriptors.arguments_of(v, kind, next(layouts, None))
        elif isinstance(v, torch.Tensor) and self.tape.places.on_cpu(v) and v.numel():
            raise Refused("cpu_tensor", f"{name} lies on the CPU, and Triton refuses it there",
                          "make it with device=..., or register_buffer it: a model's parameters and buffers are moved",
                          self.tape.line())
        elif isinstance(v, (bool, int, float, torch.Tensor)):
            to.append((kind, v))
        else:
            raise Refused("not_allowed", f"{name} is of type {type(v).__name__}, which is not a tensor, a number or None",
                          "give the kernel the tensor itself", self.tape.line())

    def _grid(self, grid: Any) -> list[int]:
        extents = [int(n) for n in (grid if isinstance(grid, (tuple, list)) else (grid,))]
        extents += [1] * (3 - len(extents))
        if len(extents) > 3 or any(not 0 <= n <= most for n, most in zip(extents, MOST_GRID)):
            raise Refused("triton_compile", f"a grid of {extents}: at most {list(MOST_GRID)}", "use a grid that fits",
                          self.tape.line())
        return extents


class _Driver:
    """The functions of the active driver that Triton and candidates use."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.utils = types.SimpleNamespace(
            get_device_properties=lambda _: device.for_triton(), load_binary=self._load,
            set_printf_fifo_size=lambda _: None)
        self.launcher_cls = lambda source, metadata: None

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return target_of(self._device)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return self._device.capability

    def get_benchmarker(self) -> Any:
        raise Refused("reads_values", "a candidate cannot time anything while it is planned", "use triton.autotune")

    def get_empty_cache_for_benchmark(self) -> Any:
        return self.get_benchmarker()

    def _load(self, name: str, binary: bytes, shared: int, device: int) -> tuple[str, str, int, int, int]:
        told = cubin.resources(binary, name)  # binaries of other vendors are not parsed
        return name, name, told.get("registers", 0), told.get("spills", 0), 1024


def _without_leftover(make_ptx: Callable[..., str]) -> Callable[..., str]:
    """Removes libdevice's unused variable with the name of a switch. The runner loads kernels with variables again
    for each batch, which would slow the first call."""

    def make(*args: Any, **kwargs: Any) -> str:
        text = make_ptx(*args, **kwargs)
        return _LEFTOVER.sub("", text) if text.count("_$_str") == 1 else text

    return make


def _refusing_early(make_llir: Callable[..., str], most: int) -> Callable[..., str]:
    """Checks a kernel's shared memory before LLVM, which takes minutes for a tile that is too large."""

    def make(backend: CUDABackend, module: Any, metadata: Any, options: Any, capability: int) -> str:
        with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
            file.write(str(module))
            file.flush()
            copy = ir.parse_mlir_module(file.name, module.context)
        manager = ir.pass_manager(module.context)
        passes.ttgpuir.add_allocate_warp_groups(manager)
        passes.convert.add_scf_to_cf(manager)
        ptx = get_ptx_version_from_options(options, capability)
        nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, ptx)
        manager.run(copy, "shared_memory")
        needed = copy.get_int_attr("ttg.shared") or 0
        if needed > most:
            raise OutOfResources(needed, most, "shared memory")
        return make_llir(backend, module, metadata, options, capability)

    return make


def _stand_in(v: Any) -> Any:
    if isinstance(v, torch.Tensor):
        return _Address(v, v.dtype)
    if type(v) is tuple:
        return tuple(map(_stand_in, v))
    tensor = _behind(v)
    return v if tensor is None else _Address(tensor, v.dtype)


def _behind(v: Any) -> torch.Tensor | None:
    """The tensor behind an object with an address and a dtype (triton.reinterpret): a tensor inside the
    object that has its address."""
    if not (hasattr(v, "data_ptr") and hasattr(v, "dtype") and hasattr(v, "__dict__")):
        return None
    for held in vars(v).values():
        tensor = held if isinstance(held, torch.Tensor) else _behind(held)
        if tensor is not None and tensor.data_ptr() == v.data_ptr():
            return tensor
    return None


def _itself(v: Any) -> Any:
    if isinstance(v, _Address):
        return v.tensor
    return tuple(map(_itself, v)) if type(v) is tuple else v


def _told(kernel: JITFunction, error: Exception, tape: Tape) -> tuple[str, str]:
    """The innermost message, and the line of the kernel."""
    where = tape.line()
    if isinstance(error, CompilationError) and getattr(error, "node", None) is not None:
        before = kernel.raw_src.index(next(line for line in kernel.raw_src if line.lstrip().startswith("def ")))
        where = f"{os.path.basename(kernel.fn.__code__.co_filename)}:{kernel.starting_line_number + before + error.node.lineno - 1}"
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    return f"{kernel.__name__}: {type(error).__name__}: {error}", where
