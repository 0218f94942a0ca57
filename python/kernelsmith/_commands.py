"""The commands that are Python's: `plot`, `report`, `dataset`, `openevolve` and `export --format trace`."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from . import plot
from ._errors import Error
from ._run import Run
from ._words import visible
from ._writing import write
from .report import report

# docs/errors.md: wrong use or bad input; a broken machine or environment is everything else.
_WRONG_USE = frozenset({"invalid_argument", "bad_input", "not_found", "busy", "already_told", "unknown_ticket",
                        "version", "refused"})


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Error(message, "invalid_argument", self.prog, f"{self.prog} --help says how it is used")


def _plot(run: str, out: Path) -> None:
    kind = out.suffix[1:].lower()
    if kind not in ("svg", "png"):
        raise Error("a picture is .svg or .png", "invalid_argument", str(out), "name the file so")
    made = plot.figure(Run.open(run))
    file = io.BytesIO()
    made.savefig(file, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    write(out, file.getvalue())


def _report(run: str, out: Path) -> None:
    report(Run.open(run), out)


_COMMANDS: dict[str, tuple[str, str, Callable[[str, Path], None]]] = {
    "plot": ("FILE.{svg,png}", "Draw a run: best so far, lineage of the best, archive, cost, failures", _plot),
    "report": ("FILE.html", "Write a run as one HTML page: what was found, the pictures, the best program's changes, "
                            "and what was rejected and why", _report),
}


def listed() -> str:
    """The commands of this module, as the executable lists its own."""
    also = {"dataset": "Make training data of runs (docs/datasets.md)",
            "openevolve": "Run an OpenEvolve task as it is (docs/openevolve.md)",
            "export --format trace": "Print a run as OpenEvolve's evolution trace"}
    lines = {name: about.partition(":")[0] for name, (_, about, _) in _COMMANDS.items()} | also
    return "\nWith python -m kernelsmith:\n" + "\n".join(f"  {name:<27} {about}" for name, about in lines.items())


def _exports_trace(arguments: Sequence[str]) -> bool:
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return arguments[0] == "export" and any(pair == ("--format", "trace") or pair[0] == "--format=trace" for pair in pairs)


def knows(arguments: Sequence[str]) -> bool:
    """Whether they are for a command of this module."""
    return arguments[0] in _COMMANDS or arguments[0] in ("dataset", "openevolve") or _exports_trace(arguments)


def run(arguments: Sequence[str]) -> int:
    """Does what the arguments say, the command's name being the first. Returns the exit status. Raises Error."""
    if arguments[0] == "dataset":
        from .learning.dataset.command import dataset

        return dataset(arguments[1:])
    if arguments[0] not in _COMMANDS:
        from .openevolve import command

        return (command.openevolve if arguments[0] == "openevolve" else command.export_trace)(arguments[1:])
    file, about, act = _COMMANDS[arguments[0]]
    parser = _Parser(prog=f"kernelsmith {arguments[0]}", description=about, allow_abbrev=False,
                     epilog="Needs matplotlib: pip install 'kernelsmith-engine[plot]'")
    parser.add_argument("RUN", help="the run folder; another process may be writing it")
    parser.add_argument("-o", "--out", metavar=file, type=Path, required=True,
                        help="what is written, in place of what stands there")
    options = parser.parse_args(arguments[1:])
    # A model or a folder may be called in letters that the font lacks; boxes stand for them.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    act(options.RUN, options.out)
    return 0


def fail(error: Error) -> NoReturn:
    """Prints the error as the command does, and ends with its exit status."""
    where = f"{error.where}: " if error.where else ""
    with contextlib.suppress(BrokenPipeError):  # the status still tells
        print(visible(f"error: {where}{error.message} ({error.code})"), file=sys.stderr)
        if error.hint:
            print(visible(f"hint: {error.hint}"), file=sys.stderr)
    sys.exit(2 if error.code in _WRONG_USE else 130 if error.code == "cancelled" else 3)
