"""Gated products: SiLU and the product with it are one kernel."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

# EVOLVE-BLOCK-START
BLOCK = 2048  # @tune 512 1024 2048 4096
WARPS = 4  # @tune 2 4 8


@triton.jit
def weigh(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    gate = tl.load(gate_ptr + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + at, mask=inside, other=0.0).to(tl.float32)
    weighed = (gate / (1 + tl.exp(-gate))).to(out_ptr.dtype.element_ty).to(tl.float32)
    tl.store(out_ptr + at, (weighed * up).to(out_ptr.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, INNER, bias=False, dtype=torch.bfloat16)
        self.up = nn.Linear(WIDTH, INNER, bias=False, dtype=torch.bfloat16)
        self.down = nn.Linear(INNER, WIDTH, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        gate, up = F.linear(x, self.gate.weight), F.linear(x, self.up.weight)
        out = torch.empty_like(gate)
        weigh[(triton.cdiv(gate.numel(), BLOCK),)](gate, up, out, gate.numel(), BLOCK, num_warps=WARPS)
        return F.linear(out, self.down.weight)
# EVOLVE-BLOCK-END


WIDTH, INNER = 1024, 2816
