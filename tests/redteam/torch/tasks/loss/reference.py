import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A mean over many rows: nearly the same for all inputs that are drawn alike."""

    def forward(self, logits, targets):
        return F.cross_entropy(logits, targets)


rows = 8192
classes = 1024


def get_inputs():
    return [torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return []
