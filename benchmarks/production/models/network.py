"""A convolutional network of random weights: two stages, and a gate by channel."""

import torch
import torch.nn as nn


class Stage(nn.Sequential):
    def __init__(self, inner, outer):
        super().__init__(nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.SiLU(), nn.MaxPool2d(2))


class Gate(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weigh = nn.Linear(channels, channels)

    def forward(self, x):
        return x * torch.sigmoid(self.weigh(x.mean((2, 3))))[:, :, None, None]


batch = 16
size = 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Stage(3, 32), Stage(32, 64)])
        self.gate = Gate(64)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.gate(x).mean((2, 3))


def get_inputs():
    return [torch.randn(batch, 3, size, size)]
