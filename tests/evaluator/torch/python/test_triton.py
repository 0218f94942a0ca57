"""Triton's launches in plans: compiled for a named target, specialised as Triton does, alternatives of autotune."""

import re
import subprocess

from support import REFERENCE, Planner, candidate, forward, launches, needs_torch, operators

GELU = """
@triton.jit
def gelu(y, x, n, scale, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n) * scale
    tl.store(y + o, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=o < n)
"""

MATMUL = """
@triton.autotune(configs=[triton.Config({"M": m, "N": 32, "K": 32}, num_warps=w, num_stages=s)
                          for m, w, s in ((32, 4, 2), (64, 4, 3), (16, 2, 1))], key=["rows", "cols", "inner"])
@triton.heuristics({"EVEN": lambda args: args["inner"] % args["K"] == 0})
@triton.jit
def matmul(a, b, c, rows, cols, inner, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    sum = tl.zeros((M, N), tl.float32)
    for k in range(0, inner, K):
        i = k + tl.arange(0, K)
        inside = (i < inner) if not EVEN else (i >= 0)
        left = tl.load(a + m[:, None] * sa + i[None, :], mask=(m[:, None] < rows) & inside[None, :], other=0.)
        right = tl.load(b + n[None, :] * sb + i[:, None], mask=(n[None, :] < cols) & inside[:, None], other=0.)
        sum += tl.dot(left, right)
    tl.store(c + m[:, None] * sc + n[None, :], sum, mask=(m[:, None] < rows) & (n[None, :] < cols))
"""


