import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Cross entropy with smoothed labels, for each row: the mean over rows would hide what single rows are off."""

    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits, targets):
        return F.cross_entropy(logits, targets, reduction="none", label_smoothing=self.smoothing)


rows = 4096
classes = 8192


def get_inputs():
    return [3 * torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return [0.1]
