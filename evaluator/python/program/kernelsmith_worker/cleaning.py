"""What an evaluation leaves in its worker: removed, or noticed. A worker that is not as it was serves no other program."""

from __future__ import annotations

import os
import resource
import shutil
from typing import Any, Dict, Tuple

from kernelsmith_process import descendants

# In a sandbox of its own the worker and its forks are the only ones to write here.
_SHARED_FOLDERS = ("/tmp", "/dev/shm") if descendants.ALONE else ()  # noqa: S108
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class Cleaner:
    """Made once the evaluator is loaded: what it has written so far may stay."""

    def __init__(self) -> None:
        self._at_first = _state()

    def clean(self, folder: str) -> bool:
        """Removes the evaluation's folder, and what is new in the shared ones. False if the next program could find
        anything of this one: a file, a changed one, a limit, a priority."""
        try:
            if os.path.lexists(folder):
                shutil.rmtree(folder)
            files = self._at_first[0]
            for shared in _SHARED_FOLDERS:
                for name in os.listdir(shared):
                    _remove(os.path.join(shared, name), files)
            return _state() == self._at_first
        except Exception:  # noqa: BLE001 - whatever stands in the way, it was put there
            return False


def _remove(path: str, kept: Dict[str, Tuple[int, int]]) -> None:
    if path in kept:
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _state() -> Tuple[Any, ...]:
    """All that a program could change for those after it, and this process can see."""
    limits = [resource.getrlimit(limit) for limit in _LIMITS]
    return _files(), limits, os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)


def _files() -> Dict[str, Tuple[int, int]]:
    """What lies in the shared folders. The time of a change of status cannot be forged."""
    found = {}
    for shared in _SHARED_FOLDERS:
        for folder, folders, files in os.walk(shared, onerror=_raise):
            for name in folders + files:
                status = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (status.st_ino, status.st_ctime_ns)
    return found


def _raise(error: OSError) -> None:
    raise error
