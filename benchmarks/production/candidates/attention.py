"""Attention whose rotary positions are one kernel between the product and the attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

# EVOLVE-BLOCK-START
WARPS = 4  # @tune 1 2 4 8


@triton.jit
def turn(qkv_ptr, cos_ptr, sin_ptr, out_ptr, length, width, HEADS: tl.constexpr, HALF: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # of a step, for q and for k
    part = tl.program_id(1)
    head = tl.arange(0, HEADS)[:, None]
    low = tl.arange(0, HALF)[None, :]
    at = head * (2 * HALF) + low
    x_ptr = qkv_ptr + row * 3 * width + part * width
    y_ptr = out_ptr + (part.to(tl.int64) * tl.num_programs(0) + row) * width
    angle = (row % length) * (2 * HALF) + low
    first, second = tl.load(x_ptr + at).to(tl.float32), tl.load(x_ptr + at + HALF).to(tl.float32)
    cos, sin = tl.load(cos_ptr + angle).to(tl.float32), tl.load(sin_ptr + angle).to(tl.float32)
    cos_high, sin_high = tl.load(cos_ptr + angle + HALF).to(tl.float32), tl.load(sin_ptr + angle + HALF).to(tl.float32)
    tl.store(y_ptr + at, (first * cos - second * sin).to(out_ptr.dtype.element_ty))
    tl.store(y_ptr + at + HALF, (second * cos_high + first * sin_high).to(out_ptr.dtype.element_ty))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False, dtype=torch.bfloat16)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False, dtype=torch.bfloat16)
        self.register_buffer("cos", torch.zeros(LENGTH, WIDTH // HEADS, dtype=torch.bfloat16))
        self.register_buffer("sin", torch.zeros(LENGTH, WIDTH // HEADS, dtype=torch.bfloat16))

    def forward(self, x):
        batch, length, width = x.shape
        qkv = F.linear(x, self.qkv.weight)
        turned = torch.empty(2, batch, length, HEADS, width // HEADS, dtype=x.dtype, device=x.device)
        turn[(batch * length, 2)](qkv, self.cos, self.sin, turned, length, width, HEADS, width // HEADS // 2, num_warps=WARPS)
        values = qkv.view(batch, length, 3, HEADS, width // HEADS)[:, :, 2]
        mixed = F.scaled_dot_product_attention(turned[0].transpose(1, 2), turned[1].transpose(1, 2), values.transpose(1, 2),
                                               is_causal=True)
        return F.linear(mixed.transpose(1, 2).reshape(batch, length, width), self.out.weight)
# EVOLVE-BLOCK-END


WIDTH, HEADS, LENGTH = 1024, 16, 512
