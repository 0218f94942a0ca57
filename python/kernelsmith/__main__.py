"""`python -m kernelsmith` is the command `kernelsmith`."""

import os
import sys
from pathlib import Path

from ._errors import Error


def _command() -> Path:
    own = Path(__file__).parent / "bin" / "kernelsmith"
    if not own.exists():
        raise Error("the command is not part of this build of the package", "not_found", str(own),
                    "pip install . brings it along")
    return own


def main() -> None:
    """Becomes the command; does not return."""
    try:
        command = _command()
        os.execv(command, ["kernelsmith", *sys.argv[1:]])
    except Error as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
