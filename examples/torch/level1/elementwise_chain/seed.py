"""The whole chain in one kernel: each program reads the parameters of its columns once and takes some rows."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


# EVOLVE-BLOCK-START
BLOCK = 1024  # @tune 256 512 1024 2048
ROWS = 4  # @tune 1 2 4 8 16
WARPS = 4  # @tune 2 4 8


@triton.jit
def chain(
    x_ptr, gate_ptr, scale_ptr, shift_ptr, y_ptr, rows, columns, low, high, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    scale = tl.load(scale_ptr + column, mask=inside)
    shift = tl.load(shift_ptr + column, mask=inside)
    for i in tl.static_range(ROWS):
        row = tl.program_id(1) * ROWS + i
        at = row.to(tl.int64) * columns + column
        here = inside & (row < rows)
        y = tl.load(x_ptr + at, mask=here) * scale + shift
        y = tl.minimum(tl.maximum(y, low), high)
        tl.store(y_ptr + at, y * tl.sigmoid(y) * tl.load(gate_ptr + at, mask=here), mask=here)


class ModelNew(nn.Module):
    def __init__(self, columns, low, high):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(columns))
        self.shift = nn.Parameter(torch.empty(columns))
        self.low = low
        self.high = high

    def forward(self, x, gate):
        rows, columns = x.shape
        y = torch.empty_like(x)
        grid = (triton.cdiv(columns, BLOCK), triton.cdiv(rows, ROWS))
        chain[grid](
            x, gate, self.scale, self.shift, y, rows, columns, self.low, self.high, BLOCK, ROWS, num_warps=WARPS
        )
        return y
# EVOLVE-BLOCK-END
