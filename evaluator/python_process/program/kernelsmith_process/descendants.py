"""Ends every process that a child has started, even if it tried to escape by groups, sessions or orphans.
Linux only."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Set by a parent that started this program as the only one in a PID namespace without /proc.
ALONE = os.environ.get("KERNELSMITH_ALONE") == "1" and not os.path.exists("/proc/self")

_libc = ctypes.CDLL(None, use_errno=True)


def take_orphans() -> None:
    """Makes this process the parent of descendants whose parent ends."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def end_with_parent() -> None:
    """Makes the system kill this process when its parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_all(child: int) -> None:
    """Kills `child`, its group and all descendants of this process, and reaps them. This process must have no
    other children. If /proc is not mounted and this process is not alone, kills only the group."""
    _kill(os.killpg, child)
    _kill(os.kill, child)
    os.waitpid(child, 0)
    if not ALONE and not os.path.exists("/proc/self/stat"):
        return
    try:
        # The children of `child` are now descendants of this process.
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                # A process may fork until it is killed: look again after each end.
                for descendant in [-1] if ALONE else descendants():  # -1: all except this process and the namespace's init
                    _kill(os.kill, descendant)
                os.waitpid(-1, 0)
    except ChildProcessError:
        return


def _kill(how, whom: int) -> None:  # noqa: ANN001
    try:
        how(whom, signal.SIGKILL)
    except ProcessLookupError:
        pass


def descendants() -> set[int]:
    """The descendants of this process. /proc must be mounted."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    # The name is in parentheses and may contain anything, so fields are counted after the
                    # last parenthesis.
                    parents[int(entry)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                pass
    found: set[int] = set()
    border = {os.getpid()}
    while border:
        border = {pid for pid, parent in parents.items() if parent in border} - found
        found |= border
    return found
