"""A checked-out repository that is changed, tested, and restored if its tests fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

from .._errors import Error

_PATIENCE_S = 3600


def written(log: Path) -> BinaryIO:
    """Opens a new file for writing. Raises Error."""
    try:
        return log.open("xb")
    except OSError as failed:
        raise Error(f"this file cannot be made: {failed.strerror}", "io", str(log), "name another --out") from None


class Checkout:
    """A Git repository in a folder. Raises Error if it is not a repository, or has changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir() or self._git("rev-parse", "--is-inside-work-tree", quiet=True) != "true":
            raise Error("this is not a Git repository", "not_found", str(folder), "check it out first")
        changed = self._git("status", "--porcelain")
        if changed:
            raise Error(f"the repository has uncommitted changes:\n{changed}", "bad_input", str(folder),
                        "commit or stash them")
        self._replaced: dict[Path, bytes] = {}
        self._added: list[Path] = []

    def inside(self, path: Path) -> Path:
        """The path in the work tree. Raises Error if a link leads out of the repository."""
        target = self.folder / path
        if not target.resolve().is_relative_to(self.folder.resolve()):
            raise Error("a link leads out of the repository", "bad_input", str(target), "name another place in the manifest")
        return target

    def replace(self, file: Path, text: str) -> None:
        self._replaced.setdefault(file, (self.folder / file).read_bytes())
        ends = "\r\n" if b"\r\n" in self._replaced[file] else "\n"
        (self.folder / file).write_text(text, encoding="utf-8", newline=ends)

    def add(self, path: Path, content: Path) -> None:
        """Copies a file or folder to a path that does not exist yet."""
        target = self.inside(path)
        if target.exists():
            raise Error("this path exists already", "invalid_argument", str(target), "name another place in the manifest")
        for missing in reversed([folder for folder in target.parents if not folder.exists()]):
            missing.mkdir()
            self._added.append(missing)
        self._added.append(target)
        if content.is_dir():
            shutil.copytree(content, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(content, target)

    def revert(self) -> None:
        """Undoes all changes. Later changes start from the original again."""
        for file, content in self._replaced.items():
            (self.folder / file).write_bytes(content)
        for path in reversed(self._added):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self._replaced.clear()
        self._added.clear()

    def tested(self, command: list[str], log: Path, more: dict[str, str] | None = None) -> bool:
        """Whether the repository's own tests pass; their output is in the log."""
        words = [sys.executable if command[0] in ("python", "python3") else command[0], *command[1:]]
        with written(log) as file:
            try:
                done = subprocess.run(words, cwd=self.folder, stdout=file, stderr=subprocess.STDOUT, check=False,
                                      timeout=_PATIENCE_S, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(more or {})})
            except OSError as failed:
                log.unlink()
                raise Error(f"the tests' command cannot be started: {failed.strerror}", "not_found", words[0],
                            "change tests in the manifest") from None
            except subprocess.TimeoutExpired:
                raise Error(f"the repository's own tests take longer than {_PATIENCE_S} s", "bad_input", str(log),
                            "name fewer tests in the manifest") from None
        return done.returncode == 0

    def difference(self) -> str:
        """All changes and additions as a patch for `git apply`. The index is unchanged."""
        paths = [str(path) for path in (*self._replaced, *(added.relative_to(self.folder) for added in self._added))]
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
            self._git("read-tree", "HEAD", more=index)
            self._git("add", "--", *paths, more=index)
            return self._git("diff", "--cached", "--binary", "HEAD", more=index) + "\n"

    def _git(self, *words: str, quiet: bool = False, more: dict[str, str] | None = None) -> str:
        done = subprocess.run(["git", "-C", str(self.folder), *words], capture_output=True, text=True, check=False,
                              env={**os.environ, **(more or {})})
        if done.returncode != 0 and not quiet:
            raise Error(f"git {words[0]} failed: {done.stderr.strip()}", "tool_failed", str(self.folder))
        return done.stdout.rstrip("\n")
