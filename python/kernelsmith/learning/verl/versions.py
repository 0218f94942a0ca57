"""Which versions of verl the plugs of this package fit."""

from __future__ import annotations

import logging
import re

# 0.9.0 has ct_merge_non_assistant_msg instead of ct_merge_context_msg; 0.10 was not tried.
OLDEST, TOO_NEW = (0, 9, 1), (0, 10)


def require_supported(name: str) -> None:
    """Raises ImportError, and logs its message, unless verl is installed in a version that `name` fits.

    The message is logged because verl mentions a plugin that fails to import only at the level debug.
    """
    try:
        import verl  # type: ignore[import-not-found,import-untyped,unused-ignore]
        found = str(verl.__version__)
    except ImportError as missing:
        raise ImportError(f"{name} needs verl 0.9.1 ({missing}): pip install verl==0.9.1") from missing
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:3])
    if not OLDEST <= numbers < TOO_NEW:
        message = f"{name} fits verl from 0.9.1 to below 0.10, and verl {found} is installed: pip install verl==0.9.1"
        logging.getLogger(__name__).error(message)
        raise ImportError(message)
