"""Files that the package writes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ._errors import Error

_CODES = {errno.ENOENT: "not_found", errno.ENOTDIR: "not_found", errno.EISDIR: "invalid_argument",
          errno.EACCES: "permission", errno.EPERM: "permission", errno.EROFS: "permission", errno.ENOSPC: "disk_full",
          errno.EDQUOT: "disk_full"}


def write(path: Path, content: bytes) -> None:
    """Replaces the file. Raises Error."""
    try:
        path.write_bytes(content)
    except OSError as failed:
        number = failed.errno or errno.EIO
        raise Error(f"it cannot be written: {os.strerror(number)}", _CODES.get(number, "io"), str(path),
                    "name a file in a folder that exists and can be written") from None
