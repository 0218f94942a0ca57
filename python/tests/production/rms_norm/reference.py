# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.width = width
        self.eps = eps
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


rows = 16
width = 64


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, 1e-5]
