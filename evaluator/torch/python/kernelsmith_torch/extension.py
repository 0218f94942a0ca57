"""`load_inline` and `load` while a candidate is planned: an extension is built elsewhere and called here on fakes.
Its C++ calls of PyTorch are forwarded to PyTorch's Python, so the recorder records them as for any candidate; its
calls of the CUDA runtime become entries of the tape.
"""

from __future__ import annotations

import ctypes
import os
import types
from typing import Any

import torch
import torch.utils.cpp_extension
from torch._subclasses.fake_tensor import FakeTensor

from . import extension_abi as abi
from .device import Device
from .extension_calls import Arguments, Signature, taken
from .extension_operators import Operators
from .extension_sources import Job, file_units, flags, inline_units, job_header
from .extension_work import FAILED, Work
from .recording import Refused, Tape

# The number of characters by which an operator's error is recognised: C++ passes on its text but not its type.
_COMPARED = 200


class BuildWanted(BaseException):
    """Ends the planning of a candidate: one of its extensions has to be built first."""


class Extensions:
    """All extensions of one recording. `builds` are from the request, `blob` are their bytes."""

    def __init__(self, tape: Tape, device: Device, builds: dict[str, Any], blob: bytes) -> None:
        self.wanted: dict[str, Any] | None = None
        self.errors: list[dict[str, str]] = []
        self.modules: list[bytes] = []
        self.work = Work(tape, lambda name: self._started().words(self._started().readable(name)))
        self._tape, self._device = tape, device
        self._builds, self._blob = builds, blob
        self._loaded: dict[str, types.ModuleType] = {}
        self._library: abi.Library | None = None
        self._tensors: dict[int, torch.Tensor] = {}  # by the identity of a handle
        self._next_identity = 1
        self._operators = Operators(tape, self._take, self.work.multiply)
        self._defined: dict[str, Any] = {}  # the functions of the module that is being initialised
        self._raised: BaseException | None = None  # what an operator raised in the current call

    def install(self) -> None:
        torch.utils.cpp_extension.load_inline = self._load_inline
        torch.utils.cpp_extension.load = self._load

    # ---- Loading.

    def _load_inline(self, name: str, cpp_sources: Any = None, cuda_sources: Any = None, functions: Any = None,
                     extra_cflags: Any = None, extra_cuda_cflags: Any = None, extra_include_paths: Any = None,
                     is_python_module: bool = True, **_: Any) -> types.ModuleType:
        if isinstance(functions, (list, tuple, str)):
            functions = {each: each for each in _listed(functions)}
        if functions is not None and not isinstance(functions, dict):
            raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
        units = inline_units(_listed(cpp_sources), _listed(cuda_sources), functions)
        return self._module(name, units, extra_cflags, extra_cuda_cflags, extra_include_paths, is_python_module)

    def _load(self, name: str, sources: Any, extra_cflags: Any = None, extra_cuda_cflags: Any = None,
              extra_include_paths: Any = None, is_python_module: bool = True, **_: Any) -> types.ModuleType:
        units = file_units([os.fspath(each) for each in _listed(sources)], _listed(extra_include_paths))
        return self._module(name, units, extra_cflags, extra_cuda_cflags, None, is_python_module)

    def _module(self, name: str, units: list[dict[str, str]], cflags: Any, cuda_cflags: Any, folders: Any,
                is_python_module: bool) -> types.ModuleType:
        if not is_python_module:
            raise Refused("not_allowed", "an extension that is not a Python module (TORCH_LIBRARY) cannot be planned",
                          "bind its functions with PYBIND11_MODULE or functions=", self._tape.line())
        if self._device.kind != "cuda":
            raise Refused("not_allowed", f"C++ extensions are planned for NVIDIA's GPUs, and not for {self._device.arch}",
                          "write the kernel in Triton", self._tape.line())
        kept = flags(_listed(cflags), _listed(cuda_cflags), _listed(folders))
        job = Job(name, self._device.arch, [*units, job_header(name, units)], kept)
        if job.key not in self._loaded:
            self._loaded[job.key] = self._build(job)
        return self._loaded[job.key]

    def _build(self, job: Job) -> types.ModuleType:
        built = self._builds.get(job.key)
        if built is None:
            self.wanted = job.told
            raise BuildWanted
        if "error" in built:
            self.errors.append({"name": job.name, "error": built["error"], "line": self._tape.line()})
            raise RuntimeError(f"Error building extension '{job.name}': {built['error']}")
        library = self._started()
        library.begin_library()
        for place in built["device"]:
            cubin = self._part(place)
            if not library.add_module(cubin, len(cubin), len(self.modules)):
                raise RuntimeError(f"Error building extension '{job.name}': {library.words()}")
            self.modules.append(cubin)
        return self._open(job, self._part(built["host"]))

    def _open(self, job: Job, host: bytes) -> types.ModuleType:
        path = os.path.abspath(f"{job.key}.so")
        with open(path, "wb") as file:
            file.write(host)
        try:
            # The extension's own names and our library's take precedence over PyTorch's in the process.
            loaded = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
        except OSError as error:
            raise ImportError(str(error)) from None
        initialise = getattr(loaded, f"kernelsmith_initialise_{job.name}", None)
        if initialise is None:
            raise ImportError(f"dynamic module does not define module export function (PyInit_{job.name}): "
                              "give functions=, or bind them by PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)")
        module = types.ModuleType(job.name)
        module.__file__ = path
        self._defined = module.__dict__
        if self._started().initialise(ctypes.cast(initialise, ctypes.c_void_p)) != 0:
            raise ImportError(self._started().words())
        if refusal := self._started().words(self._started().load_refusal()):
            raise Refused("not_allowed", refusal, "", self._tape.line())
        return module

    def _part(self, place: list[int]) -> bytes:
        offset, size = place
        return bytes(self._blob[offset:offset + size])

    def _started(self) -> abi.Library:
        if self._library is None:
            work = self.work
            self._side = abi.PythonSide(
                abi.OPERATE(self._operate), abi.DROP(self._drop), abi.DEFINE(self._define), abi.ON_DEVICE(work.on_device),
                abi.ALLOCATE(work.allocate), abi.ON_DEVICE(work.release), abi.ACT(work.act), abi.ON_DEVICE(work.on_device))
            self._library = abi.Library(self._side, self._device)
        return self._library

    # ---- Calls into an extension.

    def _define(self, name: bytes, letters: bytes, names: bytes, defaults: Any, function: int) -> None:
        told = names.decode()
        given = [taken(defaults[i], self._tensor) for i in range(told.count(","))]
        if letters.decode() == abi.ATTRIBUTE:
            self._defined[name.decode()] = given[0]
            return
        signature = Signature(name.decode(), letters.decode(), told, given)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(signature, function, args, kwargs)

        call.__name__ = call.__qualname__ = signature.name
        self._defined[signature.name] = call

    def _call(self, signature: Signature, function: int, args: tuple, kwargs: dict[str, Any]) -> Any:
        library = self._started()
        arguments, result = Arguments(self._give, library.release), abi.Value()
        try:
            values = arguments.values(signature, signature.bind(args, kwargs), args, kwargs)
            self._raised = self.work.refused = None
            outcome = library.call(function, values, ctypes.byref(result))
        finally:
            arguments.drop()
        self._raise_for(outcome, library, signature)
        try:
            return taken(result, self._tensor)
        finally:
            self._free(result)

    def _raise_for(self, outcome: int, library: abi.Library, signature: Signature) -> None:
        """Raises a refusal, even if the extension ignored its error code; else the exception of the
        extension. The first refusal counts, because later calls fail without the refused call's result."""
        words, refusal = library.words(), library.words(library.refusal())
        if refusal:
            raise Refused("not_allowed", refusal, "", self._tape.line())
        if self.work.refused is not None:
            raise self.work.refused
        if outcome == 2:
            raise self._host_read(int(words), signature)
        if outcome:
            same = isinstance(self._raised, RuntimeError) and str(self._raised)[:_COMPARED] == words[:_COMPARED]
            raise self._raised if same else RuntimeError(words)

    def _host_read(self, address: int, signature: Signature) -> Refused:
        found = self._tape.addresses.find(address)
        bytes_ = f"byte {found[1]} of {found[0].nbytes()}" if found else "a byte"
        place = self._tape.find(address)
        if place is not None and self._tape.places.on_cpu(self._tape.tensors[place[0]]):
            return Refused("reads_values", f"{signature.name} reads or writes the numbers of a tensor on the CPU "
                           f"({bytes_}): tensors have none while planning",
                           "fill an array and copy it with cudaMemcpy or torch::tensor(), or compute them in a kernel",
                           self._tape.line())
        return Refused("reads_values", f"{signature.name} reads device memory on the host ({bytes_} of a tensor), which is "
                       "not there while planning, and not readable on a GPU",
                       "read it in a kernel; what .cpu() gives has no numbers either", self._tape.line())

    def _free(self, value: abi.Value) -> None:
        if value.kind == abi.TENSOR:
            self._library.release(value.tensor)
        elif value.kind in (abi.LIST, abi.TUPLE):
            for i in range(value.count):
                self._free(value.values[i])
            self._library.free(ctypes.cast(value.values, ctypes.c_void_p))

    # ---- Tensors.

    def _give(self, tensor: torch.Tensor) -> int:
        """Makes a handle that the receiver owns."""
        on_cpu = self._tape.places.on_cpu(tensor)
        with torch._C.DisableTorchFunction():
            sizes, strides, elements = list(tensor.size()), list(tensor.stride()), tensor.numel()
            contiguous = tensor.is_contiguous() | _is(tensor, 4, torch.channels_last) << 1 | _is(
                tensor, 5, torch.channels_last_3d) << 2
            facts = abi.Facts(0, self._next_identity, len(sizes), elements, tensor.storage_offset(), None, None,
                              abi.NUMBER_OF_DTYPE.get(tensor.dtype, 127), tensor.element_size(), contiguous,
                              int(not on_cpu), self._address(tensor, on_cpu))
        self._tensors[self._next_identity] = tensor
        self._next_identity += 1
        return self._started().tensor(facts, (ctypes.c_int64 * (2 * len(sizes) + 1))(*sizes, *strides))

    def _address(self, tensor: torch.Tensor, on_cpu: bool) -> int:
        """Known values are in memory: host code may read and upload them."""
        if not on_cpu or isinstance(tensor, FakeTensor):
            return self._tape.tell_address(tensor)
        address = tensor.data_ptr()
        self.work.has_values(address, tensor.numel() * tensor.element_size())
        return address

    def _tensor(self, handle: int) -> torch.Tensor:
        return self._tensors[abi.Facts.from_address(handle).identity]

    def _take(self, value: abi.Value) -> Any:
        return taken(value, self._tensor)

    def _drop(self, identity: int) -> None:
        self._tensors.pop(identity, None)

    # ---- Operators.

    def _operate(self, name: bytes, arguments: Any, count: int, results: Any, most: int) -> int:
        self.work.note_thread()  # an error in a thread would end the process
        try:
            found = self._operators.ask(name.decode(), [arguments[i] for i in range(count)])
            many = list(found) if isinstance(found, (tuple, list)) else [found]
            for i, each in enumerate(many[:most]):
                if isinstance(each, torch.Tensor):
                    results[i].kind, results[i].tensor = abi.TENSOR, self._give(each)
            return min(len(many), most)
        except BaseException as error:  # noqa: BLE001 - C++ rethrows it, and the call raises it
            self._raised = error
            self._library.set_error(str(error).encode())
            return FAILED


def _listed(v: Any) -> list[Any]:
    return [] if v is None else [v] if isinstance(v, (str, os.PathLike)) else list(v)


def _is(tensor: torch.Tensor, dimensions: int, memory_format: torch.memory_format) -> int:
    return int(tensor.dim() == dimensions and tensor.is_contiguous(memory_format=memory_format))
