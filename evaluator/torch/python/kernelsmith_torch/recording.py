"""Records a candidate's operations on tensors: no operator runs, and no values exist. Tensors are CPU fakes,
which every build of PyTorch supports, but report `cuda` to the candidate: `Front`, between the candidate's
Python and PyTorch, exchanges the two devices. Below PyTorch's own Python, `Recorder` writes each operator on
the tape. A process has one thread and makes one recording.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import operators
from .addresses import Addresses
from .custom_ops import implementation_of
from .places import CPU, CUDA, Places, is_cuda
from .progress import Progress


class Refused(RuntimeError):
    """The candidate's operation is not possible in a plan. The candidate may catch this and do something else."""

    def __init__(self, code: str, message: str, hint: str = "", where: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.where = code, message, hint, where


@dataclass(slots=True)
class Step:
    """One operator or launch. Tensors are numbers of the tape; `writes` are storages."""

    body: dict[str, Any]
    reads: list[int]
    writes: set[int]
    results: list[int]
    where: str
    # The values of a tensor that is not a fake.
    constant: torch.Tensor | None = None

    @property
    def is_launch(self) -> bool:
        """Work with an unknown effect; any launch may read a module's variables."""
        return not self.body.keys().isdisjoint(("launch", "run", "symbol"))

    @property
    def is_of_extension(self) -> bool:
        return not self.body.keys().isdisjoint(("run", "memset", "copy", "upload", "symbol"))

    @property
    def draws(self) -> bool:
        """Whether the step advances or seeds a generator."""
        return "draws" in self.body


@dataclass(slots=True)
class Choice:
    """The launch of an autotuned kernel: for each configuration a list of steps, or None if it did not
    compile."""

    group: Any
    kernel: str
    names: list[str]
    options: list[list[Step] | None]
    left_out: int  # configurations that were not compiled


def is_own(file: str, source: str) -> bool:
    """Whether the file is the candidate's. A published solution of several files lies in a folder beside it."""
    return file == source or file.startswith("solution/")


class Tape:
    """The operators of one process: those of the constructor in `setup`, those of the call in `call`."""

    def __init__(self, source: str, most_steps: int, addresses: Addresses, progress: Progress) -> None:
        self.source = source
        self.progress = progress
        self.addresses = addresses
        self.places = Places()
        self.asked_for_address = ""  # the first line that asked
        self.setup: list[Step | Choice] = []
        self.call: list[Step | Choice] = []
        self.steps = self.setup
        self.tensors: list[torch.Tensor] = []
        self.storages: list[int] = []
        self.recording = False
        self.inside = 0
        self._numbers: dict[int, int] = {}
        self._first: dict[int, int] = {}  # by storage: the first number in it
        self._most_steps = most_steps
        self.written: Callable[[set[int]], None] = lambda storages: None
        """Is told the storages that a kernel may have written."""

    def number(self, tensor: torch.Tensor) -> int:
        """The tensor's number. The tensor is kept alive, so that no other gets its identity."""
        known = self._numbers.get(id(tensor))
        storage = storage_of(tensor)
        if known is not None:
            if self.storages[known] != storage:
                raise Refused("not_allowed", "a tensor's memory was exchanged (set_, resize_ or swap_tensors)",
                              "make a new tensor", self.line())
            return known
        number = self._add(tensor, storage)
        if not isinstance(tensor, FakeTensor):
            self._append(Step({}, [], set(), [number], self.line(), tensor))
        return number

    def rebind(self, tensor: torch.Tensor, other: torch.Tensor) -> None:
        """Records that `tensor` is now `other`, as after `tensor.data = other`."""
        number = self.number(other)
        self.tensors.append(tensor)
        self.storages.append(self.storages[number])
        self._numbers[id(tensor)] = number

    def replace(self, tensor: torch.Tensor, before: torch.Tensor, view: torch.Tensor) -> None:
        """Records that `tensor`, whose shape an operator changed in place, is now `view`; `before` has the shape of
        its number."""
        number = self.number(tensor)
        self.tensors.append(self.tensors[number])  # kept alive: `tensor` may be another object for it
        self.storages.append(self.storages[number])
        self.tensors[number] = before
        self._numbers[id(before)] = number
        self.rebind(tensor, view)

    def line(self) -> str:
        """The current line of the candidate's source: `candidate.py:31`; empty if it is not on the stack."""
        frame = sys._getframe(1)
        while frame is not None:
            if is_own(frame.f_code.co_filename, self.source):
                return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

    def operator(self, func: torch._ops.OpOverload, args: tuple, kwargs: dict[str, Any], result: Any,
                 also_writes: tuple = ()) -> None:
        if func is torch.ops.aten.lift_fresh.default and not isinstance(args[0], FakeTensor):
            number = self._add(result, storage_of(result))
            self._append(Step({}, [], set(), [number], self.line(), args[0]))
            return
        if func in _SAME:
            self.rebind(result, args[0])
            return
        func, args = self._without_scalar_tensors(func, args)
        reads: list[int] = []
        body = {"aten": func._schema.name, "overload": func._overloadname,
                "args": [self.value(a, reads) for a in args],
                "kwargs": {k: self.value(v, reads) for k, v in kwargs.items()}}
        writes = {storage_of(t) for t in (*_written(func, args, kwargs), *also_writes)}
        results: list[int] = []
        body["out"] = self.value(result, results)
        if operators.takes_numbers(func, args, kwargs):
            body["draws"] = "cuda"
        self._append(Step(body, reads, writes, results, self.line()))

    def launch(self, kernel: int, grid: list[int], args: list[tuple[str, Any]]) -> None:
        reads: list[int] = []
        body = {"launch": kernel, "grid": grid, "args": [[kind, self.value(v, reads)] for kind, v in args],
                "line": self.line()}
        self._append_work(body, reads, reads)

    def tell_address(self, of: torch.Tensor | torch.UntypedStorage) -> int:
        """The result of `data_ptr`."""
        self.asked_for_address = self.asked_for_address or self.line()
        return self.addresses.address_of(of) if isinstance(of, torch.Tensor) else self.addresses.of_storage(of)

    def refuse_addresses(self, v: Any, what: str, where: str = "") -> None:
        """Refuses numbers that are addresses of tensors, also in lists, because in the runner's calls the tensors are
        elsewhere."""
        if not self.addresses.told:
            return
        if isinstance(v, (list, tuple)):
            for each in v:
                self.refuse_addresses(each, what, where)
        elif isinstance(v, dict):
            self.refuse_addresses(list(v.values()), what, where)
        elif isinstance(v, (int, float)) and v == v // 1 and (found := self.addresses.find(int(v))):
            storage, offset = found
            raise Refused("address_as_number", f"{what} is the address of a tensor (byte {offset} of {storage.nbytes()}), "
                          "which differs from call to call", "give kernels the tensors themselves, each as an argument",
                          where or self.line())

    def find(self, address: int) -> tuple[int, int] | None:
        """The meaning of an address: a tensor in its storage, and the offset in the storage."""
        found = self.addresses.find(address)
        if found is None or found[0]._cdata not in self._first:
            return None
        return self._first[found[0]._cdata], found[1]

    def work(self, body: dict[str, Any], pointers: list[list[Any]] | None, writes: list[int]) -> None:
        """Records an entry of an extension. It reads the tensors that it names and those of `pointers`: [offset,
        number, byte]."""
        if pointers is not None:
            body["pointers"] = [[at, {"t": number}, byte] for at, number, byte in pointers]
        body["line"] = self.line()
        named = [v["t"] for v in body.values() if isinstance(v, dict)]
        reads = [*named, *(number for _, number, _ in pointers or ())]
        self._append_work(body, reads, writes)

    def seed(self, seed: int, which: str) -> None:
        """Records that a seed was set for the generators of `cuda` or `all`."""
        if self.recording:
            self._append(Step({"seed": seed, "draws": which}, [], set(), [], self.line()))

    def place_draws(self, first: int) -> None:
        """Records that the draws since step `first` used the generator of their results' device."""
        for step in self.steps[first:]:
            if isinstance(step, Step) and step.draws and step.results and self.places.on_cpu(self.tensors[step.results[0]]):
                step.body["draws"] = "cpu"

    def choice(self, choice: Choice) -> None:
        self._append(choice)

    @contextlib.contextmanager
    def into(self, steps: list[Step | Choice]) -> Iterator[None]:
        """Records into `steps` instead."""
        before, self.steps = self.steps, steps
        try:
            yield
        finally:
            self.steps = before

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def value(self, v: Any, tensors: list[int]) -> Any:
        """`v` as the plan writes it; the numbers of its tensors are appended to `tensors`."""
        if isinstance(v, torch.Tensor):
            number = self.number(v)
            tensors.append(number)
            return {"t": number}
        if v is None or isinstance(v, (bool, str)):
            return v
        if isinstance(v, int):
            return int(v)
        if isinstance(v, float):
            return float_value(v)
        if isinstance(v, torch.dtype):
            return {"dtype": name_of(v)}
        if isinstance(v, torch.device):
            return {"device": True}
        if isinstance(v, torch.layout):
            return {"layout": name_of(v)}
        if isinstance(v, torch.memory_format):
            return {"memory_format": name_of(v)}
        if isinstance(v, (list, tuple)):
            return [self.value(each, tensors) for each in v]
        if isinstance(v, dict):
            return {key: self.value(each, tensors) for key, each in v.items()}
        raise Refused("not_allowed", f"an argument of type {type(v).__name__} cannot be part of a plan", "", self.line())

    def _without_scalar_tensors(self, func: torch._ops.OpOverload, args: tuple) -> tuple[torch._ops.OpOverload, tuple]:
        """`x[mask] = 0` and `x[:, 0] = 5` have a tensor with one number, which a graph would have to read."""
        if func is torch.ops.aten.index_put_.default:
            masks = [i for i in args[1] if i is not None and i.dtype in (torch.bool, torch.uint8)]
            if not masks:
                return func, args
            number = self._scalar(args[2])
            if number is None or len(args[1]) != 1 or masks[0].dim() != args[0].dim() or len(args) > 3 and args[3]:
                raise Refused("reads_values", "an assignment through a mask, which counts what the mask selects",
                              "use torch.where or masked_fill", self.line())
            return torch.ops.aten.masked_fill_.Scalar, (args[0], masks[0], number)
        if func is torch.ops.aten.fill_.Tensor and (number := self._scalar(args[1])) is not None:
            return torch.ops.aten.fill_.Scalar, (args[0], number)
        return func, args

    def _scalar(self, tensor: Any) -> bool | int | float | None:
        constant = getattr(tensor, "constant", None)
        return None if constant is None or constant.numel() != 1 else values_of(constant)[0]

    def _add(self, tensor: torch.Tensor, storage: int) -> int:
        self.tensors.append(tensor)
        self.storages.append(storage)
        self._first.setdefault(storage, len(self.tensors) - 1)
        self._numbers[id(tensor)] = len(self.tensors) - 1
        return len(self.tensors) - 1

    def _append_work(self, body: dict[str, Any], reads: list[int], writes: list[int]) -> None:
        step = Step(body, reads, {self.storages[n] for n in writes}, [], body["line"])
        self.written(step.writes)
        self._append(step)

    def _append(self, step: Step | Choice) -> None:
        if len(self.steps) >= self._most_steps:
            raise Refused("plan_too_large", f"more than {self._most_steps} operators and launches in one call",
                          "replace loops in Python by operators on whole tensors", self.line())
        self.steps.append(step)


class Recorder(TorchDispatchMode):
    """Writes each operator on the tape, below autograd and composite operators."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        kwargs, tape = kwargs or {}, self.tape
        if not tape.recording or func.namespace == "prim":
            with _inside(tape):
                return func(*args, **kwargs)
        if func._schema.name in _ONE_DTYPE:
            self._refuse_mixed(func, args)
        if (safe := operators.safe_form(func)) is not None:
            return self._safely(safe, func, args, kwargs)
        shapes = [(t, t.shape, storage_of(t)) for t in kwargs.values() if isinstance(t, FakeTensor)]
        with _inside(tape):
            result = func(*args, **kwargs)
            for tensor, shape, storage in shapes:
                if tensor.shape != shape or storage_of(tensor) != storage:
                    raise Refused("not_allowed", f"{func._schema.name} changes the shape of its `out`",
                                  "give it a tensor of the result's shape", tape.line())
            tape.operator(func, args, kwargs, result)
        return result

    def _safely(self, safe: torch._ops.OpOverload, func: torch._ops.OpOverload, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Records `safe` in place of `func`."""
        with _inside(self.tape):
            result = safe(*args, **kwargs)
            self.tape.operator(safe, args, kwargs, result)
            if torch.Tag.inplace_view in func.tags:
                before = args[0].detach()
                func(*args, **kwargs)
                self.tape.replace(args[0], before, result)
                return args[0]
        return result

    def _refuse_mixed(self, func: torch._ops.OpOverload, args: tuple) -> None:
        dtypes = list(dict.fromkeys(name_of(t.dtype) for t in args if isinstance(t, torch.Tensor) and t.is_floating_point()))
        if len(dtypes) > 1:
            raise Refused("plan_failed", f"{func._schema.name} takes tensors of one dtype, and is given {' and '.join(dtypes)}",
                          "convert them in forward; where the task casts modules (torch: {cast: true}), as KernelBench does, "
                          "parameters and buffers are float32 in forward, whatever the constructor made them", self.tape.line())


class Front(TorchFunctionMode):
    """The candidate's view of tensors: they are on `cuda`. If the candidate names a device, the fakes' device
    is used."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        kwargs = kwargs or {}
        if (implementation := implementation_of(func)) is not None:
            with self:
                return implementation(*args, **kwargs)
        if func in _NAMING_DEVICES:
            return func(*args, **kwargs)
        if (answer := _ANSWERS.get(func)) is not None:
            return answer(self.tape, args[0])
        if (reason := _READING.get(func)) is not None:
            raise Refused("reads_values", f"{reason} reads a tensor's values, which planning does not have",
                          "keep the computation on tensors; only shapes are known", self.tape.line())
        if not self.tape.recording and getattr(func, "__module__", None) == "torch.nn.init":
            # Skipped, because it takes half of the time of a large reference's constructor and its result is
            # not used.
            return args[0] if args else kwargs["tensor"]
        if func == torch.Tensor.data.__set__:
            func(*args)
            self.tape.rebind(*args)
            return None
        if func is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], CPU, *args[2:])
        if type(kwargs.get("device")) is int:
            kwargs = {**kwargs, "device": CUDA}
        first = len(self.tape.steps)
        result = func(*map(_home, args), **{k: _home(v) for k, v in kwargs.items() if k != "pin_memory"})
        if self.tape.recording:
            self.tape.places.note(func, args, kwargs, result)
            self.tape.place_draws(first)
        return result


def show_cuda(tape: Tape) -> None:
    """Makes fakes report `cuda` to the candidate's Python, and the real device to PyTorch, for the rest of
    this process."""
    true, true_pointer = FakeTensor.device.fget, torch.UntypedStorage.data_ptr

    def device(self: FakeTensor) -> torch.device:
        if tape.inside == 0 and torch._C._len_torch_function_stack() > 0:
            return tape.places.device_of(self)
        return true(self)

    def pointer(self: torch.UntypedStorage) -> int:
        return tape.tell_address(self) if self.device.type == "meta" else true_pointer(self)

    FakeTensor.device = property(device)
    # A fake's copy belongs to the same mode. Copying the mode would walk its table of weak references and crash.
    FakeTensorMode.__deepcopy__ = lambda mode, memo: mode
    torch.UntypedStorage.data_ptr = pointer
    torch.set_default_device = tape.places.set_default
    torch.get_default_device = lambda: tape.places.default


def storage_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def name_of(thing: Any) -> str:
    return str(thing).removeprefix("torch.")


def float_value(v: float) -> Any:
    if v != v or v in (float("inf"), float("-inf")):
        return {"float": "nan" if v != v else "inf" if v > 0 else "-inf"}
    return float(v)


def values_of(tensor: torch.Tensor) -> list:
    """The numbers of a tensor that is not a fake."""
    with torch.utils._python_dispatch._disable_current_modes(), torch._C.DisableTorchFunction():
        return tensor.detach().reshape(-1).tolist()


@contextlib.contextmanager
def _inside(tape: Tape) -> Iterator[None]:
    tape.inside += 1
    try:
        yield
    finally:
        tape.inside -= 1


def _written(func: torch._ops.OpOverload, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[i] if i < len(args) else kwargs.get(argument.name)
            found += [t for t in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(t, torch.Tensor)]
    return found


def _home(v: Any) -> Any:
    return CPU if isinstance(v, torch.device) or is_cuda(v) else v


_NAMING_DEVICES = (torch.device, torch._C._nn._parse_to)

_ANSWERS = {
    torch.Tensor.device.__get__: lambda tape, tensor: tape.places.device_of(tensor),
    torch.Tensor.is_cuda.__get__: lambda tape, tensor: not tape.places.on_cpu(tensor),
    torch.Tensor.is_cpu.__get__: lambda tape, tensor: tape.places.on_cpu(tensor),
    torch.Tensor.get_device: lambda tape, tensor: -1 if tape.places.on_cpu(tensor) else 0,
    torch.Tensor.cuda: lambda tape, tensor: tape.places.to_cuda(tensor),
    torch.Tensor.pin_memory: lambda tape, tensor: tape.places.to_cuda(tensor),
    torch.Tensor.is_pinned: lambda *_: False,
    torch.Tensor.record_stream: lambda *_: None,
    torch.Tensor.data_ptr: lambda tape, tensor: tape.tell_address(tensor),
}

# Operators that make another object for the same tensor: PyTorch calls one for each factory's result that the tape
# keeps.
_SAME = (torch.ops.aten.detach.default, torch.ops.aten.alias.default, torch.ops.aten.lift_fresh.default)

# Operators that PyTorch refuses for floats of several dtypes on CPU and GPU; fakes do not check it.
_ONE_DTYPE = frozenset(f"aten::{name}" for name in (
    "mm", "mv", "addmm", "addmm_", "addmv", "addbmm", "convolution", "index_add", "index_add_", "index_copy", "index_copy_",
    "_cdist_forward"))

_READING = {torch.Tensor.numpy: ".numpy()", torch.Tensor.__array__: "numpy", torch.Tensor.tolist: ".tolist()",
            torch.Tensor.__dlpack__: "DLPack"}
