"""`python -m kernelsmith` is the command `kernelsmith`. Some commands are in Python (_commands.py), and the
others run the executable."""

import os
import select
import subprocess
import sys
from collections.abc import Sequence

from . import _command_line, _commands
from ._errors import Error
from ._executable import executable


def _reader_is_gone() -> bool:
    poll = select.poll()
    poll.register(sys.stdout, select.POLLOUT)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _flush() -> None:
    """Drops unread output, so that the interpreter does not retry and complain."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Runs the command here, or becomes the executable and does not return. A closed output pipe is not an error."""
    try:
        _act(sys.argv[1:])
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
    finally:
        _flush()


def _act(arguments: Sequence[str]) -> None:
    try:
        if arguments and _commands.knows(arguments):
            sys.exit(_commands.run(arguments))
        elif arguments in (["--help"], ["-h"], ["help"]):
            status = subprocess.run([executable(), *arguments], check=False).returncode
            print(_commands.listed())
            sys.exit(status)
        else:
            command = executable()
            os.execv(command, ["kernelsmith", *arguments])
    except Error as error:
        _command_line.fail(error)
    except KeyboardInterrupt:
        _command_line.fail(Error("stopped on request", "cancelled", "kernelsmith"))


if __name__ == "__main__":
    main()
