# redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
# twin: honest
# tries: leaves out the maximum, which overflows for large values only

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def plain_row(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, BLOCK)
    numerator = tl.exp(tl.load(x_ptr + at))
    tl.store(y_ptr + at, numerator / tl.sum(numerator, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        plain_row[(x.shape[0],)](x, y, x.shape[1], 4096, num_warps=8)
        return y
