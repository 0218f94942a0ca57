"""Stage 1: repositories as folders or archives. Files are read where they are, and nothing is unpacked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from .._errors import Error
from . import licences
from .stages import Record

MOST_FILE = 512 << 10  # of a source; what is longer was generated, or is data
_MOST_FILES = 20_000
_MOST_ARCHIVE = 256 << 20  # of what is kept of an archive
_PROJECTS = ("pyproject.toml", "setup.cfg", "setup.py")
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_MODULE = re.compile(r"^\s*class\s+\w+\s*\(.+\)\s*:", re.MULTILINE)
_SHA = re.compile(r"^[0-9a-f]{40}$")


class Tree(Protocol):
    """A repository's files by path."""

    name: str
    commit: str
    files: dict[str, bytes]


def wanted(path: str) -> bool:
    parts = path.split("/")
    if any(part in ("", "..") or part.startswith(".") for part in parts):
        return False
    return path.endswith(".py") or path in _PROJECTS or licences.is_licence_file(path)


class Folder:
    """A checked-out repository. Links are not followed."""

    def __init__(self, path: Path) -> None:
        self.name, self.commit = path.name, _commit(path)
        self.files: dict[str, bytes] = {}
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                relative = file.relative_to(path).as_posix()
                if wanted(relative) and file.is_file() and not file.is_symlink() and file.stat().st_size <= MOST_FILE:
                    self.files[relative] = file.read_bytes()
            if len(self.files) > _MOST_FILES:
                raise Error(f"more than {_MOST_FILES:,} files of Python",
                            "bad_input", str(path), "name its packages instead")


class Archive:
    """A tarball or zip, its one outermost folder left off."""

    def __init__(self, path: Path) -> None:
        self.name = re.sub(r"\.(tar(\.\w+)?|tgz|zip)$", "", path.name)
        self.commit = ""
        self.files: dict[str, bytes] = {}
        kept = 0
        try:
            for name, data in _zip(path) if path.suffix == ".zip" else self._tar(path):
                kept += len(data)
                if kept > _MOST_ARCHIVE or len(self.files) > _MOST_FILES:
                    raise Error("the archive holds too much Python", "bad_input", str(path), "name its packages instead")
                self.files[name] = data
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError) as failed:
            raise Error(f"the archive cannot be read: {failed}", "bad_input", str(path), "fetch it again") from None
        heads = {name.partition("/")[0] for name in self.files}
        if len(heads) == 1 and all("/" in name for name in self.files):
            self.files = {name.partition("/")[2]: data for name, data in self.files.items()}
        self.files = {name: data for name, data in sorted(self.files.items()) if wanted(name)}

    def _tar(self, path: Path) -> Iterator[tuple[str, bytes]]:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                file = archive.extractfile(member) if member.isreg() and member.size <= MOST_FILE and _may(name) else None
                if file:
                    yield name, file.read()
            comment = archive.pax_headers.get("comment", "")  # git archive writes the commit there
            self.commit = comment if _SHA.match(comment) else ""


def _zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir() and info.file_size <= MOST_FILE and _may(info.filename):
                yield info.filename, archive.read(info)


def _may(name: str) -> bool:
    return wanted(name) or wanted(name.partition("/")[2])


def _commit(folder: Path) -> str:
    """A clone's commit, or the one line of `.commit`, for copies without history."""
    for file in (folder / ".commit", folder / ".git" / "HEAD"):
        try:
            text = file.read_text(errors="replace")[:200].strip()
            if text.startswith("ref: ") and ".." not in text:
                text = (folder / ".git" / text[5:]).read_text(errors="replace").strip()
        except OSError:
            continue
        if _SHA.match(text):
            return text
    return ""


def found(paths: Sequence[str | os.PathLike[str]], each: Sequence[str | os.PathLike[str]] = ()) -> list[Path]:
    """The repositories' places, by name. Raises Error if one is missing, or if two have a name."""
    places = [Path(path) for path in paths]
    for folder in map(Path, each):
        if not folder.is_dir():
            raise Error("there is no such folder of repositories", "not_found", str(folder))
        places += [one for one in folder.iterdir() if not one.name.startswith(".")
                   and (one.is_dir() or one.name.endswith(_ARCHIVES))]
    names: dict[str, Path] = {}
    for place in places:
        if not place.is_dir() and not (place.is_file() and place.name.endswith(_ARCHIVES)):
            raise Error("this is no repository: a folder, a tarball or a zip", "not_found", str(place))
        if names.setdefault(place.name, place) != place:
            raise Error(f"two repositories are called {place.name}", "invalid_argument", str(place), "rename one")
    if not places:
        raise Error("no repository is named", "invalid_argument", "SOURCES", "name folders, tarballs or --each FOLDER")
    return [names[name] for name in sorted(names)]


def opened(place: Path) -> Tree:
    return Folder(place) if place.is_dir() else Archive(place)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff")


def source(place: Path) -> list[Record]:
    """A record for each file that may hold modules, with its licence; a digest over all files, which must not change."""
    tree = opened(place)
    texts = {path: licences.of_text(text_of(data)) for path, data in tree.files.items() if licences.is_licence_file(path)}
    named = [licences.of_project(text_of(tree.files[path])) for path in _PROJECTS if path in tree.files]
    project = next((name for name in named if name != licences.UNKNOWN), licences.UNKNOWN)
    digest = hashlib.sha256(json.dumps([[path, hashlib.sha256(data).hexdigest()]
                            for path, data in tree.files.items()]).encode())
    about = {"repository": tree.name, "place": str(place.resolve()), "commit": tree.commit, "digest": digest.hexdigest()}
    made = []
    for path, data in tree.files.items():
        text = text_of(data) if path.endswith(".py") else ""
        if _MODULE.search(text) and ("torch" in text or "nn." in text):
            made.append({**about, "path": path, "licence": licences.of_module(path, text, texts, project)})
    return made
