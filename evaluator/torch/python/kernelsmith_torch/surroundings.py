"""Cleans what a planner's children share and could use to pass data on: folders, and the planner process
itself. New namespaces for each child would be simpler, but the sandbox does not allow them. The sandbox also
denies System V memory and message queues.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import stat
from collections.abc import Iterable

_LIMITS = [value for name, value in vars(resource).items() if name.startswith("RLIMIT_")]


class Surroundings:
    """A snapshot of folders that only this process uses, and of this process's settings."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(folders)
        self._kept = {folder: _tree(folder) for folder in self._folders}
        self._settings = _settings()

    def restore(self) -> bool:
        """Removes added files. False if anything else changed: then this process must not be used any more."""
        for folder in self._folders:
            for path in set(_tree(folder)) - set(self._kept[folder]):
                _remove(path)
            for path, known in self._kept[folder].items():
                _reset(path, known)
        return _settings() == self._settings and all(
            _marks(_tree(folder)) == _marks(self._kept[folder]) for folder in self._folders)


def _tree(folder: str) -> dict[str, os.stat_result]:
    """The folder and everything below it on its file system. Unreadable folders are listed without their contents."""
    found = {folder: os.lstat(folder)}
    pending = [folder]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                found[entry.path] = status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) and status.st_dev == found[folder].st_dev:
                    pending.append(entry.path)
    return found


def _remove(path: str) -> None:
    """Anything that cannot be removed is detected afterwards."""
    with contextlib.suppress(OSError, RecursionError):
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def _reset(path: str, known: os.stat_result) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(known.st_mode):
            for name in os.listxattr(path, follow_symlinks=False):
                os.removexattr(path, name, follow_symlinks=False)
            os.chmod(path, stat.S_IMODE(known.st_mode))
            os.utime(path, ns=(known.st_mtime_ns, known.st_mtime_ns))


def _marks(tree: dict[str, os.stat_result]) -> dict[str, tuple]:
    """The properties that must not change. A file's change time cannot be forged; a folder's changes with its
    contents."""
    return {path: (status.st_mode, status.st_uid, status.st_mtime_ns,
                   None if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_ctime_ns))
            for path, status in tree.items()}


def _settings() -> tuple:
    return ([resource.getrlimit(which) for which in _LIMITS], os.sched_getaffinity(0), os.sched_getscheduler(0),
            os.getpriority(os.PRIO_PROCESS, 0), os.getpgrp(), os.getsid(0))
