"""A run as one HTML file: the page of `kernelsmith ui` with the run in it. The command `kernelsmith report` writes it.

    >>> import kernelsmith as ks, kernelsmith.report                        # doctest: +SKIP
    >>> ks.report.report(ks.Run.open("hill.run"), "hill.html")              # doctest: +SKIP

The file loads nothing else, so it can be opened from a disk.
"""

from __future__ import annotations

import os

from ._executable import answer_of
from ._run import Run

__all__ = ["report"]


def report(run: Run, out: str | os.PathLike[str]) -> None:
    """Writes the page of the run's current state to `out`, and replaces an existing file. Raises Error."""
    if not isinstance(run, Run):
        raise TypeError(f"this is not a Run, but {type(run).__name__}: Run.open(folder) makes a Run")
    # Neither path can be taken for an option, even if it begins with "-".
    answer_of("report", "--json", f"--out={os.fspath(out)}", os.path.abspath(run.folder))
