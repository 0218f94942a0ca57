import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


rows = 2048
columns = 4096


def get_inputs():
    # Wide enough for exponentials to overflow without the maximum, once the judge scales them.
    return [6 * torch.randn(rows, columns)]


def get_init_inputs():
    return []
