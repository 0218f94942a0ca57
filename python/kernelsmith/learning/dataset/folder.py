"""The folder of an export: complete files are kept, missing files are written, and other files are
refused."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..._errors import Error
from ..._files import replace

_MANIFEST = "export.json"


class Folder:
    """`export.json` holds the digests of the plan and of the complete files. It is replaced after each file,
    so that a killed export can continue."""

    def __init__(self, path: Path, plan: str) -> None:
        self.path = path
        self._plan = plan
        self._files: dict[str, str] = {}
        self._begin()

    def _begin(self) -> None:
        manifest = self.path / _MANIFEST
        if manifest.exists():
            self._files = self._read(manifest)
        elif any(not entry.name.endswith(".part") for entry in self.path.iterdir()):
            raise Error("the folder is not empty, and holds no export", "invalid_argument", str(self.path),
                        "name a new folder")
        for leftover in self.path.glob(".*.part"):
            leftover.unlink()
        self._note()

    def _read(self, manifest: Path) -> dict[str, str]:
        try:
            stored = json.loads(manifest.read_bytes())
            plan, files = stored["plan"], dict(stored["files"])
        except (ValueError, KeyError, TypeError):
            raise Error("this is not a list of an export's files", "corrupt", str(manifest), "name a new folder") from None
        if plan != self._plan:
            raise Error("the folder holds an export of other runs, or with other options or versions", "invalid_argument",
                        str(self.path), "name a new folder, or delete this one")
        return files

    def has(self, name: str) -> bool:
        """Whether the file exists and is complete. Raises Error if it was changed after it was written."""
        file = self.path / name
        if name not in self._files or not file.exists():
            return False
        if _digest(file) != self._files[name]:
            kind = "Parquet file" if file.suffix == ".parquet" else "file"
            raise Error(f"the {kind} is broken: it is not as this export wrote it", "corrupt", str(file),
                        "delete it and export again, which restores it")
        return True

    def add(self, name: str, write: Callable[[Path], None]) -> None:
        """Writes the file atomically, unless it exists."""
        if self.has(name):
            return
        write(self.path / name)
        self._files[name] = _digest(self.path / name)
        self._note()

    def _note(self) -> None:
        text = json.dumps({"version": 1, "plan": self._plan, "files": dict(sorted(self._files.items()))}, indent=1)
        replace(self.path / _MANIFEST, text + "\n")


def _digest(path: Path) -> str:
    digest = hashlib.sha256()  # hashlib.file_digest is missing in Python 3.10
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Makes the folder, and keeps other exports out of it. Raises Error."""
    with contextlib.ExitStack() as open_:
        try:
            path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            open_.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Error("another export is writing this folder", "busy", str(path)) from None
        except OSError as failed:
            raise Error(f"the folder cannot be used: {failed.strerror}", "io", str(path), "name another one") from None
        yield
