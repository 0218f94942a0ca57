"""The own kernels: what is wiped is wiped whole, and a batch is timed behind the gate, on a driver without a GPU."""

import ctypes
import os
import sys
import types
import unittest
from unittest import mock

import torch

import support  # noqa: F401 - where the program is
from kernelsmith_process.framing import Failure
from kernelsmith_torch.accelerator import Device
from kernelsmith_torch.own_kernels import OwnKernels
from kernelsmith_torch.timing import Call, Clock, Footprint

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from own_kernels import own_kernels  # noqa: E402

L2 = 1 << 20


class NoRoom(int):
    name = "CUDA_ERROR_OUT_OF_MEMORY"


class Driver:
    """The part of CUDA's that this takes: an H100's attributes, and notes of what was asked."""

    CUdevice_attribute = types.SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=132, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=232448,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR=2048)
    CU_MEMHOSTALLOC_DEVICEMAP = 2
    CUfunction_attribute = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self) -> None:
        self.loaded: dict[int, str] = {}
        self.launched: list[tuple] = []
        self.room = 1 << 20  # bytes of local memory for each thread
        self.flag = ctypes.c_uint32(7)
        self.happened: list[str] = []  # while a batch is played
        self.stalls = 0  # how many times the host stands still while it launches

    def cuCtxGetDevice(self):  # noqa: N802
        return 0, 0

    def cuDeviceGetAttribute(self, attribute, device):  # noqa: N802
        return 0, attribute

    def cuModuleLoadData(self, text):  # noqa: N802
        number = len(self.loaded) + 100
        self.loaded[number] = text.rstrip(b"\0").decode()
        return 0, number

    def cuModuleUnload(self, module):  # noqa: N802
        self.loaded[module] = ""
        return (0,)

    def cuModuleGetFunction(self, module, name):  # noqa: N802
        return 0, (module, name.decode())

    def cuFuncSetAttribute(self, function, attribute, value):  # noqa: N802
        return (0,)

    def cuMemHostAlloc(self, size, flags):  # noqa: N802
        return 0, ctypes.addressof(self.flag)

    def cuMemHostGetDevicePointer(self, host, flags):  # noqa: N802
        return 0, 0x7000

    def cuLaunchKernel(self, function, x, y, z, threads, _, __, shared, stream, parameters, extra):  # noqa: N802
        what = function[1].removeprefix("kernelsmith_")
        if what == "wipe_local" and 4 * parameters[0][0] > self.room:
            return (NoRoom(2),)
        self.launched.append((what, x * threads, shared, parameters[0]))
        self.happened.append(what)
        return (0,)

    def cuGraphLaunch(self, executable, stream):  # noqa: N802
        self.happened.append(f"{executable} with the gate {'open' if self.flag.value else 'closed'}")
        return (0,)


class Event:
    """Comes when the gate is open: by itself, if the host stood still."""

    def __init__(self, driver: Driver, name: str) -> None:
        self.driver, self.name = driver, name

    def record(self) -> None:
        self.driver.happened.append(self.name)

    def query(self) -> bool:
        self.driver.stalls -= 1
        return self.driver.stalls >= 0 or bool(self.driver.flag.value)

    def synchronize(self) -> None:
        assert self.driver.flag.value, "it would wait for the gate's limit"

    def elapsed_time(self, end: "Event") -> float:
        return 0.25


class OnDriver(unittest.TestCase):
    def setUp(self) -> None:
        self.driver = Driver()
        package = types.SimpleNamespace(driver=self.driver)
        modules = {"cuda": types.SimpleNamespace(bindings=package), "cuda.bindings": package}
        patch = mock.patch.dict("sys.modules", modules)
        patch.start()
        self.addCleanup(patch.stop)
        self.device = types.SimpleNamespace(is_cuda=True, torch=torch.device("cpu"), facts=lambda: {"l2_bytes": L2},
                                            stream=lambda: 0, finish=lambda: None)
        self.kernels = OwnKernels(self.device)
        self.kernels.load({"kernels": own_kernels()})


