"""Executes the CUDA operations of a plan's C++ extensions: launches of device code, and work on memory and variables.
All run on the current stream and can be captured. Not thread-safe.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from .accelerator import Device
from .cubin import may_keep_variables
from .module_check import MOST_PARAMETERS, PLAIN_SHARED, Copy, DeviceOp, Memset, Module, Place, Pointer, Run, Symbol, Upload
from .judge import driver_ok
from .upload_memory import UploadMemory

_PORTABLE_CTAS = 8  # a cluster with more blocks needs an opt-in

Tensors = Mapping[int, torch.Tensor]


class LoadedModules:
    """Modules in the device's context. close() unloads them; no graph with them may be played afterwards."""

    def __init__(self, modules: Sequence[Module], ops: Iterable[DeviceOp], device: Device) -> None:
        ops = list(ops)
        self._modules, self._device = modules, device
        self._loaded: dict[int, Any] = {}
        self._functions: dict[tuple[int, str], Any] = {}
        self._wishes = _wishes(ops)
        self._named = {(op.module, op.name) for op in ops if isinstance(op, Symbol)}
        self._variables: dict[tuple[int, str], tuple[int, int]] = {}
        self._with_variables = {i for i, module in enumerate(modules) if may_keep_variables(module.cubin)}
        self._kept: dict[tuple[int, str], bytes] = {}
        self.uploads: UploadMemory | None = None
        if not modules and not ops:
            return
        if not device.is_cuda:
            raise Failure("machine", "run", "no_gpu", "the plan has device code, and this worker runs on the CPU",
                          "start the worker on a GPU")
        from cuda.bindings import driver

        self._driver = driver
        self.uploads = UploadMemory(driver)

    def load(self) -> None:
        for index in range(len(self._modules)):
            self._load(index)

    def frame(self) -> int:
        """The most bytes of local memory of a thread of a launched kernel."""
        return max((int(driver_ok(self._driver.cuFuncGetAttribute(
            self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function)))
            for function in self._functions.values()), default=0)

    def keep_variables(self) -> None:
        """Saves the variables' values after the setup; renew() restores them."""
        for index in self._with_variables:
            for name in self._modules[index].facts.variables:
                address, size = self._variable(index, name)
                buffer = ctypes.create_string_buffer(size)
                driver_ok(self._driver.cuMemcpyDtoH(ctypes.addressof(buffer), address, size))
                self._kept[index, name] = buffer.raw

    def kept(self, module: int, name: str) -> bytes:
        return self._kept.get((module, name), b"")

    def replace_kept(self, module: int, name: str, content: bytes) -> None:
        self._kept[module, name] = content

    def renew(self) -> None:
        """Restores variables to their values after the setup. No recorded call may exist."""
        if self.uploads is not None:
            self.uploads.forget()
        for index in sorted(self._with_variables):
            driver_ok(self._driver.cuModuleUnload(self._loaded.pop(index)))
            self._load(index)
        for (index, name), content in self._kept.items():
            address, size = self._variable(index, name)
            driver_ok(self._driver.cuMemcpyHtoD(address, content, min(size, len(content))))

    def execute(self, op: DeviceOp, tensors: Tensors) -> None:
        match op:
            case Run():
                self._launch(op, tensors)
            case Memset() if op.bytes:
                self._set(op, self._address(op.to, op.bytes, tensors))
            case Copy() if op.bytes:
                to, source = (self._address(place, op.bytes, tensors) for place in (op.to, op.source))
                driver_ok(self._driver.cuMemcpyDtoDAsync(to, source, op.bytes, self._device.stream()))
            case Upload() if op.data:
                self._send(self._address(op.to, len(op.data), tensors), op.data, op.pointers, tensors)
            case Symbol() if op.bytes:
                self._copy_to_variable(op, tensors)

    def close(self) -> None:
        if self.uploads is not None:
            self.uploads.forget()
        while self._loaded:
            driver_ok(self._driver.cuModuleUnload(self._loaded.popitem()[1]))
        self._functions.clear()

    def _load(self, index: int) -> None:
        driver, attribute = self._driver, self._driver.CUfunction_attribute
        self._loaded[index] = driver_ok(driver.cuModuleLoadData(self._modules[index].cubin))
        for (module, name), (shared, ctas) in self._wishes.items():
            if module != index:
                continue
            function = driver_ok(driver.cuModuleGetFunction(self._loaded[index], name.encode()))
            if shared > PLAIN_SHARED:
                driver_ok(driver.cuFuncSetAttribute(
                    function, attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared))
            if ctas > _PORTABLE_CTAS:
                driver_ok(driver.cuFuncSetAttribute(
                    function, attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
            self._functions[index, name] = function
        # Addresses are looked up here, because while a call is recorded, the driver must only be given work.
        for module, name in self._named:
            if module == index:
                self._variables[module, name] = self._variable(module, name)

    def _launch(self, op: Run, tensors: Tensors) -> None:
        # If the driver reads more than we found in the cubin, it reads zeros and a valid list of pointers.
        content = ctypes.create_string_buffer(self._with_addresses(op.params, op.pointers, tensors), 2 * MOST_PARAMETERS)
        layout = self._modules[op.module].facts.kernels[op.kernel].parameters
        parameters = (ctypes.c_void_p * 1024)(*(ctypes.addressof(content) + offset for offset, _ in layout))
        driver_ok(self._driver.cuLaunchKernelEx(self._config(op), self._functions[op.module, op.kernel],
                                                ctypes.addressof(parameters), 0))

    def _config(self, op: Run) -> Any:
        driver, attributes = self._driver, []
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = op.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = op.block
        config.sharedMemBytes, config.hStream = op.shared, driver.CUstream(self._device.stream())
        if op.cooperative:
            attributes.append(driver.CUlaunchAttribute())
            attributes[-1].id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            attributes[-1].value.cooperative = 1
        if op.cluster:
            attributes.append(driver.CUlaunchAttribute())
            attributes[-1].id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            size = attributes[-1].value.clusterDim
            size.x, size.y, size.z = op.cluster
        if attributes:
            config.attrs, config.numAttrs = attributes, len(attributes)
        return config

    def _set(self, op: Memset, address: int) -> None:
        function = {1: self._driver.cuMemsetD8Async, 2: self._driver.cuMemsetD16Async, 4: self._driver.cuMemsetD32Async}
        driver_ok(function[op.width](address, op.value, op.bytes // op.width, self._device.stream()))

    def _copy_to_variable(self, op: Symbol, tensors: Tensors) -> None:
        address, size = self._variables[op.module, op.name]
        if op.at + op.bytes > size:
            raise ValueError(f"a copy goes past the end of variable {op.name}, which has {size} bytes")
        if op.source is None:
            self._send(address + op.at, op.data, op.pointers, tensors)
        else:
            source = self._address(op.source, op.bytes, tensors)
            driver_ok(self._driver.cuMemcpyDtoDAsync(address + op.at, source, op.bytes, self._device.stream()))

    def _send(self, address: int, data: bytes, pointers: Sequence[Pointer], tensors: Tensors) -> None:
        content = self._with_addresses(data, pointers, tensors)
        driver_ok(self._driver.cuMemcpyHtoDAsync(address, self.uploads.place(content), len(content), self._device.stream()))

    def _variable(self, module: int, name: str) -> tuple[int, int]:
        """Address and bytes."""
        found = self._driver.cuModuleGetGlobal(self._loaded[module], name.encode())
        driver_ok(found)
        return int(found[1]), int(found[2])

    def _with_addresses(self, data: bytes, pointers: Sequence[Pointer], tensors: Tensors) -> bytes:
        content = bytearray(data)
        for pointer in pointers:
            address = self._address(Place(pointer.to, pointer.at), 0, tensors)
            content[pointer.offset:pointer.offset + 8] = address.to_bytes(8, "little")
        return bytes(content)

    def _address(self, place: Place, size: int, tensors: Tensors) -> int:
        """The address of `size` bytes in the storage; its end is also a valid place."""
        storage = tensors[place.to.id].untyped_storage()
        if storage.device != self._device.torch:
            raise ValueError("a tensor is not on the device")
        if place.at + size > storage.nbytes():
            raise ValueError(f"{size} bytes at {place.at} of a tensor's storage, which has {storage.nbytes()}")
        return storage.data_ptr() + place.at


def _wishes(ops: Iterable[DeviceOp]) -> dict[tuple[int, str], tuple[int, int]]:
    """For each launched kernel the maximum shared memory of its launches, and the blocks of a cluster."""
    wishes: dict[tuple[int, str], tuple[int, int]] = {}
    for op in ops:
        if isinstance(op, Run):
            x, y, z = op.cluster or (1, 1, 1)
            shared, ctas = wishes.get((op.module, op.kernel), (0, 0))
            wishes[op.module, op.kernel] = max(shared, op.max_shared), max(ctas, x * y * z)
    return wishes
