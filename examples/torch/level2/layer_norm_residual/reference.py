import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds a branch to the residual stream and normalises it; gives the normalised rows and the new stream."""

    def __init__(self, columns):
        super().__init__()
        self.norm = nn.LayerNorm(columns)
        # Other than ones and zeros, so that nothing may leave them out.
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.1)
        nn.init.normal_(self.norm.bias, std=0.1)

    def forward(self, residual, branch):
        stream = residual + branch
        return self.norm(stream), stream


rows = 8192
columns = 2048


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
