"""The kernels that overwrite shared and local memory: they assemble, write all of it, and are launched wide enough."""

import os
import re
import subprocess
import tempfile
import types
import unittest
from unittest import mock

import torch

from support import needs_torch
from kernelsmith_torch import scrub
from kernelsmith_torch.accelerator import Device


@needs_torch
class Assembled(unittest.TestCase):
    def assembled(self, text: str) -> tuple[str, str]:
        """What ptxas says of it, and its instructions."""
        from triton import knobs

        with tempfile.TemporaryDirectory() as folder:
            source, binary = os.path.join(folder, "a.ptx"), os.path.join(folder, "a.cubin")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            told = subprocess.run([knobs.nvidia.ptxas.path, "-v", "-arch=sm_90", source, "-o", binary], capture_output=True,
                                  text=True, check=True).stderr
            return told, subprocess.run([knobs.nvidia.nvdisasm.path, "-c", binary], capture_output=True, text=True,
                                        check=True).stdout

    def test_local_memory_is_a_frame_of_that_size_and_no_store_is_dropped(self) -> None:
        told, code = self.assembled(scrub.LOCAL.replace("BYTES", "4096"))
        self.assertIn("4096 bytes stack frame", told)
        self.assertRegex(code, r"\bST")
        self.assertLessEqual(int(re.search(r"Used (\d+) registers", told)[1]), 32, "or two blocks do not run side by side")

    def test_shared_memory_is_stored_to(self) -> None:
        self.assertRegex(self.assembled(scrub.SHARED)[1], r"\bSTS")


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
        return 0, module

    def cuFuncSetAttribute(self, function, attribute, value):  # noqa: N802
        return (0,)

    def cuLaunchKernel(self, function, x, y, z, threads, _, __, shared, stream, parameters, extra):  # noqa: N802
        what = "local" if ".local" in self.loaded[function] else "shared"
        if what == "local" and parameters[0][0] > self.room:
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

    def test_every_multiprocessor_is_filled(self) -> None:
        self.scrubber.run()
        (what, threads, shared, (size, word)), = self.driver.launched
        self.assertEqual((what, shared, size, word), ("shared", 232448, 232448, 0xABABABAB))
        self.assertGreaterEqual(threads, 132 * 1024)
        self.scrubber.reach(100)
        self.scrubber.run()
        what, threads, shared, (size, _) = self.driver.launched[-1]
        self.assertEqual((what, shared, size), ("local", 0, 112))
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
        self.assertEqual(self.driver.launched[-1][0], "local")

    def test_nothing_on_the_cpu(self) -> None:
        cpu = scrub.Scrubber(Device(None))
        cpu.reach(0)
        cpu.run()
        self.assertEqual(self.driver.launched, [])
