"""Small made-up repositories for the tests of kernelsmith.synthesis."""

import textwrap
from pathlib import Path

from kernelsmith.synthesis import extract
from kernelsmith.synthesis.calls import Calls
from kernelsmith.synthesis.repository import Repository

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software ..."


def written(folder: Path, files: dict[str, str], licence: str = MIT) -> Path:
    """A repository of these files, MIT's licence among them."""
    for name, text in {"LICENSE": licence, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    return folder


def extracted(folder: Path, path: str) -> dict[str, dict]:
    """The records of a file by the names of its modules."""
    repository = Repository(folder)
    about = {"repository": folder.name, "commit": "", "path": path, "licence": "MIT"}
    return {one.get("name", ""): one for one in extract.modules(repository, about, Calls(repository))}


# Twelve modules in two files; two are the same but for their names, one needs a helper of another file.
TWELVE = {
    "net/__init__.py": "from .layers import Gate\n",
    "net/layers.py": """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F

        def halved(x):
            return x / 2

        class Gate(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.one = nn.Linear(dim, dim)
                self.two = nn.Linear(dim, dim)

            def forward(self, x):
                return halved(self.one(x)) * torch.sigmoid(self.two(x))

        class Door(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.a = nn.Linear(width, width)
                self.b = nn.Linear(width, width)

            def forward(self, y):
                return halved(self.a(y)) * torch.sigmoid(self.b(y))

        class Block(nn.Module):
            def __init__(self, in_channels, out_channels):
                super().__init__()
                self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
                self.norm = nn.BatchNorm2d(out_channels)

            def forward(self, x):
                print(x.shape)
                return F.relu(self.norm(self.conv(x)))

        class Norm(nn.Module):
            def __init__(self, dim, eps=1e-6):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(dim))
                self.eps = eps

            def forward(self, x):
                return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.scale

        class Same(nn.Module):
            def forward(self, x):
                return x

        class Noise(nn.Module):
            def forward(self, x):
                return x + torch.rand_like(x)
        """,
    "net/models.py": """
        import torch
        from torch import nn
        from .layers import Gate, Block
        import unknown_package

        class Stack(nn.Module):
            def __init__(self, dim, depth=2):
                super().__init__()
                self.gates = nn.ModuleList([Gate(dim) for _ in range(depth)])

            def forward(self, x):
                for gate in self.gates:
                    x = gate(x) + x
                return x

        class Attention(nn.Module):
            def __init__(self, dim, num_heads=8):
                super().__init__()
                self.num_heads = num_heads
                self.qkv = nn.Linear(dim, 3 * dim)

            def forward(self, x):
                b, n, c = x.shape
                q, k, v = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
                weights = (q @ k.transpose(-2, -1)).softmax(-1)
                return (weights @ v).transpose(1, 2).reshape(b, n, c)

        class Choosy(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.proj = nn.Linear(dim, dim)

            def forward(self, x):
                if x.sum() > 0:
                    return self.proj(x)
                return x

        class Wide(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.blocks = nn.Sequential(Block(channels, channels), Block(channels, channels), Block(channels, channels))

            def forward(self, x):
                return self.blocks(x)

        class Foreign(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.inner = unknown_package.Layer(dim)

            def forward(self, x):
                return self.inner(x)

        class Broken(nn.Module):
            def __init__(self, dim):
                super().__init__()

            def forward(self, x):
                return self.missing(x)
        """,
}
