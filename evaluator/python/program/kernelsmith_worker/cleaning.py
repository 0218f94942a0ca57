"""Removes or detects what an evaluation leaves in its worker. A changed worker is not used for another program."""

from __future__ import annotations

import os
import resource
import shutil
from typing import Any, Dict, Tuple

from kernelsmith_process import descendants

# In a sandbox only the worker and its forks write to these folders.
_SHARED_FOLDERS = ("/tmp", "/dev/shm") if descendants.ALONE else ()  # noqa: S108
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class Cleaner:
    """Made when the evaluator is loaded; files that it has written until then may stay."""

    def __init__(self) -> None:
        self._at_first = _state()

    def clean(self, folder: str) -> bool:
        """Removes the evaluation's folder and new files in the shared folders. False if the next program could
        find anything that this one left: a new or changed file, a limit, a priority."""
        try:
            if os.path.lexists(folder):
                shutil.rmtree(folder)
            files = self._at_first[0]
            for shared in _SHARED_FOLDERS:
                for name in os.listdir(shared):
                    _remove(os.path.join(shared, name), files)
            return _state() == self._at_first
        except Exception:  # noqa: BLE001 - any obstacle was put there by the program
            return False


def _remove(path: str, kept: Dict[str, Tuple[int, int]]) -> None:
    if path in kept:
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _state() -> Tuple[Any, ...]:
    """Everything that this process can see and a program could change for later programs."""
    limits = [resource.getrlimit(limit) for limit in _LIMITS]
    return _files(), limits, os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)


def _files() -> Dict[str, Tuple[int, int]]:
    """The files of the shared folders, by inode and time of a status change, which a program cannot forge."""
    found = {}
    for shared in _SHARED_FOLDERS:
        for folder, folders, files in os.walk(shared, onerror=_raise):
            for name in folders + files:
                status = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (status.st_ino, status.st_ctime_ns)
    return found


def _raise(error: OSError) -> None:
    raise error
