import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Model(nn.Module):
    """Looks the last tokens up in hashed tables, gates what it finds by the hidden state, and smooths it along time."""

    def __init__(self, width, orders, heads, entries, part, taps):
        super().__init__()
        self.orders, self.heads, self.entries, self.taps = orders, heads, entries, taps
        found = (orders - 1) * heads
        # A column for each table: an odd factor for each token of the n-gram, and 0 beyond its order.
        factors = torch.randint(1, 2**31, (orders, found)) * 2 + 1
        for column in range(found):
            factors[column // heads + 2 :, column] = 0
        self.register_buffer("factors", factors)
        self.tables = nn.Parameter(torch.randn(found, entries, part))
        self.key = nn.Linear(found * part, width, bias=False)
        self.value = nn.Linear(found * part, width, bias=False)
        self.hidden_norm, self.key_norm, self.value_norm = Norm(width), Norm(width), Norm(width)
        self.smooth = nn.Conv1d(width, width, taps, groups=width, dilation=orders, bias=False)

    def forward(self, tokens, hidden):
        batch, length = tokens.shape
        hashes = 0
        for back in range(self.orders):
            before = F.pad(tokens, (back, 0))[:, :length]
            hashes = hashes ^ (before[..., None] * self.factors[back])
        slots = hashes % self.entries
        table = torch.arange(slots.shape[-1], device=tokens.device)
        memory = self.tables[table, slots].reshape(batch, length, -1)

        key, value = self.key(memory), self.value(memory)
        alike = (self.hidden_norm(hidden) * self.key_norm(key)).sum(-1, keepdim=True) / hidden.shape[-1] ** 0.5
        gated = torch.sigmoid(alike) * value
        padded = F.pad(self.value_norm(gated).transpose(1, 2), ((self.taps - 1) * self.orders, 0))
        return F.silu(self.smooth(padded).transpose(1, 2)) + gated


batch = 4
length = 2048
width = 1024
orders = 3
heads = 8
entries = 65521
part = 64
taps = 4
vocabulary = 100000


def get_inputs():
    return [torch.randint(vocabulary, (batch, length)), torch.randn(batch, length, width)]


def get_init_inputs():
    return [width, orders, heads, entries, part, taps]
