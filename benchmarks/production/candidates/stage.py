"""What follows the convolution (bias, batch norm, SiLU, maximum of four) is one kernel, which writes a quarter of what it reads."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

# EVOLVE-BLOCK-START
PIXELS = 64  # @tune 16 32 64 128
ROWS = 8  # @tune 2 4 8 16
WARPS = 4  # @tune 2 4 8


@triton.jit
def finish(x_ptr, bias_ptr, weight_ptr, shift_ptr, mean_ptr, variance_ptr, y_ptr, channels, height, width, eps,
           ROWS: tl.constexpr, PIXELS: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    channel = plane % channels
    scale = tl.load(weight_ptr + channel) / tl.sqrt(tl.load(variance_ptr + channel) + eps)
    shift = (tl.load(bias_ptr + channel) - tl.load(mean_ptr + channel)) * scale + tl.load(shift_ptr + channel)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(2) * 2 * PIXELS + tl.arange(0, 2 * PIXELS)[None, :]
    inside = (2 * row < height) & (column < width)
    at = plane * height * width + 2 * row * width + column
    above = tl.load(x_ptr + at, mask=inside, other=0.0) * scale + shift
    below = tl.load(x_ptr + at + width, mask=inside, other=0.0) * scale + shift
    most = tl.maximum(above / (1 + tl.exp(-above)), below / (1 + tl.exp(-below)))
    most = tl.max(tl.reshape(most, (ROWS, PIXELS, 2)), axis=2)
    out = tl.program_id(2) * PIXELS + tl.arange(0, PIXELS)[None, :]
    at = plane * (height // 2) * (width // 2) + row * (width // 2) + out
    tl.store(y_ptr + at, most, mask=(2 * row < height) & (2 * out < width))


class ModelNew(nn.Module):
    def __init__(self, momentum, eps):
        super().__init__()
        self.add_module("0", nn.Conv2d(INNER, OUTER, 3, padding=1))
        self.add_module("1", nn.BatchNorm2d(OUTER, eps, momentum))

    def forward(self, x):
        product, norm = getattr(self, "0"), getattr(self, "1")
        given = F.conv2d(x, product.weight, None, padding=1)
        batch, channels, height, width = given.shape
        y = torch.empty(batch, channels, height // 2, width // 2, dtype=x.dtype, device=x.device)
        grid = (batch * channels, triton.cdiv(height, 2 * ROWS), triton.cdiv(width, 2 * PIXELS))
        finish[grid](given, product.bias, norm.weight, norm.bias, norm.running_mean, norm.running_var, y, channels, height,
                     width, norm.eps, ROWS, PIXELS, num_warps=WARPS)
        return y
# EVOLVE-BLOCK-END


INNER, OUTER = 3, 32
