"""Executes a checked plan: its operators through PyTorch, its cubins through the driver.

An exception of an operator or a launch is the candidate's Failure. Trusted code that never sees the candidate's
source. Not thread-safe.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from . import tensor_map
from .accelerator import SMALL_GAP, Device, Seal, place
from .cubin import may_keep_variables
from .drawing import MOST_DRAWN, count, draw, seed
from .judge import driver_ok
from .layout import Arrangement, Layout, as_planned, bytes_of, in_layout
from .memory import device_failed, is_memory
from .model_source import out_of_memory
from .module_check import DeviceOp, Run, Symbol, Upload
from .module_replay import LoadedModules
from .moved_pointers import repoint
from .own_kernels import OwnKernels
from .plan_values import Alternative, Aten, Constant, Kernel, Launch, Op, Plan, Ref, Seed, TensorInfo, TensorMap
from .timing import Footprint, poison_of

Tensors = dict[int, torch.Tensor]
After = Callable[[], None]

_SCALARS = {"i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
            "i64": ctypes.c_int64, "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16,
            "u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "fp32": ctypes.c_float, "fp64": ctypes.c_double}
_STATIC_SHARED = 48 * 1024  # more than this needs an opt-in


def _go_on() -> None:
    """Does nothing after an operation."""


@contextmanager
def blaming_candidate(doing: str, where: str = "") -> Iterator[None]:
    """Converts exceptions of a plan's operations to Failures of the candidate."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:  # noqa: BLE001 - operators raise what they like
        code, hint = "operation_failed", "the operator refuses these arguments"
        if is_memory(error):
            raise out_of_memory("candidate", doing, where, error) from error
        if device_failed(error):
            code, hint = "crashed", "a kernel reads or writes where it may not; check masks and strides"
        elif "CUDA error" in str(error):
            code, hint = "load_failed", "the driver refuses this kernel or launch"
        message = str(error).strip().split("\n")[0][:500]
        raise Failure("candidate", "run", code, f"{doing}: {message}", hint, where) from error


