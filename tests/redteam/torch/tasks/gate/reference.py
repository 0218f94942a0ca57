import torch
import torch.nn as nn


class Model(nn.Module):
    """Open gates: the output is the input but for a quarter of a per cent."""

    def __init__(self, columns):
        super().__init__()
        self.gate = nn.Parameter(6 + 0.1 * torch.randn(columns))

    def forward(self, x):
        return x * torch.sigmoid(self.gate)


rows = 4096
columns = 4096


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
