"""Files that the package reads and writes. A function raises Error unless it names another exception."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

from ._errors import Error

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CODES = {errno.ENOENT: "not_found", errno.ENOTDIR: "not_found", errno.EISDIR: "invalid_argument",
          errno.EACCES: "permission", errno.EPERM: "permission", errno.EROFS: "permission", errno.ENOSPC: "disk_full",
          errno.EDQUOT: "disk_full"}


def write(path: Path, content: bytes) -> None:
    """Writes the file. An existing file is replaced."""
    try:
        path.write_bytes(content)
    except OSError as failed:
        number = failed.errno or errno.EIO
        raise Error(f"it cannot be written: {os.strerror(number)}", _CODES.get(number, "io"), str(path),
                    "name a file in a folder that exists and is writable") from None


def replace(path: Path, text: str) -> None:
    """Replaces the file atomically: a reader sees the old text or the new one. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")
    part.replace(path)


def text_of(path: Path, what: str = "the file", hint: str = "", encoding: str = "utf-8") -> str:
    try:
        return path.read_text(encoding=encoding)
    except OSError as failed:
        raise Error(f"{what} cannot be read: {failed.strerror}", "not_found", str(path), hint) from None
    except UnicodeDecodeError as wrong:
        raise Error(f"{what} is not UTF-8: {wrong}", "bad_input", str(path), hint) from None


def toml_of(path: Path, what: str = "the file", hint: str = "") -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path, what, hint))
    except tomllib.TOMLDecodeError as wrong:
        raise Error(f"{what} is not TOML: {wrong}", "bad_input", str(path), hint) from None
