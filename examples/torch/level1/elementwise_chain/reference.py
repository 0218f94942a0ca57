import torch
import torch.nn as nn


class Model(nn.Module):
    """Scales and shifts each column, clamps, applies SiLU and multiplies by a second input."""

    def __init__(self, columns, low, high):
        super().__init__()
        self.scale = nn.Parameter(1 + 0.1 * torch.randn(columns))
        self.shift = nn.Parameter(0.1 * torch.randn(columns))
        self.low = low
        self.high = high

    def forward(self, x, gate):
        y = torch.clamp(x * self.scale + self.shift, self.low, self.high)
        return y * torch.sigmoid(y) * gate


rows = 4096
columns = 4096


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs():
    return [columns, -2.0, 3.0]
