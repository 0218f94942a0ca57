import torch
import torch.nn as nn
import torch.nn.functional as F


def batch_norm(channels):
    """With statistics as after training, so that nothing may leave the norm out."""
    norm = nn.BatchNorm2d(channels)
    nn.init.normal_(norm.weight, mean=1.0, std=0.1)
    nn.init.normal_(norm.bias, std=0.1)
    nn.init.normal_(norm.running_mean, std=0.1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


class Residual(nn.Module):
    """Two convolutions of 3 x 3 with norms, and a way around them."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.norm1 = batch_norm(channels)
        self.conv2 = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.norm2 = batch_norm(channels)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(y)))


class Model(nn.Module):
    """A small network for images: a stem, two residual blocks with pooling between them, and a classifier."""

    def __init__(self, channels, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, kernel_size=3, padding=1, bias=False)
        self.norm = batch_norm(channels)
        self.first = Residual(channels)
        self.second = Residual(channels)
        self.classify = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = F.max_pool2d(self.first(x), kernel_size=2)
        return self.classify(self.second(x).mean(dim=(2, 3)))


batch = 32
channels = 64
classes = 10


def get_inputs():
    return [torch.randn(batch, 3, 32, 32)]


def get_init_inputs():
    return [channels, classes]
