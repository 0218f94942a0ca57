"""Variables of kernels: found in a cubin, and loaded anew."""

import types
import unittest
from unittest import mock

from support import Planner, forward, needs_torch

PLAIN = """
@triton.jit
def add_one(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(y + at, tl.cumsum(tl.load(x + at), 0) + tl.sum(tl.load(x + at), 0) + 1)
"""
NOTING = """
@triton.jit
def add_one(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    asm: tl.constexpr = "{ .global .u32 note; atom.global.add.u32 $0, [note], $1; }"
    seen = tl.inline_asm_elementwise(asm, "=r,r", [at], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(y + at, tl.load(x + at) + seen)
"""
WITH_LIBDEVICE = PLAIN.replace(" + 1)", " + libdevice.erf(1.0 * tl.load(x + at)))").replace(
    "@triton", "from triton.language.extra import libdevice\n@triton")
LAUNCH = """
    z = self.linear(x)
    y = torch.empty_like(z)
    add_one[(64,)](z, y, 32)
    return y
"""


@needs_torch
class Cubins(Planner):
    def cubin(self, kernel: str) -> bytes:
        text = forward(LAUNCH)
        _, (cubin,), _ = self.plan(text.replace("class ModelNew", kernel + "\n\nclass ModelNew", 1))
        return cubin

    def test_only_variables_that_outlive_a_launch_count(self):
        from kernelsmith_torch.cubin import may_keep_variables

        plain = self.cubin(PLAIN)
        self.assertIn(b".nv.shared.", plain)
        self.assertFalse(may_keep_variables(plain))
        self.assertFalse(may_keep_variables(self.cubin(WITH_LIBDEVICE)), "its leftover is dropped")
        self.assertTrue(may_keep_variables(self.cubin(NOTING)))

    def test_what_is_no_elf_file_may_have_some(self):
        from kernelsmith_torch.cubin import may_keep_variables

        self.assertTrue(may_keep_variables(b".version 8.0\n.target sm_90"))
        self.assertTrue(may_keep_variables(self.cubin(PLAIN)[:500]))


class Driver:
    """The part of CUDA's that loading takes: it notes what was asked of it."""

    CUfunction_attribute = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self):
        self.did, self.loaded = [], set()

    def cuModuleLoadData(self, cubin):
        number = len(self.did)
        self.did.append(("load", cubin))
        self.loaded.add(number)
        return 0, number

    def cuModuleUnload(self, module):
        self.did.append(("unload", module))
        self.loaded.remove(module)
        return (0,)

    def cuModuleGetFunction(self, module, name):
        return 0, (module, name)


@needs_torch
class Modules(unittest.TestCase):
    def test_only_used_kernels_with_variables_are_loaded_anew(self):
        from kernelsmith_torch import replay
        from kernelsmith_torch.plan_values import Kernel

        driver = Driver()
        package = types.SimpleNamespace(driver=driver)
        kernels = [Kernel(f"k{i}", cubin, 0, 4, 1, 0, 0) for i, cubin in enumerate((b"plain", b"notes", b"notes, unused"))]
        with mock.patch.dict("sys.modules", {"cuda": types.SimpleNamespace(bindings=package), "cuda.bindings": package}), \
                mock.patch.object(replay, "may_keep_variables", lambda cubin: b"notes" in cubin):
            loaded = replay.Kernels(kernels, types.SimpleNamespace(is_cuda=True))
        self.assertEqual([what for what, _ in driver.did], ["load"] * 3)
        before = dict(loaded._functions)
        loaded.renew({0, 1})
        self.assertEqual(driver.did[3:], [("unload", 1), ("load", b"notes")])
        self.assertEqual([before[i] == loaded._functions[i] for i in range(3)], [True, False, True])
        loaded.close()
        self.assertEqual(driver.loaded, set())
