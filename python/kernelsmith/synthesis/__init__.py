"""Tasks from public repositories: PyTorch modules mined, made self-contained, tested on tensors without values, and sorted
(docs/synthesis.md)."""

from __future__ import annotations

from .pipeline import Made, synthesize
from .settings import Settings

__all__ = ["Made", "Settings", "synthesize"]
