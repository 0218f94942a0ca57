"""Data sets from runs: the command `kernelsmith dataset`, and a function that does the same.

    from kernelsmith.learning.dataset import Settings, export

    export(["a.run", "b.run"], "rows", Settings(kind="sft", licences={"": "MIT"}))

docs/datasets.md is the guide: the kinds, their rules, their columns.
"""

from .export import Exported, export
from .settings import Settings

__all__ = ["Exported", "Settings", "export"]
