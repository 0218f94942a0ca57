"""What candidates give to Triton's kernels, and do with compiled ones, besides launching them with tensors."""


from support import Planner, candidate, forward, launches, needs_torch

PLUS = """
@triton.jit
def plus(a, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(a + i, mask=i < n) + 1, mask=i < n)
"""


@needs_torch
class Kernels(Planner):
    def planned(self, body, head=""):
        plan, _, _ = self.plan(candidate(PLUS + head) + forward("o = torch.empty_like(x)\n" + body + "\nreturn o"))
        return plan, launches(plan)

    def test_reinterpreted_tensors_and_the_like(self):
        _, (first, second) = self.planned("""
words = triton.reinterpret(x.view(torch.int32), tl.float32)
plus[(12,)](words, o, x.numel(), B=256)
plus[(12,)](Mine(words), Mine(o), x.numel(), B=256)
""", """
class Mine:
    def __init__(self, inner): self.inner, self.dtype = inner, torch.float32
    def data_ptr(self): return self.inner.data_ptr()
""")
        self.assertEqual(first["args"][:2], second["args"][:2])
        self.assertEqual([kind for kind, _ in first["args"]], ["*fp32", "*fp32", "i32"])

    def test_an_object_that_holds_no_such_tensor_is_refused(self):
        error = self.refusal(candidate(PLUS + """
class Mine:
    dtype = torch.float32
    def data_ptr(self): return 4096
""") + forward("plus[(1,)](Mine(), x, 64, B=64); return x"), "not_allowed")
        self.assertIn("a of plus is of type Mine", error["message"])

    def test_compiled_kernels_are_launched(self):
        plan, found = self.planned("""
h = plus.warmup(x, o, x.numel(), B=256, grid=(1,))
assert h.n_regs > 0 and h.metadata.shared == 0
h[(12, 1, 1)](x, o, x.numel())
h[(12, 1, 1)](x, o, x.numel(), 256)
again = plus[(12,)](x, o, x.numel(), B=256)
assert again.n_regs == h.n_regs
""")
        self.assertEqual([(each["launch"], each["grid"], each["args"]) for each in found],
                         [(0, [12, 1, 1], found[0]["args"])] * 3)
        self.assertEqual(len(plan["kernels"]), 1)

    def test_descriptors_made_on_the_host(self):
        head = """
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.jit
def turn(a, o, B: tl.constexpr):
    o.store([0, 0], a.load([0, 16]) * 2)
"""
        body = """
a = TensorDescriptor.from_tensor(x[8:], [16, 16])
turn[(1,)](a, TensorDescriptor(o, [64, 48], [48, 1], [16, 16], "nan"), B=16)
"""
        plan, (launch,) = self.planned(body, head)
        (kind, first), *_ = launch["args"]
        self.assertEqual((kind, first["type"], first["shape"], first["strides"], first["box"], first["nan"]),
                         ("tensormap", 7, [48, 56], [192], [16, 16], False))
        self.assertEqual([kind for kind, _ in launch["args"]], ["tensormap", "i32", "i32", "i64", "i64"] * 2)
        self.assertEqual([v for _, v in launch["args"][1:5]], [56, 48, 48, 1])
        self.assertTrue(launch["args"][5][1]["nan"])
        # Without TMA they are pointers.
        plan, _, _ = self.plan(candidate(PLUS + head) + forward("o = torch.empty_like(x)\n" + body + "\nreturn o"), arch=80)
        self.assertEqual([kind for kind, _ in launches(plan)[0]["args"]],
                         (["*fp32"] + ["i64"] * 4 + ["i1", "i32", "i32", "i64", "i64"]) * 2)

    def test_what_a_tile_needs_is_said_before_it_is_compiled(self):
        error = self.refusal(candidate("""
            @triton.jit
            def large(a, o, B: tl.constexpr):
                i = tl.arange(0, B)
                p = i[:, None] * B + i[None, :]
                tl.store(o + p, tl.dot(tl.load(a + p), tl.load(a + p)))
        """) + forward("large[(1,)](x, x, B=512); return x"), "triton_compile", timeout_s=15)
        self.assertIn("shared memory, Required: 2097152", error["message"])

    def test_operators_of_the_candidates_own_are_looked_through(self):
        _, found = self.planned("""
one(x, o)
return torch.ops.mine.two(o, 2.0) + three(o) + torch.ops.mine.three.default(o)
""", """
from torch.library import Library, custom_op, impl, triton_op, wrap_triton
@custom_op("mine::one", mutates_args={"y"})
def one(x: torch.Tensor, y: torch.Tensor) -> None: plus[(12,)](x, y, x.numel(), B=256)
library = Library("mine", "FRAGMENT")
library.define("two(Tensor x, float k) -> Tensor")
@impl(library, "two", "CUDA")
def two(x, k):
    o = torch.empty_like(x, device="cuda")
    plus[(12,)](x, o, x.numel(), B=256)
    return o * k
@triton_op("mine::three", mutates_args={})
def three(x: torch.Tensor) -> torch.Tensor:
    o = torch.empty_like(x)
    wrap_triton(plus)[(12,)](x, o, x.numel(), B=256)
    return o
""")
        self.assertEqual(len(found), 4)
