import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The gated perceptron of a transformer in bfloat16: RMS norm and SiLU gate. The residual is
    left out: beside it a product in lower precision would hardly show."""

    def __init__(self, features, hidden, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter((1 + 0.1 * torch.randn(features)).to(torch.bfloat16))
        self.gate = nn.Linear(features, hidden, bias=False, dtype=torch.bfloat16)
        self.up = nn.Linear(features, hidden, bias=False, dtype=torch.bfloat16)
        self.down = nn.Linear(hidden, features, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        scale = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.epsilon)
        y = x * scale * self.weight
        return self.down(F.silu(self.gate(y)) * self.up(y))


rows = 4096
features = 1024
hidden = 2816


def get_inputs():
    return [torch.randn(rows, features, dtype=torch.bfloat16)]


def get_init_inputs():
    return [features, hidden, 1e-5]
