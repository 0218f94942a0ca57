# redteam: rejected(plan, plan_failed) or rejected(run, out_of_memory) or rejected(plan, too_large) or rejected(plan, out_of_memory) or rejected(run, load_failed)
# twin: honest
# tries: asks for a terabyte of workspace

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, numerator / tl.sum(numerator, axis=0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        workspace = x.new_empty(1 << 38)
        y = workspace[: x.numel()].view_as(x)
        softmax_row[(x.shape[0],)](x, y, x.shape[1], 4096, num_warps=8)
        return y