class Kernels:
    """A plan's cubins, loaded. close() unloads them; no graph with them may be played afterwards."""

    def __init__(self, kernels: Sequence[Kernel], device: Device) -> None:
        self._kernels, self._device = kernels, device
        self._modules: dict[int, Any] = {}
        self._functions: dict[int, Any] = {}
        self._with_variables = {i for i, kernel in enumerate(kernels) if may_keep_variables(kernel.cubin)}
        if not kernels:
            return
        if not device.is_cuda:
            raise Failure("machine", "run", "no_gpu", "the plan has kernels, and this worker runs on the CPU",
                          "start the worker on a GPU")
        from cuda.bindings import driver

        self._driver = driver
        try:
            for index in range(len(kernels)):
                self._load(index)
        except Failure:
            self.close()
            raise

    def _load(self, index: int) -> None:
        kernel, driver = self._kernels[index], self._driver
        with blaming_candidate(f"loading kernel {kernel.name}"):
            self._modules[index] = driver_ok(driver.cuModuleLoadData(kernel.cubin))
            function = driver_ok(driver.cuModuleGetFunction(self._modules[index], kernel.name.encode()))
            if kernel.shared > _STATIC_SHARED:
                driver_ok(driver.cuFuncSetAttribute(
                    function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.shared))
            self._functions[index] = function

    def frame(self) -> int:
        """The most bytes of local memory that a thread of any kernel has."""
        attribute = self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES if self._functions else None
        return max((int(driver_ok(self._driver.cuFuncGetAttribute(attribute, function)))
                    for function in self._functions.values()), default=0)

    def renew(self, used: set[int]) -> None:
        """Resets variables: loads again each of these kernels that may have variables. No graph may use the
        kernels."""
        for index in sorted(self._with_variables & used):
            driver_ok(self._driver.cuModuleUnload(self._modules.pop(index)))
            self._load(index)

    def launch(self, op: Launch, tensors: Tensors, footprint: Footprint) -> None:
        """Launches on the current stream."""
        kernel = self._kernels[op.kernel]
        values: list[Any] = []
        types: list[Any] = []
        for kind, value in op.args:
            if isinstance(value, Ref):
                value, kind_type = self._address(tensors[value.id], kernel, op), ctypes.c_void_p
            elif isinstance(value, TensorMap):
                address = self._address(tensors[value.base.id], kernel, op)
                value, kind_type = tensor_map.encoded(value, address, tensor_map.driver_function()), None
            else:
                kind_type = _SCALARS[kind]
            values.append(value)
            types.append(kind_type)
        blocks = op.grid[0] * op.grid[1] * op.grid[2] * kernel.ctas
        for scratch in (kernel.global_scratch, kernel.profile_scratch):  # Triton's own two parameters, after the kernel's
            memory = torch.empty(scratch * blocks, dtype=torch.uint8, device=self._device.torch) if scratch else None
            if memory is not None:
                footprint.add(memory)
            values.append(memory.data_ptr() if memory is not None else 0)
            types.append(ctypes.c_void_p)
        stream = torch.cuda.current_stream(self._device.torch).cuda_stream
        parameters = (tuple(values), tuple(types))
        x, y, z = op.grid
        if kernel.ctas == 1:
            driver_ok(self._driver.cuLaunchKernel(self._functions[op.kernel], x, y, z, 32 * kernel.warps, 1, 1,
                                                  kernel.shared, stream, parameters, 0))
        else:
            driver_ok(self._driver.cuLaunchKernelEx(self._cluster(kernel, op.grid, stream), self._functions[op.kernel],
                                                    parameters, 0))

    def _address(self, tensor: torch.Tensor, kernel: Kernel, op: Launch) -> int:
        if tensor.device != self._device.torch:
            raise Failure("candidate", "run", "load_failed",
                          f"kernel {kernel.name} is given a tensor that is not on the device", "", op.line)
        return tensor.data_ptr()

    def _cluster(self, kernel: Kernel, grid: tuple[int, int, int], stream: int) -> Any:
        driver = self._driver
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        attribute.value.clusterDim.x = kernel.ctas
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid[0] * kernel.ctas, grid[1], grid[2]
        config.blockDimX, config.blockDimY, config.blockDimZ = 32 * kernel.warps, 1, 1
        config.sharedMemBytes, config.hStream = kernel.shared, driver.CUstream(stream)
        config.attrs, config.numAttrs = [attribute], 1
        return config

    def close(self) -> None:
        while self._modules:
            driver_ok(self._driver.cuModuleUnload(self._modules.popitem()[1]))
        self._functions.clear()


