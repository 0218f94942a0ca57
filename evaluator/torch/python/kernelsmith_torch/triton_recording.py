"""Triton's launches, recorded: compiled for a named target, without a GPU and without Triton's driver.

Specialisation is Triton's own: the binder of each JITFunction sees stand-ins for tensors whose addresses are aligned as
the runner's are. An autotuned launch becomes a Choice: one list of steps for each configuration that compiles.
"""

from __future__ import annotations

import os
import re
import types
from collections.abc import Callable
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler.errors import CompilationError
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner, Config
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction

from . import cubin
from .addresses import ALIGNMENT, offset_of
from .device import Device
from .recording import Choice, Refused, Step, Tape

_LEFTOVER = re.compile(r"^\.global \.align 1 \.b8 _\$_str\[\d+\] = .*\n", re.MULTILINE)

# Launches that a device takes: the grid's second and third extents have 16 bits.
MOST_GRID = (2**31 - 1, 2**16 - 1, 2**16 - 1)


class NotCompiled(Refused):
    """A kernel, or one configuration of it, does not compile for the device or does not fit on it."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__("triton_compile", message[:4000], "", where)


class Kernels:
    """The compiled kernels of one recording, each once: constants that a kernel does not use make no other kernel."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.cubins: list[bytes] = []
        self._known: dict[Any, int] = {}

    def add(self, compiled: Any) -> int:
        data, binary = compiled.metadata, compiled.asm["cubin"]
        told = {"name": data.name, "shared": data.shared, "warps": data.num_warps, "ctas": data.num_ctas,
                "global_scratch": getattr(data, "global_scratch_size", 0),
                "profile_scratch": getattr(data, "profile_scratch_size", 0), **cubin.resources(binary, data.name)}
        index = self._known.setdefault((binary, *told.items()), len(self.told))
        if index == len(self.told):
            self.told.append(told)
            self.cubins.append(binary)
        return index


class _Address:
    """A tensor as Triton's specialisation sees it: only the address's alignment counts."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.dtype = tensor, tensor.dtype

    def data_ptr(self) -> int:
        return ALIGNMENT + offset_of(self.tensor)


class Recording:
    """Stands in for Triton's driver, launches and autotuner in this process. `again`: Triton's cache has the kernels."""

    def __init__(self, tape: Tape, device: Device, kernels: Kernels, again: bool) -> None:
        self.tape, self.device, self.kernels, self._again = tape, device, kernels, again
        self._compiled: dict[Any, Any] = {}
        self._choosing = False

    def install(self) -> None:
        driver.set_active(_Driver(self.device))
        CUDABackend.make_ptx = _without_leftover(CUDABackend.make_ptx)
        JITFunction.run = lambda kernel, *args, grid, warmup, **kwargs: self._run(kernel, args, grid, warmup, kwargs)
        Autotuner.run = lambda tuner, *args, **kwargs: self._tune(tuner, args, kwargs)

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
        extents = self._grid(grid(bound) if callable(grid) else grid)
        launched: list[tuple[str, Any]] = []
        for name, kind in signature.items():
            self._argument(kernel, name, kind, bound[name], launched)
        if all(extents):
            self.tape.launch(self.kernels.add(compiled), extents, launched)
        return compiled

    def _compile(self, kernel: JITFunction, signature: dict, constants: dict, attributes: dict, options: Any) -> Any:
        key = (id(kernel), str((signature, constants, attributes, options)))
        if key not in self._compiled:
            source = kernel.ASTSource(kernel, signature, constants, attributes)
            target = GPUTarget("cuda", self.device.arch, 32)
            try:
                compiled = kernel.compile(source, target=target, options=options.__dict__)
            except Exception as error:  # noqa: BLE001 - MLIR's passes raise whatever they like
                raise NotCompiled(*_told(kernel, error, self.tape)) from None
            if compiled.metadata.shared > self.device.shared:
                raise NotCompiled(str(OutOfResources(compiled.metadata.shared, self.device.shared, "shared memory")),
                                  self.tape.line())
            if getattr(compiled.metadata, "launch_cooperative_grid", False):
                raise Refused("not_allowed", "launch_cooperative_grid", "plan without barriers between programs",
                              self.tape.line())
            self._compiled[key] = compiled
        return self._compiled[key]

    def _argument(self, kernel: JITFunction, name: str, kind: Any, v: Any, to: list[tuple[str, Any]]) -> None:
        if isinstance(kind, tuple):
            for inner, each in zip(kind, v, strict=True):
                self._argument(kernel, name, inner, each, to)
        elif kind == "constexpr":
            pass
        elif kind.startswith("tensordesc"):
            raise Refused("not_allowed", f"{name} of {kernel.__name__} is a tensor descriptor made on the host",
                          "make it in the kernel with tl.make_tensor_descriptor", self.tape.line())
        elif isinstance(v, torch.Tensor) and self.tape.places.on_cpu(v) and v.numel():
            raise Refused("cpu_tensor", f"{name} of {kernel.__name__} lies on the CPU, and Triton refuses it there",
                          "make it with device=..., or register_buffer it: a model's parameters and buffers are moved",
                          self.tape.line())
        elif isinstance(v, (bool, int, float, torch.Tensor)):
            to.append((kind, v))
        else:
            raise Refused("not_allowed", f"{name} of {kernel.__name__} is of type {type(v).__name__}", "",
                          self.tape.line())

    def _grid(self, grid: Any) -> list[int]:
        extents = [int(n) for n in (grid if isinstance(grid, (tuple, list)) else (grid,))]
        extents += [1] * (3 - len(extents))
        if len(extents) > 3 or any(not 0 <= n <= most for n, most in zip(extents, MOST_GRID)):
            raise Refused("triton_compile", f"a grid of {extents}: at most {list(MOST_GRID)}", "use a grid that fits",
                          self.tape.line())
        return extents

    def _tune(self, tuner: Autotuner, args: tuple, kwargs: dict[str, Any]) -> Any:
        """As Triton runs an autotuned kernel once it has timed it, for each configuration."""
        tuner.nargs = dict(zip(tuner.arg_names, args))
        given = {k: v for k, v in {**tuner.nargs, **kwargs}.items() if k in tuner.arg_names}
        configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
        if kwargs.get("warmup") or len(configs) == 1:
            return self._with_config(tuner, configs[0], args, kwargs)
        if self._choosing:
            raise Refused("not_allowed", "an autotuned kernel is launched by a hook of another", "", self.tape.line())
        group = (id(tuner), *(str(given.get(k)) for k in tuner.keys),
                 *(str(v.dtype) for v in given.values() if hasattr(v, "dtype")))
        if not self._again:
            _compile_side_by_side([lambda config=config: self._with_config(tuner, config, args, {**kwargs, "warmup": True})
                                   for config in configs])
        options: list[list[Step] | None] = []
        first = problem = None
        for config in configs:
            steps: list[Any] = []
            self._choosing = True
            try:
                with self.tape.into(steps):
                    compiled = self._with_config(tuner, config, args, kwargs)
                first = first or compiled
                tuner.best_config = config if first is compiled else tuner.best_config
                options.append(steps)
            except NotCompiled as error:
                problem = error
                options.append(None)
            finally:
                self._choosing = False
        if first is None:
            raise problem
        self.tape.choice(Choice(group, tuner.base_fn.__name__, [_name(config) for config in configs], options))
        tuner.nargs = None
        return first

    def _with_config(self, tuner: Autotuner, config: Config, args: tuple, kwargs: dict[str, Any]) -> Any:
        named = config.all_kwargs()
        if conflicts := kwargs.keys() & config.kwargs.keys():
            raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}.")
        if config.pre_hook is not None and not kwargs.get("warmup"):
            config.pre_hook({**tuner.nargs, **kwargs, **named})
        return tuner.fn.run(*args, **{**kwargs, **named})


class _Driver:
    """What Triton and candidates ask of the active driver."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.utils = types.SimpleNamespace(
            get_device_properties=lambda _: device.for_triton(), load_binary=self._load,
            set_printf_fifo_size=lambda _: None)
        # Triton's own code makes one of these when a CompiledKernel is run by hand, which is refused.
        self.launcher_cls = lambda source, metadata: self._launch

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self._device.arch, 32)

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
        return divmod(self._device.arch, 10)

    def get_benchmarker(self) -> Any:
        raise Refused("reads_values", "a candidate cannot time anything while it is planned", "use triton.autotune")

    def get_empty_cache_for_benchmark(self) -> Any:
        return self.get_benchmarker()

    def _load(self, name: str, binary: bytes, shared: int, device: int) -> tuple[None, None, int, int, int]:
        told = cubin.resources(binary, name)
        return None, None, told.get("registers", 0), told.get("spills", 0), 1024

    def _launch(self, *args: Any) -> None:
        raise Refused("not_allowed", "a compiled kernel is launched by hand", "launch the @triton.jit function")


