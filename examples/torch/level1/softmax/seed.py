"""A program for each row, which stays in registers between the maximum, the sum and the quotient."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


# EVOLVE-BLOCK-START
WARPS = 8  # @tune 4 8 16
STAGES = 1  # @tune 1 2 3


@triton.jit
def softmax_row(x_ptr, y_ptr, columns, factor, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    # By powers of two: `factor` holds 1 / ln 2.
    x = tl.load(x_ptr + start + column, mask=inside, other=float("-inf")) * factor
    numerator = tl.exp2(x - tl.max(x, axis=0))
    tl.store(y_ptr + start + column, numerator / tl.sum(numerator, axis=0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.factor = 1.4426950408889634 / temperature

    def forward(self, x):
        rows, columns = x.shape
        y = torch.empty_like(x)
        block = triton.next_power_of_2(columns)
        softmax_row[(rows,)](x, y, columns, self.factor, block, num_warps=WARPS, num_stages=STAGES)
        return y
# EVOLVE-BLOCK-END
