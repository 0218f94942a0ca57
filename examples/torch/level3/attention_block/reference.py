import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Causal attention of several heads, written out, with its projections, a residual and a norm before it."""

    def __init__(self, features, heads, most_tokens):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.1)
        nn.init.normal_(self.norm.bias, std=0.1)
        self.project = nn.Linear(features, 3 * features)
        self.join = nn.Linear(features, features)
        mask = torch.ones(most_tokens, most_tokens, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        batch, tokens, features = x.shape
        size = features // self.heads
        parts = self.project(self.norm(x)).view(batch, tokens, 3, self.heads, size)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-2, -1) / math.sqrt(size)
        scores = scores.masked_fill(self.mask[:tokens, :tokens], float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ value
        return x + self.join(mixed.transpose(1, 2).reshape(batch, tokens, features))


batch = 8
tokens = 512
features = 512
heads = 8


def get_inputs():
    return [torch.randn(batch, tokens, features)]


def get_init_inputs():
    return [features, heads, tokens]
