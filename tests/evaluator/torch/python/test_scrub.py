"""The kernels that overwrite shared memory, registers and local memory are launched wide enough, and for all of it."""

import types
import unittest
from unittest import mock

import torch

import support  # noqa: F401 - where the program is
from kernelsmith_torch import scrub
from kernelsmith_torch.accelerator import Device


class NoRoom(int):
    name = "CUDA_ERROR_OUT_OF_MEMORY"


class Driver:
    """The part of CUDA's that this takes: an H100's attributes, and notes of what was asked."""

    CUdevice_attribute = types.SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=132, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=232448,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR=2048)
    CUfunction_attribute = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self) -> None:
        self.loaded: dict[int, str] = {}
        self.launched: list[tuple] = []
        self.room = 1 << 20  # bytes of local memory for each thread

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

    def cuLaunchKernel(self, function, x, y, z, threads, _, __, shared, stream, parameters, extra):  # noqa: N802
        what = function[1].removeprefix("kernelsmith_wipe")
        if what == "_local" and 4 * parameters[0][0] > self.room:
            return (NoRoom(2),)
        self.launched.append((what, x * threads, shared, parameters[0]))
        return (0,)


class Scrubbing(unittest.TestCase):
    def setUp(self) -> None:
        self.driver = Driver()
        package = types.SimpleNamespace(driver=self.driver)
        modules = {"cuda": types.SimpleNamespace(bindings=package), "cuda.bindings": package}
        for patch in (mock.patch.dict("sys.modules", modules),
                      mock.patch.object(torch.cuda, "current_stream", lambda _: types.SimpleNamespace(cuda_stream=0))):
            patch.start()
            self.addCleanup(patch.stop)
        self.scrubber = scrub.Scrubber(types.SimpleNamespace(is_cuda=True, torch=None))
        self.scrubber.load({"plain": "plain", "local": "frame[BYTES]"})

    def test_every_multiprocessor_is_filled(self) -> None:
        self.scrubber.run()
        (what, threads, shared, (words, word)), (registers, as_many, _, value) = self.driver.launched
        self.assertEqual((what, shared, words, word), ("", 232448, 232448 // 4, 0xABABABAB))
        self.assertEqual((registers, value), ("_registers", (0xABABABAB,)))
        self.assertGreaterEqual(min(threads, as_many), 132 * 1024)
        self.scrubber.reach(100)
        self.scrubber.run()
        what, threads, shared, (words, _) = self.driver.launched[-1]
        self.assertEqual((what, shared, words), ("_local", 0, 112 // 4))
        self.assertIn("frame[112]", self.driver.loaded.values())
        self.assertGreaterEqual(threads, 132 * 2048)

    def test_a_frame_goes_with_its_candidate(self) -> None:
        for frame, loaded in ((0, 1), (64, 2), (50, 2), (4096, 2), (0, 1)):
            self.scrubber.reach(frame)
            self.assertEqual(sum(map(bool, self.driver.loaded.values())), loaded, frame)

    def test_a_frame_that_the_driver_has_no_room_for_is_forgotten(self) -> None:
        self.driver.room = 1024
        self.scrubber.reach(512)
        with self.assertRaisesRegex(RuntimeError, "OUT_OF_MEMORY"):
            self.scrubber.reach(4096)
        self.assertEqual(sum(map(bool, self.driver.loaded.values())), 1)
        self.scrubber.run()
        self.scrubber.reach(512)
        self.scrubber.run()
        self.assertEqual(self.driver.launched[-1][0], "_local")

    def test_nothing_on_the_cpu(self) -> None:
        cpu = scrub.Scrubber(Device(None))
        cpu.load({"plain": "plain", "local": "frame[BYTES]"})
        cpu.reach(64)
        cpu.run()
        self.assertEqual(self.driver.launched, [])
