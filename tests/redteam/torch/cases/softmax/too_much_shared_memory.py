# redteam: rejected(plan, plan_failed) or rejected(compile, compile_failed) or rejected(plan, timed_out) or rejected(run, load_failed)
# twin: honest
# tries: asks for more shared memory than a block can have

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def wide(x_ptr, y_ptr, M: tl.constexpr, K: tl.constexpr):
    row, k = tl.arange(0, M), tl.arange(0, K)
    x = tl.load(x_ptr + row[:, None] * K + k[None, :])
    other = tl.load(x_ptr + row[None, :] * K + k[:, None])
    tl.store(y_ptr + row[:, None] * M + row[None, :], tl.dot(x, other))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        wide[(1,)](x, y, 128, 256)
        return y