def _without_leftover(make_ptx: Callable[..., str]) -> Callable[..., str]:
    """libdevice leaves the name of a switch as a variable that no code reads. The runner loads kernels with variables anew
    for each batch, which the first call would feel."""

    def make(*args: Any, **kwargs: Any) -> str:
        text = make_ptx(*args, **kwargs)
        return _LEFTOVER.sub("", text) if text.count("_$_str") == 1 else text

    return make


def _stand_in(v: Any) -> Any:
    if isinstance(v, torch.Tensor):
        return _Address(v)
    return tuple(map(_stand_in, v)) if type(v) is tuple else v


def _itself(v: Any) -> Any:
    if isinstance(v, _Address):
        return v.tensor
    return tuple(map(_itself, v)) if type(v) is tuple else v


def _told(kernel: JITFunction, error: Exception, tape: Tape) -> tuple[str, str]:
    """The innermost message, and the line of the kernel."""
    where = tape.line()
    if isinstance(error, CompilationError) and getattr(error, "node", None) is not None:
        before = kernel.raw_src.index(next(line for line in kernel.raw_src if line.lstrip().startswith("def ")))
        where = f"{os.path.basename(tape.source)}:{kernel.starting_line_number + before + error.node.lineno - 1}"
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    return f"{kernel.__name__}: {type(error).__name__}: {error}", where


def _name(config: Config) -> str:
    named = {k: v for k, v in config.all_kwargs().items() if not (k == "num_ctas" and v == 1)}
    return " ".join(f"{k}={v}" for k, v in named.items())


def _compile_side_by_side(compilations: list[Any]) -> None:
    """Fills Triton's cache from processes of their own: a configuration takes about a second. What fails fails again,
    and is told, where its turn comes."""
    at_once = len(os.sched_getaffinity(0))
    if at_once == 1:
        return
    running = 0
    for compilation in compilations:
        if running == at_once:
            os.wait()
            running -= 1
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            try:
                compilation()
            finally:
                os._exit(0)
        running += 1
    for _ in range(running):
        os.wait()
