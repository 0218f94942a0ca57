"""The path of the command's executable."""

from __future__ import annotations

from pathlib import Path

from ._errors import Error


def executable() -> Path:
    """Raises Error if this build of the package has none."""
    own = Path(__file__).parent / "bin" / "kernelsmith"
    if not own.exists():
        raise Error("the command is not part of this build of the package", "not_found", str(own),
                    "pip install . brings it along")
    return own
