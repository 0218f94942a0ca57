"""Stage 1: reads repositories, which are folders or archives. Files are read in place, and nothing is
unpacked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .._errors import Error
from . import licences
from .stages import Record

MOST_FILE = 512 << 10  # limit of a source; longer files are generated or data
_MOST_FILES = 20_000
_MOST_KEPT = 256 << 20  # bytes of a repository's files
_MOST_UNPACKED = 16 << 30  # bytes of an archive's files, including skipped files, which must be unpacked, too
_MOST_MEMBERS = 500_000
_MOST_NOTE = 1 << 20  # bytes of a long name or of other notes on a member
_NOTES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_PROJECTS = ("pyproject.toml", "setup.cfg", "setup.py")
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_MODULE = re.compile(r"^[ \t]*class[ \t]+\w+\s*\(.+\)\s*:", re.MULTILINE)
_SHA = re.compile(r"^[0-9a-f]{40}\Z")


@dataclass(slots=True)
class Tree:
    """A repository's files by path."""

    name: str
    commit: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


def wanted(path: str) -> bool:
    parts = path.split("/")
    if not path.isprintable() or any(part in ("", "..") or part.startswith(".") for part in parts):
        return False  # an odd name cannot be imported, and would break the lines that name it
    return path.endswith(".py") or path in _PROJECTS or licences.is_licence_file(path)


def _folder(path: Path) -> Tree:
    """A checked-out repository. Links are not followed."""
    tree, kept = Tree(path.name, _commit(path)), 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            relative = file.relative_to(path).as_posix()
            if wanted(relative) and file.is_file() and not file.is_symlink() and file.stat().st_size <= MOST_FILE:
                tree.files[relative] = file.read_bytes()
                kept += len(tree.files[relative])
        if len(tree.files) > _MOST_FILES or kept > _MOST_KEPT:
            raise Error(f"more than {_MOST_FILES:,} files or {_MOST_KEPT >> 20} MiB of Python",
                        "bad_input", str(path), "name its packages instead")
    return tree


def _archive(path: Path) -> Tree:
    """A tarball or zip, without its outermost folder if that is the only one."""
    tree, kept = Tree(re.sub(r"\.(tar(\.\w+)?|tgz|zip)$", "", path.name)), 0
    try:
        for name, data in _zip(path) if path.suffix == ".zip" else _tar(path, tree):
            kept += len(data)
            if kept > _MOST_KEPT or len(tree.files) > _MOST_FILES:
                raise Error("the archive holds too much Python", "bad_input", str(path), "name its packages instead")
            tree.files[name] = data
    except Error:
        raise
    except Exception as failed:  # noqa: BLE001 - of each format's own kind
        raise Error(f"the archive cannot be read: {failed}", "bad_input", str(path), "download it again") from None
    heads = {name.partition("/")[0] for name in tree.files}
    outer = len(heads) == 1 and all("/" in name for name in tree.files)
    files = {name.partition("/")[2] if outer else name: data for name, data in tree.files.items()}
    tree.files = {name: data for name, data in sorted(files.items()) if wanted(name)}
    return tree


def _tar(path: Path, tree: Tree) -> Iterator[tuple[str, bytes]]:
    passed = 0
    with tarfile.open(path, tarinfo=_Member) as archive:
        for number, member in enumerate(archive):
            passed += member.size
            if member.size < 0 or passed > _MOST_UNPACKED or number > _MOST_MEMBERS:
                raise ValueError(f"it holds more than {_MOST_UNPACKED >> 30} GiB or {_MOST_MEMBERS:,} files")
            name = member.name.removeprefix("./")
            file = archive.extractfile(member) if member.isreg() and member.size <= MOST_FILE and _may(name) else None
            if file:
                yield name, file.read()
        comment = archive.pax_headers.get("comment", "")  # git archive writes the commit into it
        tree.commit = comment if _SHA.match(comment) else ""


class _Member(tarfile.TarInfo):
    """A member with short notes, because tarfile reads them completely."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Member:
        made = super().frombuf(buf, encoding, errors)
        if made.size < 0 or made.type in _NOTES and made.size > _MOST_NOTE:
            raise tarfile.ReadError(f"a member of {made.size} bytes, which is impossible")
        return made


def _zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other types unpack any amount at once
            if not info.is_dir() and info.file_size <= MOST_FILE and plain and _may(info.filename):
                with archive.open(info) as file:
                    yield info.filename, file.read(MOST_FILE + 1)


def _may(name: str) -> bool:
    return wanted(name) or wanted(name.partition("/")[2])


def _commit(folder: Path) -> str:
    """A clone's commit, or the one line of `.commit`, for copies without history."""
    for file in (".commit", ".git/HEAD"):
        text = _head(folder, file)
        if text.startswith("ref: refs/") and ".." not in text:
            text = _head(folder, f".git/{text[5:]}")
        if _SHA.match(text):
            return text
    return ""


def _head(folder: Path, name: str) -> str:
    """The beginning of a plain file; empty if it is not a plain file, because a link leads anywhere and a
    pipe never ends."""
    try:
        file = folder / name
        if file.is_symlink() or not file.is_file():
            return ""
        with file.open("rb") as stream:
            return stream.read(200).decode(errors="replace").strip()
    except (OSError, ValueError):
        return ""


def found(paths: Sequence[str | os.PathLike[str]], each: Sequence[str | os.PathLike[str]] = ()) -> list[Path]:
    """The repositories' places, by name. Raises Error if one is missing, or if two have the same name."""
    places = [Path(path) for path in paths]
    for folder in map(Path, each):
        if not folder.is_dir():
            raise Error("there is no such folder of repositories", "not_found", str(folder), "name a folder of repositories")
        places += [one for one in folder.iterdir() if not one.name.startswith(".")
                   and (one.is_dir() or one.name.endswith(_ARCHIVES))]
    names: dict[str, Path] = {}
    for place in places:
        if not place.is_dir() and not (place.is_file() and place.name.endswith(_ARCHIVES)):
            raise Error("there is no such repository", "not_found", str(place), "name a folder, a tarball or a zip")
        if not place.name.isprintable():
            raise Error("the repository's name has characters that cannot be printed", "invalid_argument",
                        ascii(str(place)), "rename it")
        if names.setdefault(place.name, place) != place:
            raise Error(f"two repositories are called {place.name}", "invalid_argument", str(place), "rename one")
    if not places:
        raise Error("no repository is named", "invalid_argument", "SOURCES", "name folders, tarballs or --each FOLDER")
    return [names[name] for name in sorted(names)]


def opened(place: Path) -> Tree:
    return _folder(place) if place.is_dir() else _archive(place)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff")


def source(place: Path) -> list[Record]:
    """A record for each file that may hold modules, with its licence and a digest over all files, which must
    not change."""
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