class Wiping(OnDriver):
    def test_every_multiprocessor_is_filled(self) -> None:
        self.kernels.wipe()
        (what, threads, shared, (words, word)), (registers, as_many, _, value) = self.driver.launched
        self.assertEqual((what, shared, words, word), ("wipe", 232448, 232448 // 4, 0xABABABAB))
        self.assertEqual((registers, value), ("wipe_registers", (0xABABABAB,)))
        self.assertGreaterEqual(min(threads, as_many), 132 * 1024)
        self.kernels.reach(100)
        self.kernels.wipe()
        what, threads, shared, (words, _) = self.driver.launched[-1]
        self.assertEqual((what, shared, words), ("wipe_local", 0, 112 // 4))
        self.assertTrue(any("frame[112]" in text for text in self.driver.loaded.values()))
        self.assertGreaterEqual(threads, 132 * 2048)

    def test_a_frame_goes_with_its_candidate(self) -> None:
        for frame, loaded in ((0, 1), (64, 2), (50, 2), (4096, 2), (0, 1)):
            self.kernels.reach(frame)
            self.assertEqual(sum(map(bool, self.driver.loaded.values())), loaded, frame)

    def test_a_frame_that_the_driver_has_no_room_for_is_forgotten(self) -> None:
        self.driver.room = 1024
        self.kernels.reach(512)
        with self.assertRaisesRegex(RuntimeError, "OUT_OF_MEMORY"):
            self.kernels.reach(4096)
        self.assertEqual(sum(map(bool, self.driver.loaded.values())), 1)
        self.kernels.wipe()
        self.kernels.reach(512)
        self.kernels.wipe()
        self.assertEqual(self.driver.launched[-1][0], "wipe_local")

    def test_the_memory_of_the_sweep_is_wiped_and_read_whole(self) -> None:
        self.kernels.wipe()
        self.assertEqual(self.kernels._swept.unique().tolist(), [0xAB])
        self.kernels.sweep()
        what, threads, _, (address, pieces) = self.driver.launched[-1]
        self.assertEqual((what, address, 16 * pieces), ("sweep", self.kernels._swept.data_ptr(), 2 * L2))
        self.assertGreaterEqual(threads, 132 * 1024)

    def test_nothing_on_the_cpu(self) -> None:
        cpu = OwnKernels(Device(None))
        cpu.load({})
        cpu.reach(64)
        cpu.wipe()
        self.assertEqual(self.driver.launched, [])


class Timing(OnDriver):
    """A clock whose batches are notes of what happened."""

    def setUp(self) -> None:
        super().setUp()
        clock = self.clock = Clock.__new__(Clock)
        clock._device, clock.kernels, clock._driver, clock._persists = self.device, self.kernels, self.driver, False
        clock._stream = types.SimpleNamespace(cuda_stream=0)
        clock._begin, clock._end = Event(self.driver, "begin"), Event(self.driver, "end")
        clock._batch, clock.poison = lambda calls: "calls", lambda calls: self.driver.happened.append("poison")
        for name in ("stream", "current_stream"):
            patch = mock.patch.object(torch.cuda, name, mock.MagicMock())
            patch.start()
            self.addCleanup(patch.stop)

    def play(self) -> float:
        call = Call(lambda: [], Footprint(), graph="recorded")
        note = self.driver.happened.append
        return self.clock.play(lambda: note("place") or [call], lambda: note("lay out"))

    BATCH = ["place", "lay out", "poison", "sweep", "gate", "begin", "calls with the gate closed", "end"]

    def test_a_batch_begins_when_all_of_it_is_launched(self) -> None:
        self.assertEqual(self.play(), 250)
        self.assertEqual(self.driver.happened, self.BATCH)
        self.assertEqual(self.driver.launched[-1][3], (0x7000, 20_000_000))
        self.assertEqual(self.driver.flag.value, 1)

    def test_a_late_batch_is_made_again_from_the_start(self) -> None:
        self.driver.stalls = 1
        self.assertEqual(self.play(), 250)
        self.assertEqual(self.driver.happened, 2 * self.BATCH)

    def test_a_machine_whose_batches_are_all_late_is_at_fault(self) -> None:
        self.driver.stalls = 99
        with self.assertRaises(Failure) as raised:
            self.play()
        self.assertEqual((raised.exception.fault, raised.exception.code), ("machine", "late_launch"))

    def test_a_launch_that_fails_opens_the_gate(self) -> None:
        self.driver.cuGraphLaunch = lambda executable, stream: (NoRoom(2),)
        with self.assertRaisesRegex(RuntimeError, "OUT_OF_MEMORY"):
            self.play()
        self.assertEqual(self.driver.flag.value, 1)
