"""Makes tasks from public repositories: finds PyTorch modules, makes them self-contained, tests them on
tensors without values, and sorts them (docs/synthesis.md)."""

from __future__ import annotations

from .pipeline import Made, synthesize
from .settings import Settings

__all__ = ["Made", "Settings", "synthesize"]
