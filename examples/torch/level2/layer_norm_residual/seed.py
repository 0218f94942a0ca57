"""A program for each row: both inputs are read once, both outputs are written once."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


# EVOLVE-BLOCK-START
WARPS = 4  # @tune 1 2 4 8 16


@triton.jit
def add_norm_row(
    residual_ptr, branch_ptr, weight_ptr, bias_ptr, y_ptr, stream_ptr, columns, epsilon, BLOCK: tl.constexpr
):
    column = tl.arange(0, BLOCK)
    inside = column < columns
    at = tl.program_id(0).to(tl.int64) * columns + column
    stream = tl.load(residual_ptr + at, mask=inside, other=0.0) + tl.load(branch_ptr + at, mask=inside, other=0.0)
    tl.store(stream_ptr + at, stream, mask=inside)
    mean = tl.sum(stream, axis=0) / columns
    centred = tl.where(inside, stream - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + column, mask=inside)
    bias = tl.load(bias_ptr + column, mask=inside)
    tl.store(y_ptr + at, centred * scale * weight + bias, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, residual, branch):
        rows, columns = residual.shape
        y = torch.empty_like(residual)
        stream = torch.empty_like(residual)
        block = triton.next_power_of_2(columns)
        norm = self.norm
        add_norm_row[(rows,)](
            residual, branch, norm.weight, norm.bias, y, stream, columns, norm.eps, block, num_warps=WARPS
        )
        return y, stream
# EVOLVE-BLOCK-END
