"""A tiled product in bfloat16 with float32 sums; bias, GELU and residual are applied to a tile before it is stored."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


# EVOLVE-BLOCK-START
GROUP = 8  # @tune 1 4 8 16


def tiles(block_m, block_n, block_k, warps, stages):
    return triton.Config({"M": block_m, "N": block_n, "K": block_k}, num_warps=warps, num_stages=stages)


@triton.autotune(
    configs=[
        tiles(128, 128, 64, 8, 3),
        tiles(128, 256, 64, 8, 3),
        tiles(64, 128, 64, 4, 4),
        tiles(128, 64, 64, 4, 4),
    ],
    key=["batch", "outs", "ins"],
)
@triton.jit
def linear_gelu_add(
    x_ptr,
    weight_ptr,
    bias_ptr,
    residual_ptr,
    y_ptr,
    batch,
    outs,
    ins,
    GROUP: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    # Programs that follow each other take tiles of GROUP rows of tiles, which share their weights in the L2.
    program = tl.program_id(0)
    down, across = tl.cdiv(batch, M), tl.cdiv(outs, N)
    first = program // (GROUP * across) * GROUP
    height = tl.minimum(down - first, GROUP)
    tile_m = first + program % (GROUP * across) % height
    tile_n = program % (GROUP * across) // height

    row = tile_m * M + tl.arange(0, M)
    column = tile_n * N + tl.arange(0, N)
    k = tl.arange(0, K)
    # Rows beyond the end read a row that exists; they are not stored.
    x_at = x_ptr + (row % batch)[:, None] * ins + k[None, :]
    weight_at = weight_ptr + (column % outs)[None, :] * ins + k[:, None]
    total = tl.zeros((M, N), dtype=tl.float32)
    for left in range(ins, 0, -K):
        x = tl.load(x_at, mask=k[None, :] < left, other=0.0)
        weight = tl.load(weight_at, mask=k[:, None] < left, other=0.0)
        total = tl.dot(x, weight, total)
        x_at += K
        weight_at += K

    inside = (row < batch)[:, None] & (column < outs)[None, :]
    at = row[:, None] * outs + column[None, :]
    total += tl.load(bias_ptr + column, mask=column < outs, other=0.0).to(tl.float32)[None, :]
    y = 0.5 * total * (1 + tl.erf(total * 0.7071067811865476))
    y += tl.load(residual_ptr + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + at, y.to(tl.bfloat16), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, dtype=torch.bfloat16)

    def forward(self, x, residual):
        batch, ins = x.shape
        outs = self.linear.out_features
        y = torch.empty_like(residual)
        linear_gelu_add[lambda meta: (triton.cdiv(batch, meta["M"]) * triton.cdiv(outs, meta["N"]),)](
            x, self.linear.weight, self.linear.bias, residual, y, batch, outs, ins, GROUP
        )
        return y
# EVOLVE-BLOCK-END
