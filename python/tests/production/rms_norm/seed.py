"""A candidate for rms_norm: one row for each program."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm(x_ptr, weight_ptr, y_ptr, eps, width, WIDTH: tl.constexpr):
    at = tl.arange(0, WIDTH)
    inside = at < width
    x = tl.load(x_ptr + tl.program_id(0) * width + at, mask=inside, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / width + eps)
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * width + at, x * scale * weight, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x):
        y = torch.empty_like(x)
        rows, width = x.shape
        norm[(rows,)](x, self.weight, y, self.eps, width, triton.next_power_of_2(width))
        return y
