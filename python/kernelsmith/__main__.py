"""`python -m kernelsmith` is the command `kernelsmith`: some in Python (_commands.py), all else by the executable."""

import os
import subprocess
import sys
from pathlib import Path

from . import _commands
from ._errors import Error


def _command() -> Path:
    own = Path(__file__).parent / "bin" / "kernelsmith"
    if not own.exists():
        raise Error("the command is not part of this build of the package", "not_found", str(own),
                    "pip install . brings it along")
    return own


def main() -> None:
    """Does it here, or becomes the executable and does not return."""
    arguments = sys.argv[1:]
    try:
        if arguments and _commands.knows(arguments):
            sys.exit(_commands.run(arguments))
        elif arguments in (["--help"], ["-h"], ["help"]):
            status = subprocess.run([_command(), *arguments], check=False).returncode
            print(_commands.listed())
            sys.exit(status)
        else:
            command = _command()
            os.execv(command, ["kernelsmith", *arguments])
    except Error as error:
        _commands.fail(error)
    except KeyboardInterrupt:
        _commands.fail(Error("stopped on request", "cancelled", "kernelsmith"))


if __name__ == "__main__":
    main()
