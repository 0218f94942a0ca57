import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A linear layer in bfloat16 with GELU, and a residual added to it."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, dtype=torch.bfloat16)

    def forward(self, x, residual):
        return F.gelu(self.linear(x)) + residual


batch = 4096
in_features = 2048
out_features = 4096


def get_inputs():
    # A residual of the size of the other term, so that its rounding does not hide that one's errors.
    return [
        torch.randn(batch, in_features, dtype=torch.bfloat16),
        0.3 * torch.randn(batch, out_features, dtype=torch.bfloat16),
    ]


def get_init_inputs():
    return [in_features, out_features]