class Program:
    """A checked plan with its state, for calls of one of its alternatives. Outputs get `layouts`; `after` is called
    after each operation."""

    def __init__(self, plan: Plan, state: dict[str, torch.Tensor], device: Device, own: OwnKernels,
                 layouts: Sequence[Layout] = (), after: After = _go_on) -> None:
        self._plan, self._device, self._layouts = plan, device, layouts
        for name in plan.state:
            if name not in state:
                raise Failure("candidate", "plan", "bad_plan", f"the plan uses '{name}', which the reference does not have")
        self.kernels = Kernels(plan.kernels, device)
        self.modules = LoadedModules(plan.modules, _device_ops(plan), device)
        self._draws_left = MOST_DRAWN
        self._fixed: Tensors = {id_: state[name].detach() for name, id_ in plan.state.items()}
        self._foreign = {tensor.untyped_storage().data_ptr() for tensor in self._fixed.values()}
        self._parameters = set(self._foreign)
        try:
            with blaming_candidate("loading an extension"):
                self.modules.load()
            own.reach(max(self.kernels.frame(), self.modules.frame()))
            with torch.no_grad():
                self._execute(plan.setup, self._fixed, Footprint(), self._foreign, after)
                self.modules.keep_variables()
            self._made = self._keep_made()
            self._pristine = self._made.clone()
            self._seal = Seal([self._made])
        except BaseException:
            with contextlib.suppress(RuntimeError):  # the original error is more important
                self.close()
            raise

    def close(self) -> None:
        """Unloads the plan's kernels: no recorded call may be played afterwards."""
        self.kernels.close()
        self.modules.close()

    def _keep_made(self) -> torch.Tensor:
        """Moves the setup's tensors into one piece of memory and returns it. The tensors get storages that no
        operator of a call can resize."""
        made: dict[int, torch.Tensor] = {}
        for tensor in self._fixed.values():
            storage = tensor.untyped_storage()
            if storage.nbytes() and storage.data_ptr() not in self._foreign:
                made[storage.data_ptr()] = bytes_of(tensor)
        self.made_bytes = sum(storage.numel() for storage in made.values())
        placed, memory = place(Arrangement.of(made.values()), self._device, SMALL_GAP)
        moved = dict(zip(made, placed))
        for address, target in moved.items():
            target.copy_(made[address])
        repoint(self._plan.setup, self._fixed, moved, self.modules)
        for id_, tensor in self._fixed.items():
            whole = moved.get(tensor.untyped_storage().data_ptr())
            if whole is not None:
                size = whole.numel() // tensor.element_size() * tensor.element_size()
                self._fixed[id_] = whole[:size].view(tensor.dtype).as_strided(
                    tensor.shape, tensor.stride(), tensor.storage_offset())
        self._foreign.update(target.data_ptr() for target in placed)
        return memory

    def restore(self) -> None:
        """Restores the setup's tensors, so that nothing passes from batch to batch. Raises Failure if their copies,
        which the candidate's kernels can reach, were changed."""
        self._made.copy_(self._pristine)
        if not self._seal.intact():
            raise Failure("candidate", "integrity", "input_modified", "the candidate writes to memory of the runner: what "
                          "its constructor made cannot be restored", "write to tensors of your own")
        self._seal.close()

    def drawn(self) -> list[torch.Tensor]:
        """The draws of a call, which are passed after its inputs. Generators are seeded as for a reference's call."""
        self._draws_left = MOST_DRAWN
        tensors: Tensors = {}
        with torch.no_grad():
            self._execute(self._plan.draws, tensors, Footprint(), set(), _go_on)
        return [tensors[id_] for id_ in self._plan.drawn]

    def renew(self, alternative: Alternative) -> None:
        """Resets the variables of the alternative's kernels. No recorded call of the alternative may exist."""
        self.kernels.renew({op.kernel for op in alternative.ops if isinstance(op, Launch)})
        self.modules.renew()

    def reserve(self, alternative: Alternative) -> None:
        """Reserves host memory for uploads. Use it before a call of the alternative is recorded."""
        if self.modules.uploads is not None:
            self.modules.uploads.reserve([len(op.data) for op in alternative.ops if isinstance(op, (Upload, Symbol))])

    def call(self, alternative: Alternative, inputs: Sequence[torch.Tensor], footprint: Footprint,
             after: After = _go_on) -> list[torch.Tensor]:
        """One call on these inputs; what it allocates is added to `footprint`. Can be captured."""
        tensors = self._given(inputs)
        given = {tensor.untyped_storage().data_ptr() for tensor in inputs}
        self._execute(alternative.ops, tensors, footprint, self._foreign | given, after)
        outputs = [self._output(info, tensors[info.id]) for info in alternative.outputs]
        return self._laid_out(outputs, given | self._parameters, footprint)

    def _laid_out(self, outputs: list[torch.Tensor], taken: set[int], footprint: Footprint) -> list[torch.Tensor]:
        """The outputs in the reference's layout; copying is part of the call."""
        for index, layout in enumerate(self._layouts[:len(outputs)]):
            with blaming_candidate("writing an output out"):
                found = in_layout(outputs[index], layout, taken)
            if found is not outputs[index]:
                footprint.add(found)
                outputs[index] = found
            taken.add(found.untyped_storage().data_ptr())
        return outputs

    def steps(self, alternative: Alternative, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """A function for each operation, to be called in order, for a profile."""
        tensors = self._given(inputs)
        return [lambda op=op: self._step(op, tensors, Footprint(), set()) for op in alternative.ops]

    def _given(self, inputs: Sequence[torch.Tensor]) -> Tensors:
        """Other tensors with the same memory for one call, because operators that write into `out` may change their
        shape."""
        named = dict(zip([*(info.id for info in self._plan.inputs), *self._plan.drawn], inputs))
        return {id_: tensor.detach() for id_, tensor in (self._fixed | named).items()}

    def name_of(self, op: Aten | Launch | DeviceOp) -> str:
        """The name of an operation of a call."""
        if isinstance(op, Launch):
            return self._plan.kernels[op.kernel].name
        return op.title if isinstance(op, DeviceOp) else op.name

    def _execute(self, ops: Sequence[Op], tensors: Tensors, footprint: Footprint, foreign: set[int], after: After) -> None:
        for op in ops:
            self._step(op, tensors, footprint, foreign)
            after()

    def _step(self, op: Op, tensors: Tensors, footprint: Footprint, foreign: set[int]) -> None:
        if isinstance(op, Launch):
            with blaming_candidate(f"launching {self._plan.kernels[op.kernel].name}", op.line):
                self.kernels.launch(op, tensors, footprint)
        elif isinstance(op, DeviceOp):
            with blaming_candidate(op.title, op.line):
                self.modules.execute(op, tensors)
        elif isinstance(op, Constant):
            with blaming_candidate("making a constant"):
                tensors[op.out.id] = torch.tensor(op.values, dtype=op.dtype, device=self._device.torch).reshape(op.shape)
        elif isinstance(op, Seed):
            seed(op, self._device.torch)
        elif op.draws:
            with blaming_candidate(op.name):
                result = self._drawn(op, _resolve(op.args, tensors), _resolve(op.kwargs, tensors))
                self._bind(op, op.out, self._as_planned(op, result, footprint), tensors, footprint, foreign)
        else:
            with blaming_candidate(op.name):
                named = _resolve(op.kwargs, tensors)
                shapes = [(value, value.shape) for value in named.values() if isinstance(value, torch.Tensor)]
                result = op.function(*_resolve(op.args, tensors), **named)
                if any(value.shape != shape for value, shape in shapes):
                    raise ValueError("it changes the shape of its `out`")
                self._bind(op, op.out, self._as_planned(op, result, footprint), tensors, footprint, foreign)
        for id_ in op.frees:
            tensors.pop(id_, None)

    @staticmethod
    def _as_planned(op: Aten, result: Any, footprint: Footprint) -> Any:
        found = as_planned(result, op.strides)
        for made, kept in zip(*([each] if isinstance(each, torch.Tensor) else each or [] for each in (result, found))):
            if made is not kept:
                footprint.add(made)  # the library's output is also memory of the call
        return found

    def _drawn(self, op: Aten, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self._draws_left -= count(op, args)
        if self._draws_left < 0:
            raise ValueError(f"a constructor, or a call, may draw {MOST_DRAWN} numbers at most")
        return draw(op, args, kwargs)

    def _bind(self, op: Aten, out: Any, result: Any, tensors: Tensors, footprint: Footprint, foreign: set[int]) -> None:
        if isinstance(result, (list, tuple)):
            if isinstance(out, list) and len(out) == len(result):
                for o, r in zip(out, result):
                    self._bind(op, o, r, tensors, footprint, foreign)
            elif out is not None:
                raise ValueError("the plan expects another number of results")
            return
        if not isinstance(result, torch.Tensor):
            if out is not None:
                raise ValueError("the plan expects a tensor where there is none")
            return
        if result.untyped_storage().data_ptr() not in foreign:
            footprint.add(result)
            if not self._device.is_cuda and "empty" in op.name:  # without graphs memory is poisoned when it is made
                result.untyped_storage().fill_(poison_of(result.dtype))
        if isinstance(out, Ref):
            tensors[out.id] = result
        elif out is not None:
            raise ValueError("the plan expects a list where there is a tensor")

    def _output(self, info: TensorInfo, tensor: torch.Tensor) -> torch.Tensor:
        if tuple(tensor.shape) != info.shape or tensor.dtype != info.dtype:
            raise Failure("candidate", "plan", "bad_plan", f"output {info.id} is {tensor.dtype} {list(tensor.shape)}, and "
                          f"the plan says {info.dtype} {list(info.shape)}")
        return tensor


def is_own(op: Op) -> bool:
    """Whether the operation is a launch of the candidate's."""
    return isinstance(op, (Launch, Run))


def _device_ops(plan: Plan) -> Iterator[DeviceOp]:
    for ops in (plan.setup, *(alternative.ops for alternative in plan.alternatives)):
        yield from (op for op in ops if isinstance(op, DeviceOp))


def _resolve(value: Any, tensors: Tensors) -> Any:
    if isinstance(value, Ref):
        return tensors[value.id]
    if isinstance(value, list):
        return [_resolve(v, tensors) for v in value]
    if isinstance(value, dict):
        return {k: _resolve(v, tensors) for k, v in value.items()}
    return value
