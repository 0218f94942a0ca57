"""An RMS norm in fp32 of rows of 16 bits: a program for each row."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

# EVOLVE-BLOCK-START
WARPS = 4  # @tune 1 2 4 8


@triton.jit
def norm(x_ptr, weight_ptr, y_ptr, width, WIDTH: tl.constexpr):
    at = tl.arange(0, WIDTH)
    inside = at < width
    start = tl.program_id(0).to(tl.int64) * width
    x = tl.load(x_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / width + 1e-5)
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0).to(tl.float32)
    normed = (x * scale).to(y_ptr.dtype.element_ty).to(tl.float32)
    tl.store(y_ptr + start + at, (normed * weight).to(y_ptr.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(SIZE).to(torch.bfloat16), requires_grad=False)

    def forward(self, x):
        y = torch.empty_like(x)
        norm[(x.numel() // SIZE,)](x, self.weight, y, SIZE, triton.next_power_of_2(SIZE), num_warps=WARPS)
        return y
# EVOLVE-BLOCK-END


SIZE = 1024
