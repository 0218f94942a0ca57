"""Launches and memory work of C++ extensions, with a driver of the test's that works on the host's memory."""

from __future__ import annotations

import base64
import ctypes
import struct
import types
import unittest
from typing import Any
from unittest import mock

import torch

from cubin_writer import cubin
from test_module_check import MEMSET, RUN, SYMBOL, T, UPLOAD, checked, plan_of
from kernelsmith_process.framing import Failure
from kernelsmith_torch.accelerator import Device
from kernelsmith_torch.replay import Program, is_own
from kernelsmith_torch.timing import Footprint

CUBIN = cubin({"scale": [8, 8, 4], "none": []}, {"counter": 64})
PLAIN = cubin({"scale": [8, 8, 4], "none": []})


class Driver:
    """CUDA's, on the host: variables are buffers that a module gets when it is loaded. It notes launches."""

    CUfunction_attribute = types.SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES="local",
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED="clusters")
    CUlaunchAttributeID = types.SimpleNamespace(CU_LAUNCH_ATTRIBUTE_COOPERATIVE="cooperative",
                                                CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION="cluster")
    CUlaunchConfig = types.SimpleNamespace
    CUstream = staticmethod(lambda stream: stream)

    def __init__(self) -> None:
        self.modules: dict[int, Any] = {}
        self.loads = 0
        self.did: list[tuple] = []
        self.host: dict[int, Any] = {}

    def CUlaunchAttribute(self) -> Any:
        return types.SimpleNamespace(id=None, value=types.SimpleNamespace(clusterDim=types.SimpleNamespace()))

    def cuModuleLoadData(self, cubin: bytes) -> tuple:
        self.loads += 1
        self.modules[self.loads] = ctypes.create_string_buffer(64)
        return 0, self.loads

    def cuModuleUnload(self, module: int) -> tuple:
        del self.modules[module]
        return (0,)

    def cuModuleGetFunction(self, module: int, name: bytes) -> tuple:
        return 0, (module, name.decode())

    def cuModuleGetGlobal(self, module: int, name: bytes) -> tuple:
        return 0, ctypes.addressof(self.modules[module]), 64

    def cuFuncSetAttribute(self, function: tuple, attribute: str, value: int) -> tuple:
        self.did.append((attribute, function[1], value))
        return (0,)

    def cuFuncGetAttribute(self, attribute: str, function: tuple) -> tuple:
        return 0, 48

    def cuLaunchKernelEx(self, config: Any, function: tuple, parameters: int, extra: int) -> tuple:
        assert function[0] in self.modules, "a kernel of a module that is not loaded"
        pointers = (ctypes.c_void_p * 3).from_address(parameters)
        if function[1] == "scale":
            x, y = (ctypes.c_uint64.from_address(pointer).value for pointer in pointers[:2])
            self.did.append(("launch", config, x, y, ctypes.c_int32.from_address(pointers[2]).value))
            counter = ctypes.c_uint32.from_buffer(self.modules[function[0]])
            counter.value += 1
        else:
            self.did.append(("launch", config))
        return (0,)

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        ctypes.memset(address, value, count)
        return (0,)

    def cuMemsetD16Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        ctypes.memmove(address, struct.pack("<H", value) * count, 2 * count)
        return (0,)

    def cuMemsetD32Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        ctypes.memmove(address, struct.pack("<I", value) * count, 4 * count)
        return (0,)

    def cuMemcpyDtoDAsync(self, to: int, source: int, size: int, stream: int) -> tuple:
        ctypes.memmove(to, source, size)
        return (0,)

    def cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: int) -> tuple:
        self.did.append(("upload", source))
        ctypes.memmove(to, source, size)
        return (0,)

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple:
        ctypes.memmove(to, source, size)
        return (0,)

    def cuMemcpyHtoD(self, to: int, source: bytes, size: int) -> tuple:
        ctypes.memmove(to, source, size)
        return (0,)

    def cuMemHostAlloc(self, size: int, flags: int) -> tuple:
        buffer = ctypes.create_string_buffer(size)
        self.host[ctypes.addressof(buffer)] = buffer
        return 0, ctypes.addressof(buffer)

    def cuMemFreeHost(self, address: int) -> tuple:
        del self.host[address]
        return (0,)

    def launches(self) -> list[tuple]:
        return [did for did in self.did if did[0] == "launch"]


class FakeDevice(Device):
    """The CPU, that says it has a driver if this is asked for modules."""

    def __init__(self) -> None:
        self.is_cuda, self.torch, self.outside = True, torch.device("cpu"), 0

    def stream(self) -> int:
        return 7


