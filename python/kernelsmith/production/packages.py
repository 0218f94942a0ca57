"""Imports a published package as a module."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from .._errors import Error


def imported(folder: Path) -> Any:
    """Raises Error if it is not a package of `publish`."""
    found = sorted(file.parent for file in folder.glob("*/package.json"))
    if not found and list(folder.glob("torch-ext/*/package.json")):
        raise Error("a package for Hugging Face's kernels is loaded by kernelize", "bad_input", str(folder),
                    "publish the runs --as module, and apply that")
    if len(found) != 1:
        raise Error("this is not a package of kernelsmith publish", "not_found", str(folder),
                    "name the folder that --out named")
    sys.path.insert(0, str(folder.resolve()))
    try:
        package = importlib.import_module(found[0].name)
    finally:
        sys.path.pop(0)
    if not hasattr(package, "agreement"):
        raise Error("an earlier kernelsmith published this package", "version", str(folder), "publish the runs again")
    return package
