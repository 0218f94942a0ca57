"""A gate by channel: the means, then their product with the weights where the channel is scaled."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

# EVOLVE-BLOCK-START
BLOCK = 4096  # @tune 1024 2048 4096
WARPS = 8  # @tune 4 8 16


@triton.jit
def means(x_ptr, mean_ptr, PIXELS: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, PIXELS, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + plane * PIXELS + at, mask=at < PIXELS, other=0.0)
    tl.store(mean_ptr + plane, tl.sum(total, axis=0) / PIXELS)


@triton.jit
def scale(x_ptr, mean_ptr, weight_ptr, bias_ptr, y_ptr, channels, PIXELS: tl.constexpr, CHANNELS: tl.constexpr,
          BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    channel = plane % channels
    other = tl.arange(0, CHANNELS)
    mean = tl.load(mean_ptr + plane - channel + other, mask=other < channels, other=0.0)
    weight = tl.load(weight_ptr + channel * channels + other, mask=other < channels, other=0.0)
    factor = 1 / (1 + tl.exp(-(tl.sum(mean * weight, axis=0) + tl.load(bias_ptr + channel))))
    for start in range(0, PIXELS, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + plane * PIXELS + at, mask=at < PIXELS, other=0.0)
        tl.store(y_ptr + plane * PIXELS + at, x * factor, mask=at < PIXELS)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weigh = nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x):
        batch, channels, height, width = x.shape
        mean, y = torch.empty(batch, channels, dtype=x.dtype, device=x.device), torch.empty_like(x)
        grid = (batch * channels,)
        means[grid](x, mean, height * width, BLOCK, num_warps=WARPS)
        scale[grid](x, mean, self.weigh.weight, self.weigh.bias, y, channels, height * width, triton.next_power_of_2(channels),
                    BLOCK, num_warps=WARPS)
        return y
# EVOLVE-BLOCK-END


CHANNELS = 64