class Replay(unittest.TestCase):
    def setUp(self) -> None:
        self.driver = Driver()
        package = types.SimpleNamespace(driver=self.driver)
        patch = mock.patch.dict("sys.modules", {"cuda": types.SimpleNamespace(bindings=package), "cuda.bindings": package})
        patch.start()
        self.addCleanup(patch.stop)

    def program(self, *ops: dict, setup: tuple = (), cubin: bytes = CUBIN) -> Program:
        self.plan = checked(plan_of(*ops, setup=setup), cubin)
        own = types.SimpleNamespace(reach=lambda frame: setattr(self, "reached", frame))
        program = Program(self.plan, {}, FakeDevice(), own)
        self.addCleanup(program.close)
        return program

    def call(self, program: Program, x: torch.Tensor | None = None) -> torch.Tensor:
        x = torch.arange(16.0) if x is None else x
        return program.call(self.plan.alternatives[0], [x], Footprint())[0]

    def counter(self) -> int:
        (variables,) = self.driver.modules.values()
        return struct.unpack_from("<I", variables)[0]

    def test_addresses_are_those_of_the_tensors(self) -> None:
        x = torch.arange(16.0)
        params = struct.pack("<QQi", 1, 2, -5)
        y = self.call(self.program({**RUN, "params": base64.b64encode(params).decode()}), x)
        ((_, config, first, second, number),) = self.driver.launches()
        self.assertEqual((first, second, number), (x.data_ptr(), y.data_ptr() + 16, -5))
        self.assertEqual((config.gridDimX, config.blockDimX, config.sharedMemBytes, config.hStream), (4, 128, 0, 7))
        self.assertFalse(hasattr(config, "attrs"))
        self.assertEqual(self.reached, 48)

    def test_memory_is_set_and_copied(self) -> None:
        y = self.call(self.program({"copy": {"t": 1}, "at": 0, "from": T, "from_at": 4, "bytes": 60},
                                   {**MEMSET, "memset": {"t": 1}, "value": 0x3F800000},
                                   {"memset": {"t": 1}, "at": 60, "bytes": 4, "value": 0},
                                   {"memset": {"t": 1}, "at": 2, "bytes": 2, "value": 0x4000, "width": 2}))
        self.assertEqual(y.tolist(), [2, 2, 1, 1, 1, 1, *range(7, 16), 0])

    def test_what_leaves_the_storage_is_refused(self) -> None:
        for op in ({**MEMSET, "at": 56}, {"copy": T, "at": 0, "from": {"t": 1}, "from_at": 60, "bytes": 8},
                   {**UPLOAD, "at": 52}, {**RUN, "pointers": [[0, T, 65]]},
                   {"symbol": 0, "name": "counter", "at": 0, "from": T, "from_at": 8, "bytes": 60}):
            with self.assertRaisesRegex(Failure, "storage, which has 64") as caught:
                self.call(self.program({**op, "line": "candidate.py:9"}))
            self.assertEqual((caught.exception.fault, caught.exception.where), ("candidate", "candidate.py:9"))
        self.call(self.program({**RUN, "pointers": [[0, T, 64]]}))

    def test_uploads_hold_addresses(self) -> None:
        x = torch.zeros(16)
        self.call(self.program({**UPLOAD, "pointers": [[8, {"t": 1}, 4]]}), x)
        words = struct.unpack("<QQ", bytes(x.view(torch.uint8)[:16].tolist()))
        self.assertEqual(words[0], 0)
        self.assertNotEqual(words[1], 0)

    def test_recorded_uploads_are_read_from_memory_that_stays(self) -> None:
        program = self.program(UPLOAD, {**SYMBOL, "at": 0})
        for _ in range(2):
            program.reserve(self.plan.alternatives[0])
            self.call(program)
        sources = [source for what, source, *_ in self.driver.did if what == "upload"]
        self.assertEqual(len(set(sources)), 4)
        self.assertEqual(len(self.driver.host), 2)
        for source in sources:
            self.assertTrue(any(start <= source < start + 32 for start in self.driver.host))
        program.renew(self.plan.alternatives[0])
        self.assertEqual(self.driver.host, {})

    def test_variables_begin_anew_for_each_batch(self) -> None:
        program = self.program(RUN)
        self.call(program)
        self.call(program)
        self.assertEqual(self.counter(), 2)
        program.renew(self.plan.alternatives[0])
        self.assertEqual(self.counter(), 0)
        self.call(program)
        self.assertEqual(self.counter(), 1)

    def test_variables_begin_as_the_setup_left_them(self) -> None:
        made = {"aten": "aten::zeros", "overload": "default", "args": [[16]], "kwargs": {}, "out": {"t": 2}}
        run = {**RUN, "pointers": [[0, {"t": 2}, 0], [8, {"t": 2}, 0]]}
        program = self.program(RUN, setup=(made, run, run))
        self.call(program)
        self.assertEqual(self.counter(), 3)
        program.renew(self.plan.alternatives[0])
        self.assertEqual(self.counter(), 2)

    def test_modules_without_variables_stay(self) -> None:
        program = self.program(RUN, cubin=PLAIN)
        program.renew(self.plan.alternatives[0])
        self.assertEqual(self.driver.loads, 1)

    def test_pointers_of_the_setup_follow_what_it_made(self) -> None:
        made = [{"aten": "aten::zeros", "overload": "default", "args": [[16]], "kwargs": {}, "out": {"t": i}}
                for i in (2, 3)]
        upload = {**UPLOAD, "upload": {"t": 2}, "at": 4, "pointers": [[8, {"t": 3}, 12]]}
        symbol = {**SYMBOL, "at": 0, "pointers": [[8, {"t": 3}, 4]]}
        overwritten = [{**upload, "at": 32}, {"memset": {"t": 2}, "at": 40, "bytes": 8, "value": 5}]
        check = {**RUN, "pointers": [[0, {"t": 2}, 0], [8, {"t": 3}, 0]]}
        program = self.program(check, setup=(*made, upload, *overwritten, symbol))
        program.renew(self.plan.alternatives[0])
        self.call(program)
        ((_, _, table, target, _),) = self.driver.launches()
        self.assertEqual(ctypes.c_uint64.from_address(table + 12).value, target + 12)
        self.assertEqual(ctypes.string_at(table + 40, 8), bytes([5] * 8))
        (variables,) = self.driver.modules.values()
        self.assertEqual(struct.unpack_from("<Q", variables, 8)[0], target + 4)
        program.restore()
        self.assertEqual(ctypes.c_uint64.from_address(table + 12).value, target + 12)

    def test_a_table_that_no_operation_names_again_follows_too(self) -> None:
        made = [{"aten": "aten::zeros", "overload": "default", "args": [[16]], "kwargs": {}, "out": {"t": i}}
                for i in (2, 3)]
        view = {"aten": "aten::view", "overload": "default", "args": [{"t": 2}, [4, 4]], "kwargs": {}, "out": {"t": 4}}
        check = {**RUN, "pointers": [[0, {"t": 4}, 0], [8, {"t": 3}, 0]]}
        upload = {**UPLOAD, "upload": {"t": 2}, "pointers": [[8, {"t": 3}, 0]]}
        self.call(self.program(check, setup=(*made, view, upload)))
        ((_, _, table, target, _),) = self.driver.launches()
        self.assertEqual(ctypes.c_uint64.from_address(table + 8).value, target)

    def test_attributes_are_asked_for(self) -> None:
        self.call(self.program({**RUN, "grid": [16, 1, 1], "cluster": [16, 1, 1], "cooperative": True,
                                "shared": 1000, "max_shared": 100_000}))
        self.assertEqual([did for did in self.driver.did if did[0] in ("shared", "clusters")],
                         [("shared", "scale", 100_000), ("clusters", "scale", 1)])
        ((_, config, *_),) = self.driver.launches()
        self.assertEqual([attribute.id for attribute in config.attrs], ["cooperative", "cluster"])
        self.assertEqual(config.numAttrs, 2)
        self.assertEqual((config.attrs[0].value.cooperative, config.attrs[1].value.clusterDim.x), (1, 16))

    def test_a_kernel_without_parameters_is_launched(self) -> None:
        self.call(self.program({**RUN, "kernel": "none", "params": "", "pointers": []}))
        self.assertEqual(len(self.driver.launches()), 1)

    def test_only_launches_are_own_kernels(self) -> None:
        program = self.program(RUN, MEMSET, UPLOAD, SYMBOL)
        ops = self.plan.alternatives[0].ops
        self.assertEqual([is_own(op) for op in ops], [False, True, False, False, False])
        self.assertEqual([program.name_of(op) for op in ops[1:]], ["scale", "memset", "upload", "symbol"])

    def test_nothing_is_done_for_no_bytes(self) -> None:
        self.call(self.program({**UPLOAD, "data": "", "pointers": []}, {**MEMSET, "bytes": 0}))
        self.assertEqual(self.driver.did, [])

    def test_close_unloads_all(self) -> None:
        program = self.program(UPLOAD)
        program.reserve(self.plan.alternatives[0])
        program.close()
        self.assertEqual((self.driver.modules, self.driver.host), ({}, {}))

    def test_a_worker_without_a_gpu_says_so(self) -> None:
        with self.assertRaises(Failure) as caught:
            Program(checked(plan_of(RUN), CUBIN), {}, Device(None), None)
        self.assertEqual((caught.exception.fault, caught.exception.code), ("machine", "no_gpu"))
