"""A small Transformer of random weights."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps, self.axis = eps, -1
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(self.axis, keepdim=True) + self.eps) * self.weight


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, *, causal=True):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width)), None


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = Norm(width), Norm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first(x), causal=True)[0]
        return x + self.mlp(self.second(x))


class Model(nn.Module):
    def __init__(self, width, heads, blocks):
        super().__init__()
        self.embed = nn.Embedding(100, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(blocks)])
        self.norm = Norm(width)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def get_inputs():
    return [torch.randint(100, (1, 16))]


def get_init_inputs():
    return [64, 4, 2]
