"""References and candidates of gpu_check.py."""

SOFTMAX = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.randn(4096, 2048)]
def get_init_inputs():
    return []
"""

SOFTMAX_KERNEL = """
import torch, triton
import triton.language as tl
%s
@triton.jit
def row_softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at + %s, e / tl.sum(e, 0) * %s, mask=at < n)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        row_softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=2048%s)
        return y
"""
TUNED = """@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 4, 8)], key=["n"])"""

NOTING = """
@triton.jit
def noted():
    asm: tl.constexpr = "{ .global .align 4 .u32 check_note; cvta.global.u64 $0, check_note; }"
    return tl.inline_asm_elementwise(asm, "=l,r", [tl.zeros((), tl.int32)], dtype=tl.int64, is_pure=True, pack=1)
"""
SEEN = "0 + (tl.atomic_add(noted().to(tl.pointer_type(tl.int32)), 1) >= tl.num_programs(0)).to(tl.float32) + 1"

GELU = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
def get_inputs():
    return [torch.randn(1024, 1024)]
def get_init_inputs():
    return [1024]
"""

GELU_KERNEL = """
import torch, triton
import triton.language as tl
@triton.jit
def gelu(y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(y + at, mask=at < n)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)), mask=at < n)
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        y = self.linear(x)
        gelu[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), BLOCK=1024)
        return y
"""

DOT_KERNEL = """
import torch, triton
import triton.language as tl
@triton.jit
def product(x, w, b, y, N, K, M: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((M, BN), tl.float32)
    for k in range(0, K, BK):
        at = k + tl.arange(0, BK)
        a = tl.load(x + rows[:, None] * K + at[None, :])
        c = tl.load(w + columns[None, :] * K + at[:, None])
        total = tl.dot(a, c, total, input_precision=PRECISION)
    v = total + tl.load(b + columns)[None, :]
    tl.store(y + rows[:, None] * N + columns[None, :], v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)))
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        y = torch.empty_like(x)
        product[(x.shape[0] // 64, x.shape[1] // 64)](x, self.linear.weight, self.linear.bias, y, x.shape[1], x.shape[1],
                                                     M=64, BN=64, BK=32, PRECISION="%s")
        return y
"""
