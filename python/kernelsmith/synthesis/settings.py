"""Settings of a synthesis."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._errors import Error

_IDENTIFIER = re.compile(r"[A-Za-z0-9][\w.+-]*( WITH [\w.+-]+)?")

# Permissive licences: the text may be changed and passed on with a notice.
ALLOWED = ("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unlicense")


@dataclass(frozen=True, slots=True)
class Settings:
    """docs/synthesis.md explains each setting."""

    licences: tuple[str, ...] = ALLOWED
    against: Path | None = None
    similar: float = 0.8
    per_repository: int = 0  # 0: all
    test_share: float = 0.1
    python: str = ""
    model: str = ""
    workers: int = os.cpu_count() or 1  # sandboxes at the same time
    gpu: bool = False  # the last stage
    batch: int = 24  # modules in an evaluation; starting one takes as long as importing PyTorch

    def __post_init__(self) -> None:
        for name, good, message in (
                ("similar", 0 < self.similar <= 1, "it is a Jaccard index: above 0, at most 1"),
                ("test_share", 0 <= self.test_share < 1, "it is a share: at least 0, below 1"),
                ("per_repository", self.per_repository >= 0, "it is a number of modules; 0 for all"),
                ("workers", 0 < self.workers <= 256, "it is a number of sandboxes from 1 to 256"),
                ("batch", 0 < self.batch <= 512, "it is a number of modules from 1 to 512"),
                ("licence", all(map(_IDENTIFIER.fullmatch, self.licences)) and bool(self.licences),
                 "it is an SPDX identifier, such as MIT")):
            if not good:
                raise Error(message, "invalid_argument", "--" + name.replace("_", "-"))

    def words(self) -> dict[str, Any]:
        """The settings that affect records: all except the batch, the number of sandboxes, the path of
        Python, and the GPU, on which the last stage may run later."""
        told = asdict(self)
        del told["batch"], told["python"], told["workers"], told["gpu"]
        return {**told, "against": str(self.against) if self.against else None, "licences": sorted(self.licences)}
