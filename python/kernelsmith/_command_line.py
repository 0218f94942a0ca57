"""Common code of the commands in Python: the option parser, and the end after an error."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import NoReturn

from ._errors import Error
from ._words import visible

# The codes of docs/errors.md for wrong use or bad input. All other codes are for a broken machine or
# environment.
_WRONG_USE = frozenset({"invalid_argument", "bad_input", "not_found", "busy", "already_told", "unknown_ticket",
                        "version", "refused"})


class Parser(argparse.ArgumentParser):
    """Raises Error for wrong use."""

    def error(self, message: str) -> NoReturn:
        raise Error(message, "invalid_argument", self.prog, f"{self.prog} --help says how it is used")


def status_of(error: Error) -> int:
    """The exit status of docs/errors.md."""
    return 2 if error.code in _WRONG_USE else 130 if error.code == "cancelled" else 3


def fail(error: Error) -> NoReturn:
    """Prints the error as the command does, and ends with its exit status."""
    where = f"{error.where}: " if error.where else ""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()  # keeps the order with earlier output, also in a pipe
    with contextlib.suppress(BrokenPipeError):  # the exit status still shows the error
        print(visible(f"error: {where}{error.message} ({error.code})"), file=sys.stderr)
        if error.hint:
            print(visible(f"hint: {error.hint}"), file=sys.stderr)
    sys.exit(status_of(error))
