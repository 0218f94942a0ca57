import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, ins, outs):
        super().__init__()
        self.linear = nn.Linear(ins, outs)

    def forward(self, x):
        return F.gelu(self.linear(x))


rows = 1024
ins = 1024
outs = 1024


def get_inputs():
    return [torch.randn(rows, ins)]


def get_init_inputs():
    return [ins, outs]