@needs_torch
class Launches(Planner):
    def test_gelu(self):
        plan, cubins, summary = self.plan(GELU_HEAD + forward("""
            h = self.linear(x)
            y = torch.empty_like(h)
            n = h.numel()
            gelu[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](y, h, n, 0.5, BLOCK=512, num_warps=8, num_stages=3)
            return y
        """))
        (launch,) = launches(plan)
        self.assertEqual((launch["grid"], launch["line"]), ([4, 1, 1], "candidate.py:29"))
        y, h = (op["out"] for op in plan["alternatives"][0]["ops"] if op.get("aten") in ("aten::empty_like", "aten::addmm"))
        self.assertEqual(launch["args"], [["*fp32", h], ["*fp32", y], ["i32", 2048], ["fp32", 0.5]])
        self.assertEqual(plan["alternatives"][0]["outputs"][0]["id"], h["t"])
        kernel = plan["kernels"][launch["launch"]]
        self.assertEqual((kernel["name"], kernel["warps"], kernel["ctas"]), ("gelu", 8, 1))
        self.assertEqual(cubins[0][:4], b"\x7fELF")
        self.assertEqual(len(cubins[0]), kernel["size"])
        self.assertEqual((summary["launches"], summary["own_kernels"]), (1, ["gelu"]))

    def test_resources_are_those_that_cuobjdump_tells(self):
        import tempfile

        from triton import knobs

        plan, cubins, _ = self.plan(GELU_HEAD + forward("y = torch.empty_like(x); gelu[(3,)](y, x, 9, 1.5, 256); return y"))
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubins[0])
            file.flush()
            told = subprocess.run([knobs.nvidia.cuobjdump.path, "-res-usage", file.name], capture_output=True, text=True,
                                  check=True).stdout
        self.assertEqual(plan["kernels"][0]["registers"], int(re.search(r"REG:(\d+)", told)[1]))
        self.assertEqual(plan["kernels"][0]["spills"], int(re.search(r"STACK:(\d+)", told)[1]) // 4)

    def test_a_source_gives_the_same_bytes_again(self):
        request = {"do": "plan", "reference": REFERENCE, "timeout_s": 120, "candidate": GELU_HEAD + forward(
            "y = torch.empty_like(x); gelu[(3,)](y, x, 9, 1.5, 256); return y")}
        (first, once), (_, again) = self.ask(**request), self.ask(**request)
        self.assertNotIn("error", first)
        self.assertEqual(once, again)

    def test_specialises_as_triton_does(self):
        plan, cubins, _ = self.plan(GELU_HEAD + forward("""
            y = torch.empty(4096, device="cuda")
            flat = x.view(-1)
            gelu[(1,)](y, flat, 1024, 2.0, BLOCK=256)          # all aligned
            gelu[(1,)](y, flat[4:], 2048, 3.0, BLOCK=256)      # 16 bytes on: the same kernel
            gelu[(1,)](y, flat[1:], 1024, 2.0, BLOCK=256)      # a pointer that is not aligned
            gelu[(1,)](y, flat, 1023, 2.0, BLOCK=256)          # a size that is not divisible by 16
            gelu[(1,)](y, flat, 1, 2.0, 256)                   # 1 is a constant
            gelu[(1,)](y, flat, 2**40, 2.0, 256)               # 64 bits
            gelu[(0,)](y, flat, 16, 2.0, 256)                  # no program: no launch
            return y
        """))
        found = launches(plan)
        self.assertEqual([launch["launch"] for launch in found], [0, 0, 1, 2, 3, 4])
        self.assertEqual([[kind for kind, _ in launch["args"]] for launch in found[3:]], [
            ["*fp32", "*fp32", "i32", "fp32"], ["*fp32", "*fp32", "fp32"], ["*fp32", "*fp32", "i64", "fp32"]])
        self.assertEqual(len(set(cubins)), 5)

    def test_arguments_of_every_kind(self):
        plan, _, _ = self.plan(candidate("""
            @triton.jit
            def twice(v): return v * 2

            @triton.jit
            def kernel(y, x, none, flag, n: tl.int64, DTYPE: tl.constexpr, NAME: tl.constexpr, F: tl.constexpr, B: tl.constexpr = 64):
                o = tl.arange(0, B)
                v = F(tl.load(x + o, mask=o < n))
                if none is not None: v += tl.load(none)
                if flag: v += 1
                tl.store(y + o, v.to(DTYPE), mask=o < n)

            class ModelNew(nn.Module):
                def __init__(self, cols): super().__init__()
                def forward(self, x):
                    y = torch.empty(64, dtype=torch.bfloat16, device=x.device)
                    kernel[(1, 1)](y, x.half(), None, True, 16, tl.bfloat16, "a name", F=twice)
                    return y
        """))
        (launch,) = launches(plan)
        self.assertEqual([(kind, v if isinstance(v, (int, bool)) else None) for kind, v in launch["args"]],
                         [("*bf16", None), ("*fp16", None), ("u1", True), ("i64", 16)])

    def test_softmax_of_the_tutorial(self):
        plan, _, _ = self.plan(candidate("""
            from triton.runtime import driver
            @triton.jit
            def softmax(y, x, rows, cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
                for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
                    o = tl.arange(0, BLOCK)
                    v = tl.load(x + row * cols + o, mask=o < cols, other=-float("inf"))
                    e = tl.exp(v - tl.max(v, 0))
                    tl.store(y + row * cols + o, e / tl.sum(e, 0), mask=o < cols)

            class ModelNew(nn.Module):
                def __init__(self, cols): super().__init__()
                def forward(self, x):
                    y = torch.empty_like(x)
                    properties = driver.active.utils.get_device_properties(torch.cuda.current_device())
                    block = triton.next_power_of_2(x.shape[1])
                    kernel = softmax.warmup(y, x, *x.shape, BLOCK=block, num_stages=2, num_warps=4, grid=(1,))
                    kernel._init_handles()
                    programs = properties["multiprocessor_count"] * (65536 // (kernel.n_regs * 128))
                    softmax[(min(programs, x.shape[0]), 1, 1)](y, x, *x.shape, BLOCK=block, num_stages=2)
                    return y
        """))
        (launch,) = launches(plan)
        self.assertEqual(launch["grid"], [64, 1, 1])

    def test_autotune_makes_alternatives(self):
        plan, cubins, summary = self.plan(MATMUL_HEAD + forward("""
            y = torch.empty(64, 32, device=x.device)
            w = self.linear.weight
            matmul[lambda meta: (triton.cdiv(64, meta["M"]), triton.cdiv(32, meta["N"]))](
                x, w, y, 64, 32, 48, x.stride(0), w.stride(0), y.stride(0))
            return y
        """))
        self.assertEqual([each["name"] for each in plan["alternatives"]], [
            "M=32 N=32 K=32 num_warps=4 num_stages=2", "M=64 N=32 K=32 num_warps=4 num_stages=3",
            "M=16 N=32 K=32 num_warps=2 num_stages=1"])
        self.assertEqual([launches(plan, i)[0]["grid"][0] for i in range(3)], [2, 1, 4])
        self.assertEqual([plan["kernels"][launches(plan, i)[0]["launch"]]["warps"] for i in range(3)], [4, 4, 2])
        self.assertEqual((len(cubins), summary["alternatives"], operators(plan, 2)), (3, 3, ["empty"]))
        self.assertEqual(list(plan["state"]), ["linear.weight"])

    def test_configurations_that_do_not_fit_are_left_out_and_kernels_vary_one_at_a_time(self):
        tuned = """
        @triton.autotune(configs=[triton.Config({{"B": b}}) for b in ({})], key=[])
        @triton.jit
        def {}(y, B: tl.constexpr):
            tl.static_assert(B < 1024)
            tl.store(y + tl.arange(0, B), 1.)
        """
        text = candidate(tuned.format("2048, 64, 128, 256", "first") + tuned.format("32, 64", "second")) + forward("""
            y = torch.empty(1024, device=x.device)
            first[(1,)](y)
            second[(1,)](y)
            first[(1,)](y)
            return y
        """)
        plan, _, _ = self.plan(text)
        self.assertEqual([each["name"].replace(" num_warps=4 num_stages=3", "") for each in plan["alternatives"]],
                         ["first: B=64; second: B=32", "first: B=128", "second: B=64", "first: B=256"])
        for i in range(4):
            self.assertEqual(launches(plan, i)[0]["launch"], launches(plan, i)[2]["launch"])

    def test_at_most_32_alternatives(self):
        plan, _, summary = self.plan(candidate("""
            @triton.autotune(configs=[triton.Config({"B": 16, "C": c}) for c in range(40)], key=[])
            @triton.jit
            def fill(y, B: tl.constexpr, C: tl.constexpr): tl.store(y + tl.arange(0, B), 1.)
        """) + forward("y = torch.empty(16, device=x.device); fill[(1,)](y); return y"))
        self.assertEqual((len(plan["alternatives"]), summary["alternatives_left_out"], len(plan["kernels"])), (32, 8, 1))

    def test_launches_are_never_dropped(self):
        plan, _, _ = self.plan(GELU_HEAD + forward("""
            gelu[(1,)](torch.empty_like(x), x, 64, 1.0, BLOCK=64)
            return self.linear(x)
        """))
        self.assertEqual(len(launches(plan)), 1)

    def test_compile_errors_tell_the_line(self):
        error = self.refusal(candidate("""
            @triton.jit
            def wrong(x):
                v = tl.load(x)
                tl.store(x, v + undefined_name)
        """) + forward("wrong[(1,)](x); return x"), "triton_compile")
        self.assertEqual((error["where"], error["stage"]), ("candidate.py:11", "compile"))
        self.assertIn("undefined_name", error["message"])
        error = self.refusal(candidate("""
            @triton.jit
            def large(a, B: tl.constexpr):
                i = tl.arange(0, B)
                p = a + i[:, None] * B + i[None, :]
                tl.store(p, tl.trans(tl.load(p)))
        """) + forward("large[(1,)](x, B=256, num_warps=8); return x"), "triton_compile", arch=75)
        self.assertIn("shared memory", error["message"])

    def test_grids_fit(self):
        error = self.refusal(GELU_HEAD + forward("gelu[(1, 70000)](x, x, 64, 1.0, BLOCK=64); return x"), "triton_compile")
        self.assertIn("65535", error["message"])

    def test_another_target(self):
        plan, cubins, _ = self.plan(GELU_HEAD + forward("y = torch.empty_like(x); gelu[(3,)](y, x, 9, 1.5, 256); return y"), arch=80)
        self.assertEqual((plan["arch"], len(cubins)), (80, 1))


GELU_HEAD = candidate(GELU)
MATMUL_HEAD = candidate(MATMUL)
