"""A run as one HTML file: the page of `kernelsmith ui` with the run in it. The command `kernelsmith report` writes it.

    >>> import kernelsmith as ks, kernelsmith.report                        # doctest: +SKIP
    >>> ks.report.report(ks.Run.open("hill.run"), "hill.html")              # doctest: +SKIP

The file loads nothing, and opens from a disk.
"""

from __future__ import annotations

import json
import os
import subprocess

from ._errors import Error
from ._executable import executable
from ._run import Run

__all__ = ["report"]


def report(run: Run, out: str | os.PathLike[str]) -> None:
    """Writes the page of the run's current state to `out`, and replaces an existing file. Raises Error."""
    if not isinstance(run, Run):
        raise TypeError(f"this is no Run, but {type(run).__name__}: Run.open(folder) makes one")
    # A path that begins with "-" is not an option.
    command = [str(executable()), "report", "--json", f"--out={os.fspath(out)}", os.path.abspath(run.folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 0:
        return
    try:
        error = json.loads(done.stdout)["error"]
    except ValueError:  # it crashed
        raise Error(done.stderr.decode("utf-8", "replace").strip(), "internal", command[0]) from None
    raise Error(**error)
