import torch
import torch.nn as nn


class Model(nn.Module):
    """Few long rows, on a small part of the GPU: several calls side by side would take no longer than one."""

    def forward(self, x):
        return torch.cumsum(x, dim=1)


rows = 8
columns = 65536


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
