"""Plans for GPUs of other makers: compiled by Triton's own backends, with their lanes, and refused by a runner."""

import struct
import unittest
from unittest import mock

from kernelsmith_process.framing import Failure
from support import REFERENCE, Planner, candidate, forward, launches, needs_torch

SUMS = """
@triton.jit
def sums(y, x, cols, B: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, B)
    tl.store(y + row, tl.sum(tl.load(x + row * cols + o, mask=o < cols, other=0.), 0))
"""
HEAD = candidate(SUMS)
BODY = """
h = self.linear(x)
y = h.new_empty(h.shape[0])
p = torch.cuda.get_device_properties(0)
sums[(h.shape[0],)](y, h, h.shape[1], B=p.warp_size)
return F.gelu(h)
"""
AMD = 224  # e_machine


@needs_torch
class OtherMakers(Planner):
    def plan_for(self, arch, text):
        """What check_plan refuses, decoded."""
        from kernelsmith_torch.plan_format import decode

        reply, blob = self.ask(do="plan", reference=REFERENCE, candidate=text, timeout_s=120, arch=arch)
        self.assertNotIn("error", reply)
        return decode(blob)

    def test_kernels_are_code_objects_of_the_architecture(self):
        for arch, lanes, flag in (("gfx942", 64, 0x4C), ("gfx1100", 32, 0x41)):
            plan, (image,) = self.plan_for(arch, HEAD + forward(BODY))
            self.assertEqual(plan["arch"], arch)
            self.assertEqual(struct.unpack_from("<H", image, 18)[0], AMD)
            self.assertEqual(struct.unpack_from("<I", image, 48)[0] & 0xFF, flag)
            (launch,) = launches(plan)
            kernel = plan["kernels"][launch["launch"]]
            self.assertEqual((kernel["name"], kernel["spills"]), ("sums", 0))
            self.assertGreater(kernel["registers"], 0)
            self.assertIn(b".wavefront_size" + bytes([lanes]), image)

    def test_a_candidate_sees_the_device(self):
        asked = """
            p = torch.cuda.get_device_properties(0)
            assert (p.warp_size, p.gcnArchName.split(":")[0], torch.cuda.get_device_capability()) == (64, "gfx942", (9, 4))
            assert torch.version.hip and torch.version.cuda is None
            assert triton.runtime.driver.active.get_current_target().warp_size == 64
        """
        self.plan_for("gfx942", HEAD + forward(asked + "\n" + "\n".join(" " * 12 + line for line in BODY.splitlines())))

    def test_too_much_shared_memory_is_the_candidates_fault(self):
        head = candidate("""
            @triton.jit
            def product(x, B: tl.constexpr):
                o = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
                tl.store(x + o, tl.dot(tl.load(x + o), tl.load(x + o).trans()))
        """)
        error = self.refusal(head + forward("x = x.new_empty(256, 256); product[(1,)](x, B=256, num_warps=8); return x"),
                             "triton_compile", arch="gfx942")
        self.assertIn("shared memory", error["message"])

    def test_extensions_are_refused(self):
        head = candidate("""
            from torch.utils.cpp_extension import load_inline
            made = load_inline(name="made", cpp_sources="int f();", cuda_sources="int f() { return 1; }", functions=["f"])
        """)
        error = self.refusal(head + forward("return x"), "not_allowed", arch="gfx942")
        self.assertIn("not for gfx942", error["message"])

    def test_a_backend_that_triton_lacks_is_named(self):
        error = self.refusal(None, "unsupported", fault="machine", arch="xcore1000")
        self.assertIn("no backend `maca`", error["message"])
        error = self.refusal(None, "unknown_device", fault="task", arch="gfx900")
        self.assertIn("gfx942", error["message"])

    def test_a_runner_refuses_the_plan(self):
        import torch
        from kernelsmith_torch.plan_check import check_plan

        plan, images = self.plan_for("gfx942", HEAD + forward(BODY))
        for capability in ((0, 0), (9, 0)):
            with self.assertRaisesRegex(Failure, "gfx942.*NVIDIA's GPUs only"):
                check_plan(plan, images, capability, torch.device("cpu"))


@needs_torch
class Workers(unittest.TestCase):
    """A worker on another maker's GPU ends with one clear error."""

    def refused(self, cuda, hip, name):
        import torch
        from kernelsmith_torch.accelerator import Device

        with mock.patch.multiple(torch.version, cuda=cuda, hip=hip), \
                mock.patch.multiple(torch.cuda, set_device=mock.DEFAULT, get_device_name=lambda *_: name), \
                self.assertRaisesRegex(RuntimeError, "modules run on NVIDIA's GPUs only") as raised:
            Device(0)
        return str(raised.exception)

    def test_pytorch_for_rocm(self):
        self.assertIn("ROCm", self.refused(None, "6.4.0", "AMD Instinct MI300X"))

    def test_pytorch_for_maca(self):
        self.assertIn("MetaX C550", self.refused("11.6", None, "MetaX C550"))
